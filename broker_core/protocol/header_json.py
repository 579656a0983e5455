"""The JSON header form (protocol/README.md#json-headers).

::

    {"code":105,"extFields":{"topic":"T"},"flag":0,"language":"PYTHON","opaque":7,
     "serializeTypeCurrentRPC":"JSON","version":409}

Headers are written as strict JSON, with sorted keys and strings as the values of `extFields`. Reading is less strict,
like Java's parser: fields may be numbers, booleans or null, keys unquoted, quotes single.

A server reads headers before it knows who sent them, and serves nobody else meanwhile. Known clients write strict JSON,
with properties in one field, so what takes longer is limited: see `LOOSE_BYTES` and `MAX_FIELDS`.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Final, TypeAlias

import orjson

from broker_core.native import native
from broker_core.protocol import fastjson
from broker_core.protocol.codes import SERIALIZER_JSON, LanguageCode
from broker_core.protocol.errors import LooseJsonTooLong, MalformedBody, MalformedHeader
from broker_core.protocol.frame import check_size, frame_prefix

HeaderParts: TypeAlias = tuple[int, dict[str, str], int, int, str | None, int, int]
"""Code, extFields, opaque, flag, remark, language, version; a plain tuple because every command passes here."""

LOOSE_BYTES: Final = 16 * 1024
"""The limit on a header that is not strict JSON: the longest that people write by hand, and a few milliseconds."""

MAX_FIELDS: Final = 1_000
"""The limit on fields of a header in either form; no request has more than some thirty."""

_LANGUAGES: Final = {each.name: int(each) for each in LanguageCode}
_LANGUAGE_NAMES: Final = {int(each): each.name for each in LanguageCode}
_JAVA: Final = int(LanguageCode.JAVA)
_OTHER: Final = int(LanguageCode.OTHER)
_INT32: Final = 1 << 31


def encode(
    code: int, ext_fields: dict[str, str], opaque: int, flag: int, remark: str | None, language: int, version: int
) -> bytes:
    """Return the header's bytes; raises MalformedHeader for text that JSON cannot represent: half a surrogate pair."""
    header: dict[str, object] = {
        "code": code,
        "extFields": ext_fields,
        "flag": flag,
        "language": _LANGUAGE_NAMES.get(language, "OTHER"),
        "opaque": opaque,
    }
    if remark is not None:
        header["remark"] = remark
    header["serializeTypeCurrentRPC"] = "JSON"
    header["version"] = version
    try:
        return orjson.dumps(header)
    except TypeError as error:
        raise MalformedHeader(f"the header of a command {code} cannot be written: {error}") from None


def frame_head(
    code: int,
    ext_fields: dict[str, str],
    opaque: int,
    flag: int,
    remark: str | None,
    language: int,
    version: int,
    body_size: int,
) -> bytes:
    """Return a frame up to its body; raises MalformedHeader like `encode`, and FrameTooLarge."""
    if native is None:
        header = encode(code, ext_fields, opaque, flag, remark, language, version)
        return frame_prefix(SERIALIZER_JSON, len(header), body_size) + header
    name = _LANGUAGE_NAMES.get(language, "OTHER")
    try:
        head = native.encode_frame_head(code, ext_fields, opaque, flag, remark, name, version, body_size)
    except (TypeError, UnicodeEncodeError, OverflowError) as error:
        raise MalformedHeader(f"the header of a command {code} cannot be written: {error}") from None
    check_size(len(head) + body_size)
    return head


def decode(data: bytes) -> HeaderParts:
    """Return the decoded header; raises MalformedHeader."""
    parts = (native.decode_header(data, _LANGUAGES) if native else None) or _decode(data)
    if len(parts[1]) > MAX_FIELDS:
        raise too_many_fields()
    return parts


def too_many_fields() -> MalformedHeader:
    """Return the error for a header of more than `MAX_FIELDS` fields."""
    return MalformedHeader(f"the header has more than the limit of {MAX_FIELDS} fields")


def _decode(data: bytes) -> HeaderParts:
    try:
        header = orjson.loads(data)
        ext_fields = header["extFields"]
        "".join(ext_fields.values())  # the fastest check that all values are text
        code, opaque, flag, version = header["code"], header["opaque"], header["flag"], header["version"]
        language, remark = _LANGUAGES[header["language"]], header.get("remark")
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        return _decode_tolerantly(data)
    if (
        type(code) is type(opaque) is type(flag) is type(version) is int
        and -_INT32 <= opaque < _INT32
        and (remark is None or type(remark) is str)
    ):
        return code, ext_fields, opaque, flag, remark, language, version
    return _decode_tolerantly(data)


def _decode_tolerantly(data: bytes) -> HeaderParts:
    """Decode a header that is not strict JSON, lacks keys, or has values of other types."""
    try:
        header = fastjson.loads(data, LOOSE_BYTES)
    except LooseJsonTooLong as error:
        raise MalformedHeader(f"the header has {error}") from None
    except MalformedBody as error:
        raise MalformedHeader(f"the header is not JSON: {error}") from None
    if type(header) is not dict:
        raise MalformedHeader("the header is JSON, but not an object")
    ext_fields = header.get("extFields")
    if ext_fields is not None and type(ext_fields) is not dict:
        raise MalformedHeader("extFields is not an object")
    if ext_fields is not None and len(ext_fields) > MAX_FIELDS:
        raise too_many_fields()
    code, opaque, flag, version = [_as_int32(header.get(name)) for name in ("code", "opaque", "flag", "version")]
    remark = header.get("remark")
    return (
        code,
        _as_texts(ext_fields or {}),
        opaque,
        flag,
        None if remark is None else _as_text(remark),
        _language(header.get("language")),
        version,
    )


def _language(value: object) -> int:
    """Return the language's number: usually given as a name, sometimes as a number; unknown ones are OTHER."""
    if value is None:
        return _JAVA
    if type(value) is str:
        return _LANGUAGES.get(value, _OTHER)
    return value if type(value) is int and value in _LANGUAGE_NAMES else _OTHER


def _as_int32(value: object) -> int:
    try:
        number = 0 if value is None else int(value)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        raise MalformedHeader(f"{str(value)[:40]!r} instead of a number in the header") from None
    if not -_INT32 <= number < _INT32:
        raise MalformedHeader(f"{number} instead of a 32-bit number in the header")
    return int(number)


def _as_texts(values: dict[object, object]) -> dict[str, str]:
    """Return the fields as text, as Java's parser does: ``false`` and not ``False``, no exponents, null left out."""
    return {str(name): _as_text(value) for name, value in values.items() if value is not None}


def _as_text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else format(Decimal(repr(value)), "f")
    if isinstance(value, int):
        return str(value)
    raise MalformedHeader("a field of the header is neither text nor a number")
