"""Delayed messages: delivered when due and not earlier, in order, also after a restart."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from broker_core.broker.delay import FILE_NAME, DelayQueues
from broker_core.broker.errors import DiskFull, NotTaken, Unconfirmed
from broker_core.broker.intake import parked_by_delay
from broker_core.broker.saving import JsonFile
from broker_core.clock import now_ms
from broker_core.protocol.message import Message, StoredMessage
from broker_core.protocol.topics import SCHEDULE_TOPIC
from broker_core.store import MessageStore, StoreConfig
from broker_core.store.errors import StoreFull
from tests.support.broker import Wire, small_store, started
from tests.support.stores import incoming

LEVELS = (1_000, 5_000)
HOUR = 3_600_000  # so long that no delay ends during a test
HOST = ("127.0.0.1", 1)


@dataclass
class Scene:
    """A store with delayed messages, and their destinations."""

    folder: Path
    store: MessageStore
    delivered: list[tuple[bytes, str, int]] = field(default_factory=list)
    failure: Exception | None = None

    def queues(self) -> DelayQueues:
        queues = DelayQueues(JsonFile(self.folder / FILE_NAME), self.store, LEVELS, self._deliver)
        queues.load()
        queues.take_up()
        return queues

    def park(self, body: bytes, *, level: int, now: int, topic: str = "orders", queue_id: int = 2) -> None:
        message = parked_by_delay(Message(topic, body, {"KEYS": "A17"}), queue_id, level)
        self.store.put(
            incoming(message, queue_id=level - 1, born_timestamp=0, born_host=HOST, store_host=HOST, now=now)
        )
        self.store.dispatch()

    def _deliver(self, message: Message, queue_id: int, parked: StoredMessage) -> bool:
        if self.failure is not None:
            raise self.failure
        self.delivered.append((message.body, message.topic, queue_id))
        return True

    @property
    def bodies(self) -> list[bytes]:
        return [body for body, _, _ in self.delivered]


def delivered_in_an_hour(wire: Wire) -> int:
    """Deliver what is due an hour from now, also what was sent a moment ago; return how many."""
    components = wire.broker.components
    components.arrivals.settle()
    return components.delay.step(now_ms() + HOUR)


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    config: StoreConfig = small_store(tmp_path / "store", delay_levels_ms=LEVELS)
    return Scene(tmp_path, MessageStore.open(config, now=0))


def test_a_message_is_delivered_when_it_is_due_and_not_before(scene: Scene) -> None:
    queues = scene.queues()
    scene.park(b"a", level=1, now=10_000)

    assert queues.step(10_999) == 0
    assert queues.step(11_000) == 1
    assert queues.step(20_000) == 0
    assert scene.delivered == [(b"a", "orders", 2)]


def test_levels_do_not_wait_for_each_other(scene: Scene) -> None:
    queues = scene.queues()
    scene.park(b"slow", level=2, now=10_000)
    scene.park(b"fast", level=1, now=10_000)
    queues.step(11_000)
    assert scene.bodies == [b"fast"]

    queues.step(15_000)
    assert scene.bodies == [b"fast", b"slow"]


def test_many_messages_are_delivered_in_their_order_a_part_at_a_time(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker_core.broker.delay.STEP_MESSAGES", 100)
    queues = scene.queues()
    for number in range(250):
        scene.park(b"%d" % number, level=1, now=10_000)

    assert [queues.step(12_000) for _ in range(4)] == [100, 100, 50, 0]
    assert scene.bodies == [b"%d" % number for number in range(250)]


@pytest.mark.parametrize("failure", [StoreFull(Path(), 100), DiskFull(), NotTaken(), Unconfirmed()])
def test_what_cannot_be_stored_now_is_delivered_later(scene: Scene, failure: Exception) -> None:
    queues = scene.queues()
    scene.park(b"a", level=1, now=10_000)
    scene.failure = failure
    assert queues.step(12_000) == 0

    scene.failure = None
    assert queues.step(12_100) == 1


def test_a_clock_that_goes_back_does_not_hold_messages_for_longer_than_their_delay(scene: Scene) -> None:
    queues = scene.queues()
    scene.park(b"a", level=1, now=100_000)
    queues.step(100_500)

    assert queues.step(50_000) == 1


def test_progress_survives_a_restart(scene: Scene) -> None:
    queues = scene.queues()
    for body in (b"a", b"b"):
        scene.park(body, level=1, now=10_000)
    scene.park(b"c", level=1, now=20_000)
    queues.step(15_000)
    queues.save(queues.text())

    again = scene.queues()
    again.step(25_000)

    assert scene.bodies == [b"a", b"b", b"c"]
    assert list(again.progress()) == [(1, 3, 3)]


def test_progress_beyond_what_the_store_holds_is_put_right(scene: Scene) -> None:
    (scene.folder / FILE_NAME).write_bytes(b'{"offsetTable":{1:99}}')
    queues = scene.queues()
    scene.park(b"a", level=1, now=10_000)

    assert queues.step(12_000) == 1


def test_a_parked_message_remembers_where_it_wants_to_go() -> None:
    parked = parked_by_delay(Message("orders", b"a", {"KEYS": "A17"}), 3, 2)

    assert parked.topic == SCHEDULE_TOPIC
    assert parked.properties == {"KEYS": "A17", "DELAY": "2", "REAL_TOPIC": "orders", "REAL_QID": "3"}


async def test_a_delayed_send_comes_to_its_topic_and_is_answered_with_the_queue_it_wanted(tmp_path: Path) -> None:
    store = small_store(tmp_path, delay_levels_ms=(HOUR, 2 * HOUR))
    async with started(tmp_path, store=store) as wire:
        await wire.create_topic("orders", queues=4)
        sent = await wire.send("orders", b"later", queue_id=3, properties={"DELAY": "1", "KEYS": "A17"})
        assert (sent.queue_id, sent.queue_offset) == (3, 0)
        assert await wire.pull("orders", 0, queue_id=3) == []

        assert delivered_in_an_hour(wire) == 1
        (message,) = await wire.pull("orders", 0, queue_id=3, wait_ms=10_000)

        assert (message.body, message.properties["KEYS"]) == (b"later", "A17")


async def test_a_level_beyond_the_last_is_the_last(tmp_path: Path) -> None:
    store = small_store(tmp_path, delay_levels_ms=(1_000, 60_000))
    async with started(tmp_path, store=store) as wire:
        await wire.send("orders", b"x", properties={"DELAY": "99"})

        (parked,) = await wire.pull(SCHEDULE_TOPIC, 0, queue_id=1)
        assert parked.properties["DELAY"] == "2"


async def test_a_delayed_message_of_a_deleted_topic_is_dropped(tmp_path: Path) -> None:
    store = small_store(tmp_path, delay_levels_ms=(HOUR,))
    async with started(tmp_path, store=store) as wire:
        await wire.send("orders", b"x", properties={"DELAY": "1"})
        wire.broker.components.topics.delete("orders", now=1)
        await wire.send("bills", b"y", properties={"DELAY": "1"})

        assert delivered_in_an_hour(wire) == 2
        assert [message.body for message in await wire.pull("bills", 0, wait_ms=10_000)] == [b"y"]
        assert wire.broker.store.max_offset("orders", 0) == 0


async def test_a_retry_comes_though_its_topic_was_lost_in_a_crash_and_not_if_it_was_deleted(
    tmp_path: Path,
) -> None:
    folder, retry = tmp_path / "store", "%RETRY%billing"
    store = small_store(folder, delay_levels_ms=(HOUR,))
    async with started(folder, store=store) as wire:
        await wire.send(retry, b"again", properties={"DELAY": "1"})
    for file in (folder / "config").glob("topics.json*"):
        file.unlink()
    async with started(folder, store=store) as wire:
        topics = wire.broker.components.topics
        assert topics.find(retry) is None

        assert delivered_in_an_hour(wire) == 1
        assert [message.body for message in await wire.pull(retry, 0, wait_ms=10_000)] == [b"again"]
        assert topics.get(retry).read_queue_nums == 1

        await wire.send(retry, b"never", properties={"DELAY": "1"})
        topics.delete(retry, now=now_ms())
        assert delivered_in_an_hour(wire) == 1
        assert topics.find(retry) is None
