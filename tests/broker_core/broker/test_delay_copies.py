"""A master that takes over goes on behind what the earlier one delivered, and passes over nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.broker.delay import DelayQueues, delivered
from broker_core.broker.delay_copies import Key, delivered_of
from broker_core.broker.intake import parked_by_delay
from broker_core.broker.saving import JsonFile
from broker_core.protocol.message import Message, StoredMessage
from broker_core.store import MessageStore
from tests.support.broker import small_store
from tests.support.stores import incoming

LEVELS = (1_000, 5_000)
HOST = ("127.0.0.1", 1)


class Scene:
    """A log, and masters of it with a progress of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = MessageStore.open(small_store(folder / "store", delay_levels_ms=LEVELS), now=None)
        self.now = 100_000
        self.sent: list[bytes] = []

    def put(self, message: Message, queue_id: int) -> None:
        self.store.put(
            incoming(message, queue_id=queue_id, born_timestamp=0, born_host=HOST, store_host=HOST, now=self.now)
        )
        self.store.dispatch()

    def park(self, body: bytes, *, level: int = 1, unique_id: str | None = None) -> None:
        pairs = {"UNIQ_KEY": f"ID-{body.decode()}" if unique_id is None else unique_id}
        self.put(parked_by_delay(Message("orders", body, pairs), 0, level), level - 1)

    def master(self, progress: dict[int, int] | None = None, *, may_be_ahead: bool = False) -> DelayQueues:
        """Return the delays of a master that takes over with a progress, by level."""
        queues = DelayQueues(JsonFile(self.folder / "delays.json"), self.store, LEVELS, self._deliver)
        queues.replace(progress or {})
        queues.may_be_ahead = may_be_ahead
        for _ in queues.passing_delivered():
            pass
        queues.take_up()
        return queues

    def wait(self, master: DelayQueues, ms: int) -> None:
        self.now += ms
        master.step(self.now)

    def _deliver(self, message: Message, queue_id: int, parked: StoredMessage) -> bool:
        assert delivered(parked) == (message, queue_id)
        self.sent.append(message.body)
        self.put(message, queue_id)
        return True


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(tmp_path)
    yield scene
    scene.store.close()


@pytest.mark.parametrize("known", [0, 1, 2, 3])
def test_what_was_delivered_and_not_told_is_not_delivered_again(scene: Scene, known: int) -> None:
    first = scene.master()
    for body in (b"a", b"b", b"c"):
        scene.park(body)
        scene.park(body + b"-slow", level=2)
    scene.wait(first, 1_500)
    scene.park(b"d")

    second = scene.master({1: known})
    assert second.offset_of(1) == 3
    scene.wait(second, 10_000)

    assert sorted(scene.sent) == [b"a", b"a-slow", b"b", b"b-slow", b"c", b"c-slow", b"d"]


def test_what_was_delivered_in_a_part_of_the_log_that_was_cut_is_delivered_again(scene: Scene) -> None:
    first = scene.master()
    for body in (b"a", b"b"):
        scene.park(body)
    scene.wait(first, 1_000)
    end = scene.store.appended_log_offset
    scene.park(b"c")
    kept = scene.store.appended_log_offset
    scene.wait(first, 1_000)
    assert (scene.sent, kept > end) == ([b"a", b"b", b"c"], True)
    scene.store.cut(kept)
    scene.park(b"end", level=2)

    second = scene.master({1: 3}, may_be_ahead=True)
    assert second.offset_of(1) == 2
    scene.wait(second, 1)
    scene.wait(scene.master({1: 3}, may_be_ahead=True), 1)

    assert scene.sent == [b"a", b"b", b"c", b"c"]


def test_progress_that_nobody_told_is_right_where_nothing_was_cut(scene: Scene) -> None:
    first = scene.master()
    for _ in range(40):
        scene.park(b"%d" % scene.now)
        scene.wait(first, 3_000)
    scene.wait(scene.master({1: 40}, may_be_ahead=True), 5_000)

    assert len(scene.sent) == 40


def test_a_retry_is_not_taken_for_its_earlier_delivery(scene: Scene) -> None:
    first = scene.master()
    for _ in range(3):
        scene.park(b"failed")  # sent back each time, with the same id
        scene.wait(first, 1_000)
    scene.park(b"failed")
    scene.wait(scene.master({1: 3}), 2_000)

    assert scene.sent == [b"failed"] * 4


def test_what_was_sent_again_with_its_id_before_the_first_came_is_not_passed_over(scene: Scene) -> None:
    first = scene.master()
    scene.park(b"a")
    scene.now += 500
    scene.park(b"a")
    scene.wait(first, 500)
    assert scene.sent == [b"a"]
    scene.now += 1_000
    scene.park(b"end", level=2)  # so that the log ends behind the time of the second

    scene.wait(scene.master({1: 1}), 1)

    assert scene.sent == [b"a", b"a"]


def test_messages_without_an_id_come_again_rather_than_not(scene: Scene) -> None:
    first = scene.master()
    scene.park(b"a", unique_id="")
    scene.wait(first, 2_000)
    scene.wait(scene.master(), 1)

    assert scene.sent == [b"a", b"a"]


@given(
    ids=st.lists(st.integers(0, 3), max_size=8), known=st.integers(0, 8), done=st.integers(0, 8), seen=st.integers(0, 8)
)
def test_nothing_that_was_not_delivered_is_passed_over(ids: list[int], known: int, done: int, seen: int) -> None:
    keys: list[Key] = [(f"ID-{each}", "orders") for each in ids]
    done = min(done, len(keys))
    known = min(known, done)
    copies = keys[max(0, done - seen) : done]
    has_before = known > 0

    assert known + delivered_of(copies, keys[known - has_before :], has_before=has_before) <= done
