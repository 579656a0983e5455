"""Splits many texts at once: property strings into pairs, KEYS into keys.

A column of texts is one array of bytes with the position where each text begins. Pieces are found by searching the
whole array for the separator, so no Python runs per row. Separators are ASCII, so pieces of valid UTF-8 are valid too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from broker_core.store.columns import Bytes, Ints, Mask, Span

NAME_END: Final = 1
PAIR_END: Final = 2
SPACE: Final = 32
_MOST_BITS: Final = 64


@dataclass(frozen=True, slots=True)
class Pieces:
    """The pieces of the rows of a column: piece i is the bytes from `start[i]` to `end[i]`."""

    start: Ints
    end: Ints
    first: Ints
    """For each row the index of its first piece, followed by the number of all pieces."""

    def keep(self, kept: Mask) -> Pieces:
        """Return the selected pieces, still by row."""
        before = np.concatenate(([0], np.cumsum(kept)))
        return Pieces(self.start[kept], self.end[kept], before[self.first])

    @property
    def row(self) -> Ints:
        """The row of each piece."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))


@dataclass(frozen=True, slots=True)
class Pairs:
    """The valid pairs of property strings: names and values as pieces of the same bytes."""

    data: Bytes
    names: Pieces
    values: Pieces


def cut(data: Bytes, offsets: Ints, separator: int) -> Pieces:
    """Split each row, `data[offsets[r]:offsets[r+1]]`, at the separator; empty pieces count too."""
    marks = np.flatnonzero(data == separator)
    count = len(offsets) - 1 + len(marks)
    first = np.append(np.arange(len(offsets) - 1) + np.searchsorted(marks, offsets[:-1]), count)
    start, end = np.empty(count, np.int64), np.empty(count, np.int64)
    begins = np.zeros(count, bool)
    begins[first[:-1]] = True
    start[begins], start[~begins] = offsets[:-1], marks + 1
    ends = np.zeros(count, bool)
    ends[first[1:] - 1] = True
    end[ends], end[~ends] = offsets[1:], marks
    return Pieces(start, end, first)


def cut_pairs(data: Bytes, offsets: Ints) -> Pairs:
    """Split property strings; a pair without a name, a value or U+0001 in between is ignored."""
    pieces = cut(data, offsets, PAIR_END)
    marks = np.append(np.flatnonzero(data == NAME_END), len(data))
    middle = marks[np.searchsorted(marks, pieces.start)]
    sound = (middle > pieces.start) & (middle + 1 < pieces.end)
    if not sound.all():
        pieces, middle = pieces.keep(sound), middle[sound]
    return Pairs(data, Pieces(pieces.start, middle, pieces.first), Pieces(middle + 1, pieces.end, pieces.first))


def find_values(pairs: Pairs, name: bytes) -> tuple[Span, Mask]:
    """Return the value of `name` in each row, the last one if there are several, and which rows have one.

    `name` has at most 8 bytes. A row without a value gets an empty span that keeps the spans in order.
    """
    names = pairs.names
    chosen = np.flatnonzero(names.end - names.start == len(name))
    chosen = chosen[_begins_with(pairs.data, names.start[chosen], name)]
    rows = len(names.first) - 1
    # Of several assignments to one row the last wins.
    piece = np.full(rows, -1)
    piece[names.row[chosen]] = chosen
    found = piece >= 0
    start, length = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
    start[found] = pairs.values.start[piece[found]]
    length[found] = pairs.values.end[piece[found]] - start[found]
    # An empty span is placed where the last value before it ends, so that the spans ascend.
    ends = np.maximum.accumulate(start + length)
    start[~found] = ends[~found]
    return Span(start, length), found


def find_repeated(codes: NDArray[np.int64], first: Ints) -> Mask:
    """Return the rows in which a code occurs twice; `codes` count from 0, `first` as in `Pieces`."""
    rows = len(first) - 1
    counts = np.diff(first)
    repeated = np.zeros(rows, bool)
    some = np.flatnonzero(counts)
    if not len(some):
        return repeated
    if codes.max(initial=0) < _MOST_BITS:
        bits = np.left_shift(np.uint64(1), codes.astype(np.uint64))
        seen = np.bitwise_or.reduceat(bits, first[:-1][some])
        repeated[some] = np.bitwise_count(seen) < counts[some]
        return repeated
    pairs = np.repeat(np.arange(rows), counts) * (int(codes.max()) + 1) + codes
    _, firsts, times = np.unique(pairs, return_index=True, return_counts=True)
    repeated[np.repeat(np.arange(rows), counts)[firsts[times > 1]]] = True
    return repeated


def gather(data: Bytes, span: Span, kind: Any, *, present: Mask | None = None) -> Any:
    """Return an Arrow array of `kind` (binary or string) with the bytes of each span; spans must ascend.

    The data itself is treated as an Arrow array in which spans and gaps alternate; `take` then copies the spans. All
    spans together may cover at most 2 GiB.
    """
    count = len(span.start)
    base = int(span.start[0]) if count else 0
    offsets = np.empty(2 * count + 1, np.int32)
    offsets[0:-1:2] = span.start - base
    offsets[1::2] = span.start + span.length - base
    offsets[-1] = offsets[-2] if count else 0
    alternating = pa.Array.from_buffers(kind, 2 * count, [None, pa.py_buffer(offsets), pa.py_buffer(data[base:])])
    wanted = pa.array(np.arange(0, 2 * count, 2, dtype=np.int32), mask=None if present is None else ~present)
    return alternating.take(wanted)


def gather_pieces(data: Bytes, pieces: Pieces, kind: Any) -> Any:
    """Return the pieces as one Arrow array."""
    return gather(data, Span(pieces.start, pieces.end - pieces.start), kind)


def run_of(array: Any) -> tuple[Bytes, Ints]:
    """Return the bytes of an Arrow array of text without nulls, and the beginning of each row."""
    _, offsets, data = array.buffers()
    places = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    run = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    return run[: int(places[-1])], places


def map_of(pairs: Pairs) -> Any:
    """Return the pairs as an Arrow map per row; of a repeated name the last value is kept."""
    names = pc.dictionary_encode(gather_pieces(pairs.data, pairs.names, pa.string()))
    codes = names.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    repeated = find_repeated(codes, pairs.names.first)
    if repeated.any():
        kept = _last_of_each(codes, pairs.names, repeated)
        kept_pairs = Pairs(pairs.data, pairs.names.keep(kept), pairs.values.keep(kept))
        return map_of(kept_pairs)
    values = gather_pieces(pairs.data, pairs.values, pa.string())
    return pa.MapArray.from_arrays(pa.array(pairs.names.first.astype(np.int32)), names.dictionary_decode(), values)


def _last_of_each(codes: NDArray[np.int64], names: Pieces, repeated: Mask) -> Mask:
    """Return which pieces to keep: in rows with repetitions the last of each code (rare, so row by row)."""
    kept = np.ones(len(codes), bool)
    for row in np.flatnonzero(repeated):
        begin, end = int(names.first[row]), int(names.first[row + 1])
        last = {int(code): begin + place for place, code in enumerate(codes[begin:end])}
        kept[begin:end] = False
        kept[list(last.values())] = True
    return kept


def _begins_with(data: Bytes, places: Ints, text: bytes) -> Mask:
    same = np.ones(len(places), bool)
    for index, byte in enumerate(text):
        same &= data[places + index] == byte
    return same
