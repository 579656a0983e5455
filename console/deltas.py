"""The difference between two states of a list: the items that are new or changed, and the names that are gone.

A thousand quiet topics are measured every second, and only the time of the measurement changes. These moments are sent
separately from the items::

    {"at": …, "changed": [item, …], "removed": [name, …], "measured": [[moment, null], [moment, [name, …]], …]}

`null` stands for every item with a moment that the delta does not name elsewhere; an item that was never measured is
among `changed` when it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Generic, Protocol, TypeVar

from msgspec import Struct

R = TypeVar("R", bound="_Row")
T = TypeVar("T")
Moments = list[tuple[str, list[str] | None]]


class _Row(Protocol):
    name: str
    measured_at: str | None


class ListDelta(Struct, Generic[T], frozen=True, kw_only=True):
    """What turns one state of a list into the next one."""

    at: str
    changed: list[T]
    removed: list[str]
    measured: Moments


def moments_of(rows: Iterable[_Row]) -> Moments:
    """Return when each of the rows was measured, in the shortest form; rows that never were are left out."""
    every: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row.measured_at is not None:
            every[row.measured_at].append(row.name)
    usual = max(every, key=lambda moment: len(every[moment]), default=None)
    if usual is None:
        return []
    return [(usual, None), *((moment, names) for moment, names in every.items() if moment != usual)]


def moment_in(measured: Moments, name: str) -> str | None:
    """Return the moment of an item that was measured."""
    usual = None
    for moment, names in measured:
        if names is None:
            usual = moment
        elif name in names:
            return moment
    return usual


def delta_of(at: str, rows: Sequence[R], changed: frozenset[str] | set[str], removed: Iterable[str]) -> ListDelta[R]:
    """Return the delta to the state `rows`, of which `changed` are new or differ in more than their moment."""
    return ListDelta(
        at=at,
        changed=[row for row in rows if row.name in changed],
        removed=list(removed),
        measured=moments_of(row for row in rows if row.name not in changed),
    )
