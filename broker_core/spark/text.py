"""Parts of many records as columns of Arrow: property strings as pairs, KEYS as words.

A span is the position and length of a part of each row in one array of bytes, usually a mapped file; a length of -1
stands for no value. The functions exist twice: here over arrays, so that no Python runs per row, and compiled
(native/README.md), in one pass. Separators are ASCII, so pieces of valid UTF-8 are valid too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from broker_core.native import native
from broker_core.store.columns import Bytes, Ints, Mask, Span

NAME_END: Final = 1
PAIR_END: Final = 2
SPACE: Final = 32
_MOST_BITS: Final = 64

Buffer = Any
"""What Arrow can use as a buffer."""


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
        return rows_of(self.first)

    @property
    def spans(self) -> Span:
        """Position and length of each piece."""
        return Span(self.start, self.end - self.start)


@dataclass(frozen=True, slots=True)
class Pairs:
    """The valid pairs of property strings: names and values as pieces of the same bytes."""

    data: Bytes
    names: Pieces
    values: Pieces


def rows_of(first: Ints) -> Ints:
    """Return the row of each piece; `first` as in `Pieces`."""
    return np.repeat(np.arange(len(first) - 1), np.diff(first))


def column_of(data: Bytes, span: Span, kind: Any) -> Any:
    """Return an Arrow array of `kind` (binary or string) with a copy of each span, null where there is none.

    Spans ascend. All together may cover at most 2 GiB.
    """
    absent = span.length < 0
    validity = pa.py_buffer(np.packbits(~absent, bitorder="little")) if absent.any() else None
    offsets, text = gather_spans(data, span.start, span.length)
    return pa.Array.from_buffers(kind, len(span.start), [validity, pa.py_buffer(offsets), pa.py_buffer(text)])


def _gather_spans(data: Bytes, starts: Ints, lengths: Ints) -> tuple[Buffer, Buffer]:
    """Return the offsets and the bytes of a column of these spans; an absent one is empty.

    The data itself is treated as an Arrow array in which spans and gaps alternate; `take` then copies the spans.
    """
    count = len(starts)
    length = np.maximum(lengths, 0)
    start = np.where(length > 0, starts, 0)
    # An empty span is placed where the last one before it ends, so that the spans ascend.
    start = np.where(length > 0, start, np.maximum.accumulate(start + length)) if count else start
    base = int(start[length > 0][0]) if length.any() else 0
    start = np.maximum(start, base)
    offsets = np.zeros(2 * count + 1, np.int32)
    offsets[0:-1:2] = start - base
    offsets[1::2] = start + length - base
    offsets[-1] = offsets[-2] if count else 0
    alternating = pa.Array.from_buffers(
        pa.binary(), 2 * count, [None, pa.py_buffer(offsets), pa.py_buffer(data[base:])]
    )
    run, places = run_of(alternating.take(pa.array(np.arange(0, 2 * count, 2, dtype=np.int32))))
    return places.astype(np.int32), run


def _are_utf8(data: Bytes, starts: Ints, lengths: Ints) -> bool:
    """Return whether all spans are UTF-8."""
    offsets, text = _gather_spans(data, starts, lengths)
    if not (np.frombuffer(text, np.uint8) & 0x80).any():
        return True
    array = pa.Array.from_buffers(pa.binary(), len(starts), [None, pa.py_buffer(offsets), pa.py_buffer(text)])
    try:
        array.cast(pa.string())
    except pa.ArrowInvalid:
        return False
    return True


def find_values(data: Bytes, span: Span, names: tuple[bytes, ...]) -> list[Span]:
    """Return for each name the spans of its values in property strings, the last one of a row."""
    found = find_properties(data, span.start, span.length, names)
    numbers = [np.frombuffer(each, np.int64) for each in found]
    return [Span(start, length) for start, length in zip(numbers[::2], numbers[1::2], strict=True)]


def _find_properties(data: Bytes, starts: Ints, lengths: Ints, names: Sequence[bytes]) -> tuple[Buffer, ...]:
    """Return starts and lengths of the values of each name in turn; 0 and -1 where a row has none."""
    pairs = _pairs(data, starts, lengths)
    offsets, _ = _gather_spans(data, starts, lengths)
    found: list[Buffer] = []
    for name in names:
        start, length = np.zeros(len(starts), np.int64), np.full(len(starts), -1, np.int64)
        piece = _last_pieces(pairs, name)
        rows = np.flatnonzero(piece >= 0)
        values = piece[rows]
        start[rows] = pairs.values.start[values] - offsets[rows] + starts[rows]
        length[rows] = pairs.values.end[values] - pairs.values.start[values]
        found += (start, length)
    return tuple(found)


def _last_pieces(pairs: Pairs, name: bytes) -> Ints:
    """Return for each row the last pair with this name, -1 without one."""
    names = pairs.names
    chosen = np.flatnonzero(names.end - names.start == len(name))
    chosen = chosen[_begins_with(pairs.data, names.start[chosen], name)]
    piece = np.full(len(names.first) - 1, -1)
    # Of several assignments to one row the last wins.
    piece[names.row[chosen]] = chosen
    return piece


def map_of(data: Bytes, span: Span) -> Any:
    """Return property strings as an Arrow map per row; of a repeated name the last value is kept."""
    return made_map(split_pairs(data, span.start, span.length) or _split_pairs(data, span.start, span.length))


def made_column(parts: Sequence[Buffer | None], kind: Any) -> Any:
    """Return an Arrow array of `kind` (binary or string) of its bitmap, offsets and bytes."""
    valid, offsets, text = (None if part is None else pa.py_buffer(part) for part in parts)
    assert offsets is not None
    return pa.Array.from_buffers(kind, len(offsets) // 4 - 1, [valid, offsets, text])


def made_list(parts: Sequence[Buffer]) -> Any:
    """Return an Arrow array of lists of words, of where each row begins and the offsets and bytes of the words."""
    first = pa.py_buffer(parts[0])
    places = pa.Array.from_buffers(pa.int32(), len(first) // 4, [None, first])
    return pa.ListArray.from_arrays(places, made_column((None, *parts[1:]), pa.string()))


def made_map(parts: Sequence[Buffer]) -> Any:
    """Return an Arrow array of maps, of where each row begins and the columns of names and of values."""
    first, name_offsets, names, value_offsets, values = (pa.py_buffer(part) for part in parts)
    count = len(name_offsets) // 4 - 1
    return pa.MapArray.from_arrays(
        pa.Array.from_buffers(pa.int32(), len(first) // 4, [None, first]),
        pa.Array.from_buffers(pa.string(), count, [None, name_offsets, names]),
        pa.Array.from_buffers(pa.string(), count, [None, value_offsets, values]),
    )


def _split_pairs(data: Bytes, starts: Ints, lengths: Ints) -> tuple[Buffer, Buffer, Buffer, Buffer, Buffer]:
    """Return where the pairs of each row begin, and the columns of their names and values."""
    pairs = _pairs(data, starts, lengths)
    names = pc.dictionary_encode(column_of(pairs.data, pairs.names.spans, pa.binary()))
    codes = names.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    repeated = find_repeated(codes, pairs.names.first)
    if repeated.any():
        kept = _last_of_each(codes, pairs.names, repeated)
        pairs = Pairs(pairs.data, pairs.names.keep(kept), pairs.values.keep(kept))
    columns = [_gather_spans(pairs.data, each.start, each.end - each.start) for each in (pairs.names, pairs.values)]
    return pairs.names.first.astype(np.int32), *columns[0], *columns[1]


def _pairs(data: Bytes, starts: Ints, lengths: Ints) -> Pairs:
    """Split property strings; a pair without a name, a value or U+0001 in between is ignored."""
    offsets, text = _gather_spans(data, starts, lengths)
    run = np.frombuffer(text, np.uint8)
    pieces = cut(run, offsets.astype(np.int64), PAIR_END)
    marks = np.append(np.flatnonzero(run == NAME_END), len(run))
    middle = marks[np.searchsorted(marks, pieces.start)]
    sound = (middle > pieces.start) & (middle + 1 < pieces.end)
    if not sound.all():
        pieces, middle = pieces.keep(sound), middle[sound]
    return Pairs(run, Pieces(pieces.start, middle, pieces.first), Pieces(middle + 1, pieces.end, pieces.first))


def words_of(data: Bytes, span: Span) -> tuple[Ints, Any]:
    """Return where the words of each row begin, as `Pieces.first`, and the words as an Arrow array."""
    first, offsets, words = split_words(data, span.start, span.length)
    places = np.frombuffer(first, np.int32)
    column = [None, pa.py_buffer(offsets), pa.py_buffer(words)]
    return places.astype(np.int64), pa.Array.from_buffers(pa.string(), int(places[-1]), column)


def _split_words(data: Bytes, starts: Ints, lengths: Ints) -> tuple[Buffer, Buffer, Buffer]:
    """Return where the words of each row begin, and the column of the words between spaces."""
    offsets, text = _gather_spans(data, starts, lengths)
    run = np.frombuffer(text, np.uint8)
    words = cut(run, offsets.astype(np.int64), SPACE)
    words = words.keep(words.end > words.start)
    return words.first.astype(np.int32), *_gather_spans(run, words.start, words.end - words.start)


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


def run_of(array: Any) -> tuple[Bytes, Ints]:
    """Return the bytes of an Arrow array of text without nulls, and the beginning of each row."""
    _, offsets, data = array.buffers()
    places = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    run = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    return run[: int(places[-1])], places


gather_spans: Final = native.gather_spans if native else _gather_spans
are_utf8: Final = native.are_utf8 if native else _are_utf8
find_properties: Final = native.find_properties if native else _find_properties
split_pairs: Final = native.split_pairs if native else _split_pairs
split_words: Final = native.split_words if native else _split_words
