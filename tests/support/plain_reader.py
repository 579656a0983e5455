"""A second reader of a store, to compare the first with: plain Python, written from `broker_core/store/README.md`.

It shares no code with `broker_core`: files are cut with `struct`, checksums are zlib's, bodies are unpacked by the
libraries themselves. It reads one message at a time and knows nothing of columns, batches or mappings.
"""

from __future__ import annotations

import socket
import struct
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import lz4.frame
import zstandard

Row = dict[str, Any]
"""One message by the columns of ``format("rocketmq")``."""

BROKER: Final = "broker-a"

NO_RECORD: Final = "the queue entry names no record"
NOWHERE: Final = "the queue entry names a place outside the log"
OUTSIDE: Final = "the record extends beyond its file"
MAGIC: Final = "no record begins here"
SIZE: Final = "the size of the record differs from the size in the queue"
PLACE: Final = "the record states another log offset"
PARTS: Final = "the parts of the record do not match its size"
QUEUE: Final = "the record belongs to another queue"
BODY: Final = "the body does not match the checksum in the record"
NOT_SENT: Final = "the broker did not send a message for this offset"
NOT_UTF8: Final = "the properties are not UTF-8"
NOT_UNPACKED: Final = "does not unpack"
"""A part of the text, which has the library's own reason behind it."""
UNKNOWN: Final = "is not defined"

OF_RECORDS: Final = {NO_RECORD, NOWHERE, OUTSIDE, MAGIC, SIZE, PLACE, PARTS, QUEUE, BODY}
"""What makes a whole record unreadable, so that a broker does not send it."""

_V1, _V2 = 0xDAA320A7, 0xDAA320AB
_SMALLEST = 91
_FILLER = 0x7FFFFFFF
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class _Damaged(Exception):
    """A record that cannot be read; its text says why."""


def read_topic(store: Path, topic: str, columns: tuple[str, ...], *, checks_bodies: bool = True) -> list[Row]:
    """Return the rows of a topic by queue and offset, each with these columns; the broker is `BROKER`."""
    log = sorted((store / "commitlog").iterdir())
    segments = {int(path.name): path.read_bytes() for path in log}
    segment_size = log[0].stat().st_size
    rows = []
    for folder in sorted((store / "consumequeue" / topic).iterdir(), key=lambda each: int(each.name)):
        for offset, unit in _units(folder, min(segments)):
            row: Row = dict.fromkeys(columns)
            known = {"topic": topic, "broker": BROKER, "queue_id": int(folder.name), "queue_offset": offset}
            found = _read(unit, segments, segment_size, known, checks_bodies)
            row.update({name: value for name, value in found.items() if name in row})
            rows.append(row)
    return rows


def as_sent(row: Row) -> Row:
    """Return what is known of a message over the wire: a broker leaves out damaged records, and nothing tells why."""
    if row["_error"] not in OF_RECORDS:
        return row
    nothing: Row = dict.fromkeys(row)
    known = {name: row[name] for name in ("topic", "broker", "queue_id", "queue_offset")}
    return nothing | known | {"_error": NOT_SENT}


def _units(folder: Path, log_begin: int) -> Iterator[tuple[int, tuple[int, int, int]]]:
    """Yield the units between the first message that the log has and the last written unit, with queue offsets."""
    files = sorted(folder.iterdir())
    data = b"".join(path.read_bytes() for path in files)
    first = int(files[0].name) // 20
    units = list(struct.iter_unpack(">qiq", data[: len(data) - len(data) % 20]))
    while units and units[-1] == (0, 0, 0):
        units.pop()
    begin = next((at for at, unit in enumerate(units) if not 0 <= unit[0] < log_begin), len(units))
    for at in range(begin, len(units)):
        yield first + at, units[at]


def _read(
    unit: tuple[int, int, int], segments: dict[int, bytes], segment_size: int, known: Row, checks_bodies: bool
) -> Row:
    log_offset, size, _ = unit
    if size <= 0 or size == _FILLER:
        return {**known, "_error": NO_RECORD}
    start = log_offset - log_offset % segment_size
    if start not in segments:
        return {**known, "log_offset": log_offset if log_offset >= 0 else None, "_error": NOWHERE}
    try:
        row = _record(segments[start], log_offset - start, unit, known, checks_bodies)
    except _Damaged as damage:
        why = str(damage)
        crc_ok = False if why == BODY else None
        return {**known, "log_offset": log_offset, "crc_ok": crc_ok, "_error": why}
    return {**known, **row}


