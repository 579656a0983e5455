"""Requirements of `console.alerts.webhook`: a post ends in time, whatever the receiver or a name server does."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from console.alerts import webhook
from console.alerts.webhook import Posting, post
from tests.console.alerts.receivers import Dripper, Hook, dripping_hook, web_hook
from tests.support.wait import eventually

HERE = ["127.0.0.0/8"]


@pytest.fixture(autouse=True)
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for a second, not for five."""
    monkeypatch.setattr(webhook, "DEADLINE_SECONDS", 1.0)


@pytest.fixture
def slow() -> Iterator[Dripper]:
    """A receiver that is never done."""
    with dripping_hook() as found:
        yield found


@pytest.fixture
def hook() -> Iterator[Hook]:
    """A receiver that answers at once."""
    with web_hook() as found:
        yield found


def to(url: str) -> Posting:
    return Posting(url, ("s3cret",), b"{}", "d1", "test")


async def test_headers_that_never_end_are_no_answer(slow: Dripper) -> None:
    outcome = await post(to(slow.url), HERE)
    assert (outcome.status, outcome.error) == (None, "127.0.0.1 did not answer within 1 s")
    await eventually(lambda: not slow.waiting)


async def test_an_answer_that_never_ends_is_cut_and_says_so(slow: Dripper) -> None:
    slow.begin = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{"
    outcome = await post(to(slow.url), HERE)
    assert (outcome.status, outcome.error) == (200, None)
    assert outcome.cut == "127.0.0.1 did not answer in full within 1 s"
    assert outcome.body.startswith(b"{a")


async def test_many_slow_receivers_hold_up_no_other(slow: Dripper, hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "DEADLINE_SECONDS", 300.0)
    async with asyncio.TaskGroup() as group:
        waiting = [group.create_task(post(to(slow.url), HERE)) for _ in range(40)]
        await eventually(lambda: len(slow.waiting) == 40)
        assert (await post(to(hook.url), HERE)).status == 202
        # And a post that is cancelled leaves nothing behind
        for each in waiting:
            each.cancel()
        await eventually(lambda: not slow.waiting)


async def test_a_long_answer_is_not_read_to_its_end(hook: Hook) -> None:
    hook.answer = b"a" * 10_000_000
    outcome = await post(to(hook.url), HERE)
    assert (outcome.error, outcome.cut) == (None, "the answer is longer than 500 characters")
    assert len(outcome.body) == 2_000


async def test_no_receiver_is_asked_to_compress(hook: Hook) -> None:
    await post(to(hook.url), HERE)
    assert hook.posted[0][0]["Accept-Encoding"] == "identity"


async def test_an_id_that_no_header_can_have_is_percent_encoded(hook: Hook) -> None:
    outcome = await post(Posting(hook.url, (), b"{}", "é\r\nX: 1-7", "test"), HERE)
    assert outcome.error is None
    assert hook.posted[0][0]["Gantry-Delivery"] == "%C3%A9%0D%0AX%3A%201-7"


async def test_a_silent_name_server_costs_a_thread_for_each_name_and_none_of_a_pool(
    hook: Hook, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a name that is looked up without end
    ended, look_up = threading.Event(), socket.getaddrinfo

    def silent(host: str, *rest: Any, **named: Any) -> Any:
        if host == "silent.example.org":
            ended.wait(300)
        return look_up("127.0.0.1" if host == "silent.example.org" else host, *rest, **named)

    monkeypatch.setattr(socket, "getaddrinfo", silent)
    # When it is posted to often
    url = f"http://silent.example.org:{hook.port}/"
    outcomes = await asyncio.gather(*(post(to(url), HERE) for _ in range(50)))
    # Then each post ends, and others find both a pool and the way
    assert {each.error for each in outcomes} == {"silent.example.org did not answer within 1 s"}
    assert [each.name for each in threading.enumerate()].count("look up silent.example.org") == 1
    assert await asyncio.wait_for(asyncio.to_thread(lambda: 1), 60) == 1
    assert (await post(to(hook.url), HERE)).status == 202
    # And once the name is known it is used
    ended.set()
    assert (await post(to(url), HERE)).status == 202


async def test_a_name_without_an_address_is_told() -> None:
    outcome = await post(to("http://nobody.invalid/"), HERE)
    assert outcome.error is not None
    assert outcome.error.startswith("nobody.invalid has no address: ")


async def failure(port: int, scheme: str = "http") -> str | None:
    return (await post(to(f"{scheme}://127.0.0.1:{port}/x"), HERE)).error


async def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert await failure(port) == "127.0.0.1 refused the connection"


@pytest.mark.parametrize(
    ("scheme", "words"), [("http", "sent an answer that cannot be read"), ("https", "cannot be reached")]
)
async def test_something_else_listens(scheme: str, words: str) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(4096)
        writer.write(b"220 mail\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        assert await failure(server.sockets[0].getsockname()[1], scheme) == f"127.0.0.1 {words}"
