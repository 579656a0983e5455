"""The verdict on one key whose hashes differ, from the rows of both sides with their values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation

from broker_core.spark.comparing.comparison import DAMAGED, LEFT, RIGHT, Comparison


@dataclass(frozen=True, slots=True)
class ExactRow:
    """A row of one key, as the verdict needs it."""

    part: int
    offset: int
    time: int
    """In ms; -1 where it is not known."""
    hashes: tuple[int, ...]
    """One for each compared field."""
    texts: tuple[str | None, ...]
    outside: bool = False
    """Whether it is outside of the range and can only be the partner of a late row."""
    note: str | None = None
    """Why the row does not count at all."""
    damage: str | None = None
    tag: str | None = None

    @property
    def moment(self) -> tuple[int, int, int]:
        """The order of rows by time."""
        return self.time, self.part, self.offset


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on a key that does not match: the class, and one row of each side as evidence."""

    kind: str
    left: ExactRow | None
    right: ExactRow | None
    left_count: int
    right_count: int
    fields: tuple[str, ...] = ()
    """The fields in which the two rows differ; all if one has no partner."""
    damage: str | None = None
    note: str | None = None
    lost: tuple[ExactRow, ...] = ()
    """All rows of the left if the right has none: what would have to be sent there."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges keys; travels to the tasks."""

    comparison: Comparison
    left_end_ms: int | None = None
    """Until when the left side is complete; None if always."""
    right_end_ms: int | None = None
    _tolerant: tuple[int, ...] = field(default=())

    def __post_init__(self) -> None:
        """Note which fields have a tolerance."""
        tolerant = tuple(n for n, each in enumerate(self.comparison.fields) if each.tolerance is not None)
        object.__setattr__(self, "_tolerant", tolerant)

    def judge(
        self, left: Sequence[ExactRow], right: Sequence[ExactRow], *, is_reordered: bool = False, left_out: int = 0
    ) -> Judged | None:
        """Return the verdict on the rows of a key; None if they match after all.

        `left_out` pairs of equal rows of the key are not given. `is_reordered`: the hashes said that only the order
        of its rows differs.
        """
        damaged = next(((kind, row) for kind, rows in zip(DAMAGED, (left, right), strict=True) for row in rows
                        if row.damage is not None), None)  # fmt: skip
        if damaged is not None:
            return _damaged(*damaged)
        lefts, rights = (self._counting(rows) for rows in (left, right))
        rest_left, rest_right = self._unmatched(lefts, rights)
        counts = len(lefts) + left_out, len(rights) + left_out
        if not rest_left and not rest_right:
            return Judged("reordered", lefts[-1], rights[-1], *counts) if is_reordered else None
        far_left, far_right = (sorted((r for r in rows if r.outside and r.note is None), key=_moment)
                               for rows in (left, right))  # fmt: skip
        alone_left, _ = self._unmatched(rest_left, far_right)
        alone_right, _ = self._unmatched(rest_right, far_left)
        if self._are_late(alone_left, alone_right):
            return Judged("late", _last(rest_left or lefts), _last(rest_right or rights), *counts)
        note = next((row.note for row in (*right, *left) if row.note is not None), None)
        return replace(self._fault(lefts, rights, rest_left, rest_right, counts), note=note)

    def _counting(self, rows: Sequence[ExactRow]) -> list[ExactRow]:
        counting = sorted((row for row in rows if not row.outside), key=_moment)
        if self.comparison.multiset:
            return counting
        if not self._tolerant:
            return list({row.hashes: row for row in counting}.values())
        kept: list[ExactRow] = []
        for row in counting:
            if not any(self.equal(row, other) for other in kept):
                kept.append(row)
        return kept

    def equal(self, one: ExactRow, other: ExactRow) -> bool:
        """Return whether all compared fields of two rows are equal."""
        return all(self._is_equal(number, one, other) for number in range(len(self.comparison.fields)))

    def _is_equal(self, number: int, one: ExactRow, other: ExactRow) -> bool:
        if number not in self._tolerant:
            return one.hashes[number] == other.hashes[number]
        return within(one.texts[number], other.texts[number], self.comparison.fields[number].tolerance or 0.0)

    def _unmatched(self, left: Sequence[ExactRow], right: Sequence[ExactRow]) -> tuple[list[ExactRow], list[ExactRow]]:
        """Return the rows without a partner on the other side."""
        if not self._tolerant:
            return _without(left, right, _hashes), _without(right, left, _hashes)
        # Sorted by their numbers, the first that fits is the best that fits for one number with a tolerance.
        numbers = self._numbers
        rest, alone = sorted(right, key=numbers), []
        for row in sorted(left, key=numbers):
            partner = next((other for other in rest if self.equal(row, other)), None)
            if partner is None:
                alone.append(row)
            else:
                rest.remove(partner)
        return sorted(alone, key=_moment), sorted(rest, key=_moment)

    def _numbers(self, row: ExactRow) -> tuple[Decimal, ...]:
        return tuple(as_number(row.texts[number]) or Decimal(0) for number in self._tolerant)

    def _are_late(self, left: Sequence[ExactRow], right: Sequence[ExactRow]) -> bool:
        """Return whether the rows without a partner may still get one, if there are any."""
        if not self.comparison.lateness_ms or (left and right):
            return False
        end = self.right_end_ms if left else self.left_end_ms
        return all(end is not None and row.time >= end - self.comparison.lateness_ms for row in (*left, *right))

    def _fault(
        self,
        left: Sequence[ExactRow],
        right: Sequence[ExactRow],
        rest_left: Sequence[ExactRow],
        rest_right: Sequence[ExactRow],
        counts: tuple[int, int],
    ) -> Judged:
        if not left:
            return Judged("missing_left", None, right[-1], *counts)
        if not right:
            return Judged("missing_right", left[-1], None, *counts, lost=tuple(left))
        if self._has_strange(rest_left, right) or self._has_strange(rest_right, left):
            # Next to a row without a partner, a row that both sides have would look like its other version.
            one, other = _last(rest_left), _last(rest_right)
            if one is None:
                fields = self._differing(rest_right[-1], left)
            else:
                fields = self._differing(one, right if other is None else [other])
            return Judged("different", one, other, *counts, fields)
        kind = "duplicate" if min(counts) > 1 else f"duplicate_{LEFT if counts[0] > 1 else RIGHT}"
        return Judged(kind, _last(rest_left or left), _last(rest_right or right), *counts)

    def _has_strange(self, rest: Sequence[ExactRow], others: Sequence[ExactRow]) -> bool:
        """Return whether one of the rows is equal to none of the others."""
        if not self._tolerant:
            known = {row.hashes for row in others}
            return any(row.hashes not in known for row in rest)
        return any(not any(self.equal(row, other) for other in others) for row in rest)

    def _differing(self, row: ExactRow, others: Sequence[ExactRow]) -> tuple[str, ...]:
        """Return the fields in which a row is equal to none of the others; all if each is equal in some."""
        names = tuple(each.name for each in self.comparison.fields)
        alike = {number for number in range(len(names)) if any(self._is_equal(number, row, each) for each in others)}
        return tuple(name for number, name in enumerate(names) if number not in alike) or names


