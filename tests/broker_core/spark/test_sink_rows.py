"""Which columns can be written, and the message that a row becomes; options of the sink."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.types import StructType

from broker_core.client.admin.timers import TimerLimits
from broker_core.clock import now_ms
from broker_core.protocol.applications import SYSTEM_PROPERTIES
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


LIMITS = TimerLimits(3 * 86_400_000)


def only(
    batch: dict[str, list[Any]], topic: str | None = "orders", limits: TimerLimits = LIMITS, **options: Any
) -> Row:
    given = SinkOptions(name_servers=("a:1",), topic=topic, **options)
    (row,) = RowReader(given, 3, lambda: limits).rows(pa.RecordBatch.from_pydict(batch))
    return row


def maps(*pairs: tuple[str, str | None]) -> Any:
    return pa.array([list(pairs)], pa.map_(pa.string(), pa.string()))


def moment(ms: int) -> Any:
    return pa.array([datetime.fromtimestamp(ms / 1000, UTC)], pa.timestamp("us", tz="Etc/UTC"))


@pytest.mark.parametrize(
    ("name", "text", "field", "value"),
    [
        ("nameServer", "a:1;b:2", "name_servers", ("a:1", "b:2")),
        ("topic", "orders", "topic", "orders"),
        ("broker", "broker-a", "brokers", ("broker-a",)),
        ("queueSelector", "roundrobin", "queue_selector", QueueSelector.ROUND_ROBIN),
        ("batchBytes", "65536", "batch_bytes", 65536),
        ("messagesPerSecond", "500", "messages_per_second", 500),
        ("copyProperties", "true", "copy_properties", True),
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
        ({"topic": "orders"}, r"^give nameServer \(host:port\), the cluster to write to$"),
        ({**TO, "store": "/data"}, "written by its broker only"),
        ({**TO, "columns": "body"}, "is an option of reading"),
        ({**TO, "broker": ","}, "is empty; leave the option out"),
        ({**TO, "batchBite": "1"}, "did you mean 'batchBytes'"),
        ({**TO, "queueSelector": "random"}, "roundRobin, key, same"),
        ({**TO, "batchBytes": "5000000"}, "brokers accept at most"),
        ({**TO, "provenance": "true"}, "needs replayId"),
        ({**TO, "topic": "a,b"}, "name one topic"),
        ({**TO, "retries": "-1"}, "whole number"),
        ({**TO, "secretKey": "sk"}, "both accessKey and secretKey"),
    ],
)
def test_options_that_make_no_sense_are_refused(given: dict[str, str], said: str) -> None:
    with pytest.raises(BadOption, match=said):
        parse_sink_options(given)


@pytest.mark.parametrize(
    ("columns", "options", "said"),
    [
        ("body binary, queue_offset bigint", {}, "unknown column to write 'queue_offset'"),
        ("tag string", {}, "^a message needs a column body$"),
        ("body int", {}, "must be binary or string"),
        ("body binary, key string, keys array<string>", {}, "^give a column key or a column keys, not both$"),
        ("body binary", {"queueSelector": "same"}, "queueSelector='same': needs a column queue_id"),
        ("body binary, queue_id int", {"queueSelector": "key"}, "ignores the column queue_id"),
        ("body binary, source string", {}, "^the column source is written with provenance=true only"),
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
    with pytest.raises(BadOption, match=r"^name the topic to write to"):
        check_columns(schema("body binary"), without)
    assert check_columns(schema("body binary, topic string"), without) is QueueSelector.ROUND_ROBIN
    assert only({"body": [b"x"], "topic": ["payments"]}).message.topic == "payments"
    assert only({"body": [b"x"], "topic": [None]}).message.topic == "orders"


def test_every_column_can_be_written() -> None:
    columns = ", ".join(f"{name} {kinds[0]}" for name, kinds in SINK_COLUMNS.items() if name != "keys")
    options = parse_sink_options({**TO, "provenance": "true", "replayId": "r1"})
    assert check_columns(schema(columns), options) is QueueSelector.SAME


def test_a_row_becomes_a_message() -> None:
    row = only({"body": ["héllo"], "keys": [["k1", "k2"]], "tag": ["A"], "queue_id": [3],
                "properties": maps(("colour", "red"))})  # fmt: skip
    assert (row.message.body, row.key, row.queue_id) == ("héllo".encode(), "k1", 3)
    assert row.message.properties == {"colour": "red", "KEYS": "k1 k2", "TAGS": "A"}


def test_properties_of_a_copy_lose_what_belongs_to_the_delivery_and_origin_of_the_original() -> None:
    pairs = [("UNIQ_KEY", "00"), ("CLUSTER", "c"), ("KEYS", "k9"), ("TAGS", "A"), ("colour", "red"), ("DELAY", "3"),
             ("GANTRY_SRC", "forged"), ("gantry_job", "forged"), ("TIMER_OUT_MS", "1")]  # fmt: skip
    row = only({"body": [b"x"], "tag": ["B"], "properties": maps(*pairs)}, copy_properties=True)
    assert row.message.properties == {"KEYS": "k9", "TAGS": "B", "colour": "red"}
    assert row.key == "k9"
    with pytest.raises(BadOption, match="needs a column properties"):
        check_columns(schema("body binary"), parse_sink_options({**TO, "copyProperties": "true"}))


def test_a_property_or_key_that_is_null_is_not_set() -> None:
    row = only({"body": [b"x"], "keys": [["a", None]], "properties": maps(("colour", None), ("size", "9"))})
    assert row.message.properties == {"KEYS": "a", "size": "9"}


def test_a_message_can_be_delayed_by_level_or_until_a_time() -> None:
    assert only({"body": [b"x"], "delay_level": [18]}).message.delay_level == 18
    assert only({"body": [b"x"], "delay_level": [0]}).message.properties == {}
    at = now_ms() + 60_000
    assert only({"body": [b"x"], "deliver_at": moment(at)}).message.properties == {"TIMER_DELIVER_MS": str(at)}
    assert only({"body": [b"x"], "deliver_at": moment(NOW)}).message.properties == {}


@pytest.mark.parametrize(
    ("batch", "said"),
    [
        ({"body": [None]}, "body: it is null"),
        ({"body": [b""]}, "body: it is empty; brokers accept no empty message"),
        ({"body": [b"x" * (4 << 20) + b"y"]}, "body: it has 4,194,305 bytes; brokers accept at most 4,194,304"),
        ({"body": [b"x"], "key": ["SECRET SECRET"]}, "key: a key must not be empty or contain a space"),
        ({"body": [b"x"], "keys": [["SECRET", ""]]}, "keys: a key must not be empty"),
        ({"body": [b"x"], "topic": [None]}, "names no topic"),
        ({"body": [b"x"], "topic": [""]}, "topic: no name has"),
        ({"body": [b"x"], "topic": ["rmq_sys_wheel_timer"]}, "'rmq_sys_wheel_timer' is reserved by brokers"),
        ({"body": [b"x"], "tag": ["SECRET\x02b"]}, "tag: U\\+0001 and U\\+0002 are not allowed"),
        *[
            ({"body": [b"x"], "tag": [tag]}, "tag: A tag must not be '\\*', contain '\\|\\|' or have blanks")
            for tag in ("SECRET||b", "*", "", " SECRET")
        ],
        *[
            ({"body": [b"x"], "properties": maps((name, "SECRET"))}, f"properties: the name '{name}' is reserved")
            for name in (*sorted(SYSTEM_PROPERTIES), "GANTRY_SRC", "GANTRY_SRC_ID", "gantry_job")
        ],
        ({"body": [b"x"], "properties": maps(("UNIQ_KEY", None))}, "'UNIQ_KEY' is reserved"),
        ({"body": [b"x"], "properties": maps(("colour", ""))}, "a name and a value that are not empty"),
        ({"body": [b"x"], "properties": maps(("", "SECRET"))}, "a name and a value that are not empty"),
        ({"body": [b"x"], "properties": maps(("colour", "SECRET\x01"))}, "U\\+0001 and U\\+0002 are not allowed"),
        ({"body": [b"x"], "properties": maps(("colour", "é" * 15_000))}, "30,008 bytes .*; the limit is 30,000"),
        ({"body": [b"x"], "source": ["SECRET/a/orders/0"]}, "source: it is no cluster/broker/topic/queue/offset"),
        ({"body": [b"x"], "delay_level": [99]}, "delay_level: brokers have the levels 1 to 18"),
        ({"body": [b"x"], "delay_level": [-1]}, "delay_level: brokers have the levels 1 to 18"),
        ({"body": [b"x"], "delay_level": [0], "deliver_at": moment(NOW)}, "delay_level or deliver_at, not both"),
        ({"body": [b"x"], "deliver_at": moment(now_ms() + 90 * 86_400_000)}, "timerMaxDelaySec=259200"),
    ],
)  # fmt: skip
def test_a_row_that_is_no_message_is_named_and_not_quoted(batch: dict[str, list[Any]], said: str) -> None:
    with pytest.raises(RowRefused, match=f"row 0 of task 3: .*{said}") as refused:
        only(batch, topic=None if batch.get("topic") == [None] else "orders")
    assert "SECRET" not in str(refused.value)
    # The traceback of a worker is a text with all causes.
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__


def test_a_cluster_without_delivery_times_takes_none() -> None:
    later = {"body": [b"x"], "deliver_at": moment(now_ms() + 60_000)}
    with pytest.raises(RowRefused, match=r"deliver_at: the cluster has delay levels only \(delay_level\): broker a"):
        only(later, limits=TimerLimits(None, "broker a has no delivery times"))


def test_text_that_is_not_utf8_is_refused() -> None:
    broken = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"a\xff")])
    with pytest.raises(RowRefused, match="rows 0 to 0 of task 3: column tag: a text is not UTF-8"):
        only({"body": [b"x"], "tag": broken})
