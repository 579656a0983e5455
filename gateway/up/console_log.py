"""One log for all children: each line begins with the name of the child, in colour on a terminal."""

from __future__ import annotations

import sys
from typing import Final, TextIO

_COLOURS: Final = {
    "redis": 31,
    "namesrv": 96,
    "broker": 36,
    "replica": 36,
    "gateway": 32,
    "sampler": 35,
    "worker": 33,
    "beat": 34,
    "gantry": 1,
}
_WIDTH: Final = 9


class ConsoleLog:
    """Writes lines under the name of a child; in colour if the stream is a terminal."""

    def __init__(self, stream: TextIO = sys.stdout) -> None:
        self._stream = stream
        self._coloured = stream.isatty()

    def line(self, name: str, text: str) -> None:
        """Write one line of output of the child `name`."""
        label = f"{name:<{_WIDTH}}"
        if self._coloured:
            label = f"\x1b[{_COLOURS.get(name.partition('-')[0], 37)}m{label}\x1b[0m"
        self._stream.write(f"{label} │ {text}\n")
        self._stream.flush()

    def plain(self, text: str) -> None:
        """Write a text without a name."""
        self._stream.write(text)
        self._stream.flush()
