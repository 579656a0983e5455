"""Reads the messages of a queue from a queue offset on, as raw records (store/README.md#reading-a-queue)."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from time import monotonic
from typing import Final, NamedTuple

from broker_core.native import native
from broker_core.native.functions import Native
from broker_core.protocol.errors import MalformedRecord
from broker_core.protocol.message import QueueOffset
from broker_core.protocol.properties import parse_properties
from broker_core.protocol.record import read_head
from broker_core.store.commit_log import CommitLog
from broker_core.store.consume_queue import ConsumeQueue
from broker_core.store.errors import MessageDamaged
from broker_core.store.extension import ExtensionUnit, QueueExtension, is_address
from broker_core.store.layout import UNIT_BYTES
from broker_core.store.soundness import NO_RECORD, find_damage
from broker_core.store.units import FILLER_SIZE, UNIT

# A read whose filter matches nothing ends after this many messages.
MAX_UNITS: Final = 800
# A test of properties may be long, and so may properties: a read ends when testing took this long, too.
_TEST_SECONDS: Final = 0.05
_UNITS_PER_LOOK: Final = 64
# Java compares tag hashes by their low 32 bits only.
_TAG_MASK: Final = 0xFFFFFFFF
_TAG_SIGN: Final = 0x80000000

AcceptTag = Callable[[int], bool]
"""Returns whether a message with this tag hash (signed, 32 bits) is selected."""


class PropertyTest(NamedTuple):
    """A test of messages: `test` takes the values of the properties `names`, None for one that is missing.

    `program` decides the same in compiled code, for what it understands; see `sql92/program.py`.
    """

    names: tuple[str, ...]
    test: Callable[..., bool]
    program: bytes = b""


class BitTest(NamedTuple):
    """A test by the filter bits of an extended queue: what was stored after `since` (ms) must have all of `bits`."""

    since: int
    bits: bytes

    def passes(self, unit: ExtensionUnit) -> bool:
        """Return whether a message may pass the filter that these bits stand for."""
        if unit.store_time <= self.since or len(unit.bits) != len(self.bits):
            return True
        wanted = int.from_bytes(self.bits, "big")
        return int.from_bytes(unit.bits, "big") & wanted == wanted


class Accept(NamedTuple):
    """Which messages of a queue are selected: those that pass all tests. Tests by tag and by bits read no record."""

    tag: AcceptTag | None = None
    properties: PropertyTest | None = None
    bits: BitTest | None = None

    def of_record(self, record: memoryview) -> bool:
        """Return whether a record passes the test of its properties; True for one that is too damaged to have some."""
        if self.properties is None:
            return True
        try:
            head = read_head(record)
        except MalformedRecord:
            return True
        pairs = parse_properties(str(record[head.properties_begin : head.properties_end], "utf-8", "replace"))
        return self.properties.test(*map(pairs.get, self.properties.names))


ALL: Final = Accept()


class GetStatus(Enum):
    """The result of a read; the names are the remarks of pull answers."""

    FOUND = "FOUND"
    NO_MATCHED_MESSAGE = "NO_MATCHED_MESSAGE"
    MESSAGE_WAS_REMOVING = "MESSAGE_WAS_REMOVING"
    OFFSET_FOUND_NULL = "OFFSET_FOUND_NULL"
    OFFSET_OVERFLOW_BADLY = "OFFSET_OVERFLOW_BADLY"
    OFFSET_OVERFLOW_ONE = "OFFSET_OVERFLOW_ONE"
    OFFSET_TOO_SMALL = "OFFSET_TOO_SMALL"
    NO_MATCHED_LOGIC_QUEUE = "NO_MATCHED_LOGIC_QUEUE"
    NO_MESSAGE_IN_QUEUE = "NO_MESSAGE_IN_QUEUE"


class GetResult(NamedTuple):
    """Raw records in queue order, and the next offset to read.

    The records are views into the log: join or copy them to keep them, since they keep the segment mapped. Damaged
    messages are left out and listed in `damaged`. `joined` has the first records, where these were asked for in one
    piece; they are not in `records`.
    """

    status: GetStatus
    records: list[memoryview]
    next_offset: QueueOffset
    min_offset: QueueOffset
    max_offset: QueueOffset
    damaged: tuple[MessageDamaged, ...] = ()
    joined: bytes = b""
    messages: int = 0
    """How many, joined or not."""


def fetch(
    log: CommitLog,
    queue: ConsumeQueue | None,
    begin: int,
    *,
    max_messages: int,
    max_bytes: int,
    accept: Accept = ALL,
    joined_below: int = 0,
) -> GetResult:
    """Return up to `max_messages` records of `queue` from queue offset `begin` on, together at most `max_bytes`.

    The first record is returned whatever its size. A read never crosses a file of the queue, so it may return fewer
    messages than the queue has; `next_offset` is where to continue. Records that have fewer than `joined_below` bytes
    on average may be joined: to copy many small ones at once costs less than a view of each.
    """
    refused = _refuse(queue, begin)
    if refused is not None or queue is None:
        return refused or _nothing(GetStatus.NO_MESSAGE_IN_QUEUE, None, 0)
    units = queue.units_from(begin)
    if not units:
        return _nothing(GetStatus.OFFSET_FOUND_NULL, queue, queue.first_of_next_file)
    units = units[: max(MAX_UNITS, max_messages) * UNIT_BYTES]
    walk = _Walk(log, queue, begin, max_messages, max_bytes, accept)
    if accept.properties is None and not walk.decides:
        walk.take(units, joined_below)
    else:
        walk.take_for(units, _TEST_SECONDS)
    return GetResult(
        walk.status,
        walk.records,
        QueueOffset(begin + walk.walked),
        QueueOffset(queue.min_offset),
        QueueOffset(queue.max_offset),
        tuple(walk.damaged),
        walk.joined,
        walk.messages,
    )


def _decided(extension: QueueExtension, units: memoryview, accept: Accept) -> memoryview:
    """Return units whose tags codes are 1 or 0, by the tests that need no record."""
    decided = bytearray(units)
    pack, find = UNIT.pack_into, extension.find
    for at, (log_offset, size, code) in zip(range(0, len(units), UNIT_BYTES), UNIT.iter_unpack(units), strict=True):
        more = find(code) if is_address(code) else None
        pack(decided, at, log_offset, size, _may_pass(code if more is None else more.tags_code, more, accept))
    return memoryview(decided).toreadonly()


def _may_pass(code: int, more: ExtensionUnit | None, accept: Accept) -> bool:
    """Return whether a message may be selected by its tags code and by what its queue has beside its unit."""
    if is_address(code):
        return True
    if accept.bits is not None and more is not None and not accept.bits.passes(more):
        return False
    return accept.tag is None or accept.tag(_signed(code))


def _refuse(queue: ConsumeQueue | None, begin: int) -> GetResult | None:
    if queue is None or queue.max_offset == 0:
        return _nothing(GetStatus.NO_MESSAGE_IN_QUEUE, queue, 0)
    if begin < queue.min_offset:
        return _nothing(GetStatus.OFFSET_TOO_SMALL, queue, queue.min_offset)
    if begin == queue.max_offset:
        return _nothing(GetStatus.OFFSET_OVERFLOW_ONE, queue, begin)
    if begin > queue.max_offset:
        return _nothing(GetStatus.OFFSET_OVERFLOW_BADLY, queue, queue.max_offset)
    return None


def _nothing(status: GetStatus, queue: ConsumeQueue | None, next_offset: int) -> GetResult:
    low, high = (queue.min_offset, queue.max_offset) if queue else (0, 0)
    return GetResult(status, [], QueueOffset(next_offset), QueueOffset(low), QueueOffset(high))


class _Walk:
    """Iterates over units and collects records until a limit is reached."""

    def __init__(
        self,
        log: CommitLog,
        queue: ConsumeQueue,
        begin: int,
        max_messages: int,
        max_bytes: int,
        accept: Accept,
    ) -> None:
        self.records: list[memoryview] = []
        self.joined = b""
        self.messages = 0
        self.damaged: list[MessageDamaged] = []
        self.walked = 0
        self.status = GetStatus.NO_MATCHED_MESSAGE
        self._log = log
        self._queue = queue
        self._begin = begin
        self._max_messages = max_messages
        self._room = max_bytes
        self._accept = accept
        # What decides by the extension of the queue, before records are read.
        self._before = accept
        self.decides = queue.extension is not None and (accept.tag is not None or accept.bits is not None)
        if self.decides:
            self._accept = accept._replace(tag=(1).__eq__)

    def take_for(self, units: memoryview, seconds: float) -> None:
        """Process units as `take` for about this time: the store has one thread, which others wait for."""
        until = monotonic() + seconds
        for begin in range(0, len(units), _UNITS_PER_LOOK * UNIT_BYTES):
            part = units[begin : begin + _UNITS_PER_LOOK * UNIT_BYTES]
            before = self.walked
            if self.decides and self._queue.extension is not None:
                part = _decided(self._queue.extension, part, self._before)
            self.take(part)
            if self.walked - before < len(part) // UNIT_BYTES or monotonic() > until:
                return

    def take(self, units: memoryview, joined_below: int = 0) -> None:
        """Process units in the order of the queue; each record is checked before it is returned."""
        if native and self._queue.record_topic:
            units = self._take_usual(native, units, joined_below)
        accept_tag = self._accept.tag
        offset = self._begin + self.walked
        for log_offset, size, tags_code in UNIT.iter_unpack(units):
            if self.messages and (self.messages >= self._max_messages or size > self._room):
                break
            # An address here is one of an extension that is gone: clients compare the tag itself.
            if accept_tag is None or is_address(tags_code) or accept_tag(_signed(tags_code)):
                record = self._log.read(log_offset, size)
                if record is None:
                    self._miss(log_offset, size, offset)
                # Tested first: most of the cost of a record that is passed over would be its checksum.
                elif self._accept.of_record(record) and not self._is_damaged(record, log_offset, offset):
                    self.records.append(record)
                    self.messages += 1
                    self._room -= size
            offset += 1
        self.walked = offset - self._begin
        if self.messages:
            self.status = GetStatus.FOUND

    def _take_usual(self, compiled: Native, units: memoryview, joined_below: int) -> memoryview:
        """Process the first units in compiled code, up to an unusual one; return the remaining units."""
        file = self._log.files.find(UNIT.unpack_from(units)[0])
        if file is None:
            return units
        walked, self._room, selected, self.joined = compiled.walk_units(
            units,
            self._begin + self.walked,
            file.view,
            file.wrote,
            file.start,
            self._queue.record_topic,
            self._queue.queue_id,
            self._accept.tag,
            self._accept.properties,
            self.records,
            self._max_messages,
            self._room,
            joined_below,
        )
        self.messages += selected
        self.walked += walked
        return units[walked * UNIT_BYTES :]

    def _is_damaged(self, record: memoryview, log_offset: int, offset: int) -> bool:
        queue = self._queue
        damage = find_damage(record, log_offset, queue.record_topic, queue.queue_id, offset)
        if damage:
            self._leave_out(log_offset, offset, damage)
        return damage is not None

    def _miss(self, log_offset: int, size: int, offset: int) -> None:
        """Record that the log does not have a message: it expired, or its unit is damaged."""
        self.status = GetStatus.MESSAGE_WAS_REMOVING
        if size != FILLER_SIZE and not 0 <= log_offset < self._log.begin:
            self._leave_out(log_offset, offset, NO_RECORD)

    def _leave_out(self, log_offset: int, offset: int, damage: str) -> None:
        self.damaged.append(MessageDamaged(self._queue.topic, self._queue.queue_id, offset, log_offset, damage))


def _signed(tags_code: int) -> int:
    low = tags_code & _TAG_MASK
    return low - (1 << 32) if low & _TAG_SIGN else low
