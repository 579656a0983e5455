"""Lanes and chunks of a replay, and where a run resumes them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import msgspec
import pytest

from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.spark.checkpoint import COUNTED, Checkpoint, sum_counters
from broker_core.spark.errors import BadRequest
from broker_core.spark.partitions import FilePartition, WirePartition
from broker_core.spark.replay_plan import Chunk, Lane, find_start, from_json, targets_of, to_json

CHUNKS = (Chunk(0, 0, 10), Chunk(1, 10, 20), Chunk(2, 20, 25))


def lane(source: Any = None) -> Lane:
    source = source or FilePartition("/data", "broker-a", "orders", 3, 0, 25)
    return Lane(0, source, MessageQueue("copy", "broker-a", 3), 100, CHUNKS)


def checkpoint(chunk: int, state: Literal["partial", "done"] = "done", **more: int) -> Checkpoint:
    fields: dict[str, Any] = {"next": 0, "target": 100, **dict.fromkeys(COUNTED, 1), **more}
    return Checkpoint(chunk=chunk, lane=0, state=state, **fields)


@pytest.mark.parametrize("source", [None, WirePartition("broker-a", "orders", 3, 0, 25)])
def test_a_plan_comes_back_as_it_was_kept(source: Any) -> None:
    assert from_json(to_json([lane(source)], "hash"), "hash") == [lane(source)]


def test_a_plan_of_another_request_is_refused() -> None:
    with pytest.raises(BadRequest, match="another request"):
        from_json(to_json([lane()], "hash"), "other")


def test_a_first_run_begins_at_the_beginning() -> None:
    start = find_start(lane(), {}, is_resumed=False)
    assert (start.chunks, start.target_from, start.earlier) == (CHUNKS, 100, None)


def test_finished_chunks_are_not_run_again() -> None:
    start = find_start(lane(), {0: checkpoint(0, target=110)}, is_resumed=True)
    assert (start.chunks, start.target_from) == (CHUNKS[1:], 110)


def test_a_chunk_continues_where_it_stopped_with_what_it_counted() -> None:
    known = {0: checkpoint(0, target=110), 1: checkpoint(1, "partial", next=14, target=114, written=4)}
    start = find_start(lane(), known, is_resumed=True)
    assert start.chunks == (Chunk(1, 14, 20), CHUNKS[2])
    assert start.earlier == known[1]
    assert start.target_from == 114


def test_nothing_is_left_of_a_finished_lane() -> None:
    assert find_start(lane(), {number: checkpoint(number) for number in range(3)}, is_resumed=True).chunks == ()


def test_totals_are_sums_of_checkpoints() -> None:
    assert sum_counters([checkpoint(0, written=5), checkpoint(1)])["written"] == 6


def test_a_checkpoint_comes_back_as_it_was_written() -> None:
    kept = checkpoint(1, "partial", next=14)
    kept.targets = [7, 8]
    assert msgspec.convert(msgspec.to_builtins(kept), Checkpoint) == kept


def test_a_checkpoint_of_an_older_release_is_read() -> None:
    # An old checkpoint, without damage counts and with removed fields
    line = {"chunk": 1, "lane": 0, "state": "done", "read": 9, "sent": 9, "written": 9, "next": 20, "target": 109,
            "failures": [{"source": "local/broker-a/orders/0/7", "reason": "too large"}]}  # fmt: skip
    kept = msgspec.convert(line, Checkpoint)
    assert (kept.is_done, kept.written, kept.damaged) == (True, 9, 0)


def test_all_that_a_lane_reads_is_planned() -> None:
    assert lane().planned == 25
    assert replace(lane(), source=replace(lane().source, only=[0, 7, 19])).planned == 3


def queues(broker: str, count: int) -> list[MessageQueue]:
    return [MessageQueue("copy", broker, number) for number in range(count)]


@pytest.mark.parametrize("count", [4, 8])
def test_each_queue_is_copied_to_its_own_where_the_target_has_as_many(count: int) -> None:
    found = targets_of([("broker-a", number) for number in range(4)], queues("broker-a", count))
    assert list(found.values()) == queues("broker-a", 4)


def test_queues_share_one_where_the_target_has_fewer() -> None:
    found = targets_of([("broker-a", number) for number in range(4)], queues("broker-a", 2))
    assert [found[("broker-a", number)].queue_id for number in range(4)] == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("sources", "targets"),
    [
        ([("broker-a", 1), ("broker-a", 4)], queues("broker-a", 4)),
        (
            [*(("broker-a", number) for number in range(4)), ("broker-b", 0), ("broker-b", 1)],
            [*queues("broker-a", 2), *queues("broker-b", 4)],
        ),
    ],
)
def test_no_two_queues_share_one_while_another_is_free(
    sources: list[tuple[str, int]], targets: list[MessageQueue]
) -> None:
    found = targets_of(sources, targets)
    assert len(set(found.values())) == len(sources)
    for broker, number in sources:
        if MessageQueue("copy", broker, number) in targets:
            assert found[(broker, number)] == MessageQueue("copy", broker, number)
