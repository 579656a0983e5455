"""One log for all children: each line carries the name of who wrote it, in that one's colour on a terminal."""

from __future__ import annotations

import sys
from typing import Final, TextIO

_COLOURS: Final = {"redis": 31, "broker": 36, "gateway": 32, "sampler": 35, "worker": 33, "beat": 34, "gantry": 1}
_WIDTH: Final = 8


class ConsoleLog:
    """Writes lines under a name; colours only when a person looks."""

    def __init__(self, stream: TextIO = sys.stdout) -> None:
        self._stream = stream
        self._coloured = stream.isatty()

    def line(self, name: str, text: str) -> None:
        """Write one line of `name`."""
        label = f"{name:<{_WIDTH}}"
        if self._coloured:
            label = f"\x1b[{_COLOURS.get(name, 37)}m{label}\x1b[0m"
        self._stream.write(f"{label} │ {text}\n")
        self._stream.flush()

    def plain(self, text: str) -> None:
        """Write a text that belongs to no child, as it is."""
        self._stream.write(text)
        self._stream.flush()
