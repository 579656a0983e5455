"""The properties that a copy keeps of its original, and those that it adds."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa

from broker_core.protocol.batch import encode_batch
from broker_core.protocol.copies import kept_properties
from broker_core.protocol.message import Message
from broker_core.protocol.properties import format_properties, parse_properties
from broker_core.spark.copies import COLUMNS, Copier, Damaged, size_in_batch
from broker_core.spark.schema import arrow_schema

COPIER = Copier("job1", "ann", "local/broker-a/orders/3", "copy")


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


def test_keys_tag_and_own_properties_stay_and_what_belongs_to_the_system_goes() -> None:
    system = {"UNIQ_KEY": "X", "CLUSTER": "local", "DELAY": "3", "TRANSACTION_X": "1"}
    text = format_properties({"KEYS": "k1 k2", "TAGS": "A", "color": "red", **system})
    assert kept_properties(parse_properties(text)) == {"KEYS": "k1 k2", "TAGS": "A", "color": "red"}


def test_a_copy_says_where_it_came_from() -> None:
    ((offset, copy),) = COPIER.copies(rows("TAGS\x01A"), datetime(2026, 5, 1, tzinfo=UTC))
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
    ((_, copy),) = COPIER.copies(rows(""))
    assert COPIER.source_offset(copy.properties) == 0
    assert Copier("job2", "ann", COPIER.source, "copy").source_offset(copy.properties) is None
    assert Copier("job1", "ann", "local/broker-a/orders/4", "copy").source_offset(copy.properties) is None
    assert COPIER.source_offset({}) is None


def test_a_batch_is_never_larger_than_it_was_taken_for() -> None:
    message = Message("copy", b"x" * 10, {"name": "value", "ключ": "значение"})
    assert size_in_batch(message) >= len(encode_batch([message]))
