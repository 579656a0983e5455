"""A run of sends in one compiled call equals header, text, record and answer of the Python code, for any input."""

from __future__ import annotations

import json
from typing import Final

import orjson
from hypothesis import example, given
from hypothesis import strategies as st

from broker_core.broker import sent_text
from broker_core.protocol import header_json, record
from broker_core.protocol.codes import LanguageCode
from broker_core.protocol.frame import Frame
from broker_core.protocol.header_form import cut_answer, cut_send
from broker_core.protocol.message_id import format_offset_id
from broker_core.protocol.record import MessageOrigin
from broker_core.store.appended import AppendedRecord
from broker_core.store.send_plan import SendPlan
from tests.broker_core.native.twins import TEXTS, TOPIC, Queue, compiled

JAVA: Final = int(LanguageCode.JAVA)
ADDED: Final = "CLUSTER\x01c"
HOST: Final = b"\x7f\x00\x00\x01\x00\x00\x2a\x9f"
BORN_HOST: Final = bytes(range(20))
LIMIT: Final = 8192
PLACE: Final = 1 << 40

ODD_PIECES: Final = (b"a", b"\\", b'"', b"\\u00", b"\\u0041", b"41", b"\\ud83d", b"\x01", b"\xff", b"\xc3\xa9")
RAW: Final = st.one_of(
    st.tuples(TEXTS, st.booleans()).map(lambda pair: json.dumps(pair[0], ensure_ascii=pair[1]).encode()[1:-1]),
    st.lists(st.sampled_from(ODD_PIECES)).map(b"".join),
)


def _header(queue_id: int, born: int, raw: bytes, opaque: int) -> bytes:
    fields = {"a": "group", "b": "topic", "e": str(queue_id), "g": str(born), "i": "properties", "m": "false"}
    return header_json.encode(310, fields, opaque, 0, None, JAVA, 435).replace(b"properties", raw)


def _answer(queue_id: int, queue_offset: int, log_offset: int, opaque: int) -> dict[str, object]:
    ids = {"msgId": format_offset_id(HOST, log_offset), "queueId": str(queue_id), "queueOffset": str(queue_offset)}
    return {"code": 0, "fields": ids, "opaque": opaque, "flag": 1}


def _head(answer: dict[str, object]) -> bytes:
    fields, opaque = answer["fields"], answer["opaque"]
    return header_json.frame_head(0, fields, opaque, 1, None, JAVA, 435, 0)  # type: ignore[arg-type]


def _plan(*, only_waiting: bool) -> SendPlan:
    request = cut_send(_header(0, 0, b"a", 0))
    answer = cut_answer(_head(_answer(0, 0, 0, 0))[8:])
    assert request is not None
    assert answer is not None
    return SendPlan(
        *request.form, *answer.form, "topic", TOPIC, 4, 7, 1, 2, BORN_HOST, HOST, ADDED, 300, 60, only_waiting
    )


def _settled(raw: bytes, *, only_waiting: bool) -> str | None:
    """Return what is stored of a property text as it stands in JSON; None for what is left to the handler."""
    try:
        text = str(orjson.loads(b'"' + raw + b'"'))
    except orjson.JSONDecodeError:
        return None
    settled = sent_text._settle(text, ADDED)
    if settled is None or len(text.encode()) > 60 or (only_waiting and not settled[1]):
        return None
    return settled[0]


SENT: Final = st.tuples(
    st.integers(0, 5), st.integers(0, 10**17), RAW, st.integers(0, (1 << 31) - 1), st.binary(max_size=310)
)


@given(st.lists(SENT, min_size=1, max_size=4), st.booleans())
@example([(0, 0, b"WAIT\\u0001false", 0, b"")], True)
@example([(0, 0, b"WAIT\\u0001\\u0002WAIT\\u0001", 0, b"")], False)
@example([(3, 5, b"a\\u0001\\ud83d\\ude00", 0, b"")], False)
def test_runs(sends: list[tuple[int, int, bytes, int, bytes]], only_waiting: bool) -> None:
    queues = {("topic", number): Queue("topic", queue_id=number) for number in range(4)}
    frames = [Frame(0, _header(queue_id, born, raw, opaque), body) for queue_id, born, raw, opaque, body in sends]
    pending: list[AppendedRecord] = []
    into = bytearray(LIMIT)

    taken, end, answers = compiled.put_sends(
        AppendedRecord, _plan(only_waiting=only_waiting), frames, 0, len(frames), queues, pending, into,
        100, LIMIT, PLACE, 1_790_000_000_000,
    )  # fmt: skip

    at, expected = 100, b""
    for number, (queue_id, born, raw, opaque, body) in enumerate(sends):
        text = _settled(raw, only_waiting=only_waiting)
        if text is None or queue_id > 3 or len(body) > 300:
            assert taken == number, "a send that is not plain ends the run"
            break
        if taken == number:
            rare = b"\\ud8" in raw or raw.count(b"WAIT") > 1
            assert rare, "only characters in two escapes, and two marks to wait, are left to Python"
            break
        queue_offset = 40 + [each[0] for each in sends[:number]].count(queue_id)
        origin = MessageOrigin(born, BORN_HOST, 1_790_000_000_000, HOST, 2)
        size = record.size_of(TOPIC, body, text.encode(), origin)
        place = PLACE + at
        one = record.encode(TOPIC, body, text.encode(), origin, size, queue_id, queue_offset, place, 1, 7)
        assert into[at : at + size] == one
        queue = queues["topic", queue_id]
        wanted: tuple[object, ...] = queue, place, size, queue_offset, 1_790_000_000_000, HOST, 1, text, None
        assert tuple(pending[number]) == wanted
        expected += _head(_answer(queue_id, queue_offset, place, opaque))
        at += size
    assert (end, answers, len(pending)) == (at, expected, taken)
    assert sum(each.next_offset - 40 for each in queues.values()) == taken


def test_a_run_ends_where_the_room_does() -> None:
    frames = [Frame(0, _header(0, 5, b"a", 7), b"x" * 100)] * 9
    queues = {("topic", 0): Queue("topic", queue_id=0)}
    pending: list[AppendedRecord] = []
    into = bytearray(LIMIT)
    plan = _plan(only_waiting=False)
    taken, end, _ = compiled.put_sends(AppendedRecord, plan, frames, 2, 9, queues, pending, into, 0, 1000, 0, 5)
    assert 0 < taken < 7
    assert end == sum(each.size for each in pending) <= 1000
    assert not any(into[end:])
