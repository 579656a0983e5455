"""Message bodies inside JSON: ``{"encoding": "json" | "text" | "base64", "data": …}``.

JSON is stored as the bytes received, so that numbers and the order of members are preserved. The property CONTENT_TYPE
says what the bytes are; for a message without it, from another client, the bytes decide.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any, Final, Literal

import msgspec
from msgspec import Raw

from gateway.data.schemas import Body, encode, invalid
from gateway.problems import MALFORMED, FieldError, ProblemError

JSON_TYPE: Final = "application/json"
TEXT_TYPE: Final = "text/plain"


def body_bytes(body: Body, at: str) -> tuple[bytes, str | None]:
    """Return the bytes to store and their content type; `at` is the pointer of the body."""
    raw = bytes(body.data)
    if body.encoding != "base64" and not raw.isascii():
        _check_utf8(raw, f"{at}/data")
    if body.encoding == "json":
        return raw, JSON_TYPE
    try:
        if body.encoding == "text":
            return msgspec.json.decode(raw, type=str).encode(), TEXT_TYPE
        return msgspec.json.decode(raw, type=bytes), None
    except msgspec.DecodeError:
        wanted = "a string" if body.encoding == "text" else "base64 in a string"
        raise invalid(f"{at}/data", f"With encoding {body.encoding!r}, data must be {wanted}.") from None


def present(data: bytes, content_type: str | None, wanted: Literal["auto", "json", "text", "base64"]) -> Body:
    """Return stored bytes as a body for JSON; bytes that cannot be shown as `wanted` become base64.

    "auto" chooses JSON if the bytes are JSON and the content type says so or they begin like an object or array; else
    text if they are UTF-8.
    """
    looks_json = content_type == JSON_TYPE or (content_type is None and data[:1] in (b"{", b"["))
    if (wanted == "json" or (wanted == "auto" and looks_json)) and is_json(data):
        return Body("json", Raw(data))
    if wanted in ("auto", "text"):
        try:
            return Body("text", Raw(encode(data.decode())))
        except UnicodeDecodeError:
            pass
    return Body("base64", Raw(b'"' + b64encode(data) + b'"'))


def is_json(data: bytes) -> bool:
    """Return whether the bytes are one JSON value in UTF-8."""
    try:
        if not data.isascii():
            data.decode()
        _ANY.decode(data)
    except (ValueError, RecursionError):  # msgspec's and Unicode's errors are ValueErrors
        return False
    return True


def _check_utf8(raw: bytes, at: str) -> None:
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        raise ProblemError(
            MALFORMED, f"The body is not UTF-8: {error.reason}.", errors=[FieldError(at, "MALFORMED", "not UTF-8")]
        ) from None


_ANY: Final[msgspec.json.Decoder[Any]] = msgspec.json.Decoder(Raw)
