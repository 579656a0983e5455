"""Splitting many texts at once has the same result as splitting them one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from broker_core.protocol.properties import parse_properties
from broker_core.spark.text import SPACE, cut, cut_pairs, find_repeated, find_values, gather, map_of, run_of
from broker_core.store.columns import Span

_words = st.sampled_from(["", "a", "TAGS", "KEYS", "UNIQ_KEY", "KEYS2", "ключ", "x" * 30])
_pairs = st.builds(
    lambda name, value, mark: f"{name}{mark}{value}", _words, _words, st.sampled_from(["\x01", "", "\x01\x01"])
)
_texts = st.lists(st.lists(_pairs, max_size=5).map("\x02".join), max_size=8)


def run(texts: list[str]) -> tuple[Any, Any]:
    return run_of(pa.array([text.encode() for text in texts], pa.binary()))


@given(_texts)
def test_a_map_is_what_each_text_says(texts: list[str]) -> None:
    pairs = cut_pairs(*run(texts))
    assert [dict(row) for row in map_of(pairs).to_pylist()] == [parse_properties(text) for text in texts]


@given(_texts)
def test_a_value_is_found_and_the_last_one_wins(texts: list[str]) -> None:
    data, offsets = run(texts)
    pairs = cut_pairs(data, offsets)
    span, found = find_values(pairs, b"KEYS")
    values = gather(data, span, pa.string(), present=found)
    assert values.to_pylist() == [parse_properties(text).get("KEYS") for text in texts]


@given(st.lists(st.text("ab ", max_size=6), max_size=8))
def test_pieces_lie_between_the_separators(texts: list[str]) -> None:
    data, offsets = run(texts)
    pieces = cut(data, offsets, SPACE)
    whole = bytes(data)
    found = [whole[start:end].decode() for start, end in zip(pieces.start, pieces.end, strict=True)]
    rows = [found[begin:end] for begin, end in zip(pieces.first, pieces.first[1:], strict=False)]
    assert rows == [text.split(" ") for text in texts]


@given(st.lists(st.lists(st.integers(0, 100), max_size=5), max_size=8))
def test_repeated_codes_are_found(rows: list[list[int]]) -> None:
    first = np.cumsum([0, *map(len, rows)])
    repeated = find_repeated(np.array([code for row in rows for code in row], np.int64), first)
    assert repeated.tolist() == [len(set(row)) < len(row) for row in rows]


def test_parts_of_a_long_run_are_copied_without_the_gaps() -> None:
    data = np.frombuffer(b"..abc...de....", np.uint8)
    span = Span(np.array([2, 8, 10]), np.array([3, 2, 0]))
    assert gather(data, span, pa.binary()).to_pylist() == [b"abc", b"de", b""]


def test_no_rows_are_no_rows() -> None:
    data, offsets = run([])
    assert map_of(cut_pairs(data, offsets)).to_pylist() == []
    assert gather(data, Span(np.array([], np.int64), np.array([], np.int64)), pa.binary()).to_pylist() == []
