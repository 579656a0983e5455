"""Requirements of `gateway.data.produce_lines`, against a real broker over real HTTP."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.data import produce_lines
from gateway.data.produce_lines import LineCutter
from gateway.data.sending import failed, send_all
from gateway.problems import SEND_UNCERTAIN, ProblemError
from tests.gateway.data.conftest import Api, code_of

LINES = {"Content-Type": "application/x-ndjson"}


def line(text: str, **fields: Any) -> bytes:
    return json.dumps({"body": {"encoding": "text", "data": text}, **fields}).encode() + b"\n"


def results_of(answer: httpx.Response) -> list[dict[str, Any]]:
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/x-ndjson"), answer.text
    return [json.loads(each) for each in answer.text.splitlines()]


async def test_each_line_is_a_message_and_has_a_line_of_the_answer_in_the_same_order(api: Api) -> None:
    topic = await api.topic(queues=2)
    content = (
        line("a", entry_id="first", keys=["A17"]) + b"\r\n" + b"{\n" + line("b", ordering_key="c9") + line("c")[:-1]
    )
    first, broken, second, third = results_of(
        await api.post(f"/topics/{topic}/messages", content=content, headers=LINES)
    )
    assert (first["entry_id"], first["status"], first["offset"]) == ("first", "stored", 0)
    assert (broken["entry_id"], broken["status"], broken["problem"]["code"]) == ("1", "failed", "MALFORMED")
    assert [(each["entry_id"], each["status"]) for each in (second, third)] == [("2", "stored"), ("3", "stored")]


async def test_offsets_are_texts_for_readers_who_ask_for_them(api: Api) -> None:
    topic = await api.topic()
    headers = LINES | {"Accept": "application/json;offsets=string"}
    assert (
        results_of(await api.post(f"/topics/{topic}/messages", content=line("a"), headers=headers))[0]["offset"] == "0"
    )


async def test_results_are_written_while_the_request_goes_on(api: Api) -> None:
    topic = await api.topic()
    reader, writer = await _begin(api, topic)
    for offset in range(3):
        writer.write(_chunk(line(str(offset))))
        assert json.loads(await _next_line(reader))["offset"] == offset
    writer.write(_chunk(b'{"body"') + b"zz\r\n")
    await writer.drain()
    ended = json.loads(await _next_line(reader))
    assert (ended["type"], ended["problem"]["code"]) == ("error", "MALFORMED")
    writer.close()


@pytest.mark.in_process
async def test_later_lines_of_an_ordering_key_do_not_overtake_one_that_failed(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = await api.topic()
    reader, writer = await _begin(api, topic)

    async def fail(_: Any, drafts: Any, **__: Any) -> Any:
        return {each.entry_id: failed(each.entry_id, ProblemError(SEND_UNCERTAIN, "no answer")) for each in drafts}

    monkeypatch.setattr(produce_lines, "send_all", fail)
    writer.write(_chunk(line("a", ordering_key="c9")))
    assert json.loads(await _next_line(reader))["status"] == "unknown"
    monkeypatch.setattr(produce_lines, "send_all", send_all)
    writer.write(_chunk(line("b", ordering_key="c9")))
    assert json.loads(await _next_line(reader))["problem"]["code"] == "SEND_UNCERTAIN"
    writer.write(_chunk(line("c", ordering_key="c8")) + b"0\r\n\r\n")
    assert json.loads(await _next_line(reader))["status"] == "stored"
    writer.close()


@pytest.mark.parametrize(
    "fields",
    [
        {"delay_ms": -1},
        {"body": {"encoding": "base64", "data": "?"}},
        {"body": {"encoding": "text", "data": "a" * (4 * 1024 * 1024 + 1)}},
        {"colour": "red"},
        {"delay_ms": 3 * 24 * 3_600_000 + 1},
        {"deliver_at": "2999-01-01T00:00:00Z"},
    ],
)
async def test_nor_one_that_was_refused_before_it_was_sent(api: Api, fields: dict[str, Any]) -> None:
    topic = await api.topic()
    content = line("a", ordering_key="c9", **fields) + line("b", ordering_key="c9") + line("c", ordering_key="c8")
    first, later, other = results_of(await api.post(f"/topics/{topic}/messages", content=content, headers=LINES))
    assert (first["status"], later["status"], other["status"]) == ("failed", "failed", "stored")
    assert later["problem"] == first["problem"]


@pytest.mark.parametrize(
    ("content", "headers", "code"),
    [
        (b"\n \r\n", {}, "INVALID"),
        (line("a"), {"Idempotency-Key": "k1"}, "INVALID"),
        (line("a"), {"MQ-Tag": "created"}, "INVALID"),
        (line("a"), {"Content-Encoding": "gzip"}, "UNSUPPORTED_MEDIA_TYPE"),
    ],
)
async def test_what_a_stream_cannot_have_is_refused_by_name(
    api: Api, content: bytes, headers: dict[str, str], code: str
) -> None:
    topic = await api.topic()
    answer = await api.post(f"/topics/{topic}/messages", content=content, headers=LINES | headers)
    assert code_of(answer)[1] == code
    assert all(name.lower() in answer.text.lower() for name in headers)


async def test_a_stream_needs_the_right_to_produce(api: Api) -> None:
    answer = await api.post("/topics/orders/messages", content=line("a"), headers=LINES, token="viewer")
    assert code_of(answer)[0] == 403


@given(st.lists(st.binary(max_size=12), max_size=8), st.lists(st.integers(0, 90), max_size=6), st.integers(1, 12))
def test_lines_are_the_same_however_the_body_is_cut(texts: list[bytes], cuts: list[int], limit: int) -> None:
    body = b"\n".join(texts)
    expected = [None if len(each) > limit else each.strip() for each in body.split(b"\n")]
    places = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    parts = [body[begin:end] for begin, end in pairwise(places)]
    cutter = LineCutter(limit)
    found = [each for at, part in enumerate(parts) for each in cutter.cut(part, is_last=at == len(parts) - 1)]
    assert found == [each for each in expected if each != b""]


async def _begin(api: Api, topic: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, _, port = api.door.next().partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    headers = {"Host": host, **api.door.authorization("admin"), **LINES, "Transfer-Encoding": "chunked"}
    lines = [f"POST /api/v1/clusters/local/topics/{topic}/messages HTTP/1.1", *map(": ".join, headers.items())]
    writer.write("\r\n".join([*lines, "", ""]).encode())
    return reader, writer


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


async def _next_line(reader: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(20):
        while not (found := await reader.readline()).startswith(b"{"):
            assert found
        return found
