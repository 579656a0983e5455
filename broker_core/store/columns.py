"""Many records as columns; the only module of the store that needs numpy.

::

     0 TOTALSIZE   4 MAGIC       8 BODYCRC    12 QUEUEID         16 FLAG        20 QUEUEOFFSET (8)   28 LOGOFFSET (8)
    36 SYSFLAG    40 BORN (8)   48 BORNHOST (8 or 20)            56 STORED (8)  64 STOREHOST (8 or 20)
    72 RECONSUMETIMES           76 PREPAREDTRANSACTIONOFFSET (8) 84 BODYLENGTH (4)
    88 body | topic length int8 (V2: int16) | topic | properties length int16 | properties

An array view over the bytes has as element `p` the value that *begins at byte p*; indexed with the positions of all
records it gathers one field of each in one loop. The 88 bytes before the body are copied once per record into a dense
structured array, whose fields are then columns. Records with IPv6 hosts, whose later fields are shifted by 12 bytes per
such host, are first converted to the same layout; their hosts are read from their original positions
(store/README.md#commit-log-record). Variable parts are returned as position and length, so that the caller copies only
what it needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from functools import cached_property
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from broker_core.native import native
from broker_core.protocol.record import MAGIC_V1, MAGIC_V2, MIN_RECORD_BYTES, crc_of
from broker_core.protocol.sys_flag import BORN_HOST_IPV6, STORE_HOST_IPV6

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

HEAD: Final = np.dtype(
    [
        ("total_size", ">i4"),
        ("magic", ">i4"),
        ("body_crc", ">i4"),
        ("queue_id", ">i4"),
        ("flag", ">i4"),
        ("queue_offset", ">i8"),
        ("log_offset", ">i8"),
        ("sys_flag", ">i4"),
        ("born_timestamp", ">i8"),
        ("born_host", "V8"),
        ("store_timestamp", ">i8"),
        ("store_host", "V8"),
        ("reconsume_times", ">i4"),
        ("prepared_offset", ">i8"),
        ("body_length", ">i4"),
    ]
)
_FIELDS: Final = {name: (np.dtype(f"i{kind.itemsize}"), at) for name, (kind, at, *_) in (HEAD.fields or {}).items()}
# One unit of a consume queue.
UNIT: Final = np.dtype([("log_offset", ">i8"), ("size", ">i4"), ("tags_code", ">i8")])
_IPV6_EXTRA: Final = 12


class Damage(IntEnum):
    """Why a record cannot be read; the first reason that applies."""

    NONE = 0
    OUTSIDE = 1
    MAGIC = 2
    SIZE = 3
    PLACE = 4
    PARTS = 5
    QUEUE = 6
    BODY = 7
    EMPTY = 8
    NOWHERE = 9
    NOT_SENT = 10


DAMAGE_TEXT: Final = {
    Damage.OUTSIDE: "the record extends beyond its file",
    Damage.MAGIC: "no record begins here",
    Damage.SIZE: "the size of the record differs from the size in the queue",
    Damage.PLACE: "the record states another log offset",
    Damage.PARTS: "the parts of the record do not match its size",
    Damage.QUEUE: "the record belongs to another queue",
    Damage.BODY: "the body does not match the checksum in the record",
    Damage.EMPTY: "the queue entry names no record",
    Damage.NOWHERE: "the queue entry names a place outside the log",
    Damage.NOT_SENT: "the broker did not send a message for this offset",
}


class Wanted(IntFlag):
    """What a check makes of the records beside their heads, in the same pass: their bytes are near only once."""

    CHECKED_BODIES = 1
    BODY = 2
    UNIQUE_ID = 4
    TAG = 8
    KEY = 16
    KEYS = 32
    PROPERTIES = 64


Buffers = tuple[bytes, ...]


class Decoded(NamedTuple):
    """The wanted columns as buffers of Arrow, None for each other one; only of records none of which is damaged or odd.

    A column of texts has a bitmap of what is not null (None: nothing is), int32 offsets and bytes; the words of KEYS
    and the pairs of properties have where those of each row begin, and then one and two columns of offsets and bytes.
    """

    body: Buffers | None
    unique_id: Buffers | None
    tag: Buffers | None
    key: Buffers | None
    keys: Buffers | None
    properties: Buffers | None


@dataclass(frozen=True, slots=True)
class Span:
    """The position and length of a variable part of each record in the data."""

    start: Ints
    length: Ints


class Records:
    """The records of `data` that begin at `positions`; columns may be requested only for intact records."""

    def __init__(
        self, data: Bytes, positions: Ints, heads: NDArray[Any] | None = None, parts: Ints | None = None
    ) -> None:
        """Take any bytes and positions; `find_damage` determines which positions hold a record."""
        self.data, self.positions, self._found_heads, self._found_parts = data, positions, heads, parts
        self.decoded: Decoded | None = None
        """What `find_damage` made of the records, if it did: it leaves what is unusual to others."""

    def __len__(self) -> int:
        return len(self.positions)

    def take(self, chosen: Mask) -> Records:
        """Return the selected records; these themselves if all are."""
        if chosen.all():
            return self
        heads = None if self._found_heads is None else self._found_heads[chosen]
        parts = None if self._found_parts is None else self._found_parts.compress(chosen, axis=1)
        return Records(self.data, self.positions[chosen], heads, parts)

    def part(self, begin: int, end: int) -> Records:
        """Return the records from one index to another; these themselves if that is all of them."""
        if begin == 0 and end >= len(self):
            return self
        heads = None if self._found_heads is None else self._found_heads[begin:end]
        parts = None if self._found_parts is None else self._found_parts[:, begin:end]
        return Records(self.data, self.positions[begin:end], heads, parts)

    def column(self, name: str) -> NDArray[Any]:
        """Return a field of `HEAD` in this machine's byte order; of a host with 8 bytes the number that they are."""
        heads = self._heads
        kind, at = _FIELDS[name]
        if native is None:
            return np.ascontiguousarray(heads[name]).view(kind.newbyteorder(">")).astype(kind)
        swapped = native.swap_field(heads, HEAD.itemsize, at, kind.itemsize)
        return np.frombuffer(swapped, kind)

    def find_damage(
        self,
        sizes: Ints | None = None,
        log_offsets: Ints | None = None,
        queue_offsets: Ints | None = None,
        *,
        of_queue: tuple[bytes, int] | None = None,
        wanted: Wanted = Wanted.CHECKED_BODIES,
    ) -> NDArray[np.int8]:
        """Return a `Damage` per position; the arguments are the values in the consume queue.

        `of_queue` is the encoded topic of the records, and the queue id.
        """
        if native is None:
            return self._find_damage(sizes, log_offsets, queue_offsets, of_queue=of_queue, wanted=wanted)
        topic, queue_id = of_queue or (None, 0)
        heads, damage = np.empty((len(self), HEAD.itemsize), np.uint8), np.empty(len(self), np.int8)
        parts = np.empty((4, len(self)), np.int64)
        made = native.check_records(
            self.data, _numbers(self.positions), _numbers(sizes), _numbers(log_offsets), _numbers(queue_offsets),
            topic, queue_id, wanted, heads, damage, parts,
        )  # fmt: skip
        self._found_heads, self._found_parts = heads.view(HEAD).ravel(), parts
        self.decoded = None if made is None else Decoded(*made)
        return damage

    def _find_damage(
        self,
        sizes: Ints | None = None,
        log_offsets: Ints | None = None,
        queue_offsets: Ints | None = None,
        *,
        of_queue: tuple[bytes, int] | None = None,
        wanted: Wanted = Wanted.CHECKED_BODIES,
    ) -> NDArray[np.int8]:
        damage = np.zeros(len(self), np.int8)
        self._mark(damage, Damage.OUTSIDE, lambda some: some.positions > len(some.data) - MIN_RECORD_BYTES)
        self._mark(damage, Damage.MAGIC, lambda some: ~np.isin(some.column("magic"), (MAGIC_V1, MAGIC_V2)))
        self._mark(damage, Damage.OUTSIDE, Records._reaches_beyond)
        if sizes is not None:
            self._mark(damage, Damage.SIZE, lambda some, s: some.column("total_size") != s, sizes)
        if log_offsets is not None:
            self._mark(damage, Damage.PLACE, lambda some, o: some.column("log_offset") != o, log_offsets)
        if queue_offsets is not None:
            self._mark(damage, Damage.PLACE, lambda some, o: some.column("queue_offset") != o, queue_offsets)
        self._mark(damage, Damage.PARTS, Records._parts_do_not_add_up)
        if of_queue is not None:
            self._mark(damage, Damage.QUEUE, lambda some: some._is_of_other_queue(*of_queue))
        if Wanted.CHECKED_BODIES in wanted:
            self._mark(damage, Damage.BODY, Records._has_other_body)
        return damage

    def _is_of_other_queue(self, topic: bytes, queue_id: int) -> Mask:
        named = self.topic
        other: Mask = (self.column("queue_id") != queue_id) | (named.length != len(topic))
        same = np.flatnonzero(~other)
        text = _rows(self.data, len(topic))[named.start[same]].view(f"S{len(topic)}")
        other[same] = text != topic
        return other

    def _has_other_body(self) -> Mask:
        """Return which bodies do not match their checksum; an empty body has none."""
        data, body = memoryview(self.data), self.body  # type: ignore[arg-type]
        places = zip(body.start.tolist(), (body.start + body.length).tolist(), strict=True)
        computed = np.fromiter((crc_of(data[begin:end]) for begin, end in places), np.int64, len(self))
        other: Mask = (computed != self.column("body_crc")) & (body.length != 0)
        return other

    def _mark(self, damage: NDArray[np.int8], kind: Damage, is_damaged: Any, *columns: Ints) -> None:
        """Apply a check to the records that passed all previous checks."""
        if not damage.any():
            damage[is_damaged(self, *columns)] = kind
            return
        passed = np.flatnonzero(damage == Damage.NONE)
        some = Records(self.data, self.positions[passed])
        damage[passed[is_damaged(some, *(column[passed] for column in columns))]] = kind

    def _reaches_beyond(self) -> Mask:
        size, body = self.column("total_size").astype(np.int64), self.body.length
        outside = (size < MIN_RECORD_BYTES) | (self.positions + size > len(self.data))
        beyond: Mask = outside | (body < 0) | (self.body.start + body + 3 > self.positions + size)
        return beyond

    def _parts_do_not_add_up(self) -> Mask:
        topic, size = self.topic, self.column("total_size")
        room = self.positions + size - 2
        wrong: Mask = (topic.length < 0) | (topic.start + topic.length > room)
        if wrong.any():
            sound = Records(self.data, self.positions[~wrong])
            wrong[~wrong] = sound._parts_do_not_add_up()
            return wrong
        properties = self.properties
        unequal: Mask = (properties.length < 0) | (properties.start + properties.length != self.positions + size)
        return unequal

    def body_bytes(self, chosen: Mask) -> int:
        """Return how many bytes the bodies of the selected records have as stored."""
        return int(self.take(chosen).body.length.sum())

    @cached_property
    def _heads(self) -> NDArray[Any]:
        """The 88 bytes before each body as they would be with two IPv4 hosts."""
        if self._found_heads is not None:
            return self._found_heads
        heads = _rows(self.data, HEAD.itemsize)[self.positions].view(HEAD)
        flags = heads["sys_flag"].astype(np.int32)
        if (flags & (BORN_HOST_IPV6 | STORE_HOST_IPV6)).any():
            self._normalize(heads, flags)
        return heads

    def _normalize(self, heads: NDArray[Any], flags: NDArray[np.int32]) -> None:
        """Overwrite the fields after an IPv6 host with the bytes from their real positions."""
        last = len(self.data) - 1
        for begin, end, shift in ((56, 64, _extra(flags, BORN_HOST_IPV6)), (72, 88, _shift_of(flags))):
            some = np.flatnonzero(shift)
            places = (self.positions[some] + shift[some] + begin)[:, None] + np.arange(end - begin)
            raw = heads.view(np.uint8).reshape(len(heads), HEAD.itemsize)
            raw[some, begin:end] = self.data[np.minimum(places, last)]

    @cached_property
    def _flags(self) -> NDArray[np.int32]:
        return self.column("sys_flag")

    @cached_property
    def _shift(self) -> Ints:
        """How many bytes after position 88 the body begins."""
        return _shift_of(self._flags)

    @cached_property
    def body(self) -> Span:
        """The body as stored."""
        if self._found_parts is not None:
            return Span(self._found_parts[0], self._found_parts[1])
        length = self.column("body_length").astype(np.int64)
        return Span(self.positions + self._shift + HEAD.itemsize, length)

    @cached_property
    def topic(self) -> Span:
        """The topic's name; its length has one byte, in V2 two bytes."""
        at = self.body.start + self.body.length
        is_v2 = self.column("magic") == MAGIC_V2
        length = self.data[at].view(np.int8).astype(np.int64)
        if not is_v2.any():
            return Span(at + 1, length)
        wide = _integers(self.data, ">i2", np.minimum(at, len(self.data) - 2))
        return Span(at + 1 + is_v2, np.where(is_v2, wide, length).astype(np.int64))

    @cached_property
    def properties(self) -> Span:
        """The text of the properties."""
        if self._found_parts is not None:
            return Span(self._found_parts[2], self._found_parts[3])
        at = self.topic.start + self.topic.length
        return Span(at + 2, _integers(self.data, ">i2", at).astype(np.int64))

    @cached_property
    def born_host(self) -> Span:
        """Address and port of the producer, 8 or 20 bytes."""
        return Span(self.positions + 48, np.where(self._flags & BORN_HOST_IPV6, 20, 8))

    @cached_property
    def store_host(self) -> Span:
        """Address and port of the broker, 8 or 20 bytes."""
        begin = self.positions + 64 + _extra(self._flags, BORN_HOST_IPV6)
        return Span(begin, np.where(self._flags & STORE_HOST_IPV6, 20, 8))


