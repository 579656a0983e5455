"""Many messages in one send body (protocol/README.md#batches).

::

    entry   size int32 | magic int32 = 0 | body CRC int32 = 0 | flag int32 | body length int32 | body
            | properties length int16 | properties
    body    entry, entry, …

Readers trust the inner lengths; size, magic and CRC are ignored.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Final, NamedTuple

from broker_core.native import native
from broker_core.protocol.errors import MalformedBatch, MalformedProperties
from broker_core.protocol.message import Message
from broker_core.protocol.properties import MAX_PROPERTIES_BYTES, format_properties

_HEAD: Final = struct.Struct(">iiiii")
_PROPERTIES_LENGTH: Final = struct.Struct(">h")
_HEAD_BYTES: Final = _HEAD.size
_LENGTH_BYTES: Final = _PROPERTIES_LENGTH.size
_FIXED_BYTES: Final = _HEAD_BYTES + _LENGTH_BYTES
_unpack_head: Final = _HEAD.unpack_from
_unpack_length: Final = _PROPERTIES_LENGTH.unpack_from


class BatchEntry(NamedTuple):
    """One message of a batch; topic, queue, times and sys flag are those of the whole batch."""

    flag: int
    body: bytes
    properties: str


def encode_batch(messages: Iterable[Message]) -> bytes:
    """Return the body of a batch; raise MalformedProperties for properties that are too long."""
    return encode_entries([(each.flag, each.body, format_properties(each.properties)) for each in messages])


def encode_entries(entries: list[tuple[int, bytes, str]]) -> bytes:
    """Return the body of a batch of (flag, body, property text); raise MalformedProperties for a text too long."""
    body = native.encode_entries(entries) if native else None
    return _encode_entries(entries) if body is None else body


def _encode_entries(entries: list[tuple[int, bytes, str]]) -> bytes:
    parts: list[bytes] = []
    for flag, body, properties in entries:
        text = properties.encode()
        if len(text) > MAX_PROPERTIES_BYTES:
            raise MalformedProperties(f"properties of {len(text)} bytes; at most {MAX_PROPERTIES_BYTES} fit")
        size = _FIXED_BYTES + len(body) + len(text)
        parts += (_HEAD.pack(size, 0, 0, flag, len(body)), body)
        parts += (_PROPERTIES_LENGTH.pack(len(text)), text)
    return b"".join(parts)


def decode_batch(body: bytes | memoryview) -> list[BatchEntry]:
    """Return the entries of a batch in their order; raise MalformedBatch for an empty or broken body."""
    data = bytes(body)
    end = len(data)
    entries: list[BatchEntry] = []
    position = 0
    try:
        while position < end:
            _, _, _, flag, body_length = _unpack_head(data, position)
            body_begin = position + _HEAD_BYTES
            body_end = body_begin + body_length
            if body_length < 0 or body_end > end:
                raise MalformedBatch(f"batch entry at byte {position}: a body of {body_length} bytes does not fit")
            (length,) = _unpack_length(data, body_end)
            text_begin = body_end + _LENGTH_BYTES
            text_end = text_begin + length
            if length < 0 or text_end > end:
                raise MalformedBatch(f"batch entry at byte {position}: properties of {length} bytes do not fit")
            text = data[text_begin:text_end].decode()
            entries.append(BatchEntry(flag, data[body_begin:body_end], text))
            position = text_end
    except struct.error as error:
        raise MalformedBatch(f"batch entry at byte {position} is cut off") from error
    except UnicodeDecodeError as error:
        raise MalformedBatch(f"batch entry at byte {position}: its properties are not UTF-8") from error
    if not entries:
        raise MalformedBatch("a batch without a single entry")
    return entries
