"""The names of RocketMQ's releases; on the wire a client sends only the number of its release."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

_FIRST_NAMED: Final = 46  # 3.1.0-SNAPSHOT; earlier releases had no regular numbers


def version_name(number: int) -> str:
    """Return the release of a number, written as brokers write theirs (``V4_9_8``, ``V5_3_0_SNAPSHOT``)."""
    place, is_release = divmod(number - _FIRST_NAMED, 2)
    if place < 0:
        return f"before {_NAMES[0]} ({number})"
    if place >= len(_NAMES):
        return f"after {_NAMES[-1]} ({number})"
    return _NAMES[place] if is_release else f"{_NAMES[place]}_SNAPSHOT"


def _names() -> Iterator[str]:
    for major, minors in ((3, range(1, 10)), (4, range(10)), (5, range(10))):
        for minor in minors:
            # The lines from 3.3 to 3.9 start with .1.
            first = 1 if major == 3 and minor > 2 else 0
            yield from (f"V{major}_{minor}_{patch}" for patch in range(first, 10))


_NAMES: Final = tuple(_names())
