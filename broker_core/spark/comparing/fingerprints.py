"""The fast path: 32 bytes of each row are enough to find the keys that do not match (spark/README.md#reconciliation).

The rows of both sides are grouped by the hash of their key; within a group they are sorted and summed as arrays. What
is found to be equal is equal but for two different values with one hash of 64 bits; the rest is read again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from broker_core.spark.comparing.comparison import LEFT, Comparison
from broker_core.spark.comparing.hashes import Hashes, hash_column, mix
from broker_core.spark.comparing.keys import Extractor

ROW: Final = np.dtype([("key", "<u8"), ("value", "<u8"), ("time", "<i8"), ("place", "<u8")])
"""A row for one of its keys; `time` in ms, -1 where it is not known; `place` as `pack_places` makes it."""
Rows = NDArray[Any]
Mask = NDArray[np.bool_]

_PART_BITS: Final = 18
_OFFSET_BITS: Final = 43
_OUTSIDE: Final = np.uint64(1 << 63)
_DAMAGED: Final = np.uint64(1 << 62)
_RIGHT: Final = np.uint64(1 << 61)
MOST_PARTS: Final = 1 << _PART_BITS
MINUTE_MS: Final = 60_000


@dataclass(frozen=True, slots=True)
class SideCounts:
    """What one task read of a side; rows outside of the range are in none of the numbers."""

    side: str
    rows: int = 0
    keyless: int = 0
    damaged: int = 0

    def __add__(self, other: SideCounts) -> SideCounts:
        return SideCounts(self.side, self.rows + other.rows, self.keyless + other.keyless, self.damaged + other.damaged)


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """Makes the compact rows of a side."""

    extractor: Extractor
    begin_ms: int | None = None
    end_ms: int | None = None
    """The range that is judged; rows read beyond it may only be partners of late ones."""

    def make(self, batch: Any) -> tuple[Rows, SideCounts]:
        """Return the rows of a batch, one for each key, and their counts."""
        batch = self.within_reach(batch)
        damaged = pc.is_valid(batch.column("_error")).to_numpy(zero_copy_only=False)
        outside = ~damaged & self.is_outside(batch)
        keys = self.extractor.keys(batch)
        lengths = pc.list_value_length(keys).to_numpy(zero_copy_only=False).astype(np.int64)
        lengths[damaged] = 0
        places = self._places(batch, damaged, outside)
        times = times_of(batch)
        one = damaged.any()
        hashes = hash_column(keys.filter(pc.is_null(batch.column("_error"))).flatten() if one else keys.flatten())
        found = np.empty(int(lengths.sum()) + int(damaged.sum()), ROW)
        values = self.extractor.values(batch)
        rows = np.repeat(np.arange(batch.num_rows), lengths)
        sound, lost = found[: len(rows)], found[len(rows) :]
        sound["key"], sound["value"], sound["time"], sound["place"] = hashes, values[rows], times[rows], places[rows]
        # Each damaged row is a key of its own.
        lost["place"] = places[damaged]
        lost["key"] = lost["value"] = mix(places[damaged])
        lost["time"] = -1
        inside = ~damaged & ~outside
        side = self.extractor.side
        return found, SideCounts(side, int(inside.sum()), int((inside & (lengths == 0)).sum()), int(damaged.sum()))

    def within_reach(self, batch: Any) -> Any:
        """Return a batch without the rows that are too far outside of the range to be partners of late ones."""
        lateness, times = self.extractor.comparison.lateness_ms, times_of(batch)
        beyond = np.zeros(batch.num_rows, bool)
        if self.begin_ms is not None:
            beyond |= times < self.begin_ms - lateness
        if self.end_ms is not None:
            beyond |= times > self.end_ms + lateness
        # A damaged row may have no time.
        beyond &= pc.is_null(batch.column("_error")).to_numpy(zero_copy_only=False)
        return batch.filter(pa.array(~beyond)) if beyond.any() else batch

    def is_outside(self, batch: Any) -> Mask:
        """Return which rows of a batch are not judged."""
        outside = pc.is_valid(batch.column("_note")).to_numpy(zero_copy_only=False)
        times = times_of(batch)
        if self.begin_ms is not None:
            outside = outside | (times < self.begin_ms)
        if self.end_ms is not None:
            outside = outside | (times >= self.end_ms)
        return np.asarray(outside)

    def _places(self, batch: Any, damaged: Mask, outside: Mask) -> Hashes:
        parts, offsets = (batch.column(name).to_numpy().astype(np.uint64) for name in ("_part", "_offset"))
        places = (parts << np.uint64(_OFFSET_BITS)) | offsets
        if self.extractor.side != LEFT:
            places |= _RIGHT
        places[damaged] |= _DAMAGED
        places[outside] |= _OUTSIDE
        return np.asarray(places)


def times_of(batch: Any) -> NDArray[np.int64]:
    """Return the times of a batch in ms, -1 where a row has none."""
    return np.asarray(pc.fill_null(batch.column("_time"), -1).to_numpy(zero_copy_only=False), np.int64)


@dataclass(frozen=True, slots=True)
class Places:
    """The places of rows, unpacked."""

    is_right: Mask
    part: NDArray[np.int64]
    offset: NDArray[np.int64]


def unpack_places(places: Hashes) -> Places:
    """Return side, part and offset of each place."""
    part = (places >> np.uint64(_OFFSET_BITS)) & np.uint64(MOST_PARTS - 1)
    offset = places & np.uint64((1 << _OFFSET_BITS) - 1)
    return Places((places & _RIGHT) != 0, part.astype(np.int64), offset.astype(np.int64))


def take(rows: Rows, order: NDArray[np.int64]) -> Rows:
    """Return the rows in another order; indexing a structured array would copy field by field."""
    return np.asarray(np.take(rows.view(f"V{ROW.itemsize}"), order).view(ROW))


def split(rows: Rows, groups: int) -> Iterator[tuple[int, Rows]]:
    """Yield the rows by group of their key's hash."""
    group = group_of(rows["key"], groups)
    order = np.argsort(group, kind="stable")
    ordered, edges = take(rows, order), np.searchsorted(group[order], np.arange(groups + 1))
    for number in range(groups):
        part = ordered[edges[number] : edges[number + 1]]
        if len(part):
            yield number, part


