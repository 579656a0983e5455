"""The progress of a program: one JSON line a second, each the whole state."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import orjson

COUNTERS: Final = ("read", "filtered", "damaged", "matched", "written", "failed", "bytes")


class ProgressTail:
    """Reads the lines that were added since it last looked; a half-written one waits for its end."""

    def __init__(self, file: Path, *, skip_old: bool = False) -> None:
        """Begin at the start of the file, or after the lines of an earlier run."""
        self._file = file
        self._position = file.stat().st_size if skip_old and file.exists() else 0
        self._rest = b""

    def newest(self) -> dict[str, Any] | None:
        """Return the newest whole line, None when none was added."""
        try:
            with self._file.open("rb") as file:
                file.seek(self._position)
                added = file.read()
        except FileNotFoundError:
            return None
        self._position += len(added)
        *lines, self._rest = (self._rest + added).split(b"\n")
        state: dict[str, Any] | None = orjson.loads(lines[-1]) if lines and lines[-1] else None
        return state


def counters_of(state: dict[str, Any]) -> dict[str, int | None]:
    """Return the counters of a line; `planned` is None until the program has said it."""
    counters = state.get("counters", {})
    return {"planned": counters.get("planned"), **{name: int(counters.get(name) or 0) for name in COUNTERS}}
