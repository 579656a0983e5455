"""Copying lanes with a real broker: order, resumption, limits, stops. Without Spark: a lane is a plain function."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest

from broker_core.client.blocking import BlockingSession
from broker_core.client.errors import SendUncertain, Unreachable
from broker_core.client.selection import queue_for_key
from broker_core.protocol.message import Message
from broker_core.protocol.record import decode_many
from broker_core.spark.checkpoint import Checkpoint, LeftOut, sum_counters
from broker_core.spark.collector import Budget, Collector
from broker_core.spark.errors import BadRequest
from broker_core.spark.lanes import LaneResult, ReplayJob, copy_lane
from broker_core.spark.options import SourceOptions
from broker_core.spark.reading import plan
from broker_core.spark.replay_plan import Lane, Positions, find_start, from_json, make_plan, to_json
from broker_core.spark.target_queue import TargetQueue
from broker_core.spark.wire_place import WirePlace
from broker_core.store.reader import StoreReader
from tests.support.cluster import RunningBroker
from tests.support.replays import fill_topic, make_topic, read_topic
from tests.support.stores import overwrite, queue_file, segment
from tests.support.topics import order, orders, write_topic
from tests.support.wait import wait_until

_names = count(1)
ALL_WRITTEN = {"read": 3000, "filtered": 0, "damaged": 0, "matched": 3000, "written": 3000}


class Replay:
    """A replay of a topic, from the driver's point of view."""

    def __init__(self, running: RunningBroker, session: BlockingSession, source: str, target: str) -> None:
        self.running, self.session, self.target = running, session, target
        self.options = SourceOptions(topics=(source,), stores=(running.data / "broker",), brokers=("broker-a",))
        self.checkpoints: dict[int, Checkpoint] = {}
        self.left_out: list[LeftOut] = []
        self.lanes: list[Lane] = []
        self.runs = 0
        self.kept: dict[str, Any] = {}

    def plan(self, positions: Positions | None = None, *, by_key: bool = False, **changes: Any) -> list[Lane]:
        self.options = replace(self.options, **changes)
        lanes = make_plan(self.options, self.session, self.target, positions, by_key=by_key)
        self.lanes = from_json(to_json(lanes, "hash"), "hash")
        return self.lanes

    def run(
        self,
        *,
        per_second: float | None = None,
        total: int | None = None,
        stop_after: int | None = None,
        stops_at_damage: bool = False,
    ) -> list[LaneResult]:
        """Run the remaining chunks; with `stop_after`, until that many messages were granted, 0: none."""
        lanes = self.lanes or self.plan()
        collector = Collector(_StopAfter(per_second, total, stop_after), self._done, self.left_out.extend)
        if isinstance(collector.budget, _StopAfter):
            collector.budget.collector = collector
        collector.stop = stop_after == 0
        self.runs += 1
        job = ReplayJob(
            job_id="job1", by="ann", cluster="local", options=self.options, address=collector.start(),
            target=WirePlace((self.running.name_server,)), stops_at_damage=stops_at_damage,
            **self.kept,
        )  # fmt: skip
        starts = [(lane, find_start(lane, self.checkpoints, is_resumed=self.runs > 1)) for lane in lanes]
        with ThreadPoolExecutor() as pool:
            results = list(pool.map(lambda work: copy_lane(job, *work), starts))
        self.running_chunks = dict(collector.running)
        collector.close()
        return results

    def keep_partial(self) -> None:
        """Save the progress of the stopped lanes."""
        for checkpoint in self.running_chunks.values():
            self._done(checkpoint)

    def _done(self, checkpoint: Checkpoint) -> None:
        self.checkpoints[checkpoint.chunk] = checkpoint

    def totals(self) -> dict[str, int]:
        totals = sum_counters(self.checkpoints.values())
        return {name: totals[name] for name in ("read", "filtered", "damaged", "matched", "written")}

    def copies(self) -> dict[int, list[int]]:
        """Return the numbers of the copied orders by target queue, in order."""
        found = read_topic(self.session, self.target)
        return {queue: [int(message.body[5:-1]) for message in messages] for queue, messages in found.items()}


