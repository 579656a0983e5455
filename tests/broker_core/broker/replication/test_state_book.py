"""What a master tells each slave of its state, and for what it waits."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

from broker_core.broker import BrokerConfig
from broker_core.broker.config import TopicDefaults
from broker_core.broker.delay import DelayQueues
from broker_core.broker.groups import Groups
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.offsets import ConsumerOffsets
from broker_core.broker.pop.feed import LeaseFeed
from broker_core.broker.pop.leases import Leases
from broker_core.broker.pop.mirror import LeaseTeller
from broker_core.broker.queue_locks import QueueLocks
from broker_core.broker.replication.standing import Standing
from broker_core.broker.replication.state_book import EVERYTHING, Registers, StateBook
from broker_core.broker.request_modes import RequestModes
from broker_core.broker.saving import JsonFile
from broker_core.broker.topics import Topics
from broker_core.protocol.bodies.groups import SubscriptionGroupConfig
from broker_core.store import MessageStore
from tests.support.broker import small_store
from tests.support.standing import Cut


@dataclass
class Mastering(Cut):
    """A master with one slave in sync."""

    slaves: frozenset[int] = frozenset({2})

    def members(self) -> frozenset[int]:
        return self.slaves


def registers(folder: Path) -> Registers:
    file, limits = JsonFile(folder / "unused.json"), BrokerLimits()
    config = BrokerConfig(small_store(folder / "store"))
    store = MessageStore.open(config.store, now=None)
    return Registers(
        topics=Topics(file, identity=config.identity, defaults=TopicDefaults(), limits=limits),
        groups=Groups(file, defaults=TopicDefaults(), limits=limits),
        request_modes=RequestModes(file, limits),
        offsets=ConsumerOffsets(file),
        delay=DelayQueues(file, store, (1_000,), lambda *_: True),
        locks=QueueLocks(limits),
        leases=Leases(lambda change: None),
    )


def book_of(parts: Registers) -> tuple[StateBook, Mastering]:
    master = Mastering(0)
    teller = LeaseTeller(parts.leases, LeaseFeed())
    return StateBook(parts, Standing(master), teller, log_end=lambda: 77, clock=lambda: 1_000), master


async def test_a_slave_is_told_everything_at_first_and_then_what_changed(tmp_path: Path) -> None:
    parts = registers(tmp_path)
    book, _ = book_of(parts)
    parts.offsets.commit("readers", "T", 0, 5)
    parts.offsets.commit("others", "T", 0, 6)

    number, state = await book.changes(2, "1-a", EVERYTHING, 0)
    assert state.topics == parts.topics.wrapper()
    assert state.groups == parts.groups.wrapper()
    assert (state.offsets["readers"], state.is_whole, state.log_end) == ({"T": {0: 5}}, True, 77)

    number, state = await book.changes(2, "1-a", number, 0)
    assert (state.topics, state.groups, state.offsets, state.is_whole, state.locks) == (None, None, {}, False, None)

    parts.offsets.commit("readers", "T", 0, 7)
    parts.offsets.drop_group("others")
    parts.locks.lock("readers", "me", [("T", "b", 0)], now=400)
    number, state = await book.changes(2, "1-a", number, 0)
    assert state.offsets == {"readers": {"T": {0: 7}}, "others": {}}
    assert [(each.client_id, each.age_ms) for each in state.locks or ()] == [("me", 600)]

    # An answer that was lost, and another life, are told everything again.
    assert (await book.changes(2, "1-a", number - 1, 0))[1].is_whole
    assert (await book.changes(2, "2-b", number, 0))[1].is_whole


async def test_who_changed_something_waits_until_the_slave_has_taken_it_over(tmp_path: Path) -> None:
    parts = registers(tmp_path)
    book, _ = book_of(parts)
    number, _ = await book.changes(2, "1-a", EVERYTHING, 0)
    asked = asyncio.ensure_future(book.changes(2, "1-a", number, 60_000))
    await asyncio.sleep(0)

    parts.groups.put(SubscriptionGroupConfig("readers"), now=1)
    known = asyncio.ensure_future(book.known())
    number, state = await asked
    assert state.groups is not None
    assert not known.done()

    again = asyncio.ensure_future(book.changes(2, "1-a", number, 60_000))
    await known
    again.cancel()


async def test_who_changed_something_waits_for_a_silent_slave_no_longer_than_a_second(tmp_path: Path) -> None:
    book, _ = book_of(registers(tmp_path))
    await book.known()


async def test_each_epoch_begins_with_everything(tmp_path: Path) -> None:
    book, master = book_of(registers(tmp_path))
    number, _ = await book.changes(2, "1-a", EVERYTHING, 0)
    master.epoch += 1
    assert (await book.changes(2, "1-a", number, 0))[1].is_whole


def test_a_slave_becomes_what_it_is_told(tmp_path: Path) -> None:
    own, theirs = registers(tmp_path / "own"), registers(tmp_path / "theirs")
    own.offsets.commit("gone", "T", 0, 9)
    own.offsets.commit("readers", "T", 0, 9)
    own.offsets.replace({"readers": {"T": {0: 5, 1: 6}}}, is_whole=True)
    assert own.offsets.groups() == ["readers"]
    assert own.offsets.of("readers", "T") == {0: 5, 1: 6}
    own.offsets.replace({"readers": {}, "new": {"T": {0: 1}}}, is_whole=False)
    assert own.offsets.groups() == ["new"]

    queue = ("T", "b", 0)
    theirs.locks.lock("readers", "owner", [queue], now=10_000)
    own.locks.lock("readers", "stale", [("T", "b", 1)], now=0)
    own.locks.replace(theirs.locks.held(now=40_000), now=500_000)
    assert own.locks.owner("readers", queue, now=529_999) == "owner"
    assert own.locks.owner("readers", queue, now=530_001) is None
    assert len(own.locks) == 1


def test_a_new_master_grants_no_queue_that_another_may_have_granted(tmp_path: Path) -> None:
    locks = QueueLocks()
    locks.lock("readers", "owner", [("T", "b", 0)], now=0)
    locks.rest(1_000)

    queues = [("T", "b", 0), ("T", "b", 1)]
    assert locks.lock("readers", "owner", queues, now=30_999) == queues[:1]
    assert locks.lock("readers", "owner", queues, now=31_000) == queues


def test_a_queue_whose_owner_is_silent_is_granted_to_nobody_while_a_new_master_rests() -> None:
    locks, queue = QueueLocks(), ("T", "b", 0)
    locks.lock("readers", "silent", [queue], now=0)
    locks.rest(50_000)

    for client in ("silent", "other"):  # the earlier master may have granted it a moment ago
        assert locks.lock("readers", client, [queue], now=60_001) == []
    assert locks.lock("readers", "other", [queue], now=80_000) == [queue]


def test_a_rest_is_carried_on_as_long_as_no_master_has_granted_a_queue() -> None:
    first, second = QueueLocks(), QueueLocks()
    first.rest(0)
    second.follow_rest(first.rest_left(10_000), asked_at=9_000, now=11_000)
    second.rest(28_999)
    assert second.rest_left(28_999) == 2_001

    third = QueueLocks()
    third.follow_rest(first.rest_left(10_000), asked_at=9_000, now=11_000)
    third.rest(29_000)  # the first may have begun to grant
    assert third.rest_left(29_000) == 30_000


def test_offsets_are_moved_into_their_queues(tmp_path: Path) -> None:
    offsets = registers(tmp_path).offsets
    for queue_id, offset in enumerate((1, 5, 99)):
        offsets.commit("readers", "T", queue_id, offset)
    offsets.clamp(lambda *_: 3, lambda *_: 10)
    assert offsets.of("readers", "T") == {0: 3, 1: 5, 2: 10}


async def test_nobody_waits_for_a_change_of_a_broker_that_stops(tmp_path: Path) -> None:
    book, master = book_of(registers(tmp_path))
    number, _ = await book.changes(2, "1-a", EVERYTHING, 0)
    master.slaves = frozenset()
    waiting = asyncio.ensure_future(book.changes(2, "1-a", number, 3_600_000))
    await asyncio.sleep(0)
    assert not waiting.done()

    await book.end()

    number, state = await waiting
    assert (state.topics, state.offsets) == (None, {})
    await book.changes(2, "1-a", number, 3_600_000)


async def test_a_broker_that_stops_waits_until_the_slaves_have_its_last_state(tmp_path: Path) -> None:
    parts = registers(tmp_path)
    book, _ = book_of(parts)
    number, _ = await book.changes(2, "1-a", EVERYTHING, 0)
    asked = asyncio.ensure_future(book.changes(2, "1-a", number, 60_000))
    await asyncio.sleep(0)
    parts.offsets.commit("readers", "T", 0, 5)

    ending = asyncio.ensure_future(book.end())
    number, state = await asked
    assert state.offsets == {"readers": {"T": {0: 5}}}
    assert not ending.done()

    await book.changes(2, "1-a", number, 60_000)
    await ending


async def test_a_broker_that_stops_does_not_wait_for_a_slave_that_leaves(tmp_path: Path) -> None:
    book, master = book_of(registers(tmp_path))
    ending = asyncio.ensure_future(book.end())
    await asyncio.sleep(0)
    master.slaves = frozenset()
    async with asyncio.timeout(0.5):
        await ending
