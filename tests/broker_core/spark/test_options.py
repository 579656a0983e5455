"""Options of the source: the meaning of each text, and refusals."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from broker_core.spark.errors import BadOption, BadUse, UnknownOption
from broker_core.spark.options import EARLIEST, LATEST, Mode, parse_source_options, parse_time

STORE = {"store": "/data", "topic": "orders"}


@pytest.mark.parametrize(
    ("name", "text", "field", "value"),
    [
        ("topics", "a, b", "topics", ("a", "b")),
        ("STORE", "/x,/y", "stores", (Path("/x"), Path("/y"))),
        ("broker", "broker-z", "brokers", ("broker-z",)),
        ("queues", "0,broker-a:3", "queues", {(None, 0), ("broker-a", 3)}),
        ("startingTimestamp", "1700000000000", "starting_timestamp", 1_700_000_000_000),
        ("endingtimestamp", "2023-11-14T22:13:20.5Z", "ending_timestamp", 1_700_000_000_500),
        ("startingOffsets", "earliest", "starting_offsets", EARLIEST),
        ("endingOffsets", '{"orders":{"broker-a":{"0":23}}}', "ending_offsets", {"orders": {"broker-a": {0: 23}}}),
        ("keys", "k1,k2", "keys", {"k1", "k2"}),
        ("keys", '["a,b"]', "keys", {"a,b"}),
        ("tags", "A || B", "tags", {"A", "B"}),
        ("tags", "*", "tags", None),
        ("columns", "body,key", "columns", ("body", "key")),
        ("mode", "failfast", "mode", Mode.FAIL_FAST),
        ("failOnDataLoss", "False", "fail_on_data_loss", False),
        ("minPartitions", "7", "min_partitions", 7),
        ("maxPartitionBytes", "1024", "max_partition_bytes", 1024),
        (
            "startingOffsetsByTimestamp",
            '{"orders":{"broker-a":{"0":1700000000000}}}',
            "starting_times",
            {"orders": {"broker-a": {0: 1_700_000_000_000}}},
        ),
        (
            "endingOffsetsByTimestamp",
            '{"orders":{"broker-a":{"1":"2023-11-14T22:13:20Z"}}}',
            "ending_times",
            {"orders": {"broker-a": {1: 1_700_000_000_000}}},
        ),
        ("topicPattern", "orders-.*", "topic_pattern", re.compile("orders-.*")),
        ("includeInternal", "true", "include_internal", True),
        ("includeProperties", "false", "include_properties", False),
        ("decompress", "false", "decompress", False),
        ("filterPushdown", "true", "filter_pushdown", True),
        ("cluster", "live", "cluster", "live"),
        ("pullBatchSize", "16", "pull_batch_size", 16),
        ("pullTimeoutMs", "500", "pull_timeout_ms", 500),
        ("pullParallelism", "2", "pull_parallelism", 2),
        ("group", "CID_SPARK", "group", "CID_SPARK"),
    ],
)
def test_an_option_is_read(name: str, text: str, field: str, value: Any) -> None:
    given = {key: word for key, word in STORE.items() if not (key == "store" and name.lower() == "store")}
    if name == "STORE":
        given["broker"] = "broker-a,broker-b"
    if name in ("topics", "topicPattern", "includeInternal"):
        del given["topic"]
    if name == "includeInternal":
        given["topicPattern"] = "orders.*"
    assert getattr(parse_source_options({**given, name: text}), field) == value


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"store": "/data"}, "^name the topic to read, with the option topic"),
        ({"topic": "orders"}, r"^give either store \(a folder\) or nameServer \(host:port\)$"),
        ({**STORE, "nameServer": "a:1"}, "^give either store .* not both$"),
        ({**STORE, "queues": "one"}, "queue ids"),
        ({**STORE, "startingTimestamp": "yesterday"}, "is not a moment such as"),
        ({**STORE, "startingTimestamp": "2023-11-14T22:13:20"}, "has no time zone"),
        ({**STORE, "startingTimestamp": "1700000000001", "endingTimestamp": "1700000000000"}, "before"),
        ({**STORE, "startingTimestamp": "1700000000"}, "looks like seconds; expected milliseconds"),
        ({**STORE, "endingTimestamp": "1700000000000000"}, "looks like micro"),
        ({**STORE, "queues": " "}, "is empty"),
        ({**STORE, "tags": ""}, "names no tag"),
        ({**STORE, "tags": "A || *"}, "stands alone"),
        ({**STORE, "keys": ","}, "is empty"),
        ({**STORE, "columns": ""}, "is empty; leave the option out"),
        ({**STORE, "columns": " , "}, "is empty; leave the option out"),
        ({"topic": "orders", "nameServer": "a:1", "broker": " "}, "is empty; leave the option out"),
        ({**STORE, "group": ""}, "is empty"),
        ({**STORE, "cluster": " "}, "is empty"),
        ({"store": "/data", "topicPattern": ""}, "is empty"),
        ({**STORE, "startingOffsets": "soon"}, "expected earliest"),
        ({**STORE, "startingOffsets": "{"}, "not JSON"),
        ({**STORE, "topic": "orders,orders"}, "names orders twice"),
        ({**STORE, "store": "/data,/data/"}, "names /data twice"),
        ({**STORE, "columns": "body,body"}, "names body twice"),
        ({**STORE, "topics": "payments"}, "either topic or topics"),
        (
            {**STORE, "startingTimestamp": "1700000000000", "startingOffsets": "latest"},
            "either startingTimestamp or startingOffsets",
        ),
        (
            {**STORE, "endingTimestamp": "1700000000000", "endingOffsetsByTimestamp": "{}"},
            "either endingTimestamp or endingOffsetsByTimestamp",
        ),
        ({"topic": "orders", "nameServer": "http://a:1"}, "without a scheme"),
        ({"topic": "orders", "nameServer": "a:1", "maxPartitionBytes": "1"}, "minPartitions cuts the read"),
        ({**STORE, "startingOffsets": "[1]"}, "expected earliest"),
        ({**STORE, "failOnDataLoss": "yes"}, "true or false"),
        ({**STORE, "mode": "lax"}, "permissive"),
        ({**STORE, "minPartitions": "0"}, "at least 1"),
        ({**STORE, "minPartitions": "１２"}, "at least 1"),  # noqa: RUF001 - digits of another script
        ({**STORE, "queues": "１"}, "expected queue ids"),  # noqa: RUF001
        ({**STORE, "startingOffsets": '{"orders":{"broker-a":{"1_0":3}}}'}, "expected earliest"),
        ({**STORE, "startingOffsets": '{"orders":{"broker-a":{"0":true}}}'}, "expected earliest"),
        ({**STORE, "startingTimestamp": "20260501T080000Z"}, "is not a moment such as"),
        ({**STORE, "keysFile": "/nowhere"}, "cannot be read"),
        ({**STORE, "broker": "a,b"}, "as many brokers"),
        ({**STORE, "topicPattern": "o.*"}, "option topic='orders': give either topic or topicPattern"),
        ({"store": "/data", "topics": "orders", "topicPattern": "o.*"}, "give either topics or topicPattern"),
        ({**STORE, "includeInternal": "true"}, "option includeInternal='true': says what a topicPattern selects"),
        ({**STORE, "pullBatchSize": "1025"}, "option pullBatchSize='1025': expected at most 1,024"),
        ({**STORE, "pullBatchSize": "9" * 5000}, "option pullBatchSize='9+': expected a whole number"),
        ({**STORE, "pullParallelism": "65"}, "option pullParallelism='65': expected at most 64"),
        ({**STORE, "pullTimeoutMs": "86400000"}, "option pullTimeoutMs='86400000': expected at most 600,000"),
        ({"store": "/data", "topicPattern": "("}, "not a regular expression"),
        ({**STORE, "startingOffsets": '{"orders":{"broker-a":{"0":-3}}}'}, "expected earliest"),
        ({**STORE, "startingOffsetsByTimestamp": '{"orders":7}'}, "expected"),
        ({**STORE, "startingOffsetsByTimestamp": '{"orders":{"broker-a":{"0":1700000000}}}'}, "looks like seconds"),
        ({**STORE, "columns": "properties", "includeProperties": "false"}, "columns names properties"),
        ({**STORE, "maxOffsetsPerTrigger": "5"}, "for streams only"),
        ({**STORE, "accessKey": "ak"}, "both accessKey and secretKey"),
        ({**STORE, "secretKey": "sk"}, "both accessKey and secretKey"),
        ({**STORE, "accessKey": "ak", "secretKey": "sk"}, "with nameServer"),
        ({**STORE, "tls": "true"}, "give it with nameServer"),
        ({**STORE, "path": "/data"}, "no path"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, str], said: str) -> None:
    """docs/spark.md: a list or text that is empty is refused, too."""
    with pytest.raises(BadOption, match=said):
        parse_source_options(given)


def test_an_unknown_option_names_the_nearest_one() -> None:
    with pytest.raises(UnknownOption, match="did you mean 'startingTimestamp'") as caught:
        parse_source_options({**STORE, "startingTimestmap": "1"})
    assert caught.value.nearest == "startingTimestamp"


@pytest.mark.parametrize(
    ("name", "text", "field", "value"),
    [
        ("maxOffsetsPerTrigger", "80", "max_offsets_per_trigger", 80),
        ("minOffsetsPerTrigger", "8", "min_offsets_per_trigger", 8),
        ("maxBytesPerTrigger", "1000", "max_bytes_per_trigger", 1000),
        ("maxTriggerDelayMs", "50", "max_trigger_delay_ms", 50),
    ],
)
def test_a_stream_has_options_of_its_own(name: str, text: str, field: str, value: Any) -> None:
    assert getattr(parse_source_options({**STORE, name: text}, is_stream=True), field) == value


def test_a_stream_starts_at_the_latest_messages_and_has_no_end() -> None:
    assert parse_source_options(STORE).starting_offsets == EARLIEST
    assert parse_source_options(STORE, is_stream=True).starting_offsets == LATEST
    for name, text in (("endingOffsets", "latest"), ("endingTimestamp", "1700000000000"), ("filterPushdown", "true")):
        with pytest.raises(BadOption, match="for batch reads only"):
            parse_source_options({**STORE, name: text}, is_stream=True)
    with pytest.raises(BadOption, match="more than maxOffsetsPerTrigger"):
        parse_source_options({**STORE, "minOffsetsPerTrigger": "9", "maxOffsetsPerTrigger": "8"}, is_stream=True)


def test_what_spark_adds_for_itself_is_no_unknown_option() -> None:
    assert parse_source_options({**STORE, "checkpointLocation": "/c", "queryName": "q"}, is_stream=True).topics


def test_a_secret_is_not_repeated_in_the_refusal() -> None:
    with pytest.raises(BadUse) as caught:
        parse_source_options({**STORE, "accessKey": "ak", "secretKey": "hush-hush"})
    assert "hush" not in str(caught.value)


def test_keys_may_also_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("k1\n\n k2 \n")
    keys = parse_source_options({**STORE, "keysFile": str(file), "keys": "k3"}).keys
    assert keys == frozenset({"k1", "k2", "k3"})


def test_time_zones_are_heeded() -> None:
    assert parse_time("from", "2023-11-15T07:13:20+09:00") == 1_700_000_000_000
