"""The properties that a copy keeps of its original, and those that it adds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from broker_core.protocol.batch import decode_batch, encode_entries
from broker_core.protocol.copies import kept_pairs, kept_properties
from broker_core.protocol.message import Message
from broker_core.protocol.properties import format_properties, parse_properties
from broker_core.spark.copies import COLUMNS, Copier, Copy, Damaged, NoCopy
from broker_core.spark.row_sql import RowSql
from broker_core.spark.schema import arrow_schema

COPIER = Copier("job1", "ann", "local/broker-a/orders/3")


def rows(*texts: str, error: str | None = None) -> pa.RecordBatch:
    columns = [
        range(len(texts)),
        ["ID"] * len(texts),
        [7] * len(texts),
        [b"x"] * len(texts),
        [t.encode() for t in texts],
        range(len(texts)),
        [error] * len(texts),
    ]
    schema = arrow_schema(COLUMNS)
    arrays = [pa.array(list(column), field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def copies(made: Any, copier: Copier = COPIER, now: datetime | None = None) -> list[tuple[int, Message]]:
    """Return the copies as a broker reads them from their batch."""
    found = [(offset, copy) for offset, copy in copier.copies(made, now) if isinstance(copy, Copy)]
    entries = [(copy.flag, copy.body, copy.properties) for _, copy in found]
    read = [
        Message("copy", each.body, parse_properties(each.properties), each.flag)
        for each in decode_batch(encode_entries(entries))
    ]
    return [(offset, message) for (offset, _), message in zip(found, read, strict=True)]


def test_keys_tag_and_own_properties_stay_and_what_belongs_to_the_system_goes() -> None:
    system = {"UNIQ_KEY": "X", "CLUSTER": "local", "DELAY": "3", "TRANSACTION_X": "1"}
    text = format_properties({"KEYS": "k1 k2", "TAGS": "A", "color": "red", **system})
    assert kept_properties(parse_properties(text)) == {"KEYS": "k1 k2", "TAGS": "A", "color": "red"}


def test_a_copy_says_where_it_came_from() -> None:
    ((offset, copy),) = copies(rows("TAGS\x01A"), now=datetime(2026, 5, 1, tzinfo=UTC))
    assert (offset, copy.topic, copy.body, copy.flag) == (0, "copy", b"x", 7)
    assert copy.properties == {
        "TAGS": "A",
        "GANTRY_JOB": "job1",
        "GANTRY_SRC": "local/broker-a/orders/3/0",
        "GANTRY_SRC_ID": "ID",
        "GANTRY_AT": "2026-05-01T00:00:00.000Z",
        "GANTRY_BY": "ann",
    }


def test_a_damaged_row_has_no_copy_and_is_reported() -> None:
    damaged = rows("TAGS\x01A", error="no record begins here")
    assert list(COPIER.copies(damaged)) == []
    assert list(COPIER.damaged(damaged)) == [Damaged(0, 0, "no record begins here")]


def test_a_copy_is_recognised_and_others_are_not() -> None:
    ((_, copy),) = copies(rows(""))
    assert COPIER.source_offset(copy.properties) == 0
    assert Copier("job2", "ann", COPIER.source).source_offset(copy.properties) is None
    assert Copier("job1", "ann", "local/broker-a/orders/4").source_offset(copy.properties) is None
    assert COPIER.source_offset({}) is None


@pytest.mark.parametrize("value", ["value", "значение", "🙂" * 100])
def test_a_copy_is_never_larger_in_a_batch_than_it_was_taken_for(value: str) -> None:
    ((_, copy),) = COPIER.copies(rows(f"name\x01{value}"))
    assert isinstance(copy, Copy)
    with_id = f"{copy.properties}\x02UNIQ_KEY\x01{32 * 'A'}"
    assert copy.size >= len(encode_entries([(copy.flag, copy.body, with_id)]))


def test_pairs_are_kept_as_properties_are() -> None:
    text = format_properties({"KEYS": "k1", "a": "1", "UNIQ_KEY": "X", "TIMER_X": "1", "GANTRY_JOB": "older"})
    assert kept_pairs(f"{text}\x02broken\x02") == ["KEYS\x01k1", "a\x011"]


def with_values(made: pa.RecordBatch, **values: Any) -> pa.RecordBatch:
    """Return rows with what Spark has computed for them."""
    for name, value in {"_wanted": True, **values}.items():
        made = made.append_column(name, pa.array([value] * made.num_rows))
    return made


def test_a_copy_has_the_values_of_the_expressions() -> None:
    sql = RowSql(body="b", tag="t", keys="k", properties={"color": "p", "size": "q"})
    copier = Copier("job1", "ann", "local/broker-a/orders/3", sql, keeps_unique_id=True)
    original = format_properties({"KEYS": "k1", "TAGS": "A", "color": "red", "old": "1", "UNIQ_KEY": "U"})
    made = with_values(rows(original), _body=b"new", _tag=None, _keys=["k2", "k3"], _property_0="blue", _property_1="")
    ((_, copy),) = copies(made, copier)
    assert copy.body == b"new"
    own = {name: text for name, text in copy.properties.items() if not name.startswith("GANTRY_")}
    assert own == {"KEYS": "k2 k3", "color": "blue", "old": "1"}
    ((_, kept),) = copier.copies(made)
    assert isinstance(kept, Copy)
    assert kept.unique_id == "U"


def test_a_message_that_is_not_wanted_has_no_copy() -> None:
    copier = Copier("job1", "ann", "local/broker-a/orders/3", RowSql(where="w"))
    assert list(copier.copies(with_values(rows(""), _wanted=False))) == []


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"_body": None, "_keys": ["a"]}, "target.transform.body is null"),
        ({"_body": b"", "_keys": ["a"]}, "target.transform.body is empty; brokers accept no empty message"),
        ({"_body": b"x", "_keys": ["a b"]}, "holds a space"),
        ({"_body": b"x", "_keys": ["a\x02"]}, "U+0002"),
    ],
)
def test_values_of_which_no_message_can_be_made_are_told(values: dict[str, Any], why: str) -> None:
    copier = Copier("job1", "ann", "local/broker-a/orders/3", RowSql(body="b", keys="k"))
    ((_, refused),) = copier.copies(with_values(rows(""), **values))
    assert isinstance(refused, NoCopy)
    assert why in refused.reason
