"""Compiled functions: no memory leaks, and arguments of any type do no harm."""

from __future__ import annotations

import gc
import random
import struct
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from broker_core.protocol import record
from broker_core.protocol.batch import encode_batch
from broker_core.protocol.frame import Frame, frame_parts
from broker_core.protocol.message import Message
from broker_core.protocol.record import MessageOrigin
from broker_core.store.appended import AppendedRecord
from broker_core.store.incoming import Incoming
from broker_core.store.index_file import HEADER, file_bytes
from broker_core.store.send_plan import SendPlan
from tests.broker_core.native.twins import LANGUAGES, QUEUES, TOPIC, WRITTEN, Queue, compiled
from tests.support.stores import packed


@dataclass(slots=True)
class Head:
    """A header of two fields."""

    a: str
    b: int


PLANS: Final = (("a", getattr(Head, "a"), "s", ...), ("b", getattr(Head, "b"), "i", ...))  # noqa: B009 - they are slots


def _calls() -> list[Callable[[], object]]:
    """Return one call of each function that creates objects, including failing ones."""
    body = encode_batch([Message("t", b"body", {"a": "b"})])
    origin = MessageOrigin(0, bytes(8), 0, bytes(8))
    one = Incoming("topic", 0, b"body", "a\x01b", 0, 0, *origin)
    batch = Incoming("topic", 3, body, "KEYS\x01k", 0, 0, *origin)
    into = bytearray(4096)
    pending = [(QUEUES[number], 0, 100, 0, 5, b"", 0, "KEYS\x01a b\x02TAGS\x01t", None) for number in range(3)]

    def write(incoming: Incoming) -> object:
        return compiled.write_record(AppendedRecord, None, into, 0, 4096, TOPIC, incoming, 0, 0)

    odd = WRITTEN[:-5]
    file = bytearray(file_bytes(4, 9))

    def fails(function: Callable[[], object]) -> Callable[[], object]:
        def call() -> None:
            with suppress(OverflowError, ValueError):
                function()

        return call

    return [
        lambda: compiled.cut_frames(Frame, b"".join(frame_parts(0, b"{}", b"body")), 99, 99, []),
        lambda: compiled.decode_fields(Head, PLANS, {"a": "text", "b": "123456789"}),
        lambda: compiled.decode_fields(Head, PLANS, {"a": "text", "b": "odd"}),
        lambda: compiled.encode_fields(Head("text", 123456789), PLANS),
        lambda: compiled.encode_fields(Head("text", "odd"), PLANS),  # type: ignore[arg-type]
        lambda: compiled.decode_header(WRITTEN, LANGUAGES),
        lambda: compiled.decode_header(odd, LANGUAGES),
        lambda: compiled.encode_frame_head(1, {"a": "b" * 3000}, 0, 0, "é" * 2000, "JAVA", 1, 0),
        fails(lambda: compiled.encode_frame_head(1, {"a": "\ud800"}, 0, 0, None, "JAVA", 1, 0)),
        lambda: compiled.measure_batch(body, "common"),
        lambda: compiled.batch_asks_for_nothing(body),
        lambda: compiled.measure_batch(body[:-1], "common"),
        lambda: compiled.write_batch(into, 0, TOPIC, batch, 1, 40, 0),
        fails(lambda: compiled.write_batch(into, 4090, TOPIC, batch, 1, 40, 0)),
        fails(lambda: compiled.write_batch(into, 0, TOPIC, batch, 0, 40, 0)),
        lambda: compiled.format_ids(bytes(8), [1, 2, 3]),
        fails(lambda: compiled.format_ids(bytes(8), [1, 1 << 70])),
        lambda: compiled.settle_text("WAIT\x01true\x02a\x01b", "CLUSTER\x01c"),
        *_calls_of_sends(),
        lambda: write(one),
        fails(lambda: write(one._replace(queue_id=1 << 40))),
        lambda: compiled.pack_units(pending),
        lambda: compiled.hash_keys(pending, 0),
        lambda: compiled.put_entries(file, 4, HEADER.size + 16, 1, 0, 0, 0, packed([(5, 6, 7)])),
        fails(lambda: compiled.put_entries(file, 4, HEADER.size + 16, 1, 0, 0, 0, packed([(-1, 6, 7)]))),
        *_calls_of_answers(),
        *_calls_of_leases(),
    ]


