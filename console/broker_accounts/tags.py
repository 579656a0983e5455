"""Tags of what several brokers have, a part for each: one that falls silent leaves those of the others as they are.

Whoever revokes an account while a broker is away must not be told that somebody else has changed it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from console.etags import etag

_PART: Final = re.compile(r"([0-9a-f]{8})\.([0-9a-f]{12})")


def tag_of(by_broker: Mapping[str, Any]) -> str:
    """Return the tag of what each broker has, by its title: anything that JSON holds."""
    parts = (f"{_digest(title)[:8]}.{_digest(content)[:12]}" for title, content in sorted(by_broker.items()))
    return f'"{"-".join(parts)}"'


def is_same(read: str, present: str) -> bool:
    """Return whether all brokers that are in both tags have the same still; False if there is none."""
    before, now = dict(_PART.findall(read)), dict(_PART.findall(present))
    both = before.keys() & now.keys()
    return bool(both) and all(before[broker] == now[broker] for broker in both)


def _digest(content: Any) -> str:
    return etag(content).strip('"')
