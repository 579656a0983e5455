"""The compact header form, "ROCKETMQ" (protocol/README.md#binary-headers).

::

    ├ int16 ┼── int8 ──┼─ int16 ─┼ int32 ─┼ int32 ┼─ int32 + n ─┼─ int32 + n ─┤
    │ code  │ language │ version │ opaque │ flag  │ remark      │ fields      │
    └───────┴──────────┴─────────┴────────┴───────┴─────────────┴─────────────┘
                                                                fields, n bytes in all, each
                                                                ├ int16 + k ┼ int32 + v ┤
                                                                │ name      │ value     │
                                                                └───────────┴───────────┘

Text is UTF-8; invalid bytes are read as replacement characters, as in Java. An empty value counts as absent.
"""

from __future__ import annotations

from struct import Struct, error
from typing import Final

from broker_core.protocol.codes import LanguageCode
from broker_core.protocol.errors import MalformedHeader
from broker_core.protocol.header_json import MAX_FIELDS, HeaderParts, too_many_fields

_HEAD: Final = Struct(">hbhiii")  # up to and including the length of the remark
_INT32: Final = Struct(">i")
_INT16: Final = Struct(">h")
_pack_int16: Final = _INT16.pack
_pack_int32: Final = _INT32.pack
_unpack_int32: Final = _INT32.unpack_from
_KNOWN_LANGUAGES: Final = frozenset(int(each) for each in LanguageCode)
_OTHER: Final = int(LanguageCode.OTHER)


def encode(
    code: int, ext_fields: dict[str, str], opaque: int, flag: int, remark: str | None, language: int, version: int
) -> bytes:
    """Return the header's bytes; raises MalformedHeader for a code beyond 16 bits (5.x codes need JSON)."""
    try:
        remark_bytes = remark.encode() if remark else b""
        block = b"".join([_field(name, value) for name, value in ext_fields.items()])
        head = _HEAD.pack(code, language, version, opaque, flag, len(remark_bytes))
    except (error, UnicodeEncodeError) as problem:
        raise MalformedHeader(f"a command {code} has no binary header: {problem}") from None
    return b"".join((head, remark_bytes, _INT32.pack(len(block)), block))


def _field(name: str, value: str) -> bytes:
    name_bytes = name.encode()
    value_bytes = value.encode()
    return b"%b%b%b%b" % (_pack_int16(len(name_bytes)), name_bytes, _pack_int32(len(value_bytes)), value_bytes)


def decode(data: bytes) -> HeaderParts:
    """Return the decoded header; raises MalformedHeader."""
    try:
        code, language, version, opaque, flag, size = _HEAD.unpack_from(data)
        position = _HEAD.size
        remark_end = _end(data, position, size)
        remark = data[position:remark_end].decode("utf-8", "replace") if size else None
        (size,) = _INT32.unpack_from(data, remark_end)
        fields_at = remark_end + _INT32.size
        ext_fields = _fields(data, fields_at, _end(data, fields_at, size))
    except (error, IndexError):
        raise MalformedHeader(f"the binary header ends early, after {len(data)} bytes") from None
    return code, ext_fields, opaque, flag, remark, language if language in _KNOWN_LANGUAGES else _OTHER, version


def _fields(data: bytes, position: int, end: int) -> dict[str, str]:
    ext_fields: dict[str, str] = {}
    for _ in range(MAX_FIELDS):
        if position >= end:
            return ext_fields
        name_at = position + 2
        name_end = name_at + (data[position] << 8 | data[position + 1])
        value_at = name_end + 4
        position = value_at + _unpack_int32(data, name_end)[0]
        if value_at < position <= end:
            name = data[name_at:name_end].decode("utf-8", "replace")
            ext_fields[name] = data[value_at:position].decode("utf-8", "replace")
        elif position != value_at or position > end:
            raise MalformedHeader("a field of the binary header is longer than the block of fields")
    if position < end:
        raise too_many_fields()
    return ext_fields


def _end(data: bytes, start: int, size: int) -> int:
    if size < 0 or start + size > len(data):
        raise MalformedHeader(f"the binary header announces {size} bytes at {start} but has {len(data)}")
    return start + size
