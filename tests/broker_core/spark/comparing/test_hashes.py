"""Hashes of Arrow columns."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.spark.comparing.hashes import hash_column

TEXTS = st.lists(st.one_of(st.none(), st.text(max_size=40)), max_size=30)


@given(TEXTS, st.integers(0, 30))
def test_equal_values_have_equal_hashes_wherever_they_are_in_a_column(values: list[str | None], begin: int) -> None:
    whole = pa.array(values, pa.string())
    of_slice = hash_column(whole.slice(begin)).tolist()
    assert hash_column(whole).tolist()[begin:] == of_slice
    assert of_slice == [hash_column(pa.array([value], pa.string())).tolist()[0] for value in values[begin:]]


@given(st.sets(st.binary(max_size=24), max_size=30))
def test_different_values_have_different_hashes(values: set[bytes]) -> None:
    assert len(set(hash_column(pa.array(list(values), pa.binary())).tolist())) == len(values)


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.string(), ["", None, "a", "ab", "a\0", "abcdefgh", "abcdefgh\0", "x" * 5000, "x" * 5001]),
        (pa.int64(), [0, None, 1, -1, 2**62]),
        (pa.float64(), [0.0, None, 1.5, float("nan"), float("inf")]),
        (pa.bool_(), [True, False, None]),
        (pa.decimal128(38, 2), [Decimal("1.00"), Decimal("1.01"), None, Decimal(-1)]),
        (pa.timestamp("us", tz="UTC"), [0, 1, None]),
        (pa.list_(pa.string()), [["a"], ["b"], ["a", "b"], ["a", "a"], ["ab"], [], None]),
        (pa.map_(pa.string(), pa.string()), [[("a", "b")], [("b", "a")], [("a", None)], [], None]),
    ],
)
def test_each_kind_of_value_tells_its_values_and_null_apart(kind: Any, values: list[Any]) -> None:
    assert len(set(hash_column(pa.array(values, kind)).tolist())) == len(values)


def test_the_order_of_a_list_and_the_sign_of_zero_do_not_count() -> None:
    lists = hash_column(pa.array([["a", "b"], ["b", "a"]], pa.list_(pa.string())))
    zeros = hash_column(pa.array([0.0, -0.0]))
    assert lists[0] == lists[1]
    assert zeros[0] == zeros[1]


def test_values_that_have_no_hash_are_refused() -> None:
    with pytest.raises(TypeError, match="month_day_nano"):
        hash_column(pa.nulls(2, pa.month_day_nano_interval()))
