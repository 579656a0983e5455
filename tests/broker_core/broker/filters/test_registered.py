"""The SQL92 filters of consumer groups, and their file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from broker_core.broker.errors import BadConfigFile
from broker_core.broker.filters import registered
from broker_core.broker.filters.registered import ConsumerFilters
from broker_core.broker.filters.settings import FilterSettings
from broker_core.broker.saving import JsonFile
from broker_core.protocol.bodies.heartbeat import SubscriptionData
from broker_core.protocol.message import Message
from broker_core.protocol.properties import format_properties
from broker_core.protocol.record import MessageOrigin, encode, encode_topic, size_of

NOW = 1_700_000_000_000
HOUR = 3_600_000
BITS = "0880000000000000000000000020"


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def filters_in(folder: Path, clock: Clock, settings: FilterSettings | None = None) -> ConsumerFilters:
    filters = ConsumerFilters(JsonFile(folder / registered.FILE_NAME), settings or FilterSettings(), clock)
    filters.load()
    return filters


def sql(expression: str, *, topic: str = "TopicTest", version: int = 1) -> SubscriptionData:
    return SubscriptionData(topic, expression, expression_type="SQL92", sub_version=version)


def record_with(**properties: str) -> memoryview:
    origin = MessageOrigin(1, bytes(8), 2, bytes(8))
    text = format_properties(Message.create("TopicTest", b"x", properties=properties).properties).encode()
    topic = encode_topic("TopicTest")
    return memoryview(encode(topic, b"x", text, origin, size_of(topic, b"x", text, origin), 0, 0, 0))


def saved(filters: ConsumerFilters) -> dict[str, Any]:
    filters.save(filters.text())
    tree: dict[str, Any] = json.loads(Path(str(filters.file)).read_text())
    return tree


def test_the_file_is_that_of_apache_rocketmq(tmp_path: Path, clock: Clock) -> None:
    filters = filters_in(tmp_path, clock)
    filters.register("CG", [sql("a > 1", version=7), SubscriptionData("other", "*")])
    assert saved(filters) == {
        "filterDataByTopic": {
            "TopicTest": {
                "groupFilterData": {
                    "CG": {
                        "bloomFilterData": {"bitNum": 112, "bitPos": [109, 15, 3]},
                        "bornTime": NOW,
                        "clientVersion": 7,
                        "consumerGroup": "CG",
                        "dead": False,
                        "deadTime": 0,
                        "expression": "a > 1",
                        "expressionType": "SQL92",
                        "topic": "TopicTest",
                    }
                },
                "topic": "TopicTest",
            }
        }
    }
    assert not filters.is_changed
    # And read again it is dead, until its consumers come back
    clock.now += HOUR
    again = filters_in(tmp_path, clock)
    known = again.find("TopicTest", "CG")
    assert known is not None
    assert (known.dead, known.born) == (clock.now - 30_000, NOW)
    assert again.bit_test("TopicTest", "CG", "a > 1") is not None
    again.register("CG", [sql("a > 1", version=7)])
    assert (known.dead, known.born) == (0, NOW)


def test_a_changed_expression_begins_anew(tmp_path: Path, clock: Clock) -> None:
    filters = filters_in(tmp_path, clock)
    filters.register("CG", [sql("a > 1", version=7)])
    filters.is_changed = False
    clock.now += 1
    # The same version again, an older one, and a newer one with the same expression change nothing
    for expression, version in (("a > 1", 7), ("a > 2", 7), ("a > 2", 6)):
        filters.register("CG", [sql(expression, version=version)])
    assert not filters.is_changed
    filters.register("CG", [sql("a > 1", version=8)])
    assert filters.bit_test("TopicTest", "CG", "a > 1") == (NOW, bytes.fromhex(BITS))
    filters.register("CG", [sql("a > 2", version=9)])
    assert filters.bit_test("TopicTest", "CG", "a > 1") is None
    assert filters.bit_test("TopicTest", "CG", "a > 2") == (NOW + 1, bytes.fromhex(BITS))
    # One that does not compile takes the old one with it
    filters.register("CG", [sql("a >", version=10)])
    assert filters.find("TopicTest", "CG") is None


def test_a_filter_dies_with_its_group_or_its_subscription_and_goes_after_a_day(tmp_path: Path, clock: Clock) -> None:
    filters = filters_in(tmp_path, clock)
    filters.register("CG", [sql("a > 1"), sql("a > 1", topic="other")])
    clock.now += 5
    filters.register("CG", [sql("a > 1", topic="other")])
    dead = filters.find("TopicTest", "CG")
    assert dead is not None
    assert dead.dead == NOW + 5
    filters.unregister("CG")
    filters.unregister("unknown")
    clock.now += 24 * HOUR - 1
    assert set(saved(filters)["filterDataByTopic"]) == {"TopicTest", "other"}
    clock.now += 1
    assert saved(filters) == {"filterDataByTopic": {}}
    assert filters.find("TopicTest", "CG") is None


def test_the_bits_of_a_message_are_those_of_the_groups_whose_filters_it_passes(tmp_path: Path, clock: Clock) -> None:
    filters = filters_in(tmp_path, clock)
    assert filters.bits_of("TopicTest", record_with(a="5")) == b""
    filters.register("CG", [sql("a > 1")])
    filters.register("other", [sql("a > 9 AND b = 'x'")])
    assert filters.bits_of("TopicTest", record_with(a="5")).hex() == BITS
    assert filters.bits_of("TopicTest", record_with(a="1")) == bytes(14)
    test = filters.bit_test("TopicTest", "other", "a > 9 AND b = 'x'")
    assert test is not None
    both = filters.bits_of("TopicTest", record_with(a="10", b="x"))
    assert int.from_bytes(both, "big") == int(BITS, 16) | int.from_bytes(test.bits, "big")
    assert filters.bits_of("TopicTest", memoryview(bytes(100))) == b""


def test_filters_of_another_geometry_are_left_out(tmp_path: Path, clock: Clock) -> None:
    filters = filters_in(tmp_path, clock)
    filters.register("CG", [sql("a > 1")])
    saved(filters)
    assert filters_in(tmp_path, clock, FilterSettings(consumers=64)).find("TopicTest", "CG") is None


def test_an_expression_that_only_apache_compiles_has_no_bits(tmp_path: Path, clock: Clock) -> None:
    filters = filters_in(tmp_path, clock)
    filters.register("CG", [sql("a > 1")])
    filters.save(filters.text().replace(b"a > 1", b"a LIKE 'x%'"))
    again = filters_in(tmp_path, clock)
    assert again.bit_test("TopicTest", "CG", "a LIKE 'x%'") is None
    assert again.bits_of("TopicTest", record_with(a="x")) == bytes(14)
    # And it stays for Apache RocketMQ
    assert b"LIKE" in again.text()


@pytest.mark.parametrize("text", ["[1]", '{"filterDataByTopic": {"t": {}}}', '{"filterDataByTopic": [1]}'])
def test_a_file_that_is_none_is_refused(tmp_path: Path, clock: Clock, text: str) -> None:
    (tmp_path / registered.FILE_NAME).write_text(text)
    with pytest.raises(BadConfigFile, match="not a table of filters"):
        filters_in(tmp_path, clock)


def test_no_more_filters_are_registered_than_there_may_be(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registered, "MOST", 1)
    filters = filters_in(tmp_path, clock)
    filters.register("one", [sql("a > 1")])
    filters.register("two", [sql("a > 1")])
    assert filters.bit_test("TopicTest", "two", "a > 1") is None
    filters.register("one", [sql("a > 2", version=2)])
    assert filters.bit_test("TopicTest", "one", "a > 2") is not None
