"""Where a stream is, and how far its next batch goes."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np
import pytest

from broker_core.spark.errors import BadOption, DataLoss, QueueGone
from broker_core.spark.places import QueuePlace, Reach
from broker_core.spark.stream_offsets import Limits, Position, starts
from broker_core.store.columns import Ints

A0, A1, A10, B0 = (
    QueuePlace("orders", *each) for each in (("broker-a", 0), ("broker-a", 1), ("broker-a", 10), ("broker-b", 0))
)


def of_100_bytes(_place: QueuePlace, begin: int, end: int) -> Ints:
    return np.full(end - begin, 100, np.int64)


def test_the_text_is_the_same_for_the_same_offsets() -> None:
    one = Position("live", {A10: 1, B0: 3, A0: 2}).to_json()
    other = Position("live", {A0: 2, A10: 1, B0: 3}).to_json()
    assert json.dumps(one) == json.dumps(other)
    assert one["topics"] == {"orders": {"broker-a": {"0": 2, "10": 1}, "broker-b": {"0": 3}}}
    assert Position.from_json(one, cluster="live", topics=["orders"]).offsets == {A0: 2, A10: 1, B0: 3}


@pytest.mark.parametrize(
    ("cluster", "topics", "said"),
    [
        ("other", ["orders"], "the checkpoint belongs to cluster 'live'"),
        ("live", ["payments"], "the checkpoint belongs to orders; use another checkpoint"),
    ],
)
def test_a_checkpoint_of_something_else_is_refused(cluster: str, topics: list[str], said: str) -> None:
    with pytest.raises(BadOption, match=said):
        Position.from_json(Position("live", {A0: 1}).to_json(), cluster=cluster, topics=topics)


def test_a_checkpoint_in_another_form_is_refused() -> None:
    with pytest.raises(BadOption, match="another form"):
        Position.from_json({"v": 2}, cluster="live", topics=["orders"])


def test_a_topic_more_is_no_other_stream() -> None:
    found = Position.from_json(Position("live", {A0: 1}).to_json(), cluster="live", topics=["orders", "payments"])
    assert found.offsets == {A0: 1}


def test_a_batch_shares_its_limit_in_proportion_to_what_waits() -> None:
    begins, ends = {A0: 0, A1: 10, B0: 5}, {A0: 900, A1: 110, B0: 5}
    assert Limits(100).cut(begins, ends, of_100_bytes) == {A0: 90, A1: 20, B0: 5}
    assert Limits().cut(begins, ends, of_100_bytes) == ends


def test_a_short_queue_is_never_starved() -> None:
    assert Limits(2).cut({A0: 0, A1: 0}, {A0: 10_000, A1: 1}, of_100_bytes) == {A0: 1, A1: 1}


def test_a_limit_of_bytes_counts_records() -> None:
    assert Limits(None, 1000).cut({A0: 0, A1: 0}, {A0: 100, A1: 100}, of_100_bytes) == {A0: 5, A1: 5}
    assert Limits(4, 1000).cut({A0: 0, A1: 0}, {A0: 100, A1: 100}, of_100_bytes) == {A0: 2, A1: 2}
    assert Limits(None, 10).cut({A0: 0}, {A0: 100}, of_100_bytes) == {A0: 1}


def begins(start: Position, reaches: Mapping[QueuePlace, Reach], *, may_lose: bool = False) -> object:
    found, new = starts(start, reaches, may_lose=may_lose)
    return dict(found), dict(new)


def test_a_new_queue_begins_at_its_first_message() -> None:
    assert begins(Position("live", {A0: 4}), {A0: Reach(0, 9), A1: Reach(3, 8)}) == ({A0: 4, A1: 3}, {A1: 3})


@pytest.mark.parametrize(
    ("reaches", "said", "left"),
    [
        ({A0: Reach(6, 9)}, "the stream is at 4, the first message available is 6", {A0: 6}),
        ({A0: Reach(0, 3)}, "the stream is at 4, the queue ends at 3", {A0: 0}),
        ({}, "does not exist any more", {A0: 4}),
    ],
)
def test_lost_messages_are_an_error_unless_allowed(
    reaches: dict[QueuePlace, Reach], said: str, left: dict[QueuePlace, int]
) -> None:
    with pytest.raises(DataLoss, match=said):
        begins(Position("live", {A0: 4}), reaches)
    assert starts(Position("live", {A0: 4}), reaches, may_lose=True)[0] == left


def test_a_queue_that_is_away_is_told_from_lost_messages() -> None:
    with pytest.raises(QueueGone):
        begins(Position("live", {A0: 4}), {})
    with pytest.raises(DataLoss) as lost:
        begins(Position("live", {A0: 4}), {A0: Reach(6, 9)})
    assert not isinstance(lost.value, QueueGone)


def test_a_repeated_first_batch_begins_where_it_began() -> None:
    # Spark asks for the initial offset again, and by then "latest" is later.
    initial = Position("live", {A0: 4}, began={A0: 4})
    found, new = starts(initial, {A0: Reach(0, 9)}, may_lose=False)
    first = Position("live", {A0: 9}, began=new)
    assert first.begins(initial) == first.begins(Position("live", {A0: 30}, began={A0: 30})) == {A0: 4}
    assert starts(first, {A0: Reach(0, 12)}, may_lose=False)[1] == {}
    assert dict(found) == {A0: 4}
