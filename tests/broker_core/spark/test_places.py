"""Which topics and queues the options select, and how far these reach: by files and by brokers alike."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from broker_core.client.blocking import BlockingSession
from broker_core.spark.errors import BadOption, UnknownOption
from broker_core.spark.options import LATEST, SourceOptions
from broker_core.spark.places import Places, QueuePlace, Reach, cluster_name, named_topics, resolved
from broker_core.spark.reading import plan
from broker_core.spark.source import RocketMQReader
from tests.support.cluster import RunningBroker
from tests.support.replays import fill_topic, make_topic
from tests.support.stores import NOW
from tests.support.topics import order, orders, write_topic

OWN = ("orders", "orders-eu", "payments", "%DLQ%sink", "%RETRY%sink", "SCHEDULE_TOPIC_XXXX")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a few messages in each topic of `OWN`, one millisecond apart."""
    folder = tmp_path_factory.mktemp("store") / "live"
    write_topic(folder, [order(number, topic=topic) for topic in OWN for number in range(8)])
    return folder


def options(store: Path, **changes: Any) -> SourceOptions:
    return SourceOptions(stores=(store,), brokers=("broker-a",), **changes)


def test_a_pattern_selects_topics_by_their_whole_name(store: Path) -> None:
    assert named_topics(options(store, topic_pattern=re.compile("orders.*"))).topics == ("orders", "orders-eu")
    assert named_topics(options(store, topic_pattern=re.compile("order"))).topics == ()


def test_a_pattern_selects_internal_topics_only_if_they_are_included(store: Path) -> None:
    every = re.compile(".*")
    assert named_topics(options(store, topic_pattern=every)).topics == ("orders", "orders-eu", "payments")
    assert set(named_topics(options(store, topic_pattern=every, include_internal=True)).topics) == set(OWN)


def test_a_batch_of_a_pattern_that_no_topic_matches_is_refused(store: Path) -> None:
    """A stream waits for such a topic; a batch would have no rows, without a word."""
    for pattern, said in (
        (
            "order",
            "option topicPattern='order': matches the whole name of no topic; known: orders, orders-eu, payments",
        ),
        ("%DLQ%.*", "option topicPattern='%DLQ%.*': matches internal topics alone, as %DLQ%sink; includeInternal=true"),
    ):
        reader = RocketMQReader(options(store, topic_pattern=re.compile(pattern)), ("body",))
        with pytest.raises(BadOption, match=re.escape(said)):
            reader.partitions()


def test_queues_reach_from_their_first_message_to_their_end(store: Path) -> None:
    places = Places(options(store, topics=("orders",)))
    assert places.reaches() == {QueuePlace("orders", "broker-a", queue): Reach(0, 4) for queue in (0, 1)}
    sizes = places.sizes(QueuePlace("orders", "broker-a", 0), 1, 3).tolist()
    assert len(sizes) == 2
    assert all(91 < size < 300 for size in sizes)


def test_a_time_of_each_queue_becomes_its_offset(store: Path) -> None:
    times = {"orders": {"broker-a": {0: NOW + 3, 1: NOW + 3}}}
    found = resolved(options(store, topics=("orders",), starting_times=times))
    # Queue 0 has the even milliseconds, queue 1 the odd ones.
    assert found.starting_offsets == {"orders": {"broker-a": {0: 2, 1: 1}}}
    assert found.ending_offsets == LATEST


def test_a_queue_without_a_time_keeps_its_offset(store: Path) -> None:
    found = resolved(
        options(
            store,
            topics=("orders",),
            starting_offsets={"orders": {"broker-a": {1: 2}}},
            starting_times={"orders": {"broker-a": {0: NOW + 3}}},
            ending_times={"orders": {"broker-a": {0: NOW + 5}}},
        )
    )
    assert {(part.queue_id, part.begin, part.end) for part in plan(found)} == {(0, 2, 3), (1, 2, 4)}


def test_a_time_for_a_queue_that_does_not_exist_is_an_error(store: Path) -> None:
    with pytest.raises(UnknownOption, match="queue in option startingOffsetsByTimestamp"):
        resolved(options(store, topics=("orders",), starting_times={"orders": {"broker-a": {7: NOW}}}))


def test_brokers_answer_what_files_show(session: BlockingSession, shared_broker: RunningBroker) -> None:
    make_topic(session, "placed")
    fill_topic(session, "placed", orders(400))
    by_wire = SourceOptions(topics=("placed",), name_servers=(shared_broker.name_server,))
    by_files = options(shared_broker.store, topics=("placed",))
    assert Places(by_wire).reaches() == Places(by_files).reaches()
    place = QueuePlace("placed", "broker-a", 0)
    assert Places(by_wire).at_times({place: NOW}) == Places(by_files).at_times({place: NOW}) == {place: 0}
    estimated, exact = (Places(each).sizes(place, 0, 200).sum() for each in (by_wire, by_files))
    assert estimated == pytest.approx(exact, rel=0.1)


def test_a_pattern_asks_the_brokers_and_leaves_out_their_own_topics(
    session: BlockingSession, shared_broker: RunningBroker
) -> None:
    make_topic(session, "patterned")
    every = SourceOptions(topic_pattern=re.compile(".*"), name_servers=(shared_broker.name_server,))
    topics = named_topics(every).topics
    assert "patterned" in topics
    assert not {"broker-a", "test", "TBW102"} & set(topics)


def test_a_cluster_has_the_name_given_or_its_own(store: Path, shared_broker: RunningBroker) -> None:
    assert cluster_name(options(store, cluster="mine", topics=("orders",))) == "mine"
    assert cluster_name(options(store, topics=("orders",))) == "live"
    assert cluster_name(SourceOptions(topics=("orders",), name_servers=(shared_broker.name_server,))) == "test"
