"""The difference between two states of a list: the items that are new or changed, and the names that are gone.

A thousand quiet topics are measured every second, and only the time of the measurement changes. These moments are sent
separately from the items::

    {"at": …, "changed": [item, …], "removed": [name, …], "measured": [[moment, null], [moment, [name, …]], …]}

`null` stands for every item that the delta does not name elsewhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

_Moments = list[tuple[str | None, list[str] | None]]


def difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the delta that turns the list `before` into `after`; both are states with uniquely named `items`."""
    old = {item["name"]: item for item in before["items"]}
    changed, kept = [], []
    for item in after["items"]:
        known = old.pop(item["name"], None)
        if known is None or {**known, "measured_at": None} != {**item, "measured_at": None}:
            changed.append(item)
        else:
            kept.append((item["name"], known.get("measured_at"), item.get("measured_at")))
    rest = {name: value for name, value in after.items() if name != "items"}
    return {**rest, "changed": changed, "removed": list(old), "measured": _measured(kept)}


def _measured(kept: list[tuple[str, str | None, str | None]]) -> _Moments:
    """Return the new moments of items (name, before, now) in the shortest form."""
    every: defaultdict[str | None, list[str]] = defaultdict(list)
    moved: defaultdict[str | None, list[str]] = defaultdict(list)
    for name, before, now in kept:
        every[now].append(name)
        if before != now:
            moved[now].append(name)
    usual = max(moved, key=lambda moment: len(every[moment]), default=None)
    if len(every[usual]) * 2 <= len(kept):
        return list(moved.items())
    return [(usual, None), *((moment, names) for moment, names in every.items() if moment != usual)] if moved else []