def within(one: str | None, other: str | None, tolerance: float) -> bool:
    """Return whether two numbers differ by at most `tolerance`; two missing ones are equal."""
    if one is None or other is None:
        return one is other
    numbers = as_number(one), as_number(other)
    if numbers[0] is None or numbers[1] is None:
        return one == other
    return abs(numbers[0] - numbers[1]) <= Decimal(repr(tolerance))


def as_number(text: str | None) -> Decimal | None:
    """Return the number that a text stands for; None if it is none, or not finite."""
    try:
        number = Decimal(text or "")
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _damaged(kind: str, row: ExactRow) -> Judged:
    is_left = kind == DAMAGED[0]
    return Judged(
        kind, row if is_left else None, None if is_left else row, int(is_left), int(not is_left), damage=row.damage
    )


def _moment(row: ExactRow) -> tuple[int, int, int]:
    return row.moment


def _hashes(row: ExactRow) -> tuple[int, ...]:
    return row.hashes


def _last(rows: Sequence[ExactRow]) -> ExactRow | None:
    return rows[-1] if rows else None


def _without(
    rows: Sequence[ExactRow], others: Sequence[ExactRow], value: Callable[[ExactRow], tuple[int, ...]]
) -> list[ExactRow]:
    """Return the rows that have more copies of their value than the others have: the last ones of them."""
    left: dict[tuple[int, ...], int] = {}
    for row in others:
        left[value(row)] = left.get(value(row), 0) + 1
    alone = []
    for row in rows:
        if left.get(value(row), 0):
            left[value(row)] -= 1
        else:
            alone.append(row)
    return alone
