"""Requirements of `gateway.health`."""

from __future__ import annotations

import asyncio

import orjson
import pytest
import redis.asyncio

from gateway import health
from gateway.health import Health, NotUp, beat_check


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def up() -> None:
    return None


async def down() -> None:
    raise NotUp("no sign of life")


async def broken() -> None:
    raise ConnectionRefusedError("refused")


async def test_ready_is_ready_when_every_part_is_up() -> None:
    state = await Health({"database": up, "redis": up}).state()
    assert state.is_ready
    assert orjson.loads(state.document()) == {
        "status": "ready",
        "not_up": [],
        "checks": {"database": {"up": True, "reason": None}, "redis": {"up": True, "reason": None}},
    }


async def test_what_is_not_up_is_named_with_its_reason() -> None:
    state = await Health({"database": up, "redis": broken, "sampler": down}).state()
    answer = orjson.loads(state.document())
    assert not state.is_ready
    assert answer["not_up"] == ["redis", "sampler"]
    assert answer["checks"]["redis"]["reason"] == "ConnectionRefusedError: refused"
    assert answer["checks"]["sampler"]["reason"] == "no sign of life"


async def test_a_part_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "CHECK_SECONDS", 0.1)

    async def hangs() -> None:
        await asyncio.sleep(60)

    state = await asyncio.wait_for(Health({"one": hangs, "two": hangs}).state(), 10)
    assert set(state.reasons.values()) == {"no answer within 0.1 s"}


async def test_the_answer_is_remembered_for_a_second() -> None:
    asked, clock = 0, Clock()

    async def check() -> None:
        nonlocal asked
        asked += 1

    watched = Health({"part": check}, clock=clock)
    await asyncio.gather(*(watched.state() for _ in range(20)))
    assert asked == 1
    clock.now = 1.5
    await watched.state()
    assert asked == 2


async def test_a_process_that_is_silent_for_too_long_is_not_up(redis_url: str) -> None:
    async with redis.asyncio.Redis.from_url(redis_url) as store:
        await store.set("gantry:test:beat", 1_000_000)
        checks = {
            "fresh": beat_check(store, "gantry:test:beat", now_ms=lambda: 1_029_000),
            "silent": beat_check(store, "gantry:test:beat", now_ms=lambda: 1_031_000),
            "never": beat_check(store, "gantry:test:none", now_ms=lambda: 0),
        }
        state = await Health(checks).state()
    assert dict(state.reasons) == {"fresh": None, "silent": "silent for 31 s", "never": "no sign of life"}
