"""Options of the source: the meaning of each text, and refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from broker_core.spark.errors import BadOption, UnknownOption
from broker_core.spark.options import EARLIEST, Mode, parse_source_options, parse_time

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
    ],
)
def test_an_option_is_read(name: str, text: str, field: str, value: Any) -> None:
    given = {key: word for key, word in STORE.items() if not (key == "store" and name.lower() == "store")}
    if name == "STORE":
        given["broker"] = "broker-a,broker-b"
    if name == "topics":
        del given["topic"]
    assert getattr(parse_source_options({**given, name: text}), field) == value


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"store": "/data"}, "name the topic"),
        ({"topic": "orders"}, "either store"),
        ({**STORE, "nameServer": "a:1"}, "either store"),
        ({**STORE, "queues": "one"}, "queue ids"),
        ({**STORE, "startingTimestamp": "yesterday"}, "ISO 8601"),
        ({**STORE, "startingTimestamp": "2023-11-14T22:13:20"}, "no zone"),
        ({**STORE, "startingTimestamp": "1700000000001", "endingTimestamp": "1700000000000"}, "before"),
        ({**STORE, "startingTimestamp": "1700000000"}, "looks like seconds; expected milliseconds"),
        ({**STORE, "endingTimestamp": "1700000000000000"}, "looks like micro"),
        ({**STORE, "queues": " "}, "is empty"),
        ({**STORE, "tags": ""}, "is empty"),
        ({**STORE, "keys": ","}, "is empty"),
        ({**STORE, "startingOffsets": "soon"}, "not JSON"),
        ({**STORE, "startingOffsets": "[1]"}, "expected earliest"),
        ({**STORE, "failOnDataLoss": "yes"}, "true or false"),
        ({**STORE, "mode": "lax"}, "permissive"),
        ({**STORE, "minPartitions": "0"}, "at least 1"),
        ({**STORE, "keysFile": "/nowhere"}, "cannot be read"),
        ({**STORE, "broker": "a,b"}, "as many brokers"),
    ],
)
def test_what_makes_no_sense_is_refused(given: dict[str, str], said: str) -> None:
    with pytest.raises(BadOption, match=said):
        parse_source_options(given)


def test_an_unknown_option_names_the_nearest_one() -> None:
    with pytest.raises(UnknownOption, match="did you mean 'startingTimestamp'") as caught:
        parse_source_options({**STORE, "startingTimestmap": "1"})
    assert caught.value.nearest == "startingTimestamp"


def test_keys_may_also_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("k1\n\n k2 \n")
    keys = parse_source_options({**STORE, "keysFile": str(file), "keys": "k3"}).keys
    assert keys == frozenset({"k1", "k2", "k3"})


def test_time_zones_are_heeded() -> None:
    assert parse_time("from", "2023-11-15T07:13:20+09:00") == 1_700_000_000_000
