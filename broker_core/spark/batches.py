"""Records as Arrow batches with the columns of `schema` (spark/README.md#columns).

Each column is one function of a batch; values that several columns need (property pairs, keys) are computed once per
batch, and only if one of these columns is requested.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from broker_core.protocol.compression import decompress
from broker_core.protocol.errors import ProtocolError
from broker_core.protocol.host import decode_host
from broker_core.protocol.message_id import format_offset_id
from broker_core.protocol.sys_flag import BORN_HOST_IPV6, STORE_HOST_IPV6
from broker_core.spark.text import are_utf8, column_of, find_values, made_column, made_list, made_map, map_of, words_of
from broker_core.store.columns import Bytes, Ints, Records, Span, Wanted

COMPRESSED: Final = 0x1
KEYS: Final = b"KEYS"
UNIQUE_ID: Final = b"UNIQ_KEY"
TAG: Final = b"TAGS"
_LOOKED_FOR: Final = (KEYS, UNIQUE_ID, TAG)
_TIME: Final = pa.timestamp("us", tz="UTC")
# The years 1 to 9999: Spark has no other times, and a producer may send anything as the time of birth.
_FIRST_MS: Final = -62_135_596_800_000
_LAST_MS: Final = 253_402_300_799_999
_HEX: Final = np.array([f"{byte:02X}".encode() for byte in range(256)], "S2").view(np.uint16)


@dataclass(frozen=True, slots=True)
class RowOrigin:
    """The common origin of the records of a batch, known without reading them."""

    topic: str | None
    """None: read it from each record."""
    broker: str
    decompress: bool = True


Packed = tuple[bytes, int]
"""A compressed body and the sys flag that names its compressor."""
Bodies = dict[int, bytes | ProtocolError]
"""By position of its record a body that was unpacked, or why it cannot be."""


def packed_bodies(records: Records) -> Iterator[Packed]:
    """Yield the bodies as stored, one at a time."""
    body, flags = records.body, records.column("sys_flag").tolist()
    for start, length, flag in zip(body.start.tolist(), body.length.tolist(), flags, strict=True):
        yield records.data[start : start + length].tobytes(), flag


def unpack(packed: Packed) -> bytes | ProtocolError:
    """Return the unpacked body, or the reason why it cannot be unpacked."""
    try:
        return decompress(*packed)
    except ProtocolError as error:
        return error


class Batch:
    """Intact records that become columns; `errors` lists the rows that turned out to be damaged inside."""

    def __init__(self, records: Records, origin: RowOrigin, bodies: Bodies | None = None) -> None:
        """Take records for which `find_damage` found nothing, and bodies that are unpacked already."""
        self.records, self.origin, self.bodies = records, origin, bodies or {}
        self.errors: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self.records)

    def column(self, name: str) -> Any:
        """Return the Arrow array of a column of `schema.COLUMNS`, except `_error`."""
        return _COLUMNS[name](self)

    @cached_property
    def text(self) -> tuple[Bytes, Span]:
        """The texts of the properties, all valid UTF-8: bytes that contain them, and where."""
        data, span = self.records.data, self.records.properties
        if are_utf8(data, span.start, span.length):
            return data, span
        return self._repaired_properties()

    def _repaired_properties(self) -> tuple[Bytes, Span]:
        texts = []
        for row, text in enumerate(_raw(self.records.data, self.records.properties)):
            repaired = text.decode(errors="replace").encode()
            if repaired != text:
                self.errors.setdefault(row, "the properties are not UTF-8")
            texts.append(repaired)
        length = np.array([len(text) for text in texts], np.int64)
        return np.frombuffer(b"".join(texts), np.uint8), Span(np.cumsum(length) - length, length)

    @cached_property
    def values(self) -> dict[bytes, Span]:
        """Where the values of the usual properties are in `text`; they are looked for together."""
        data, span = self.text
        return dict(zip(_LOOKED_FOR, find_values(data, span, _LOOKED_FOR), strict=True))

    @cached_property
    def key_words(self) -> tuple[Ints, Any]:
        """Where the words of KEYS begin in each row, and all the words."""
        return words_of(self.text[0], self.values[KEYS])

    @cached_property
    def unique_id(self) -> Any:
        """The producer's id, null without one."""
        decoded = self.records.decoded
        if decoded and decoded.unique_id:
            return made_column(decoded.unique_id, pa.string())
        return column_of(self.text[0], self.values[UNIQUE_ID], pa.string())

    @cached_property
    def tag(self) -> Any:
        """The tag, null without one."""
        decoded = self.records.decoded
        if decoded and decoded.tag:
            return made_column(decoded.tag, pa.string())
        return column_of(self.text[0], self.values[TAG], pa.string())

    @cached_property
    def keys(self) -> Any:
        """The words of KEYS as a list."""
        decoded = self.records.decoded
        if decoded and decoded.keys:
            return made_list(decoded.keys)
        first, words = self.key_words
        return pa.ListArray.from_arrays(pa.array(first.astype(np.int32)), words)

    @cached_property
    def offset_id(self) -> Any:
        """The id with broker address and log offset, upper-case hex."""
        hosts, offsets = self.records.store_host, self.records.column("log_offset")
        if (hosts.length == 8).all():
            return _offset_ids(self.records, hosts, offsets)
        raw = _raw(self.records.data, hosts)
        return pa.array([format_offset_id(host, int(at)) for host, at in zip(raw, offsets, strict=True)], pa.string())


