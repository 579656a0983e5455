"""Compresses text answers for clients that accept gzip.

The files of the console are compressed when they are built, so they pass unchanged.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Iterable
from typing import Final

from gateway.sockets import Event, Scope, Send

# Smaller bodies fit into one or two packets anyway.
LEAST_BYTES: Final = 1024
# On the hot path of the data plane only large answers are worth the time.
LEAST_DATA_BYTES: Final = 64 * 1024
# Larger bodies take more than about a millisecond, which would block the loop.
_THREAD_BYTES: Final = 64 * 1024
# Level 4 of 9 takes a third of the time of the default level; a JSON list becomes five per cent larger.
_LEVEL: Final = 4
_TEXTS: Final = (b"text/", b"application/json", b"application/problem+json", b"application/vnd.oai", b"image/svg+xml")


def compressing(scope: Scope, send: Send, *, least: int = LEAST_BYTES) -> Send:
    """Return `send`; if the request accepts gzip, one that compresses bodies of at least `least` bytes."""
    return _Compressing(send, least) if accepts_gzip(scope["headers"]) else send


def accepts_gzip(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether the headers of a request accept gzip (RFC 9110 12.5.3)."""
    weights: dict[str, float] = {}
    for name, value in headers:
        if name == b"accept-encoding":
            weights.update(map(_weight, value.decode("latin-1").lower().split(",")))
    return weights.get("gzip", weights.get("*", 0.0)) > 0


def _weight(text: str) -> tuple[str, float]:
    coding, _, parameters = text.partition(";")
    name, _, value = parameters.strip().partition("=")
    try:
        return coding.strip(), float(value) if name.strip() == "q" else 1.0
    except ValueError:
        return coding.strip(), 0.0


class _Compressing:
    """Delays the start of an answer until the first piece of its body is known."""

    def __init__(self, send: Send, least: int) -> None:
        self._send = send
        self._least = least
        self._head: Event | None = None
        self._pieces: _Gzip | None = None

    async def __call__(self, event: Event) -> None:
        if event["type"] == "http.response.start":
            self._head = event
            return
        if self._head is not None:
            head, self._head = self._head, None
            if _is_compressible(head):
                head["headers"] = [*head["headers"], (b"vary", b"accept-encoding")]
                if len(event.get("body", b"")) >= self._least:
                    await self._begin(head, event)
            await self._send(head)
        elif self._pieces is not None:
            event["body"] = self._pieces.add(event.get("body", b""), is_last=not event.get("more_body", False))
        await self._send(event)

    async def _begin(self, head: Event, event: Event) -> None:
        headers = [(name, value) for name, value in head["headers"] if name.lower() != b"content-length"]
        body, work = event["body"], _Gzip()
        if event.get("more_body", False):
            self._pieces = work
            event["body"] = work.add(body, is_last=False)
        else:
            if len(body) < _THREAD_BYTES:
                event["body"] = work.add(body, is_last=True)
            else:
                event["body"] = await asyncio.to_thread(work.add, body, is_last=True)
            headers.append((b"content-length", b"%d" % len(event["body"])))
        head["headers"] = [*headers, (b"content-encoding", b"gzip")]


def _is_compressible(head: Event) -> bool:
    headers = {name.lower(): value for name, value in head["headers"]}
    # A range is counted in bytes of the file, not of what compresses it.
    is_whole = b"content-encoding" not in headers and b"accept-ranges" not in headers
    return is_whole and headers.get(b"content-type", b"").startswith(_TEXTS)


class _Gzip:
    """Compresses one body piece by piece; the client can decode each piece when it arrives."""

    def __init__(self) -> None:
        self._work = zlib.compressobj(_LEVEL, zlib.DEFLATED, 16 + zlib.MAX_WBITS)

    def add(self, piece: bytes, *, is_last: bool) -> bytes:
        """Return the next compressed bytes."""
        return self._work.compress(piece) + self._work.flush(zlib.Z_FINISH if is_last else zlib.Z_SYNC_FLUSH)
