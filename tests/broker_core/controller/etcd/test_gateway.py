"""Calls of a gateway whose answers a test scripts."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest

from broker_core.controller.etcd.config import EtcdConfig
from broker_core.controller.etcd.errors import Declined, NotSent, Unanswered
from broker_core.controller.etcd.gateway import Gateway
from broker_core.controller.etcd.members import Members
from tests.support.ports import free_ports

ANSWER = {"header": {"revision": "7"}}
TOKEN_ENDED = {"error": "etcdserver: invalid auth token", "message": "etcdserver: invalid auth token", "code": 16}
HANG = b"hang"


def http(status: int, body: Any) -> bytes:
    """An answer."""
    content = body if isinstance(body, bytes) else orjson.dumps(body)
    return b"HTTP/1.1 %d Any\r\nContent-Length: %d\r\n\r\n%b" % (status, len(content), content)


@dataclass
class Server:
    """A member that gives the next scripted answer to each request; closes the connection after an empty one."""

    answers: list[bytes]
    asked: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    """Path, token and content of each request."""
    endpoint: str = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := (await _head(reader)):
                length = re.search(r"(?i)content-length: (\d+)", head)
                try:
                    content = await reader.readexactly(int(length[1]) if length else 0)
                except asyncio.IncompleteReadError:
                    return
                token = re.search(r"(?i)authorization: (\S+)", head)
                self.asked.append((head.split()[1], token[1] if token else "", orjson.loads(content or b"{}")))
                answer = self.answers.pop(0)
                if answer == HANG:
                    await reader.read()
                if answer in (b"", HANG):
                    return
                writer.write(answer)
                if answer.startswith(b"HTTP/1.1 200 OK") and not answer.endswith(b"0\r\n\r\n"):
                    return
        finally:
            writer.close()


async def _head(reader: asyncio.StreamReader) -> str:
    try:
        return (await reader.readuntil(b"\r\n\r\n")).decode()
    except asyncio.IncompleteReadError:
        return ""


@asynccontextmanager
async def serving(*answers: bytes) -> AsyncIterator[Server]:
    server = Server(list(answers))
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.endpoint = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        listening.close()


@asynccontextmanager
async def asking(*endpoints: str, **more: Any) -> AsyncIterator[tuple[Gateway, Members]]:
    config, members = EtcdConfig(endpoints, "C", **more), Members(endpoints)
    gateway = Gateway(config, members)
    try:
        yield gateway, members
    finally:
        await gateway.close()


def reached(members: Members) -> list[bool | None]:
    return [each.reached for each in members.statuses]


async def test_the_member_that_answered_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")  # nothing is taken from the environment
    async with (
        serving(http(200, ANSWER), http(200, ANSWER)) as first,
        serving() as second,
        asking(first.endpoint, second.endpoint) as (gateway, members),
    ):
        for _ in range(2):
            assert await gateway.call("/v3/kv/range", {"key": "YQ=="}) == ANSWER
        assert first.asked == [("/v3/kv/range", "", {"key": "YQ=="})] * 2
        assert reached(members) == [True, None]


@pytest.mark.parametrize("answer", [b"", HANG, http(200, b"<html>"), http(200, {"error": {"grpc_code": 14}})])
async def test_without_an_answer_the_outcome_is_unknown_and_the_next_member_is_asked(answer: bytes) -> None:
    async with (
        serving(answer) as first,
        serving(http(200, ANSWER)) as second,
        asking(first.endpoint, second.endpoint, attempt_seconds=0.2) as (gateway, _),
    ):
        with pytest.raises(Unanswered):
            await gateway.call("/v3/kv/txn", {})
        assert await gateway.call("/v3/kv/txn", {}) == ANSWER
        assert len(second.asked) == 1


async def test_what_was_never_sent_is_told_apart() -> None:
    nobody = f"http://127.0.0.1:{free_ports()}"
    async with serving(http(200, ANSWER)) as second, asking(nobody, second.endpoint) as (gateway, members):
        with pytest.raises(NotSent):
            await gateway.call("/v3/kv/txn", {})
        assert await gateway.call("/v3/kv/txn", {}) == ANSWER
        assert reached(members) == [False, True]


async def test_an_error_is_an_answer_and_the_member_stays() -> None:
    async with (
        serving(http(429, {"error": "full", "code": 8}), http(200, ANSWER)) as first,
        serving() as second,
        asking(first.endpoint, second.endpoint) as (gateway, members),
    ):
        with pytest.raises(Declined, match="full"):
            await gateway.call("/v3/kv/txn", {})
        assert await gateway.call("/v3/kv/txn", {}) == ANSWER
        assert reached(members) == [True, None]


LOGIN = ("/v3/auth/authenticate", "", {"name": "gantry", "password": "word"})


async def test_a_login_is_made_before_the_first_call_and_again_when_it_has_ended() -> None:
    answers = [{"token": "one"}, ANSWER, None, {"token": "two"}, ANSWER]
    scripted = [http(200, each) if each else http(401, TOKEN_ENDED) for each in answers]
    async with serving(*scripted) as server, asking(server.endpoint, user="gantry", password="word") as (gateway, _):
        for _ in range(2):
            assert await gateway.call("/v3/kv/range", {}) == ANSWER
        asked: list[tuple[str, str, dict[str, Any]]] = [("/v3/kv/range", each, {}) for each in ("one", "one", "two")]
        assert server.asked == [LOGIN, *asked[:2], LOGIN, asked[2]]


async def test_a_login_that_does_not_help_is_made_once() -> None:
    scripted = [http(200, {"token": "one"}), http(401, TOKEN_ENDED)] * 2
    async with serving(*scripted) as server, asking(server.endpoint, user="gantry", password="word") as (gateway, _):
        with pytest.raises(Declined, match="invalid auth token"):
            await gateway.call("/v3/kv/range", {})
        assert len(server.asked) == 4


def chunks(*messages: Any, is_whole: bool = True) -> bytes:
    """A stream of messages."""
    lines = [orjson.dumps(each) + b"\n" for each in messages]
    sent = b"".join(b"%x\r\n%b\r\n" % (len(line), line) for line in lines)
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + sent + (b"0\r\n\r\n" if is_whole else b"")


async def test_a_stream_gives_its_messages_until_it_ends() -> None:
    async with (
        serving(chunks({"result": {"created": True}}, {"result": {"events": []}})) as server,
        asking(server.endpoint) as (gateway, _),
        gateway.stream("/v3/watch", {}) as told,
    ):
        assert [each async for each in told] == [{"created": True}, {"events": []}]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (chunks({"error": {"grpc_code": 14, "message": "no leader"}}), Unanswered),
        (chunks({"result": {}}, is_whole=False), Unanswered),
        (http(401, TOKEN_ENDED), Declined),
    ],
)
async def test_a_stream_that_fails_says_so(answer: bytes, error: type[Exception]) -> None:
    async with serving(answer) as server, asking(server.endpoint) as (gateway, _):
        with pytest.raises(error):
            await _all(gateway)


async def _all(gateway: Gateway) -> None:
    async with gateway.stream("/v3/watch", {}) as told:
        async for _ in told:
            pass


async def test_a_call_that_is_given_up_at_any_moment_leaves_no_connection_behind() -> None:
    was_asked, steps = False, 0
    while not was_asked:
        async with serving(HANG) as server, asking(server.endpoint) as (gateway, _):
            call = asyncio.create_task(gateway.call("/v3/kv/range", {}))
            for _ in range(steps):
                await asyncio.sleep(0)
            was_asked = bool(server.asked)
            call.cancel()
            await asyncio.wait([call])
            assert _open(gateway) == [], steps
        steps += 1


async def test_calls_without_an_answer_leave_no_connection_behind() -> None:
    async with serving(*[HANG] * 50) as server, asking(server.endpoint, attempt_seconds=0.1) as (gateway, _):
        ended = await asyncio.gather(*(gateway.call("/v3/kv/range", {}) for _ in range(50)), return_exceptions=True)
        assert {type(each) for each in ended} == {Unanswered}
        assert _open(gateway) == []


async def test_a_connection_serves_one_call_after_the_other() -> None:
    async with serving(*[http(200, ANSWER)] * 3) as server, asking(server.endpoint) as (gateway, _):
        for _ in range(3):
            await gateway.call("/v3/kv/range", {})
        assert [each.info() for each in _open(gateway)] == [f"'{server.endpoint}', HTTP/1.1, IDLE, Request Count: 3"]


def _open(gateway: Gateway) -> list[Any]:
    return list(gateway._http._transport._pool.connections)  # type: ignore[attr-defined]
