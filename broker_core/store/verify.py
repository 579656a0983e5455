"""Compares the log of a store with the derived files: every record with its unit, every unit with its record.

The queues and the index can be rebuilt from the log, so the log is authoritative. After a damaged place the check
continues with the next record that a queue names, so that all damage is reported. In a store that is being written to,
records behind the last one that a queue knew at the beginning are only counted, and the last index file may lack keys.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Final, NamedTuple

from broker_core.protocol import properties as names
from broker_core.protocol.properties import value_after
from broker_core.protocol.record import RecordHead, read_head
from broker_core.protocol.string_hash import tags_code
from broker_core.protocol.sys_flag import enters_consume_queue
from broker_core.protocol.topics import SCHEDULE_TOPIC
from broker_core.store.errors import Corrupt
from broker_core.store.extension import is_address
from broker_core.store.index_file import IndexFile, hashes_of
from broker_core.store.reader import StoreReader
from broker_core.store.soundness import NO_RECORD, find_damage
from broker_core.store.units import FILLER_SIZE, UNIT

# A damaged store may have the same fault a million times; at most this many are listed.
MOST_LISTED: Final = 1000
DAMAGED_MESSAGE: Final = "damaged message"
"""The fault of a message whose record is damaged."""
# As in recovery: an index file may end a few ms after its last record, and a clock may have been set back slightly.
_CHECKPOINT_AHEAD_MS: Final = 60_000
_LOOK_EVERY: Final = 4096
_TAGS: Final = names.mark_of(names.TAGS)


@dataclass(slots=True)
class Findings:
    """The result of a check. `faults` counts by kind; `told` describes the first `most` of them."""

    most: int = MOST_LISTED
    records: int = 0
    # The latest store time (ms) of a record.
    newest: int = 0
    log_end: int = 0
    units: int = 0
    fillers: int = 0
    # Records whose queue was deleted, or deleted and created again since.
    orphans: int = 0
    # Records of messages that were purged.
    purged: int = 0
    keys: int = 0
    index_entries: int = 0
    # Entries whose record has left the log.
    expired_entries: int = 0
    # Records that no queue knew when the check began, of a store that is being written to.
    pending: int = 0
    # Of those the keys and entries of the index file that is being written: its entries have records, but some may be
    # missing yet.
    open_keys: int = 0
    open_entries: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    told: list[str] = field(default_factory=list)
    look: Callable[[Findings], None] | None = field(default=None, repr=False, compare=False)
    _steps: int = field(default=0, repr=False, compare=False)

    @property
    def is_sound(self) -> bool:
        """Whether there are no faults."""
        return not self.faults

    @property
    def readable(self) -> int:
        """How many intact records belong to messages that the queues had when the check began."""
        return self.records - self.orphans - self.purged - self.pending

    def step(self) -> None:
        """Let `look` have a look, if it is time."""
        self._steps += 1
        if self.look is not None and self._steps % _LOOK_EVERY == 0:
            self.look(self)

    def add(self, kind: str, text: str) -> None:
        """Record one fault."""
        self.faults[kind] += 1
        if len(self.told) < self.most:
            self.told.append(f"{kind}: {text}")


def verify(reader: StoreReader, *, most: int = MOST_LISTED, look: Callable[[Findings], None] | None = None) -> Findings:
    """Read the whole store and return its faults, with descriptions of the first `most`.

    `look` is called with what is found so far, after every few thousand steps; it may raise to end the check.
    """
    findings = Findings(most, look=look)
    damaged = _check_records(reader, findings)
    for topic, queue_id in reader.queues():
        _check_units(reader, topic, queue_id, findings, damaged)
    for place in damaged.unnamed():
        findings.add("log", f"no intact record from {place.begin} to {place.end}: {place.reason}")
    for file in reader.index.files:
        _check_index(reader, file, findings)
    indexed = findings.index_entries - findings.open_entries - findings.expired_entries
    if (missing := findings.keys - findings.open_keys - indexed) > 0:
        findings.add("index", f"{missing} keys are not in the index")
    _check_checkpoint(reader, findings)
    return findings


class Place(NamedTuple):
    """A part of the log without an intact record."""

    begin: int
    end: int
    reason: str


class Places:
    """Damaged places in log order; those that a queue knows are reported as the messages they contained."""

    def __init__(self, places: list[Place]) -> None:
        self._places = places
        self._named: set[Place] = set()

    def names(self, log_offset: int) -> bool:
        """Return whether a damaged place covers `log_offset`, and mark it as reported."""
        number = bisect_right(self._places, log_offset, key=attrgetter("begin")) - 1
        if number < 0 or log_offset >= self._places[number].end:
            return False
        self._named.add(self._places[number])
        return True

    def unnamed(self) -> list[Place]:
        """Return the places that no queue knows."""
        return [place for place in self._places if place not in self._named]


def _check_records(reader: StoreReader, findings: Findings) -> Places:
    """Walk over the log; return the places without an intact record."""
    walk, known_end, indexed_end = reader.walk(check_crc=True), reader.log_end, _indexed_end(reader)
    may_wait = _may_wait(reader)
    for head, view in walk:
        findings.step()
        findings.records += 1
        if may_wait and head.log_offset >= known_end:
            findings.pending += 1
        elif enters_consume_queue(head.sys_flag):
            _check_record_has_unit(reader, head, view, findings)
        keys = len(hashes_of(head, view))
        findings.keys += keys
        if indexed_end is not None and head.log_offset >= indexed_end:
            findings.open_keys += keys
        findings.newest = max(findings.newest, head.store_timestamp)
    findings.log_end = walk.end
    damaged = [Place(*place) for place in walk.damaged]
    if walk.problem:
        damaged.append(Place(walk.end, max(reader.log_end, walk.end + 1), walk.problem.reason))
    elif walk.end < reader.log_end:
        findings.add("log", f"it ends at {walk.end}, but a queue knows of a message before {reader.log_end}")
    return Places(damaged)


def _may_wait(reader: StoreReader) -> bool:
    """Return whether records at the end of the log may be in no queue: not yet, or not before they are confirmed."""
    return reader.is_open_elsewhere or reader.checkpoint().confirmed > 0


def _indexed_end(reader: StoreReader) -> int | None:
    """Return up to which log offset all keys are in finished index files, of a store in which records may wait."""
    if not _may_wait(reader):
        return None
    return reader.index.files[-1].begin_log_offset if reader.index.files else 0


def _check_checkpoint(reader: StoreReader, findings: Findings) -> None:
    checkpoint = reader.checkpoint()
    for name, time in (("log", checkpoint.log), ("queues", checkpoint.queues), ("index", checkpoint.index)):
        if time < 0 or (findings.records and time > findings.newest + _CHECKPOINT_AHEAD_MS):
            findings.add("checkpoint", f"{name} up to {time} ms, the newest record is of {findings.newest}")


def _check_record_has_unit(reader: StoreReader, head: RecordHead, view: memoryview, findings: Findings) -> None:
    topic = _topic(head, view)
    if reader.is_purged(topic, head.queue_id, head.log_offset):
        findings.purged += 1
        return
    unit = reader.find_unit(topic, head.queue_id, head.queue_offset)
    place = f"{topic} queue {head.queue_id} offset {head.queue_offset} at {head.log_offset}"
    if unit is None:
        low, high = reader.range(topic, head.queue_id)
        first = reader.find_unit(topic, head.queue_id, low)
        if high == 0 or (first is not None and head.log_offset < first.log_offset):
            findings.orphans += 1
        else:
            findings.add("record without unit", f"{place}: the queue has {low} to {high}")
    elif unit.log_offset > head.log_offset and unit.size != FILLER_SIZE:
        findings.orphans += 1
    elif (unit.log_offset, unit.size) != (head.log_offset, head.size):
        findings.add("record with another unit", f"{place}: the unit says {unit.size} bytes at {unit.log_offset}")
    # The unit of a delayed message has the time at which it is due.
    elif is_address(unit.tags_code):
        findings.add("lost extension", f"{place}: nothing is at {unit.tags_code} of the extension of its queue")
    elif topic != SCHEDULE_TOPIC:
        expected = _tags_code(head, view)
        if unit.tags_code != expected:
            findings.add("wrong tag hash", f"{place}: the unit says {unit.tags_code}, the tag has {expected}")


def _tags_code(head: RecordHead, view: memoryview) -> int:
    text = names.PAIR_END + str(view[head.properties_begin : head.properties_end], "utf-8", "replace")
    return tags_code(value_after(_TAGS, text)) if _TAGS in text else 0


def _check_units(reader: StoreReader, topic: str, queue_id: int, findings: Findings, damaged: Places) -> None:
    low, high = reader.range(topic, queue_id)
    record_topic = reader.record_topic(topic, queue_id)
    queue_offset = int(low)
    for part in reader.units(topic, queue_id, low, high):
        for log_offset, size, _ in UNIT.iter_unpack(part):
            findings.step()
            findings.units += 1
            if size == FILLER_SIZE:
                findings.fillers += 1
            elif reason := _find_damage(reader, log_offset, size, record_topic, queue_id, queue_offset):
                kind = DAMAGED_MESSAGE if damaged.names(log_offset) else "unit without record"
                findings.add(
                    kind, f"{topic} queue {queue_id} offset {queue_offset}, {size} bytes at {log_offset}: {reason}"
                )
            queue_offset += 1


def _find_damage(
    reader: StoreReader, log_offset: int, size: int, record_topic: bytes, queue_id: int, queue_offset: int
) -> str | None:
    record = reader.log.read(log_offset, size)
    return find_damage(record, log_offset, record_topic, queue_id, queue_offset) if record else NO_RECORD


def _check_index(reader: StoreReader, file: IndexFile, findings: Findings) -> None:
    visited = 0
    is_written = reader.is_open_elsewhere and file is reader.index.files[-1]
    if not file.agrees_with(reader.log) and not reader.is_open_elsewhere:
        findings.add("index", f"{file.path.name}: its header does not match the entries it has")
    try:
        for entry in file.all_entries():
            findings.step()
            visited += 1
            record = reader.find_raw(entry.log_offset)
            if record is None and entry.log_offset < reader.log_begin:
                findings.expired_entries += 1
            elif record is None or entry.hash not in hashes_of(read_head(record), record):
                place = f"{file.path.name} entry {entry.number}"
                findings.add("index", f"{place} names {entry.log_offset}, whose record does not have its key")
    except Corrupt as error:
        findings.add("index", str(error))
    findings.index_entries += visited
    if is_written:
        findings.open_entries += visited
    elif visited != file.count - 1:
        findings.add("index", f"{file.path.name} has {file.count - 1} entries, {visited} are in chains")


def _topic(head: RecordHead, view: memoryview) -> str:
    return str(view[head.topic_begin : head.topic_end], "utf-8", "replace")
