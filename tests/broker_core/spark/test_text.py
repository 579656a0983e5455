"""Splitting many texts at once has the same result as splitting them one by one, in Python and compiled."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.native import native
from broker_core.protocol.properties import parse_properties
from broker_core.spark import text as in_python
from broker_core.spark.text import SPACE, column_of, cut, find_repeated, find_values, map_of, run_of, words_of
from broker_core.store.columns import Span

_words = st.sampled_from(["", "a", "TAGS", "KEYS", "UNIQ_KEY", "KEYS2", "ключ", "x" * 30])
_pairs = st.builds(
    lambda name, value, mark: f"{name}{mark}{value}", _words, _words, st.sampled_from(["\x01", "", "\x01\x01"])
)
_texts = st.lists(st.lists(_pairs, max_size=5).map("\x02".join), max_size=8)
_bytes = st.lists(
    st.binary(max_size=40) | st.sampled_from([b"A\x01B\x02" * 70, b"\xff", b"KEYS\x01\xc3(\x02"]), max_size=6
)


def spans_of(texts: Sequence[bytes]) -> tuple[Any, Span]:
    """Return the texts as parts of one array, with bytes between them that belong to none."""
    data = b"".join(b"\x01x\x02 " + each for each in texts) + b" \xff"
    length = np.array([len(each) for each in texts], np.int64)
    return np.frombuffer(data, np.uint8), Span(np.cumsum(length + 4) - length, length)


def encoded(texts: Sequence[str]) -> tuple[Any, Span]:
    return spans_of([text.encode() for text in texts])


@given(_texts)
def test_a_map_is_what_each_text_says(texts: list[str]) -> None:
    assert [dict(row) for row in map_of(*encoded(texts)).to_pylist()] == [parse_properties(text) for text in texts]


def test_a_text_of_very_many_pairs_is_split_too() -> None:
    text = "\x02".join(f"n{number % 90}\x01{number}" for number in range(100))
    assert [dict(row) for row in map_of(*encoded([text, ""])).to_pylist()] == [parse_properties(text), {}]


@given(_texts)
def test_a_value_is_found_and_the_last_one_wins(texts: list[str]) -> None:
    data, span = encoded(texts)
    names = ("KEYS", "TAGS")
    for name, found in zip(names, find_values(data, span, tuple(name.encode() for name in names)), strict=True):
        values = column_of(data, found, pa.string()).to_pylist()
        assert values == [parse_properties(text).get(name) for text in texts]


@given(st.lists(st.text("ab ", max_size=6), max_size=8))
def test_words_lie_between_spaces(texts: list[str]) -> None:
    first, words = words_of(*encoded(texts))
    found = words.to_pylist()
    rows = [found[begin:end] for begin, end in pairwise(first)]
    assert rows == [text.split() for text in texts]


@given(st.lists(st.text("ab ", max_size=6), max_size=8))
def test_pieces_lie_between_the_separators(texts: list[str]) -> None:
    data, offsets = run_of(pa.array([text.encode() for text in texts], pa.binary()))
    pieces = cut(data, offsets, SPACE)
    whole = bytes(data)
    found = [whole[start:end].decode() for start, end in zip(pieces.start, pieces.end, strict=True)]
    rows = [found[begin:end] for begin, end in pairwise(pieces.first)]
    assert rows == [text.split(" ") for text in texts]


@given(st.lists(st.lists(st.integers(0, 100), max_size=5), max_size=8))
def test_repeated_codes_are_found(rows: list[list[int]]) -> None:
    first = np.cumsum([0, *map(len, rows)])
    repeated = find_repeated(np.array([code for row in rows for code in row], np.int64), first)
    assert repeated.tolist() == [len(set(row)) < len(row) for row in rows]


def test_parts_of_a_long_run_are_copied_without_the_gaps() -> None:
    data = np.frombuffer(b"..abc...de....", np.uint8)
    span = Span(np.array([2, 8, 10, 0]), np.array([3, 2, 0, -1]))
    assert column_of(data, span, pa.binary()).to_pylist() == [b"abc", b"de", b"", None]


def test_no_rows_are_no_rows() -> None:
    assert map_of(*encoded([])).to_pylist() == []
    assert column_of(*encoded([]), pa.binary()).to_pylist() == []


@pytest.mark.skipif(native is None, reason="there are no compiled functions to compare")
class TestTwins:
    """The compiled functions do what those in Python do, whatever the bytes are."""

    @given(_bytes)
    def test_spans_and_utf8(self, texts: list[bytes]) -> None:
        data, span = spans_of(texts)
        assert _plain(in_python._gather_spans(data, span.start, span.length)) == _plain(
            in_python.gather_spans(data, span.start, span.length)
        )
        assert in_python._are_utf8(data, span.start, span.length) == in_python.are_utf8(data, span.start, span.length)

    @given(_bytes)
    def test_properties_pairs_and_words(self, texts: list[bytes]) -> None:
        data, span = spans_of(texts)
        names = (b"KEYS", b"A", b"n")
        assert _plain(in_python._find_properties(data, span.start, span.length, names)) == _plain(
            in_python.find_properties(data, span.start, span.length, names)
        )
        compiled = in_python.split_pairs(data, span.start, span.length)
        if compiled is not None:
            assert _plain(in_python._split_pairs(data, span.start, span.length)) == _plain(compiled)
        assert _plain(in_python._split_words(data, span.start, span.length)) == _plain(
            in_python.split_words(data, span.start, span.length)
        )

    def test_a_span_outside_of_the_data_is_refused(self) -> None:
        assert native is not None
        data = np.zeros(10, np.uint8)
        for start, length in ((9, 2), (-1, 1), (11, 1), (1 << 62, 1 << 62)):
            with pytest.raises(ValueError, match="outside"):
                native.gather_spans(data, np.array([start], np.int64), np.array([length], np.int64))


def _plain(parts: Sequence[Any]) -> list[bytes]:
    return [memoryview(part).cast("B").tobytes() if len(part) else b"" for part in parts]
