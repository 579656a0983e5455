"""Offsets as strings in the answers of the control plane, for readers whose numbers are doubles.

The data plane writes its own (`gateway.data.parts.wants_text_offsets`). Here answers are changed as text, so that
whatever is no offset stays as it was written, above all the bodies of messages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from msgspec import Raw

_ASKED: Final = "offsets=string"
_TYPES: Final = ("application/json", "application/problem+json")
_OF_PRODUCERS: Final = frozenset(("body", "data", "text", "properties"))
_OF_QUEUES: Final = frozenset(("current", "new", "min", "max", "before", "after"))
"""Offsets where they stand beside a `queue_id`."""
_members: Final = msgspec.json.Decoder(dict[str, Raw])
_items: Final = msgspec.json.Decoder(list[Raw])


class TextOffsetsMiddleware:
    """Answers ``Accept: application/json;offsets=string`` with offsets as strings."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Change the answer if the client asked for it, and it is JSON of the API."""
        response = self._get_response(request)
        is_json = response.headers.get("Content-Type", "").partition(";")[0] in _TYPES
        if not is_json or not isinstance(response, HttpResponse) or _ASKED not in request.headers.get("Accept", ""):
            return response
        if response.content:
            response.content = with_text_offsets(response.content)
        if "Content-Length" in response.headers:
            response.headers["Content-Length"] = str(len(response.content))
        patch_vary_headers(response, ("Accept",))
        return response


def with_text_offsets(text: bytes) -> bytes:
    """Return a JSON text in which every offset is a string, and everything else as it was written."""
    return bytes(_converted(Raw(text.strip())))


def _converted(value: Raw) -> Raw:
    first = bytes(memoryview(value)[:1])
    if first == b"{":
        members = _members.decode(value)
        has_queue = "queue_id" in members
        return Raw(msgspec.json.encode({name: _member(name, each, has_queue) for name, each in members.items()}))
    if first == b"[":
        return Raw(msgspec.json.encode([_converted(each) for each in _items.decode(value)]))
    return value


def _member(name: str, value: Raw, has_queue: bool) -> Raw:
    if name in _OF_PRODUCERS:
        return value
    text = bytes(value)
    is_offset = name == "offset" or name.endswith("_offset") or (has_queue and name in _OF_QUEUES)
    if is_offset and text.lstrip(b"-").isdigit():
        return Raw(b'"%b"' % text)
    return _converted(value)
