"""The leader key, on an engine in memory whose calls fail as a test says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

import pytest

from broker_core.controller.decisions import Lead, NotLeading, Unsettled
from broker_core.controller.etcd import leader_key, messages
from broker_core.controller.etcd.errors import Unanswered
from broker_core.controller.etcd.leader_key import LeaderKey
from broker_core.controller.etcd.messages import Json
from broker_core.controller.etcd.patience import Patience
from tests.broker_core.controller.etcd.engine import Engine, Ticks

KEY = "/gantry/C/leader"


class Calls:
    """Calls of an engine; what is to fail is told by path."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.fails: dict[str, Callable[[str, Json], object]] = {}
        self.hangs: set[str] = set()
        self.moves = 0

    async def call(self, path: str, asked: Json) -> Json:
        if (fails := self.fails.get(path)) is not None:
            fails(path, asked)
            raise Unanswered("no answer")
        if path in self.hangs:
            await asyncio.Event().wait()
        return self.engine.do(path, asked)

    def move_on(self) -> None:
        self.moves += 1


def key_of(engine: Engine) -> tuple[LeaderKey, Calls]:
    ticks, calls = Ticks(), Calls(engine)
    return LeaderKey(calls, KEY, 4, partial(Patience, 3.0, lambda: ticks.now, ticks.sleep), clock=lambda: 100.0), calls


async def taken(key: LeaderKey) -> Lead:
    lead = await key.take("n1")
    assert lead is not None
    return lead


def nothing(_: str, __: Json) -> None:
    """The engine hears nothing of it."""


async def test_a_renewal_holds_for_four_fifths_of_the_lease_from_its_beginning() -> None:
    key, _ = key_of(Engine())
    assert await key.renew(await taken(key)) == 100.0 + 3.2


async def test_a_taking_that_was_done_without_an_answer_is_found() -> None:
    engine = Engine()
    key, calls = key_of(engine)
    calls.fails[messages.TXN] = engine.do
    lead = await taken(key)
    assert engine.keys[KEY].text == lead.text
    assert await key.renew(lead) > 100


async def test_a_taking_that_comes_late_is_found_by_the_next_one() -> None:
    engine = Engine()
    key, calls = key_of(engine)
    late: list[tuple[str, Json]] = []
    calls.fails[messages.TXN] = lambda path, asked: late.append((path, asked))
    assert await key.take("n1") is None
    calls.fails.clear()
    engine.do(*late[0])
    assert (await taken(key)).text == engine.keys[KEY].text
    assert await key.take("n1") is None  # somebody has it: this controller


async def test_an_answered_keep_alive_proves_nothing_without_the_read() -> None:
    engine = Engine()
    key, calls = key_of(engine)
    lead = await taken(key)
    calls.fails[messages.RANGE] = nothing
    with pytest.raises(Unsettled):
        await key.renew(lead)


async def test_a_member_that_hangs_costs_one_round_and_the_next_is_at_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leader_key, "ROUND_SECONDS", 0.05)
    key, calls = key_of(Engine())
    lead = await taken(key)
    calls.hangs.add(messages.KEEP_ALIVE)
    with pytest.raises(Unsettled, match="not renewed within"):
        await key.renew(lead)
    assert calls.moves == 1


async def test_a_lease_that_has_ended_is_a_lead_that_has() -> None:
    engine = Engine()
    key, _ = key_of(engine)
    lead = await taken(key)
    engine.leases.clear()  # and the key is there for a moment more
    with pytest.raises(NotLeading, match="lease"):
        await key.renew(lead)
    engine.end_lease(int(str(lead.token)))
    with pytest.raises(NotLeading, match="nobody leads"):
        await key.renew(lead)


async def test_a_lead_of_the_same_name_is_another_one() -> None:
    engine = Engine()
    (one, _), (other, _) = key_of(engine), key_of(engine)
    lead = await taken(one)
    engine.end_lease(int(str(lead.token)))
    assert (await taken(other)).text != lead.text
    with pytest.raises(NotLeading, match="n1 leads"):
        await one.renew(lead)


async def test_who_gives_up_twice_or_late_is_not_told_off() -> None:
    engine = Engine()
    key, calls = key_of(engine)
    lead = await taken(key)
    await key.give_up(lead)
    assert KEY not in engine.keys
    await key.give_up(lead)
    calls.fails[messages.REVOKE] = nothing
    with pytest.raises(Unsettled):
        await key.give_up(lead)