class _StopAfter(Budget):
    """A budget whose collector stops everything after a number of grants."""

    def __init__(self, per_second: float | None, total: int | None, stop_after: int | None) -> None:
        super().__init__(per_second=per_second, total=total)
        self.collector: Collector | None = None
        self.left = stop_after

    def take(self, want: int, now: float) -> tuple[int, float]:
        if self.left is not None and self.collector is not None:
            self.left -= want
            self.collector.stop = self.collector.stop or self.left <= 0
        return super().take(want, now)


@pytest.fixture
def replay(shared_broker: RunningBroker, session: BlockingSession) -> Replay:
    """A replay of 3000 orders in two queues."""
    number = next(_names)
    source, target = f"orders-{number}", f"copy-{number}"
    make_topic(session, source)
    make_topic(session, target)
    fill_topic(session, source, orders(3000))
    return when_stored(Replay(shared_broker, session, source, target), 3000)


def when_stored(replay: Replay, messages: int) -> Replay:
    """Wait until the store's files have what the broker accepted."""
    wait_until(lambda: sum(part.end - part.begin for part in plan(replay.options)) == messages)
    return replay


def test_every_message_arrives_once_and_in_the_order_of_its_queue(replay: Replay) -> None:
    results = replay.run()
    assert [result.state for result in results] == ["done", "done"]
    assert replay.copies() == read_numbers(replay)
    assert replay.totals() == ALL_WRITTEN


def read_numbers(replay: Replay) -> dict[int, list[int]]:
    found = read_topic(replay.session, replay.options.topics[0])
    return {queue: [int(message.body[5:-1]) for message in messages] for queue, messages in found.items()}


def test_keys_tags_and_properties_arrive_and_copies_say_where_they_came_from(replay: Replay) -> None:
    replay.run()
    copy = read_topic(replay.session, replay.target)[0][0]
    original = read_topic(replay.session, replay.options.topics[0])[0][0]
    assert (copy.keys, copy.tag, copy.body) == (original.keys, original.tag, original.body)
    assert copy.unique_id != original.unique_id
    assert copy.properties["GANTRY_SRC"] == f"local/broker-a/{original.topic}/0/0"
    assert copy.properties["GANTRY_SRC_ID"] == original.message_id


def test_a_stopped_replay_continues_where_it_stopped(replay: Replay) -> None:
    # Given a replay that was stopped in the middle, in order
    results = replay.run(stop_after=1500)
    assert "stopped" in {result.state for result in results}
    replay.keep_partial()
    assert 0 < replay.totals()["written"] < 3000
    # When it runs again
    replay.run()
    # Then the counts are those of a run that was not interrupted
    assert replay.copies() == read_numbers(replay)
    assert replay.totals() == ALL_WRITTEN


def test_what_a_killed_run_sent_and_did_not_write_down_is_found_in_the_target(replay: Replay) -> None:
    # Given a run that was killed: the target has copies that no checkpoint records
    replay.run(stop_after=1500)
    sent = sum(len(numbers) for numbers in replay.copies().values())
    assert sent
    # When it runs again
    replay.run()
    # Then there are no duplicates, and the counts are those of a run that was not killed
    assert replay.copies() == read_numbers(replay)
    assert replay.totals() == ALL_WRITTEN


def test_what_a_killed_run_sent_counts_also_if_the_next_one_is_stopped_at_once(replay: Replay) -> None:
    # A rate cuts the batches, so that one of them was sent in part
    replay.run(stop_after=1500, per_second=1000)
    sent = sum(len(numbers) for numbers in replay.copies().values())
    results = replay.run(stop_after=0)
    assert {result.state for result in results} == {"stopped"}
    replay.keep_partial()
    assert replay.totals()["written"] == sent
    replay.run()
    assert replay.copies() == read_numbers(replay)
    assert replay.totals() == ALL_WRITTEN