def _record(data: bytes, at: int, unit: tuple[int, int, int], known: Row, checks_bodies: bool) -> Row:
    log_offset, unit_size, _ = unit
    if at + _SMALLEST > len(data):
        raise _Damaged(OUTSIDE)
    size, magic, checksum, queue_id, flag, queue_offset, place, sys_flag, born = struct.unpack_from(
        ">iIIiiqqiq", data, at
    )
    if magic not in (_V1, _V2):
        raise _Damaged(MAGIC)
    if size < _SMALLEST or at + size > len(data):
        raise _Damaged(OUTSIDE)
    end, position = at + size, at + 48
    born_host, position = _host(data, position, is_v6=bool(sys_flag & 0x10))
    (stored,) = struct.unpack_from(">q", data, position)
    store_host, after = _host(data, position + 8, is_v6=bool(sys_flag & 0x20))
    raw_host = data[position + 8 : after]
    reconsumed, prepared, body_size = struct.unpack_from(">iqi", data, after)
    body_at = after + 16
    if body_size < 0 or body_at + body_size + 3 > end:
        raise _Damaged(OUTSIDE)
    if size != unit_size:
        raise _Damaged(SIZE)
    if place != log_offset or queue_offset != known["queue_offset"]:
        raise _Damaged(PLACE)
    topic, text = _texts(data, body_at + body_size, end, is_v2=magic == _V2)
    if (topic, queue_id) != (known["topic"].encode(), known["queue_id"]):
        raise _Damaged(QUEUE)
    stored_body = data[body_at : body_at + body_size]
    if checks_bodies and body_size and zlib.crc32(stored_body) & 0x7FFFFFFF != checksum:
        raise _Damaged(BODY)
    pairs, errors = _pairs(text)
    body, wrong = _unpacked(stored_body, sys_flag)
    keys = [word for word in pairs.get("KEYS", "").split(" ") if word]
    offset_id = (raw_host + struct.pack(">q", log_offset)).hex().upper()
    return {
        "log_offset": log_offset,
        "message_id": pairs.get("UNIQ_KEY", offset_id),
        "unique_id": pairs.get("UNIQ_KEY"),
        "key": keys[0] if keys else None,
        "keys": keys,
        "tag": pairs.get("TAGS"),
        "body": body,
        "properties": pairs,
        "born_timestamp": _moment(born),
        "store_timestamp": _moment(stored),
        "born_host": born_host,
        "flag": flag,
        "sys_flag": sys_flag,
        "reconsume_times": reconsumed,
        "body_size": body_size,
        "record_size": size,
        "prepared_offset": prepared,
        "store_host": store_host,
        "offset_id": offset_id,
        "properties_text": text,
        "crc_ok": True,
        "_error": errors or wrong,
    }


def _host(data: bytes, at: int, *, is_v6: bool) -> tuple[str, int]:
    """Return a host as text, and the position behind it."""
    size = 16 if is_v6 else 4
    address = socket.inet_ntop(socket.AF_INET6 if is_v6 else socket.AF_INET, data[at : at + size])
    (port,) = struct.unpack_from(">i", data, at + size)
    return (f"[{address}]:{port}" if is_v6 else f"{address}:{port}"), at + size + 4


def _texts(data: bytes, at: int, end: int, *, is_v2: bool) -> tuple[bytes, bytes]:
    """Return topic and properties, which together fill the rest of the record."""
    form = ">h" if is_v2 else ">b"
    (length,) = struct.unpack_from(form, data, at)
    begin = at + struct.calcsize(form)
    if length < 0 or begin + length + 2 > end:
        raise _Damaged(PARTS)
    (rest,) = struct.unpack_from(">h", data, begin + length)
    if rest < 0 or begin + length + 2 + rest != end:
        raise _Damaged(PARTS)
    return data[begin : begin + length], data[begin + length + 2 : end]


def _pairs(text: bytes) -> tuple[dict[str, str], str | None]:
    readable = text.decode("utf-8", "replace")
    pairs: dict[str, str] = {}
    for pair in readable.split("\x02"):
        if "\x01" in pair:
            name, value = pair.split("\x01", 1)
            if name and value:
                pairs[name] = value
    return pairs, NOT_UTF8 if readable.encode() != text else None


def _unpacked(body: bytes, sys_flag: int) -> tuple[bytes | None, str | None]:
    """Return the body as its producer gave it, or why there is none."""
    if not sys_flag & 1:
        return body, None
    try:
        if sys_flag & 0x700 in (0, 0x300):
            return zlib.decompress(body), None
        if sys_flag & 0x700 == 0x100:
            return lz4.frame.decompress(body), None
        if sys_flag & 0x700 == 0x200:
            unpacker = zstandard.ZstdDecompressor().decompressobj()
            unpacked = unpacker.decompress(body)
            return (unpacked, None) if unpacker.eof else (None, NOT_UNPACKED)
    except (zlib.error, RuntimeError, zstandard.ZstdError):
        return None, NOT_UNPACKED
    return None, UNKNOWN


def _moment(ms: int) -> datetime | None:
    """Return a time; None outside of the years 1 to 9999, which have no name in Python and Spark."""
    try:
        return _EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        return None