def group_of(keys: Hashes, groups: int) -> NDArray[np.int64]:
    """Return the group of each key's hash."""
    return ((keys >> np.uint64(40)) % np.uint64(groups)).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the hashes of a group say."""

    matched: int
    """How many keys match."""
    unmatched: int
    """How many do not, by their hashes."""
    minutes: NDArray[np.int64]
    """For each matched key the minute (since 1970) of its first row, sorted; -1 without a time."""
    suspects: Rows
    """The rows of all other keys, and the damaged ones; of keys with very many rows only those that matter."""
    reordered: Hashes
    """The hashes of the keys that have the same rows in another order."""
    left_out: Mapping[int, int]
    """By the hash of a key how many pairs of equal rows are not among the suspects."""


def judge(rows: Rows, comparison: Comparison) -> Verdict:
    """Return which keys of a group match; all rows of these keys must be given."""
    rows = take(rows, np.argsort(rows["key"]))
    starts = _starts(rows["key"])
    lengths = np.diff(np.append(starts, len(rows)))
    places, values = rows["place"], mix(rows["value"])
    counts = (places & _OUTSIDE) == 0
    if not comparison.multiset:
        counts &= _first_of_equals(rows)
    is_right = (places & _RIGHT) != 0
    equal, judged = _equal_sums(values, counts, is_right, starts)
    damaged = _reduced(np.bitwise_or, places & _DAMAGED, starts) != 0
    equal &= ~damaged
    reordered = np.zeros(len(starts), bool)
    if comparison.ordered:
        in_order, _ = _equal_sums(mix(values + _ranks(rows, lengths)), counts, is_right, starts)
        reordered = judged & equal & ~in_order
        equal &= in_order
    matched = equal & judged
    times = _reduced(np.minimum, rows["time"], starts)[matched]
    suspects, left_out = _thin(rows[np.repeat(judged & ~equal, lengths)], comparison)
    minutes = np.sort(np.where(times < 0, -1, times // MINUTE_MS))
    unmatched = int((judged & ~equal & ~damaged).sum())
    return Verdict(int(matched.sum()), unmatched, minutes, suspects, rows["key"][starts[reordered]], left_out)


def _starts(sorted_values: Hashes) -> NDArray[np.int64]:
    """Return where each run of equal values begins."""
    changes = np.ones(len(sorted_values), bool)
    changes[1:] = sorted_values[1:] != sorted_values[:-1]
    return np.flatnonzero(changes)


def _reduced(function: np.ufunc, values: NDArray[Any], starts: NDArray[np.int64]) -> NDArray[Any]:
    """Return the reduction of each run of values."""
    return np.asarray(function.reduceat(values, starts)) if len(starts) else values[:0]


def _equal_sums(values: Hashes, counts: Mask, is_right: Mask, starts: NDArray[np.int64]) -> tuple[Mask, Mask]:
    """Return for each run whether both sides have the same values, and whether it has any that count."""
    equal, judged = np.ones(len(starts), bool), np.zeros(len(starts), bool)
    found = []
    for of_side in (~is_right, is_right):
        chosen = counts & of_side
        number = _reduced(np.add, chosen.astype(np.int64), starts)
        found.append((number, _reduced(np.add, np.where(chosen, values, np.uint64(0)), starts)))
        judged |= number > 0
    for left, right in zip(*found, strict=True):
        equal &= left == right
    return equal, judged


def _ranks(rows: Rows, lengths: NDArray[np.int64]) -> Hashes:
    """Return which row of its key on its side each row is, by time; `rows` are sorted by key."""
    # The two highest of these bits: whether it is outside, and the side.
    run = np.repeat(np.arange(len(lengths), dtype=np.uint64) << np.uint64(2), lengths)
    run |= ((rows["place"] & _OUTSIDE) >> np.uint64(62)) | ((rows["place"] & _RIGHT) >> np.uint64(61))
    order = np.lexsort((rows["place"], rows["time"], run))
    starts = _starts(run[order])
    ranks = np.empty(len(rows), np.uint64)
    ranks[order] = np.arange(len(rows)) - np.repeat(starts, np.diff(np.append(starts, len(rows))))
    return ranks


def _first_of_equals(rows: Rows) -> Mask:
    """Return which rows are the first of their key, value and side, those in the range before others."""
    is_right = (rows["place"] & _RIGHT) != 0
    order = np.lexsort((rows["place"] & _OUTSIDE, is_right, rows["value"], rows["key"]))
    ordered, right = take(rows, order), is_right[order]
    first = np.ones(len(rows), bool)
    first[1:] = right[1:] != right[:-1]
    for name in ("key", "value"):
        first[1:] |= ordered[name][1:] != ordered[name][:-1]
    found = np.empty(len(rows), bool)
    found[order] = first
    return found


def _thin(rows: Rows, comparison: Comparison) -> tuple[Rows, dict[int, int]]:
    """Return rows without the pairs of equal ones in keys with very many; `rows` are sorted by key.

    Of each value one pair stays if the sides have it unequally often, and the last row of each side stays.
    """
    keys, lengths = np.unique(rows["key"], return_counts=True)
    large = keys[lengths > MANY]
    if not len(large):
        return rows, {}
    kept, left_out = [rows[~np.isin(rows["key"], large)]], {}
    for key in large.tolist():
        begin, end = np.searchsorted(rows["key"], np.array([key], np.uint64))[0], 0
        end = int(np.searchsorted(rows["key"], np.array([key], np.uint64), side="right")[0])
        of_key, pairs = _thin_key(rows[begin:end], comparison)
        kept.append(of_key)
        left_out[key] = pairs
    return np.concatenate(kept), left_out


def _thin_key(rows: Rows, comparison: Comparison) -> tuple[Rows, int]:
    if not comparison.multiset:
        outside = (rows["place"] & _OUTSIDE) != 0
        rows = rows[_first_of_equals(rows) | outside]
    rows = take(rows, np.lexsort((rows["place"], rows["time"])))
    counts, is_right = (rows["place"] & _OUTSIDE) == 0, (rows["place"] & _RIGHT) != 0
    _, value = np.unique(rows["value"], return_inverse=True)
    numbers = [np.bincount(value[counts & side], minlength=int(value.max()) + 1) for side in (~is_right, is_right)]
    pairs = np.minimum(*numbers)
    dropped = np.where(numbers[0] == numbers[1], pairs, np.maximum(pairs - 1, 0))
    stays = np.ones(len(rows), bool)
    for side in (~is_right, is_right):
        places = np.flatnonzero(counts & side)
        by_value = places[np.argsort(value[places], kind="stable")]
        starts = _starts(value[by_value].astype(np.uint64))
        rank = np.arange(len(by_value)) - np.repeat(starts, np.diff(np.append(starts, len(by_value))))
        stays[by_value] = rank >= dropped[value[by_value]]
    return _with_last_pair(rows, stays, counts, is_right, int(dropped.sum()))


def _with_last_pair(rows: Rows, stays: Mask, counts: Mask, is_right: Mask, pairs: int) -> tuple[Rows, int]:
    """Return the rows that stay, with one pair more if a side would be empty."""
    for side, other in ((~is_right, is_right), (is_right, ~is_right)):
        if (counts & side).any() and not (stays & counts & side).any():
            last = int(np.flatnonzero(counts & side)[-1])
            partner = np.flatnonzero(counts & other & ~stays & (rows["value"] == rows["value"][last]))[-1]
            stays[[last, partner]] = True
            pairs -= 1
    return rows[stays], pairs


MANY: Final = 1000
"""Keys with more rows than this are thinned before their rows are read again."""
