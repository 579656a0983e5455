"""Which columns can be written, and the message that a row becomes; options of the sink."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.types import StructType

from broker_core.spark.errors import BadOption, RowRefused, UnknownOption
from broker_core.spark.sink_options import QueueSelector, SinkOptions, parse_sink_options
from broker_core.spark.sink_rows import SINK_COLUMNS, Row, RowReader, check_columns
from tests.support.stores import NOW

TO = {"nameServer": "127.0.0.1:9876", "topic": "orders"}


def schema(ddl: str) -> StructType:
    columns = [column.rsplit(" ", 1) for column in ddl.split(", ")]
    kinds: dict[str, Any] = {
        "array<string>": {"type": "array", "elementType": "string", "containsNull": True},
        "map<string,string>": {
            "type": "map",
            "keyType": "string",
            "valueType": "string",
            "valueContainsNull": True,
        },
        "int": "integer",
        "bigint": "long",
    }
    fields = [{"name": n, "type": kinds.get(k, k), "nullable": True, "metadata": {}} for n, k in columns]
    return StructType.fromJson({"type": "struct", "fields": fields})


def only(batch: dict[str, list[Any]], topic: str | None = "orders") -> Row:
    (row,) = RowReader(topic, task=3).rows(pa.RecordBatch.from_pydict(batch))
    return row


@pytest.mark.parametrize(
    ("name", "text", "field", "value"),
    [
        ("nameServer", "a:1;b:2", "name_servers", ("a:1", "b:2")),
        ("topic", "orders", "topic", "orders"),
        ("broker", "broker-a", "brokers", ("broker-a",)),
        ("queueSelector", "roundrobin", "queue_selector", QueueSelector.ROUND_ROBIN),
        ("batchBytes", "65536", "batch_bytes", 65536),
        ("messagesPerSecond", "500", "messages_per_second", 500),
        ("replayId", "r1", "replay_id", "r1"),
        ("sendTimeoutMs", "5000", "send_timeout_ms", 5000),
        ("retries", "0", "retries", 0),
    ],
)
def test_an_option_of_the_sink_is_read(name: str, text: str, field: str, value: Any) -> None:
    assert getattr(parse_sink_options({**TO, name: text}), field) == value


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"topic": "orders"}, "name the cluster to write to"),
        ({**TO, "store": "/data"}, "written by its broker only"),
        ({**TO, "columns": "body"}, "is an option of reading"),
        ({**TO, "batchBite": "1"}, "did you mean 'batchBytes'"),
        ({**TO, "queueSelector": "random"}, "roundRobin, key, same"),
        ({**TO, "batchBytes": "5000000"}, "brokers accept at most"),
        ({**TO, "provenance": "true"}, "needs replayId"),
        ({**TO, "topic": "a,b"}, "name one topic"),
        ({**TO, "retries": "-1"}, "whole number"),
        ({**TO, "secretKey": "sk"}, "not signed"),
    ],
)
def test_options_that_make_no_sense_are_refused(given: dict[str, str], said: str) -> None:
    with pytest.raises(BadOption, match=said):
        parse_sink_options(given)


@pytest.mark.parametrize(
    ("columns", "options", "said"),
    [
        ("body binary, queue_offset bigint", {}, "unknown column to write 'queue_offset'"),
        ("tag string", {}, "needs a column body"),
        ("body int", {}, "must be binary or string"),
        ("body binary, key string, keys array<string>", {}, "a column key or a column keys, not both"),
        ("body binary", {"queueSelector": "same"}, "queueSelector='same': needs a column queue_id"),
        ("body binary, queue_id int", {"queueSelector": "key"}, "ignores the column queue_id"),
    ],
)
def test_columns_that_cannot_be_written_are_refused(columns: str, options: dict[str, str], said: str) -> None:
    with pytest.raises(BadOption, match=said):
        check_columns(schema(columns), parse_sink_options({**TO, **options}))


def test_an_unknown_column_names_the_nearest_one() -> None:
    with pytest.raises(UnknownOption, match="did you mean 'properties'"):
        check_columns(schema("body binary, property string"), parse_sink_options(TO))


def test_a_topic_comes_from_the_option_or_from_each_row() -> None:
    without = SinkOptions(name_servers=("a:1",))
    with pytest.raises(BadOption, match="name the topic to write to"):
        check_columns(schema("body binary"), without)
    assert check_columns(schema("body binary, topic string"), without) is QueueSelector.ROUND_ROBIN
    assert only({"body": [b"x"], "topic": ["payments"]}).message.topic == "payments"
    assert only({"body": [b"x"], "topic": [None]}).message.topic == "orders"


def test_every_column_can_be_written() -> None:
    columns = ", ".join(f"{name} {kinds[0]}" for name, kinds in SINK_COLUMNS.items() if name != "keys")
    assert check_columns(schema(columns), parse_sink_options(TO)) is QueueSelector.SAME


def test_a_row_becomes_a_message() -> None:
    row = only({"body": ["héllo"], "keys": [["k1", "k2"]], "tag": ["A"], "queue_id": [3],
                "properties": pa.array([[("colour", "red")]], pa.map_(pa.string(), pa.string()))})  # fmt: skip
    assert (row.message.body, row.key, row.queue_id) == ("héllo".encode(), "k1", 3)
    assert row.message.properties == {"colour": "red", "KEYS": "k1 k2", "TAGS": "A"}


def test_properties_of_a_copy_lose_what_belongs_to_the_delivery_of_the_original() -> None:
    pairs = [("UNIQ_KEY", "00"), ("CLUSTER", "c"), ("KEYS", "k9"), ("TAGS", "A"), ("colour", "red")]
    row = only({"body": [b"x"], "tag": ["B"], "properties": pa.array([pairs], pa.map_(pa.string(), pa.string()))})
    assert row.message.properties == {"KEYS": "k9", "TAGS": "B", "colour": "red"}


def test_a_message_can_be_delayed_by_level_or_until_a_time() -> None:
    assert only({"body": [b"x"], "delay_level": [3]}).message.delay_level == 3
    at = pa.array([datetime.fromtimestamp(NOW / 1000, UTC)], pa.timestamp("us", tz="Etc/UTC"))
    assert only({"body": [b"x"], "deliver_at": at}).message.properties == {"TIMER_DELIVER_MS": str(NOW)}


@pytest.mark.parametrize(
    ("batch", "said"),
    [
        ({"body": [None]}, "body is null"),
        ({"body": [b"x"], "key": ["two words"]}, "holds a space"),
        ({"body": [b"x"], "topic": [None]}, "names no topic"),
        ({"body": [b"x"], "tag": ["a\x02b"]}, "U\\+0002"),
    ],
)
def test_a_row_that_is_no_message_is_named(batch: dict[str, list[Any]], said: str) -> None:
    with pytest.raises(RowRefused, match=f"row 0 of task 3: .*{said}"):
        only(batch, topic=None if "topic" in batch else "orders")
