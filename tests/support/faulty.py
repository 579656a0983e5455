"""Two sides that differ in faults sown at random, and an oracle that counts by plain dictionaries what differs.

The oracle knows nothing of hashes, groups and arrays: per key it compares lists of values.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.support.comparing import START_MS, Row, message

Value = tuple[Hashable, ...]
LATENESS_MS = 60_000
END_MS = START_MS + 10_000_000
TOLERANCE = 0.01


@dataclass
class Sown:
    """Rows of both sides, and how many faults of each kind were sown."""

    left: list[Row] = field(default_factory=list)
    right: list[Row] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)


def sow(rng: random.Random, keys: int) -> Sown:
    """Return two equal sides but for the faults in every fourth key."""
    sown, faults = Sown(), list(_FAULTS)
    for number in range(keys):
        left = [_row(f"k{number}", number, version) for version in range(rng.choice((1, 1, 1, 2, 3)))]
        right = [dict(row) for row in left]
        if rng.random() < 0.25:
            kind = rng.choice(faults)
            _FAULTS[kind](rng, left, right)
            sown.kinds[kind] += 1
        sown.left += left
        sown.right += right
    for rows in (sown.left, sown.right):
        rng.shuffle(rows)
        for offset, row in enumerate(rows):
            row["queue_offset"] = offset
    return sown


def _row(key: str, number: int, version: int) -> Row:
    content = {"id": key, "amount": number + version / 4, "state": "paid" if number % 3 else None}
    return message(0, key, json.dumps(content), tag="A", _time=START_MS + 1000 * number + 100 * version)


def _missing(*sides: int) -> Callable[..., None]:
    def make(rng: random.Random, *rows: list[Row]) -> None:
        for side in sides:
            if rng.random() < 0.5:
                rows[side].clear()
            else:
                rows[side].pop(rng.randrange(len(rows[side])))

    return make


def _changed(**changes: Any) -> Callable[..., None]:
    def make(rng: random.Random, *rows: list[Row]) -> None:
        row = rng.choice(rng.choice(rows))
        content = json.loads(row["body"])
        content.update({name: change(content[name]) for name, change in changes.items()})
        row["body"] = json.dumps(content).encode()

    return make


def _without_tag(rng: random.Random, *rows: list[Row]) -> None:
    rng.choice(rng.choice(rows))["tag"] = None


def _duplicated(rng: random.Random, *rows: list[Row]) -> None:
    side = rng.choice(rows)
    side += [dict(rng.choice(side)) for _ in range(rng.choice((1, 2)))]


def _reordered(_rng: random.Random, left: list[Row], right: list[Row]) -> None:
    left.append({**left[-1], "_time": left[-1]["_time"] + 50, "tag": "B"})
    right.append(dict(left[-1]))
    right[-1]["_time"], right[-2]["_time"] = right[-2]["_time"], right[-1]["_time"]


def _late(rng: random.Random, left: list[Row], right: list[Row]) -> None:
    """Move one row behind the end of the range, and its partner just before it."""
    one, other = rng.choice(((left, right), (right, left)))
    del one[1:], other[1:]
    one[0]["_time"] = END_MS - 1000
    if rng.random() < 0.5:
        other[0]["_time"] = END_MS + 1000
    else:
        other.clear()


_FAULTS: dict[str, Callable[..., None]] = {
    "missing left": _missing(0),
    "missing right": _missing(1),
    "changed within the tolerance": _changed(amount=lambda amount: amount + TOLERANCE / 2),
    "changed": _changed(amount=lambda amount: amount + TOLERANCE * 2),
    "another type": _changed(amount=str),
    "null": _changed(amount=lambda _amount: None),
    "no longer null": _changed(state=lambda state: None if state else ""),
    "without a tag": _without_tag,
    "duplicated": _duplicated,
    "reordered": _reordered,
    "late": _late,
}


@dataclass(frozen=True)
class Oracle:
    """What is compared of a row, and how."""

    value: Callable[[Row], Value]
    equal: Callable[[Value, Value], bool] = lambda one, other: one == other
    ordered: bool = False
    multiset: bool = True
    lateness_ms: int = 0

    def classes(self, sown: Sown) -> dict[str, str]:
        """Return the class of each key that does not match."""
        keys: dict[str, tuple[list[Row], list[Row]]] = defaultdict(lambda: ([], []))
        for side, rows in enumerate((sown.left, sown.right)):
            for row in sorted(rows, key=lambda row: (row["_time"], row["queue_offset"])):
                keys[row["keys"][0]][side].append(row)
        found = {key: self._class(*sides) for key, sides in keys.items()}
        return {key: name for key, name in found.items() if name is not None}

    def _class(self, left: list[Row], right: list[Row]) -> str | None:
        (inside_left, far_left), (inside_right, far_right) = self._parted(left), self._parted(right)
        if not inside_left and not inside_right:
            return None
        alone_left, alone_right = self._alone(inside_left, inside_right), self._alone(inside_right, inside_left)
        if not alone_left and not alone_right:
            in_order = [self.value(row) for row in inside_left] == [self.value(row) for row in inside_right]
            return "reordered" if self.ordered and not in_order else None
        waiting = [*self._alone(alone_left, far_right), *self._alone(alone_right, far_left)]
        may_come = all(row["_time"] >= END_MS - self.lateness_ms for row in waiting)
        if self.lateness_ms and not (alone_left and alone_right) and may_come:
            return "late"
        if not inside_left or not inside_right:
            return "missing_right" if inside_left else "missing_left"
        pairs = ((alone_left, inside_right), (alone_right, inside_left))
        if any(not self._has(others, row) for alone, others in pairs for row in alone):
            return "different"
        if min(len(inside_left), len(inside_right)) > 1:
            return "duplicate"
        return "duplicate_left" if len(inside_left) > 1 else "duplicate_right"

    def _parted(self, rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
        """Return the rows in the range and those beyond it, without repetitions if these do not count."""
        is_wide = bool(self.lateness_ms)
        inside = [row for row in rows if not is_wide or row["_time"] < END_MS]
        far = [row for row in rows if is_wide and row["_time"] >= END_MS]
        if not self.multiset:
            inside = [row for at, row in enumerate(inside) if not self._has(inside[:at], row)]
        return inside, far

    def _has(self, rows: Sequence[Row], row: Row) -> bool:
        return any(self.equal(self.value(row), self.value(other)) for other in rows)

    def _alone(self, rows: Sequence[Row], others: Sequence[Row]) -> list[Row]:
        rest, alone = list(others), []
        for row in rows:
            partner = next((other for other in rest if self.equal(self.value(row), self.value(other))), None)
            if partner is None:
                alone.append(row)
            else:
                rest.remove(partner)
        return alone