def _calls_of_sends() -> list[Callable[[], object]]:
    """Return calls of a run of sends: plain ones, one of another form, odd text, no room, and what fails in between."""
    queue = Queue("topic")
    form = (b'{"code":310,"e":"', b'","g":"', b'","i":"', b'","opaque":', b"}"), b"qtpo"
    answer = (b'{"id":"', b'","q":"', b'","n":"', b'","opaque":', b"}"), b"iqno"
    plan = SendPlan(
        *form, *answer, "topic", TOPIC, 4, 0, 0, 0, bytes(8), bytes(8), "CLUSTER\x01c", 4096, 4096, False
    )  # fmt: skip

    def frame(text: bytes = b"TAGS\\u0001a", opaque: int = 7) -> Frame:
        pieces, _ = form
        values = b"3", b"1700000000000", text, str(opaque).encode(), b""
        header = b"".join(piece + value for piece, value in zip(pieces, values, strict=True))
        return Frame(0, header, b"body" * 20)

    def put(frames: list[Any], limit: int = 4096, pending: Any = None, plan: tuple[Any, ...] = plan) -> object:
        queues = {("topic", 3): queue}
        kept = [] if pending is None else pending
        return compiled.put_sends(
            AppendedRecord, plan, frames, 0, len(frames), queues, kept, bytearray(4096), 0, limit, 0, 5
        )

    def fails(function: Callable[[], object]) -> Callable[[], object]:
        def call() -> None:
            with suppress(TypeError, OverflowError, ValueError):
                function()

        return call

    return [
        lambda: put([frame(), frame(opaque=8), frame()]),
        lambda: put([frame(), Frame(0, b"{}", b"")]),
        lambda: put([frame(b"DELAY\\u00013")]),
        lambda: put([frame(b"\\ud800")]),
        lambda: put([frame(b"\xff")]),
        lambda: put([frame(b"a" * 5000)]),
        lambda: put([frame()] * 30, 1000),
        lambda: put([frame(), frame()._replace(serializer=1)]),
        lambda: put([frame(), None]),
        lambda: compiled.header_matches(*form, frame().header),
        fails(lambda: put([None])),
        fails(lambda: put([frame()], pending=())),
        fails(lambda: put([frame()], plan=plan[:-1])),
        fails(lambda: put([frame()], plan=plan._replace(queues=1 << 70))),
    ]


def _calls_of_answers() -> list[Callable[[], object]]:
    """Return calls of the search for records in pull answers: sound ones, cut ones, and begins that cannot be."""
    origin = MessageOrigin(0, bytes(8), 0, bytes(8))
    size = record.size_of(TOPIC, b"body", b"", origin)
    one = record.encode(TOPIC, b"body", b"", origin, size, 3, 40, 0)

    def find(data: bytes, *begins: int) -> bytes:
        return compiled.find_records(data, struct.pack(f"={len(begins)}q", *begins))

    least, most = -(1 << 63), (1 << 63) - 1
    return [
        lambda: find(one * 9, 0, 3 * size, 6 * size),
        lambda: find((one * 9)[:-1], 0),
        lambda: find(one * 2, size, 0, size),
        lambda: find(one, 0, least, most, -size),
        lambda: find(b"\x00\x00", 0, least),
        lambda: find(b"", 0),
        lambda: find(one),
    ]


def _calls_of_leases() -> list[Callable[[], object]]:
    """Return calls of the functions of leased messages: usual ones, and those that are left to Python."""
    key, hidden = b"key", (b"KEYS", b"UNIQ_KEY", b"CONTENT_TYPE")
    origin = MessageOrigin(1_790_000_000_000, bytes(8), 1_790_000_000_000, bytes(8))
    bodies = [b'{"a":[1,"\\n",null]}', b"text\x01" * 900, bytes(range(256)) * 9]
    text = b"KEYS\x01k1 k2\x02colour\x01red"
    records = [
        record.encode(TOPIC, body, text, origin, record.size_of(TOPIC, body, text, origin), 3, 40 + place, 0)
        for place, body in enumerate(bodies)
    ]
    shared = "portion", b"topic", 3, b'"topic":"topic"', b'"then"', hidden, b'"before"'

    def write(data: bytes, offsets: list[int]) -> tuple[bytes, int] | None:
        return compiled.write_leased(data, 0, key, *shared, offsets)

    data, odd = b"".join(records), b"".join(records)[:-1]
    written = write(data, [40, 41, 42])
    assert written is not None
    receipts = ["v3." + part.partition('"')[0] for part in written[0].decode().split('"v3.')[1:]]
    return [
        lambda: write(data, [40, 41, 42]),
        lambda: write(data, [40, 43]),
        lambda: write(odd, [40, 41, 42]),
        lambda: write(b"", [40]),
        lambda: compiled.open_receipts(key, receipts),
        lambda: compiled.open_receipts(b"another", receipts),
        lambda: compiled.open_receipts(key, [*receipts, "v3.", "é"]),
    ]


def _growth(call: Callable[[], object]) -> int:
    """Return by how many bytes 2,000 calls increase the held memory."""
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(2_000):
        call()
    gc.collect()
    return tracemalloc.get_traced_memory()[0] - before


def test_each_call_touches_only_its_own() -> None:
    """Call everything twice, so that memory left by the first call is touched under the sanitizers (test_build.py)."""
    for call in _calls():
        call()
        call()


def test_nothing_is_kept_of_what_was_made() -> None:
    tracemalloc.start()
    try:
        for call in _calls():
            _growth(call)  # objects created once stay
            # The least object of each call would be twice that. What another thread of the tests holds comes but once.
            assert min(_growth(call) for _ in range(3)) < 32_000
    finally:
        tracemalloc.stop()


def test_any_type_is_refused_without_harm() -> None:
    """No function crashes on arguments of any type: each returns something, or raises a Python error."""
    generator = random.Random(7)
    values: list[object] = [
        None,
        0,
        -1,
        1 << 70,
        b"",
        b"x" * 30,
        bytearray(50),
        "",
        "a\x01b",
        [],
        [None],
        {},
        (),
        (1, 2, 3),
        Frame,
        int,
    ]
    names = [name for name in dir(compiled) if not name.startswith("_") and name not in ("SOURCES", "sync_file")]
    refused = 0
    for _ in range(20_000):
        function = getattr(compiled, generator.choice(names))
        try:
            function(*(generator.choice(values) for _ in range(generator.choice([1, 2, 5, 8, 11, 12]))))
        except (TypeError, ValueError, OverflowError, BufferError, AttributeError, struct.error):
            refused += 1
    assert refused > 10_000
