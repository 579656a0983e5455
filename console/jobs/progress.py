"""The progress of a program: one JSON line a second, each with the whole state."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta, Struct

from broker_core.structs import decoded
from console.jobs.models import JobType


@decoded
class Counters(Struct, frozen=True, kw_only=True):
    """The counters of a job."""

    planned: Annotated[
        int | None,
        Meta(description="How many messages the job reads: fixed when it has made its plan, null before."),
    ] = None
    read: Annotated[
        int | None,
        Meta(description="Messages that were looked at: filtered + damaged + matched. Null while nobody knows."),
    ] = 0
    filtered: Annotated[
        int | None, Meta(description="Messages that the filter leaves out. Null while nobody knows.")
    ] = 0
    damaged: Annotated[
        int | None,
        Meta(description="Messages that could not be read; the report lists them. Null where nobody looked for them."),
    ] = 0
    matched: Annotated[
        int | None, Meta(description="Intact messages that pass the filter. Null while nobody knows.")
    ] = 0
    written: int = 0
    failed: Annotated[int, Meta(description="Messages that the broker refused; the report lists them.")] = 0
    unknown: Annotated[
        int, Meta(description="Messages that were sent, of which it is not known whether they are stored.")
    ] = 0
    skipped: Annotated[int, Meta(description="Dead letters of which an earlier job has sent a copy.")] = 0
    bytes: int = 0


UNTOLD: Final = Counters(read=None, filtered=None, damaged=None, matched=None)
"""Of a program that ended before it told anything: it has written nothing, and what it has read nobody knows."""


_NOT_YET_KNOWN: Final = Counters(filtered=None, damaged=None, matched=None)
"""Of a program that looks at what was read only when everything is."""


def first_counters(asked: Mapping[str, Any]) -> Counters:
    """Return what is known of a job that has not begun; what its program finds out later is not 0 until then."""
    if asked.get("dry_run"):
        return UNTOLD
    if asked["type"] == JobType.EXPORT or (asked["type"] == JobType.RECONCILE and not asked.get("check")):
        return _NOT_YET_KNOWN
    return Counters()


@decoded
class Progress(Struct, frozen=True, kw_only=True):
    """The content of a line."""

    counters: Counters = Counters()
    rate: float | None = None
    eta_ms: int | None = None
    chunks: tuple[int, int] | None = None
    """How many chunks of a replay have ended, and how many there are."""


def last_told(file: Path) -> Progress | None:
    """Return the newest whole line; None without one. A kill may have cut off any line."""
    try:
        lines = file.read_bytes().splitlines()
    except FileNotFoundError:
        return None
    for line in reversed(lines):
        try:
            return msgspec.json.decode(line, type=Progress)
        except msgspec.DecodeError:
            continue
    return None


class ProgressTail:
    """Reads the lines that were added since the last call; an incomplete line waits for its end."""

    def __init__(self, file: Path, *, skip_old: bool = False) -> None:
        """Begin at the start of the file, or after the lines of an earlier run."""
        self._file = file
        self._position = file.stat().st_size if skip_old and file.exists() else 0
        self._rest = b""

    def newest(self) -> Progress | None:
        """Return the newest whole line, None when none was added."""
        try:
            with self._file.open("rb") as file:
                file.seek(self._position)
                added = file.read()
        except FileNotFoundError:
            return None
        self._position += len(added)
        *lines, self._rest = (self._rest + added).split(b"\n")
        return msgspec.json.decode(lines[-1], type=Progress) if lines and lines[-1] else None
