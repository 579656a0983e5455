"""Checks query and headers of a request: unknown or repeated parts are refused, not ignored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import parse_qs

from console.charsets import charset_fault
from gateway.data.parts import Header
from gateway.data.routing import Action
from gateway.data.schemas import invalid
from gateway.problems import UNSUPPORTED_MEDIA_TYPE, ProblemError

PREPARING: Final = ("transaction", "group", "check_after_s")
"""The query parameters of a produce; all of them are about transactions."""
_ONCE: Final = frozenset({b"authorization", b"content-encoding", b"content-type", b"idempotency-key"})
_OURS: Final = b"mq-"
_KEY: Final = b"mq-key"
_JSON_KINDS: Final = (b"application/json", b"application/x-ndjson")


def check_query(action: Action, query: bytes) -> None:
    """Raise a problem that names a query parameter that is not supported; only a produce has some."""
    known = PREPARING if action == "produce" else ()
    for name in parse_qs(query.decode("latin-1"), keep_blank_values=True):
        if name not in known:
            raise invalid(f"?{name}", f"{name!r} is not a parameter here; there are {', '.join(known) or 'none'}.")


def media_type(headers: dict[bytes, bytes]) -> bytes:
    """Return the content type of a request in lower case, without its parameters."""
    return headers.get(b"content-type", b"").partition(b";")[0].strip().lower()


def check_media_type(action: Action, headers: dict[bytes, bytes]) -> None:
    """Raise 415 for what is to be read as JSON and says that it is something else, or in another charset than UTF-8."""
    given = headers.get(b"content-type")
    if given is None or given == b"application/json":
        return
    if not given.strip():
        raise ProblemError(UNSUPPORTED_MEDIA_TYPE, "The header Content-Type is empty: name a type, or leave it out.")
    kind = media_type(headers)
    if action == "produce" and kind not in _JSON_KINDS:
        return  # the body is the message, whatever it is
    if action != "produce" and kind != b"application/json":
        detail = f"This request takes application/json; {given.decode('latin-1')[:100]!r} is not."
        raise ProblemError(UNSUPPORTED_MEDIA_TYPE, detail)
    fault = charset_fault(given.decode("latin-1"))
    if fault is not None:
        raise ProblemError(UNSUPPORTED_MEDIA_TYPE, fault)


def check_headers(action: Action, given: Sequence[Header], headers: dict[bytes, bytes]) -> None:
    """Raise INVALID for a repeated header or one without effect (MQ-…, If-Match), 415 for an encoded body.

    `headers` has the last value of each of `given`.
    """
    if _OURS in b"\n".join(headers):  # cheaper than a look at each name, of which most requests have none
        _check_ours(action, headers)
    if b"if-match" in headers:
        raise invalid("If-Match", "This request compares no version; leave If-Match out.")
    if len(given) > len(headers):
        seen = set[bytes]()
        for name, _ in given:
            if name in seen and (name in _ONCE or (name.startswith(_OURS) and name != _KEY)):
                text = name.decode("latin-1")
                raise invalid(text, f"The header {text} is given twice.")
            seen.add(name)
    encoding = headers.get(b"content-encoding", b"identity").strip().lower()
    if encoding != b"identity":
        wanted = "Send the body without Content-Encoding: it is neither decoded nor passed on to consumers."
        raise ProblemError(UNSUPPORTED_MEDIA_TYPE, wanted)


def _check_ours(action: Action, headers: dict[bytes, bytes]) -> None:
    """Raise INVALID for the first MQ-… header unless the whole body is the message."""
    is_raw = media_type(headers) not in _JSON_KINDS
    if action == "produce" and is_raw:
        return
    for name in headers:
        if name.startswith(_OURS):
            text = name.decode("latin-1")
            instead = "in JSON the message has its own fields" if action == "produce" else "there is none here"
            raise invalid(text, f"The header {text} describes a message that is the whole body; {instead}.")
