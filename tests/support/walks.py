"""A walk along a queue of one segment in memory: the log, the queue, and what a filter selects there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from broker_core.protocol import record
from broker_core.store import fetch
from broker_core.store.fetch import Accept, PropertyTest
from broker_core.store.units import UNIT

TOPIC: Final = b"\x05topic"
BEGIN: Final = 4096
QUEUE_ID: Final = 3
FIRST: Final = 40
_ORIGIN: Final = record.MessageOrigin(1, bytes(8), 2, bytes(8))


@dataclass
class File:
    """A segment."""

    view: memoryview
    start: int = BEGIN

    @property
    def wrote(self) -> int:
        return len(self.view)


@dataclass
class Log:
    """A log of one segment."""

    file: File
    begin: int = BEGIN

    @property
    def files(self) -> Log:
        return self

    def find(self, log_offset: int) -> File:
        return self.file

    def read(self, log_offset: int, size: int) -> memoryview:
        return self.file.view[log_offset - BEGIN :][:size]


@dataclass
class Queue:
    """What a walk asks of a queue."""

    topic: str = "topic"
    record_topic: bytes = TOPIC
    queue_id: int = QUEUE_ID
    extension: None = None


def selected(texts: Sequence[bytes], test: PropertyTest) -> list[bool]:
    """Return which of the messages with these property texts pass a test, as a walk finds."""
    segment, units = bytearray(), bytearray()
    for number, text in enumerate(texts):
        size = record.size_of(TOPIC, b"", text, _ORIGIN)
        units += UNIT.pack(BEGIN + len(segment), size, 0)
        segment += record.encode(TOPIC, b"", text, _ORIGIN, size, QUEUE_ID, FIRST + number, BEGIN + len(segment))
    log = Log(File(memoryview(bytes(segment))))
    walk = fetch._Walk(log, Queue(), FIRST, len(texts) + 1, 1 << 30, Accept(None, test))  # type: ignore[arg-type]
    walk.take(memoryview(bytes(units)))
    assert walk.walked == len(texts)
    found = {record.read_head(each).queue_offset - FIRST for each in walk.records}
    return [number in found for number in range(len(texts))]