def _first_key(batch: Batch) -> Any:
    decoded = batch.records.decoded
    if decoded and decoded.key:
        return made_column(decoded.key, pa.string())
    first, words = batch.key_words
    return words.take(pa.array(first[:-1], mask=np.diff(first) == 0))


def _body(batch: Batch) -> Any:
    records = batch.records
    made = records.decoded and records.decoded.body
    stored = made_column(made, pa.binary()) if made else column_of(records.data, records.body, pa.binary())
    packed = (records.column("sys_flag") & COMPRESSED) != 0
    if not batch.origin.decompress or not packed.any():
        return stored
    rows = np.flatnonzero(packed).tolist()
    unpacked = [_unpacked(batch, *each) for each in zip(rows, packed_bodies(records.take(packed)), strict=True)]
    return pc.replace_with_mask(stored, pa.array(packed), pa.array(unpacked, pa.binary()))


def _unpacked(batch: Batch, row: int, packed: Packed) -> bytes | None:
    body = batch.bodies.get(int(batch.records.positions[row]))
    body = unpack(packed) if body is None else body
    if isinstance(body, bytes):
        return body
    batch.errors.setdefault(row, str(body))
    return None


def _properties(batch: Batch) -> Any:
    decoded = batch.records.decoded
    return made_map(decoded.properties) if decoded and decoded.properties else map_of(*batch.text)


def _crc_ok(batch: Batch) -> Any:
    """All true: a record whose body does not match its checksum is damaged and not in the batch."""
    return pa.array(np.ones(len(batch), bool))


def _constant(text: str, batch: Batch) -> Any:
    return _repeated(text, 1 << max(13, len(batch).bit_length())).slice(0, len(batch))


@lru_cache(maxsize=8)
def _repeated(text: str, times: int) -> Any:
    return pa.repeat(pa.scalar(text, pa.string()), times)


def _topic(batch: Batch) -> Any:
    if batch.origin.topic is not None:
        return _constant(batch.origin.topic, batch)
    return column_of(batch.records.data, batch.records.topic, pa.string())


def _message_id(batch: Batch) -> Any:
    if not batch.unique_id.null_count:
        return batch.unique_id
    return pc.coalesce(batch.unique_id, batch.offset_id)


def _number(name: str) -> Callable[[Batch], Any]:
    def column(batch: Batch) -> Any:
        values = batch.records.column(name)
        return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)])

    return column


