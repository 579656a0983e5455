"""Steps run repeatedly, also after a failure."""

from __future__ import annotations

import asyncio

from broker_core.broker.housekeeping import Step, repeat
from tests.support.wait import PATIENCE_SECONDS, eventually


async def test_a_step_is_given_the_time_and_a_failure_does_not_end_it() -> None:
    times: list[int] = []

    def step(now: int) -> None:
        times.append(now)
        if len(times) == 1:
            raise ValueError("a bad round")

    task = asyncio.create_task(repeat(Step("test", 1, step), lambda: 7))
    await eventually(lambda: len(times) >= 3)
    task.cancel()

    assert set(times) == {7}


async def test_a_step_may_be_awaited() -> None:
    done = asyncio.Event()

    async def step(_now: int) -> None:
        done.set()

    task = asyncio.create_task(repeat(Step("test", 1, step), lambda: 7))
    async with asyncio.timeout(PATIENCE_SECONDS):
        await done.wait()
    task.cancel()
