"""JSON shapes of scans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from console.lag.shapes import MissingBroker
from console.moments import Moment, rfc3339
from gateway.control.message_shapes import ReadFromSlave, ReadMessage
from gateway.control.scan import EndReason, Progress


class Scanned(Struct, frozen=True, kw_only=True):
    """How far a scan is."""

    read: Annotated[int, Meta(description="Messages looked at.")]
    matched: int
    damaged: Annotated[int, Meta(description="Messages whose body cannot be unpacked; no condition on it holds.")]
    reached: Annotated[Moment | None, Meta(description="Store time of the oldest message looked at.")]
    elapsed_ms: int


class ScanPage(Struct, frozen=True, kw_only=True):
    """The matches of a scan, newest first, and whether all of the range was read."""

    items: list[ReadMessage]
    next_cursor: str | None
    end: Annotated[EndReason, Meta(description="end: all was read; limit: enough matches; budget: enough read.")]
    complete: Annotated[
        bool, Meta(description="Whether all of the range was read, on the master of every known broker.")
    ]
    missing: list[MissingBroker]
    from_slaves: list[ReadFromSlave]
    scanned: Scanned


class MatchLine(Struct, frozen=True, kw_only=True, tag_field="type", tag="match"):
    """A line of a streamed scan: one message."""

    message: ReadMessage


class ProgressLine(Struct, frozen=True, kw_only=True, tag_field="type", tag="progress"):
    """A line of a streamed scan: how far it is."""

    scanned: Scanned


class EndLine(Struct, frozen=True, kw_only=True, tag_field="type", tag="end"):
    """The last line of a streamed scan."""

    end: EndReason
    next_cursor: str | None
    complete: bool
    missing: Sequence[MissingBroker]
    from_slaves: Sequence[ReadFromSlave]
    scanned: Scanned


class ErrorLine(Struct, frozen=True, kw_only=True, tag_field="type", tag="error"):
    """The last line of a streamed scan that failed; `next_cursor` goes on where it stopped."""

    code: str
    detail: str
    next_cursor: str | None


def scanned_of(progress: Progress) -> Scanned:
    """Return how far a scan is, as JSON shows it."""
    return Scanned(
        read=progress.read,
        matched=progress.matched,
        damaged=progress.damaged,
        reached=None if progress.reached is None else rfc3339(progress.reached),
        elapsed_ms=progress.elapsed_ms,
    )
