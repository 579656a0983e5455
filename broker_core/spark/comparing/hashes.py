"""64-bit hashes of Arrow columns, computed for thousands of rows at once.

Equal values of one type have equal hashes, in every process; a null has a hash of its own, which an empty text does not
have. Two different values have the same hash once in 2⁶⁴ pairs: the hashes are not made to withstand an adversary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]

_SEED: Final = np.uint64(0x9E3779B97F4A7C15)
_PRIME: Final = np.uint64(0xFF51AFD7ED558CCD)
_OTHER_PRIME: Final = np.uint64(0xC4CEB9FE1A85EC53)
_HALF: Final = np.uint64(32)
_NULL: Final = np.uint64(0x6A09E667F3BCC909)
_WORD: Final = 8
_TAIL_MASKS: Final = np.array([(1 << (8 * length)) - 1 for length in range(8)], np.uint64)


def mix(values: Hashes) -> Hashes:
    """Return a hash of each number: a one-to-one mapping in which every bit depends on every bit."""
    mixed = (values ^ (values >> _HALF)) * _PRIME
    mixed = (mixed ^ (mixed >> np.uint64(29))) * _OTHER_PRIME
    return mixed ^ (mixed >> _HALF)


def together(columns: Sequence[Hashes], rows: int) -> Hashes:
    """Return one hash for each row of several columns; without columns the same one for each row."""
    whole = np.full(rows, _SEED, np.uint64)
    for column in columns:
        whole = mix(whole * _OTHER_PRIME + column)
    return whole


def hash_column(array: Any) -> Hashes:
    """Return the hash of each value; lists and maps are hashed regardless of the order of their elements.

    Raises TypeError for a type that has no hash.
    """
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    kind = array.type
    if pa.types.is_list(kind) or pa.types.is_map(kind):
        hashes = _hash_lists(array)
    elif pa.types.is_struct(kind):
        hashes = together([hash_column(part) for part in array.flatten()], len(array))
    elif pa.types.is_string(kind) or pa.types.is_binary(kind):
        hashes = _hash_bytes(array)
    else:
        hashes = _hash_numbers(array)
    if array.null_count:
        hashes[array.is_null().to_numpy(zero_copy_only=False)] = _NULL
    return hashes


def _hash_lists(array: Any) -> Hashes:
    if pa.types.is_map(array.type):
        offsets = array.offsets.to_numpy()
        parts = [hash_column(each.slice(offsets[0], offsets[-1] - offsets[0])) for each in (array.keys, array.items)]
        elements, lengths = together(parts, len(parts[0])), np.diff(offsets).astype(np.int64)
    else:
        elements = hash_column(array.flatten())
        lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    return sum_of_rows(mix(elements), lengths) ^ mix(lengths.astype(np.uint64))


def sum_of_rows(values: Hashes, lengths: NDArray[np.int64]) -> Hashes:
    """Return the sum (modulo 2⁶⁴) of consecutive values for rows of these lengths."""
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(values, dtype=np.uint64)))
    ends = np.cumsum(lengths)
    return np.asarray(sums[ends] - sums[ends - lengths])


def _hash_numbers(array: Any) -> Hashes:
    kind = array.type
    if pa.types.is_boolean(kind):
        array = array.cast(pa.int64())
    elif pa.types.is_date(kind):
        array = array.cast(pa.int32()).cast(pa.int64())
    elif pa.types.is_timestamp(kind) or pa.types.is_integer(kind):
        array = array.cast(pa.int64())
    elif pa.types.is_floating(kind):
        return mix(_plain_floats(array).view(np.uint64))
    elif pa.types.is_decimal128(kind):
        words = _values(array, np.uint64, 2).reshape(-1, 2)
        return together([words[:, 0], words[:, 1]], len(array))
    else:
        raise TypeError(f"values of the type {kind} cannot be compared")
    return mix(_values(array, np.uint64, 1).copy())


def _values(array: Any, kind: Any, width: int) -> Any:
    """Return the stored values of a column of fixed width, `width` numbers for each row; a null's are any."""
    data = array.buffers()[1]
    begin = array.offset * width
    return np.frombuffer(data, kind)[begin : begin + len(array) * width]


def _plain_floats(array: Any) -> NDArray[np.float64]:
    """Return numbers in which equal ones have equal bits: one zero, and one that is not a number."""
    numbers = np.array(pc.fill_null(array.cast(pa.float64()), 0.0).to_numpy(zero_copy_only=False), np.float64)
    numbers += 0.0
    numbers[np.isnan(numbers)] = np.nan
    return numbers


def _hash_bytes(array: Any) -> Hashes:
    offsets = np.frombuffer(array.buffers()[1], np.int32)[array.offset : array.offset + len(array) + 1].astype(np.int64)
    data = array.buffers()[2]
    lengths = np.diff(offsets)
    # A word may be read across the end of the values: the mask drops what is beyond.
    run = np.frombuffer(data, np.uint8) if data is not None and len(data) else np.zeros(0, np.uint8)
    if len(run) < int(offsets[-1]) + _WORD:
        run = np.concatenate((run[: int(offsets[-1])], np.zeros(_WORD, np.uint8)))
    return _hash_runs(run, offsets[:-1], lengths)


def _hash_runs(data: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> Hashes:
    """Return the hash of each run of bytes: word by word for all runs that are long enough."""
    order = np.argsort(-lengths, kind="stable")
    starts, lengths = starts[order], lengths[order]
    words: Any = np.ndarray((max(0, len(data) - _WORD + 1),), "<u8", buffer=data, strides=(1,))
    hashes = (lengths.astype(np.uint64) + np.uint64(1)) * _SEED
    whole = lengths // _WORD
    # How many runs have more than so many whole words: they come first.
    longer = np.searchsorted(-whole, -np.arange(int(whole[0]) if len(whole) else 0), side="left")
    for number, count in enumerate(longer.tolist()):
        part = (hashes[:count] ^ words[starts[:count] + _WORD * number]) * _PRIME
        hashes[:count] = part ^ (part >> _HALF)
    tails = words[starts + _WORD * whole] & _TAIL_MASKS[lengths % _WORD]
    hashes = mix((hashes ^ tails) * _OTHER_PRIME)
    found = np.empty_like(hashes)
    found[order] = hashes
    return found