def test_nothing_is_sent_again_before_the_target_was_looked_at(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    # Given a send whose answer is lost, and a broker that then answers no pull, twice
    send, look = TargetQueue._send_once, TargetQueue.find_arrived
    lost: list[str] = []
    reason = "the connection was lost"

    def send_and_lose(self: TargetQueue, pairs: Any) -> None:
        end = self.end
        send(self, pairs)
        if not lost and self._queue.queue_id == 0:
            lost.append("answer")
            self.end = end
            raise SendUncertain(replay.target, "broker", reason)

    def look_in_vain(self: TargetQueue) -> set[int]:
        if 0 < len(lost) < 3:
            lost.append("look")
            raise Unreachable("broker", reason)
        return look(self)

    monkeypatch.setattr(TargetQueue, "_send_once", send_and_lose)
    monkeypatch.setattr(TargetQueue, "find_arrived", look_in_vain)
    results = replay.run()
    # Then the copies are found when it answers again
    assert [result.state for result in results] == ["done", "done"]
    assert lost == ["answer", "look", "look"]
    assert replay.copies() == read_numbers(replay)
    assert replay.totals() == ALL_WRITTEN


def test_copies_of_others_in_the_target_do_not_confuse(replay: Replay) -> None:
    fill_topic(replay.session, replay.target, [order(99_999) for _ in range(10)])
    replay.run(stop_after=1000)
    fill_topic(replay.session, replay.target, [order(99_999) for _ in range(10)])
    replay.run()
    assert [n for n in replay.copies()[0] if n != 99_999] == read_numbers(replay)[0]


def test_no_more_than_the_wanted_number_is_sent(replay: Replay) -> None:
    results = replay.run(total=700)
    assert sum(len(numbers) for numbers in replay.copies().values()) == 700
    assert {result.state for result in results} == {"stopped"}


def test_filters_choose_what_is_copied(replay: Replay) -> None:
    replay.plan(keys=frozenset({"k5", "k2777"}))
    replay.run()
    assert sorted(number for numbers in replay.copies().values() for number in numbers) == [5, 2777]
    totals = replay.totals()
    # What lies between them was not looked at: beside them at most the ends of each queue, of which no index tells.
    assert totals == {"read": 2 + totals["filtered"], "filtered": ANY, "damaged": 0, "matched": 2, "written": 2}
    assert totals["read"] <= 2 + 4


@pytest.mark.parametrize("over_wire", [False, True])
def test_exactly_the_messages_at_the_positions_are_copied_once(replay: Replay, over_wire: bool) -> None:
    if over_wire:
        replay.options = SourceOptions(
            topics=replay.options.topics, name_servers=(replay.running.name_server,), pull_batch_size=8
        )
    wanted = [3, 4, 5, 700, 1399]
    assert sum(lane.planned for lane in replay.plan({("broker-a", 1): wanted})) == 5
    replay.run(stop_after=3)
    replay.run()
    numbers = read_numbers(replay)[1]
    assert replay.copies() == {0: [], 1: [numbers[at] for at in wanted]}
    assert replay.totals() == {"read": 5, "filtered": 0, "damaged": 0, "matched": 5, "written": 5}


def test_what_is_looked_at_is_planned(replay: Replay) -> None:
    assert sum(lane.planned for lane in replay.plan(keys=frozenset({"k5", "k2777"}))) <= 2 + 4
    assert sum(lane.planned for lane in replay.plan(keys=None, tags=frozenset({"A"}))) == 3000
    assert sum(lane.planned for lane in replay.plan(tags=None)) == 3000


def test_a_rate_is_kept(replay: Replay) -> None:
    replay.plan(queues=frozenset({(None, 0)}), keys=frozenset(f"k{number}" for number in range(200)))
    replay.run(per_second=400)
    assert replay.totals()["written"] == 200


def test_queues_go_to_fewer_queues_in_turn(replay: Replay) -> None:
    make_topic(replay.session, f"{replay.target}-one", queues=1)
    replay.target += "-one"
    replay.run()
    assert sorted(replay.copies()[0]) == list(range(3000))


@pytest.fixture
def by_key(replay: Replay) -> Replay:
    """A replay with order by key, of messages with seven keys in each of two queues, into three queues."""
    source, target = f"{replay.options.topics[0]}-keys", f"{replay.target}-keys"
    make_topic(replay.session, source)
    make_topic(replay.session, target, queues=3)
    keys = [[f"k{number % 7}"] if number % 10 else [] for number in range(2000)]
    messages = [Message.create("T", b'{"n":%d}' % number, keys=keys[number]) for number in range(2000)]
    fill_topic(replay.session, source, messages)
    made = when_stored(Replay(replay.running, replay.session, source, target), 2000)
    made.plan(by_key=True)
    return made


def test_messages_of_a_key_go_to_its_queue_in_their_order_however_often_the_run_is_killed(by_key: Replay) -> None:
    # Given two runs that end before they report what they sent
    for stop_after in (600, 900):
        by_key.run(stop_after=stop_after)
    sent = sum(len(numbers) for numbers in by_key.copies().values())
    assert 0 < sent < 2000
    # When the next one goes on
    assert {result.state for result in by_key.run()} == {"done"}
    # Then each message is there once, and counted once
    assert sorted(number for numbers in by_key.copies().values() for number in numbers) == list(range(2000))
    assert by_key.totals() == {"read": 2000, "filtered": 0, "damaged": 0, "matched": 2000, "written": 2000}
    # And those of a key are in the queue that producers choose for it, without one in the lane's own
    queues = by_key.lanes[0].key_queues
    found = read_topic(by_key.session, by_key.target)
    for queue, messages in found.items():
        for copy in messages:
            assert queue == (queue_for_key(queues, copy.keys[0]).queue_id if copy.keys else source_of(copy)[0])
        # In the order of their source queue
        for key in range(7):
            places = [source_of(copy) for copy in messages if list(copy.keys) == [f"k{key}"]]
            for source_queue in (0, 1):
                offsets = [offset for source, offset in places if source == source_queue]
                assert offsets == sorted(offsets)


def source_of(copy: Any) -> tuple[int, int]:
    *_, queue, offset = copy.properties["GANTRY_SRC"].split("/")
    return int(queue), int(offset)


def test_what_no_broker_takes_is_failed_once_when_a_killed_run_with_order_by_key_goes_on(by_key: Replay) -> None:
    wide = Message.create("T", b'{"n":1}', keys=["k1"], properties={f"p{number}": "x" * 1015 for number in range(32)})
    source = f"{by_key.options.topics[0]}-wide"
    make_topic(by_key.session, source, queues=1)
    fill_topic(by_key.session, source, [order(0), wide, *orders(5)[2:]])
    again = when_stored(Replay(by_key.running, by_key.session, source, by_key.target), 5)
    again.plan(by_key=True)
    again.run(stop_after=5)
    again.run()
    assert again.totals() == {"read": 5, "filtered": 0, "damaged": 0, "matched": 5, "written": 4}
    assert sum(checkpoint.failed for checkpoint in again.checkpoints.values()) == 1


def test_copies_keep_when_their_originals_were_born_where_that_is_asked_for(replay: Replay) -> None:
    replay.kept = {"keeps_born_at": True}
    replay.plan(queues=frozenset({(None, 0)}))
    assert [result.state for result in replay.run()] == ["done"]
    originals = read_topic(replay.session, replay.options.topics[0])[0]
    copies = read_topic(replay.session, replay.target)[0]
    assert [copy.body for copy in copies] == [message.body for message in originals]
    assert [copy.born_timestamp for copy in copies] == [message.born_timestamp for message in originals]
    assert len({copy.born_timestamp for copy in copies}) > 1


def test_a_message_that_no_broker_takes_counts_as_failed_and_the_others_continue(replay: Replay) -> None:
    # Given a message whose properties leave no room for those of its source
    wide = Message.create("T", b'{"n":1}', properties={f"p{number}": "x" * 1015 for number in range(32)})
    source = f"{replay.options.topics[0]}-wide"
    make_topic(replay.session, source, queues=1)
    fill_topic(replay.session, source, [order(0), wide, order(2)])
    again = when_stored(Replay(replay.running, replay.session, source, replay.target), 3)
    assert [result.state for result in again.run()] == ["done"]
    assert again.copies()[0] == [0, 2]
    (checkpoint,) = again.checkpoints.values()
    assert checkpoint.failed == 1
    (failed,) = again.left_out
    assert (failed.kind, failed.broker, failed.topic, failed.queue_id, failed.queue_offset) == (
        "failed", "broker-a", source, 0, 1
    )  # fmt: skip


@pytest.fixture
def damaged(replay: Replay, tmp_path: Path) -> Replay:
    """A replay of five orders: the second has a flipped bit in its body, and the queue has lost the fourth."""
    write_topic(tmp_path, [order(number, topic="broken") for number in range(5)], queues=1)
    log = segment(tmp_path)
    overwrite(log, log.read_bytes().index(b'{"n":1}'), b"z")
    overwrite(queue_file(tmp_path, "broken"), 60, bytes(20))
    replay.options = SourceOptions(topics=("broken",), stores=(tmp_path,), brokers=("broker-a",))
    return replay


def test_damaged_messages_are_passed_over_counted_and_named(damaged: Replay) -> None:
    assert [result.state for result in damaged.run()] == ["done"]
    assert damaged.copies()[0] == [0, 2, 4]
    assert damaged.totals() == {"read": 5, "filtered": 0, "damaged": 2, "matched": 3, "written": 3}
    first, second = damaged.left_out
    assert first.log_offset is not None
    assert first.log_offset > 0
    assert {each.kind for each in damaged.left_out} == {"damaged"}
    assert (first.queue_offset, first.reason) == (1, "the body does not match the checksum in the record")
    assert (second.queue_offset, second.log_offset) == (3, None)
    assert second.reason == "the queue entry names no record"


def test_what_is_read_over_the_wire_and_not_written_is_counted(replay: Replay) -> None:
    # Given a source with a message that the broker leaves out, since its body has a flipped bit
    source = f"{replay.options.topics[0]}-wire"
    make_topic(replay.session, source, queues=1)
    fill_topic(replay.session, source, orders(50))
    stored = when_stored(Replay(replay.running, replay.session, source, replay.target), 50)
    break_body(stored, b'{"n":7}')
    # When half of it is replayed over the wire
    stored.options = SourceOptions(topics=(source,), name_servers=(replay.running.name_server,))
    stored.plan(tags=frozenset({"B"}))
    stored.run()
    # Then every offset that was read is counted
    assert stored.totals() == {"read": 50, "filtered": 25, "damaged": 1, "matched": 24, "written": 24}
    assert [(each.queue_offset, each.reason) for each in stored.left_out] == [
        (7, "the broker did not send a message for this offset")
    ]


def break_body(replay: Replay, body: bytes) -> None:
    """Flip bits of the source message with this body, in the files of the broker."""
    root = replay.running.data / "broker"
    with StoreReader.open(root) as store:
        found = store.get(replay.options.topics[0], 0, 0, max_messages=100)
        at = next(message.log_offset for message in decode_many(b"".join(found.records)) if message.body == body)
        start = at - at % store.segment_size
    log = segment(root, start)
    overwrite(log, log.read_bytes().index(body, at - start), b"z")


def test_damage_stops_a_replay_that_is_to_stop_at_it(damaged: Replay) -> None:
    (result,) = damaged.run(stops_at_damage=True)
    assert (result.state, damaged.copies()[0]) == ("damaged", [])
    assert result.reason == (
        "the message at offset 1 of queue 0 of topic broken on broker-a is damaged: "
        "the body does not match the checksum in the record"
    )


def test_a_target_that_does_not_exist_is_a_bad_request(replay: Replay) -> None:
    replay.target = "nowhere"
    with pytest.raises(BadRequest, match="nowhere"):
        replay.plan()
