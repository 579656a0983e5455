"""Decisions in an etcd of three members: how long one takes, and how long there are none when somebody dies."""

from __future__ import annotations

import asyncio
import signal
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from broker_core.controller.decisions import Changed, Kept, Unsettled
from broker_core.controller.etcd.config import EtcdConfig
from broker_core.controller.etcd.decisions import EtcdDecisions
from broker_core.controller.leading import Leader
from tests.benchmarks.measure import Duration
from tests.support.etcd import Etcd, Member, etcd
from tests.support.wait import eventually, wait_until

WRITINGS = 1000
ROUNDS = 5
TEXT = "x" * 1200


def run() -> list[Duration]:
    """Return the durations; those of silences are medians and the longest of a few."""
    with tempfile.TemporaryDirectory() as folder, etcd(Path(folder), 3) as members:
        took = sorted(asyncio.run(_writings(members)))
        rows = [Duration("decision, p50", took[len(took) // 2]), Duration("decision, p99", took[len(took) * 99 // 100])]
        for what, lose, bring_back in (
            ("killed", Member.kill, Member.start),
            ("stopped", _stop, lambda member: member.signal(signal.SIGCONT)),
        ):
            for at_leader, where in ((True, "asked"), (False, "not asked")):
                silences = [asyncio.run(_silence(members, lose, bring_back, at_leader)) for _ in range(ROUNDS)]
                rows += _median_and_max(f"no decisions: etcd's leader, {where}, {what}", silences)
        vacancies = [asyncio.run(_vacancy(members)) for _ in range(ROUNDS)]
        return rows + _median_and_max("nobody leads: who did died", vacancies)


def _median_and_max(what: str, seconds: list[float]) -> list[Duration]:
    return [Duration(f"{what}, p50", statistics.median(seconds)), Duration(f"{what}, max", max(seconds))]


def _stop(member: Member) -> None:
    member.signal(signal.SIGSTOP)


@asynccontextmanager
async def _decisions(members: Etcd, at_leader: bool = True) -> AsyncIterator[EtcdDecisions]:
    leader = members.leader()
    assert leader is not None
    others = [each for each in members.endpoints if each != leader.endpoint]
    endpoints = [leader.endpoint, *others] if at_leader else [*others, leader.endpoint]
    decisions = await EtcdDecisions.open(EtcdConfig(tuple(endpoints), "bench"))
    running = asyncio.create_task(decisions.run())
    yield decisions
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await decisions.close()


async def _writings(members: Etcd) -> list[float]:
    took = []
    async with _decisions(members) as decisions:
        kept: Kept | None = None
        for number in range(WRITINGS):
            began = time.perf_counter()
            kept = await decisions.put("writings", kept, f"{number} {TEXT}")
            took.append(time.perf_counter() - began)
    return took


async def _silence(
    members: Etcd, lose: Callable[[Member], None], bring_back: Callable[[Member], None], at_leader: bool
) -> float:
    async with _decisions(members, at_leader) as decisions:
        leader = members.leader()
        assert leader is not None
        kept = (await decisions.read())[1].get("silence")
        kept = await decisions.put("silence", kept, f"{time.time_ns()} {TEXT}")
        lose(leader)
        began = time.perf_counter()
        await _until_written(decisions, kept)
        took = time.perf_counter() - began
    bring_back(leader)
    wait_until(lambda: all(members.commits(each) for each in members.members))
    return took


async def _until_written(decisions: EtcdDecisions, kept: Kept | None) -> None:
    while True:
        try:
            await decisions.put("silence", kept, f"{time.time_ns()} {TEXT}")
        except Changed as changed:
            kept = changed.now
        except Unsettled:
            continue
        else:
            return


async def _vacancy(members: Etcd) -> float:
    async with _decisions(members) as one, _decisions(members) as other:
        first, second = Leader(one, "n1", one.read), Leader(other, "n2", other.read)
        leading = asyncio.create_task(first.run())
        await eventually(lambda: first.is_leading)
        waiting = asyncio.create_task(second.run())
        await eventually(lambda: other.leader == "n1")
        first.state.lost(0)  # it dies, and resigns from nothing
        leading.cancel()
        await asyncio.gather(leading, return_exceptions=True)
        began = time.perf_counter()
        await eventually(lambda: second.is_leading)
        took = time.perf_counter() - began
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
    return took
