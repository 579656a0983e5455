"""A read shows what is there, by changes alone or whole, whatever happened since the one before."""

from __future__ import annotations

import asyncio
import random
from functools import partial

import pytest

from broker_core.controller.decisions import Unsettled
from broker_core.controller.etcd import messages
from broker_core.controller.etcd.bell import Bell
from broker_core.controller.etcd.keyspace import Keys, Keyspace
from broker_core.controller.etcd.patience import Patience
from broker_core.controller.etcd.reading import Reader
from tests.broker_core.controller.etcd.engine import Engine, FaultyCalls, Ticks

KEYS = Keys("/gantry/C/")
SEEDS = 100
STEPS = 40


def reader_of(engine: Engine, rng: random.Random, faults: float = 0.0) -> tuple[Reader, Bell]:
    ticks, bell = Ticks(), Bell(KEYS)
    patience = partial(Patience, 3.0, lambda: ticks.now, ticks.sleep)
    return Reader(FaultyCalls(engine, rng, faults, []), Keyspace(KEYS), bell, patience), bell


def write(engine: Engine, name: str, text: str) -> None:
    engine.do(messages.TXN, messages.transaction([], [messages.put(KEYS.of(name), text)], []))


def texts_in(engine: Engine) -> dict[str, str]:
    return {key.removeprefix(KEYS.of("")): stored.text for key, stored in engine.keys.items()}


async def play(seed: int) -> None:
    rng, engine = random.Random(seed), Engine()
    reader, bell = reader_of(engine, rng, rng.choice((0.0, 0.3)))
    copy, seen, before = engine.copy(), 0, dict[str, str]()
    for step in range(STEPS):
        for _ in range(rng.randrange(3)):
            write(engine, rng.choice("abc"), f"{step} {rng.random()}")
        if engine.keys and rng.random() < 0.2:
            del engine.keys[rng.choice(sorted(engine.keys))]
            engine.revision += 1
        if rng.random() < 0.1:
            copy = engine.copy()
        elif rng.random() < 0.1 and copy.revision < seen:
            engine.restore(copy)
        try:
            space = await reader.read()
        except Unsettled:
            continue
        now = {name: kept.text for name, kept in space.names.items()}
        assert now == texts_in(engine), f"seed {seed}, step {step}"
        assert space.revision == engine.revision
        differs = {name for name in now.keys() | before.keys() if now.get(name) != before.get(name)}
        if differs:
            assert differs <= await asyncio.wait_for(bell.changes(seen), 1) or space.revision < seen
        seen, before = space.revision, now


def test_a_read_shows_what_is_there_and_rings_for_what_differs() -> None:
    for seed in range(SEEDS):
        asyncio.run(play(seed))


async def test_those_who_ask_while_a_read_is_under_way_share_the_next() -> None:
    engine = Engine()
    asked: list[str] = []
    gate = asyncio.Event()

    class Calls(FaultyCalls):
        async def call(self, path: str, asked_for: messages.Json) -> messages.Json:
            asked.append(path)
            await gate.wait()
            return self._engine.do(path, asked_for)

    ticks = Ticks()
    patience = partial(Patience, 3.0, lambda: ticks.now, ticks.sleep)
    reader = Reader(Calls(engine, random.Random(1), 0.0, []), Keyspace(KEYS), Bell(KEYS), patience)
    first = asyncio.create_task(reader.read())
    await asyncio.sleep(0)
    write(engine, "a", "came while the first was under way")
    more = [asyncio.create_task(reader.read()) for _ in range(5)]
    await asyncio.sleep(0)
    gate.set()
    spaces = await asyncio.gather(first, *more)
    assert {space.names["a"].text for space in spaces} == {"came while the first was under way"}
    assert len(asked) == 2


async def test_who_waits_for_a_revision_that_no_longer_exists_is_woken() -> None:
    engine = Engine()
    reader, bell = reader_of(engine, random.Random(1))
    copy = engine.copy()
    write(engine, "a", "one")
    revision = (await reader.read()).revision
    waiting = asyncio.create_task(bell.changes(revision))
    await asyncio.sleep(0)
    engine.restore(copy)
    await reader.read()
    assert await waiting == {"a"}


async def test_also_when_only_the_watch_had_told_of_it() -> None:
    engine = Engine()
    reader, bell = reader_of(engine, random.Random(1))
    await reader.read()
    copy = engine.copy()
    write(engine, "a", "one")
    gone = engine.revision
    await bell.ring([KEYS.of("a")], gone)
    waiting = asyncio.create_task(bell.changes(gone))
    await asyncio.sleep(0)
    engine.restore(copy)
    await reader.read()
    assert await asyncio.wait_for(waiting, 5) == {"a"}


@pytest.mark.parametrize("key", ["leader", "other/x", ""])
async def test_other_keys_are_no_names(key: str) -> None:
    engine = Engine()
    reader, _ = reader_of(engine, random.Random(1))
    engine.do(messages.TXN, messages.transaction([], [messages.put(KEYS.folder + key, "n1 a")], []))
    space = await reader.read()
    assert space.names == {}
    assert space.leader_text == ("n1 a" if key == "leader" else None)
