"""Copies whose send is not confirmed: replicas that hang, a master that changes, and a lane that ends meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TypeVar
from unittest.mock import patch

import pytest

from broker_core.client.blocking import BlockingSession
from broker_core.client.config import ClientConfig
from broker_core.client.errors import Unreachable
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.copies import JOB, SOURCE
from broker_core.spark import outcomes
from broker_core.spark.copies import Copier, Copy
from broker_core.spark.target_queue import LaneFailed, Pair, Stopped, TargetQueue
from tests.broker_core.broker.replication.switching import slave_of, stop, unconfirmed
from tests.broker_core.client.admin.test_settled import SOON
from tests.broker_core.spark.test_sink_looks import counted
from tests.support.replays import read_topic
from tests.support.replica_group import ReplicaGroup, replica_group
from tests.support.wait import eventually

T = TypeVar("T")
COPIER = Copier("job1", "ann", "C/b/source/0")


def pairs(begin: int, end: int) -> list[Pair]:
    origin = f"{JOB}\x01job1\x02{SOURCE}\x01C/b/source/0/"
    return [(number, Copy(0, str(number).encode(), f"{origin}{number}")) for number in range(begin, end)]


@pytest.fixture
async def group(tmp_path: Path) -> AsyncIterator[ReplicaGroup]:
    async with replica_group(tmp_path, more={"replication": SOON}) as running:
        yield running


@pytest.fixture
def looks() -> Iterator[list[str]]:
    with counted() as looks:
        yield looks


async def with_target(group: ReplicaGroup, use: Callable[[TargetQueue], T], end: int = 0) -> T:
    """Use a target queue as a lane does: in a thread, with a session of its own."""

    def work() -> T:
        with BlockingSession(ClientConfig((group.name_server,))) as session:
            return use(TargetQueue(session, MessageQueue("T", "b", 0), COPIER, end))

    return await asyncio.to_thread(work)


async def stored(group: ReplicaGroup) -> list[int]:
    def read() -> list[int]:
        with BlockingSession(ClientConfig((group.name_server,))) as session:
            return [int(message.body) for message in read_topic(session, "T")[0]]

    return await asyncio.to_thread(read)


async def looked(looks: list[str], times: int) -> None:
    await eventually(lambda: len(looks) >= times)


@pytest.mark.parametrize("count", [1, 20], ids=["alone", "as a batch"])
async def test_copies_that_replicas_do_not_confirm_are_sent_once(
    group: ReplicaGroup, looks: list[str], count: int
) -> None:
    def send(target: TargetQueue) -> int:
        target.send(pairs(0, count), lambda: True)
        return target.end

    master = await group.master()
    with unconfirmed(master):
        sending = asyncio.create_task(with_target(group, send))
        await looked(looks, 1)
        end = master.store.appended_log_offset
        await looked(looks, 3)
        assert master.store.appended_log_offset == end

    assert await sending == count
    assert await stored(group) == list(range(count))


async def test_copies_that_the_next_master_has_are_not_sent_again(group: ReplicaGroup, looks: list[str]) -> None:
    master = await group.master()
    with unconfirmed(master):
        sending = asyncio.create_task(with_target(group, lambda target: target.send(pairs(0, 20), lambda: True)))
        await looked(looks, 1)
        slave = slave_of(group, master)
        await eventually(lambda: slave.store.appended_log_offset == master.store.appended_log_offset)
        await stop(group, master)

    await sending
    assert await stored(group) == list(range(20))


async def test_a_lane_that_cannot_learn_it_says_of_how_many_and_the_next_run_waits_for_it(
    group: ReplicaGroup, looks: list[str]
) -> None:
    with unconfirmed(await group.master()):
        with patch.object(outcomes, "PATIENCE_S", 0.5), pytest.raises(LaneFailed, match="does not show yet") as failed:
            await with_target(group, lambda target: target.send(pairs(0, 20), lambda: True))
        assert failed.value.unknown == 20
        before = len(looks)
        arriving = asyncio.create_task(with_target(group, lambda target: target.wait_for_arrived(lambda: True)))
        await looked(looks, before + 1)
        assert not arriving.done()

    assert await arriving == set(range(20))


async def test_a_lane_that_is_stopped_meanwhile_says_of_how_many_it_does_not_know(
    group: ReplicaGroup, looks: list[str]
) -> None:
    with unconfirmed(await group.master()), pytest.raises(Stopped) as stopped:
        await with_target(group, lambda target: target.send(pairs(0, 20), lambda: not looks))
    assert stopped.value.unknown == 20


async def test_a_look_that_breaks_off_loses_nothing_of_what_it_had_found(group: ReplicaGroup) -> None:
    def use(target: TargetQueue) -> set[int]:
        target.send(pairs(0, 50), lambda: True)
        target.end = 0
        answers = target._session.run
        asked = []

        def breaking(work: object, **options: object) -> object:
            asked.append(work)
            if len(asked) == 3:  # behind the first page
                work.close()  # type: ignore[attr-defined]
                raise Unreachable("broker", "the connection was lost")
            return answers(work, **options)  # type: ignore[arg-type]

        with patch.object(target._session, "run", breaking):
            return target.wait_for_arrived(lambda: True)

    assert await with_target(group, use) == set(range(50))