def _time(name: str) -> Callable[[Batch], Any]:
    def column(batch: Batch) -> Any:
        ms = batch.records.column(name)
        if len(ms) and (ms.min() < _FIRST_MS or ms.max() > _LAST_MS):
            unknown = (ms < _FIRST_MS) | (ms > _LAST_MS)
            return pa.array(np.where(unknown, 0, ms) * 1000, pa.int64(), mask=unknown).cast(_TIME)
        return pa.Array.from_buffers(_TIME, len(batch), [None, pa.py_buffer(ms * 1000)])

    return column


def _host(name: str, part: Callable[[Records], Span]) -> Callable[[Batch], Any]:
    def column(batch: Batch) -> Any:
        if not (batch.records.column("sys_flag") & (BORN_HOST_IPV6 | STORE_HOST_IPV6)).any():
            hosts = batch.records.column(name)
            if len(hosts) and (hosts == hosts[0]).all():
                return _constant(decode_host(hosts[:1].byteswap().tobytes()), batch)
            hosts, which = np.unique(hosts, return_inverse=True)
            texts = [decode_host(host.tobytes()) for host in hosts.byteswap()]
            return pa.array(texts, pa.string()).take(pa.array(which.astype(np.int32)))
        return pa.array([decode_host(host) for host in _raw(batch.records.data, part(batch.records))], pa.string())

    return column


def _offset_ids(records: Records, hosts: Span, offsets: Ints) -> Any:
    raw = np.hstack((_matrix(records.data, hosts.start, 8), offsets.astype(">i8").view(np.uint8).reshape(-1, 8)))
    text = _HEX[raw].ravel()
    places = np.arange(0, 32 * (len(records) + 1), 32, dtype=np.int32)
    return pa.Array.from_buffers(pa.string(), len(records), [None, pa.py_buffer(places), pa.py_buffer(text)])


def _matrix(data: Bytes, places: Ints, width: int) -> Bytes:
    count = max(0, len(data) - width + 1)
    view: np.ndarray[Any, Any] = np.ndarray((count,), f"V{width}", buffer=data, strides=(1,))
    return view[places].view(np.uint8).reshape(-1, width)


def _raw(data: Bytes, span: Span) -> list[bytes]:
    return [data[at : at + length].tobytes() for at, length in zip(span.start, span.length, strict=True)]


MADE_OF: Final = {
    "body": Wanted.BODY,
    "message_id": Wanted.UNIQUE_ID,
    "unique_id": Wanted.UNIQUE_ID,
    "key": Wanted.KEY,
    "keys": Wanted.KEYS,
    "tag": Wanted.TAG,
    "properties": Wanted.PROPERTIES,
}
"""What a column is made of that a check can make in its pass."""

_COLUMNS: Final[dict[str, Callable[[Batch], Any]]] = {
    "topic": _topic,
    "broker": lambda batch: _constant(batch.origin.broker, batch),
    "queue_id": _number("queue_id"),
    "queue_offset": _number("queue_offset"),
    "log_offset": _number("log_offset"),
    "message_id": _message_id,
    "unique_id": lambda batch: batch.unique_id,
    "key": _first_key,
    "keys": lambda batch: batch.keys,
    "tag": lambda batch: batch.tag,
    "body": _body,
    "properties": _properties,
    "born_timestamp": _time("born_timestamp"),
    "store_timestamp": _time("store_timestamp"),
    "born_host": _host("born_host", lambda records: records.born_host),
    "store_host": _host("store_host", lambda records: records.store_host),
    "flag": _number("flag"),
    "sys_flag": _number("sys_flag"),
    "reconsume_times": _number("reconsume_times"),
    "body_size": _number("body_length"),
    "record_size": _number("total_size"),
    "prepared_offset": _number("prepared_offset"),
    "offset_id": lambda batch: batch.offset_id,
    "properties_text": lambda batch: column_of(batch.records.data, batch.records.properties, pa.binary()),
    "crc_ok": _crc_ok,
}