def find_records(data: bytes | memoryview, begins: Sequence[int] = (0,)) -> Ints:
    """Return where the records of pull answers begin, which are one behind another in `data` and begin at `begins`.

    The records of an answer end where no size follows that can be one; that does not affect the next answer.
    """
    if native is not None:
        return np.frombuffer(native.find_records(data, np.array(begins, np.int64)), np.int64)
    view, places = memoryview(data), []
    for at, end in pairwise([*begins, len(view)]):
        while at + MIN_RECORD_BYTES <= end:
            size = int.from_bytes(view[at : at + 4], "big")
            if size < MIN_RECORD_BYTES or at + size > end:
                break
            places.append(at)
            at += size
    return np.array(places, np.int64)


def _numbers(column: Ints | None) -> Ints | None:
    return None if column is None else np.ascontiguousarray(column, np.int64)


def _shift_of(flags: NDArray[np.int32]) -> Ints:
    return _extra(flags, BORN_HOST_IPV6) + _extra(flags, STORE_HOST_IPV6)


def _extra(flags: NDArray[np.int32], bit: int) -> Ints:
    """Return by how many bytes a host with this bit of the sys flag shifts the following fields."""
    return np.where(flags & bit, _IPV6_EXTRA, 0).astype(np.int64)


def _rows(data: Bytes, width: int) -> NDArray[Any]:
    """Return a view whose element p is the `width` bytes from byte p on; nothing is copied until it is indexed."""
    count = max(0, len(data) - width + 1)
    return np.ndarray((count,), f"V{width}", buffer=data, strides=(1,))


def _integers(data: Bytes, kind: str, places: Ints) -> NDArray[Any]:
    dtype = np.dtype(kind)
    view: NDArray[Any] = np.ndarray((max(0, len(data) - dtype.itemsize + 1),), dtype, buffer=data, strides=(1,))
    return view[places].astype(dtype.newbyteorder("="))
