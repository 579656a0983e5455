"""One request to many brokers: their answers and failures."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

import pytest

from broker_core.client.answers import Answers, ask_all
from broker_core.client.errors import Unreachable
from tests.support.wait import PATIENCE_SECONDS


async def test_those_that_fail_are_named_and_the_others_are_there() -> None:
    async def ask(addr: str) -> int:
        if addr == "b":
            raise Unreachable("b", "gone")
        return len(addr)

    answers = await ask_all(["a", "b", "c"], ask)

    assert answers.found == {"a": 1, "c": 1}
    assert isinstance(answers.failed["b"], Unreachable)
    assert not answers.complete


async def test_all_are_asked_at_the_same_time_and_each_once() -> None:
    together = asyncio.Barrier(3)

    async def ask(addr: str) -> str:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await together.wait()
        return addr

    answers = await ask_all(["a", "b", "a", "c"], ask)

    assert list(answers.found) == ["a", "b", "c"]
    assert answers.complete


async def test_a_bug_is_not_a_failed_answer() -> None:
    async def ask(addr: str) -> str:
        raise KeyError(addr)

    with pytest.raises(KeyError):
        await ask_all(["a"], ask)


def test_no_answer_at_all_is_an_error_on_request() -> None:
    failed: Answers[int] = Answers(failed={"a": Unreachable("a", "gone")})

    with pytest.raises(Unreachable):
        failed.raise_if_none()
    assert Answers(found={"b": 1}, failed=failed.failed).raise_if_none().found == {"b": 1}
    assert Answers[int]().raise_if_none().complete


async def test_who_is_not_waited_for_any_more_is_not_asked() -> None:
    asked: list[str] = []

    async def answer() -> int:
        return 1

    def ask(address: str) -> Awaitable[int]:
        asked.append(address)
        return answer()

    asking = asyncio.create_task(ask_all(["a", "b"], ask))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert asked == []  # otherwise two coroutines would never be awaited
