"""Many messages in one send body (protocol/README.md#batches).

::

    entry   size int32 | magic int32 = 0 | body CRC int32 = 0 | flag int32 | body length int32 | body
            | properties length int16 | properties
    body    entry, entry, …

Readers trust the inner lengths; size, magic and CRC are ignored.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from broker_core.native import native
from broker_core.protocol import properties as names
from broker_core.protocol.errors import MalformedBatch, MalformedProperties
from broker_core.protocol.message import Message
from broker_core.protocol.properties import MAX_PROPERTIES_BYTES, NAME_END, PAIR_END, format_properties

_HEAD: Final = struct.Struct(">iiiii")
_PROPERTIES_LENGTH: Final = struct.Struct(">h")
_HEAD_BYTES: Final = _HEAD.size
_LENGTH_BYTES: Final = _PROPERTIES_LENGTH.size
_FIXED_BYTES: Final = _HEAD_BYTES + _LENGTH_BYTES
_PLAIN_KEY: Final = re.compile("[!-~]+")
_PLAIN_TAG: Final = re.compile("[!-{}~]([ -{}~]*[!-{}~])?")  # no | is in it
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


class PlainLimits(NamedTuple):
    """What a plain message may have; callers leave the rest to the general way of packing."""

    keys: int
    characters: int
    """Of all keys with a space between two, and of the tag."""
    body: int


def encode_plain(
    bodies: Sequence[Any],
    keys: Sequence[list[str]],
    tags: Sequence[str | None],
    ids: Sequence[str],
    common: str,
    limits: PlainLimits,
) -> bytes | None:
    """Return the body of a batch of messages with these keys, tags and unique ids, and a property text `common` to all.

    All lists are as long as each other; a body is bytes, or something like them. Returns None unless all is plain:
    bodies of ASCII, keys and tags of printable ASCII that `Message.create` would take as they are, within the limits.
    """
    body = native.encode_plain(bodies, keys, tags, ids, common, *limits) if native else None
    return _encode_plain(bodies, keys, tags, ids, common, limits) if body is None else body


def _encode_plain(
    bodies: Sequence[Any],
    keys: Sequence[list[str]],
    tags: Sequence[str | None],
    ids: Sequence[str],
    common: str,
    limits: PlainLimits,
) -> bytes | None:
    entries: list[tuple[int, bytes, str]] = []
    for body, words, tag, unique_id in zip(bodies, keys, tags, ids, strict=True):
        data, joined = bytes(body), " ".join(words)
        if len(data) > limits.body or not data.isascii() or len(words) > limits.keys or len(joined) > limits.characters:
            return None
        if not all(_PLAIN_KEY.fullmatch(word) for word in words):
            return None
        if tag is not None and (tag == "*" or len(tag) > limits.characters or not _PLAIN_TAG.fullmatch(tag)):
            return None
        pairs = [f"{names.KEYS}{NAME_END}{joined}"] if joined else []
        if tag is not None:
            pairs.append(f"{names.TAGS}{NAME_END}{tag}")
        if common:
            pairs.append(common)
        pairs.append(f"{names.UNIQ_KEY}{NAME_END}{unique_id}")
        entries.append((0, data, PAIR_END.join(pairs)))
    return _encode_entries(entries)


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
