"""Background work ends with its owner, and its errors are reported."""

from __future__ import annotations

import asyncio
import logging

import pytest

from broker_core.client.tasks import Tasks
from tests.support.wait import PATIENCE_SECONDS, eventually


async def test_closing_ends_all_tasks() -> None:
    tasks = Tasks("test")
    forever = [tasks.start("wait", asyncio.Event().wait()) for _ in range(3)]

    await tasks.close()

    assert all(task.cancelled() for task in forever)


async def test_a_task_may_close_its_owner() -> None:
    tasks = Tasks("test")

    async with asyncio.timeout(PATIENCE_SECONDS):
        await tasks.start("close", tasks.close())


async def test_a_failing_task_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> None:
        raise KeyError("lost")

    tasks = Tasks("test")
    task = tasks.start("fail", fail())
    await asyncio.wait([task])

    assert "fail" in caplog.text
    assert "lost" in caplog.text


async def test_a_failing_task_that_is_awaited_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> None:
        raise KeyError("lost")

    with pytest.raises(KeyError):
        await Tasks("test").start_awaited("fail", fail())

    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


async def test_a_step_that_fails_is_retried() -> None:
    turns: list[int] = []

    async def step() -> None:
        turns.append(len(turns))
        if len(turns) == 1:
            raise KeyError("lost")

    tasks = Tasks("test")
    tasks.every("step", 1, step)

    await eventually(lambda: len(turns) > 2)
    await tasks.close()
