"""The console translates what controllers say by their sentences: its examples are what they say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from broker_core.broker.replication.messages import Refusal
from broker_core.broker.replication.rejoin import MasterLog, OwnLog, Stop, plan
from broker_core.client.admin.clusters import BrokerAddress, BrokerRuntime
from broker_core.client.admin.replication import KnownState
from broker_core.controller import admin_handlers
from broker_core.controller.commands import (
    AcceptLoss,
    Adopt,
    AlterSet,
    ApplyId,
    Candidate,
    Command,
    Elect,
    Heal,
    Register,
    Remove,
    SetPolicy,
)
from broker_core.controller.errors import Refused
from broker_core.controller.hearing import Hearing, Heartbeat
from broker_core.controller.judging import Judging
from broker_core.controller.replicas import decide
from broker_core.protocol.bodies.controller import MasterLife, NamePolicy, NameState
from broker_core.protocol.ha_epochs import EpochStart
from console.replicas.deciding import _ENGINE_SILENT, _SET_BACK, Decided, of_name
from console.replicas.reading import Asked
from console.replicas.sending import why_no_sends
from tests.broker_core.controller.states import STAMP, alive, life, replica, state

EXAMPLES: Final[list[str]] = json.loads(
    (Path(__file__).parents[3] / "frontend" / "src" / "testing" / "decision-words.json").read_text(encoding="utf-8")
)
MASTER = MasterLife(1, life(1))


def register(number: int, *, is_clean: bool = True) -> Register:
    return Register("b", "C", number, life(number, 2), "h:1", "h:2", f"check{number}", is_clean, last_epoch=5)


def alter(*members: int) -> AlterSet:
    return AlterSet("b", 1, life(1), 5, 12, tuple((each, life(each)) for each in members))


def adopt() -> Adopt:
    heard = tuple((each, replica(each, ha="", check="", clean=False, life=life(each, 2))) for each in (1, 2))
    return Adopt("b", "C", (1, 2), ((5, 31),), heard)


def stuck() -> NameState:
    return state(master=None, replicas={each: replica(each, clean=each > 2) for each in (1, 2, 3)})


def new() -> NameState:
    return state((), None, epoch=0, top_epoch=0)


def written() -> Iterator[str]:
    """Yield why each command that is carried out wrote its state."""
    loss = AcceptLoss("b", 3, alive(3), None)
    commands: list[tuple[NameState, Command]] = [
        (state(next_id=2, replicas={1: replica(1)}, in_sync=(1,)), ApplyId("b", "C", 2, "check2")),
        (new(), register(1)),
        (state(), register(2)),
        (state(), register(2, is_clean=False)),
        (state((1,)), register(1, is_clean=False)),
        (state(), alter(1, 2, 3)),
        (state((1, 2, 3)), alter(1)),
        (state(), alter(1, 3)),
        (state(), Remove("b", (3,))),
        (state(), SetPolicy("b", min_in_sync=2)),
        (stuck(), loss),
        (state(), Heal(state(version=40))),
        (state(), adopt()),
        (state(), Elect("b", alive(2), MASTER, "by hand")),
    ]
    for before, command in commands:
        yield decide(before, command, STAMP).last.why


def refused() -> Iterator[str]:
    """Yield why commands of an operator are refused."""
    small = state(policy=NamePolicy(min_in_sync=2))
    commands: list[tuple[NameState | None, Command]] = [
        (None, Remove("moon", (1,))),
        (state(), Remove("b", (9,))),
        (state(), Remove("b", ())),
        (state(), Remove("b", (1,))),
        (state((2,), None), Remove("b", (2,))),
        (small, Remove("b", (2, 3))),
        (state(), SetPolicy("b", min_in_sync=9)),
        (state(), Elect("b", alive(2), None, "by hand")),
        (state(), Elect("b", alive(2), MASTER, "by hand", chosen=3)),
        (state(), Elect("b", alive(2, 3), MASTER, "by hand", chosen=3)),
        (state(master=None), AcceptLoss("b", 3, alive(1), None)),
    ]
    for before, command in commands:
        yield _refusal(before, command)
    yield _refusal(state(), Remove("b", (3,)), newest=(9, 9))


def _refusal(before: NameState | None, command: Command, newest: tuple[int, int] = (0, 0)) -> str:
    try:
        decide(before, command, STAMP, newest)
    except Refused as error:
        return str(error)
    raise AssertionError(f"{command} is not refused")


def nobody() -> Iterator[str]:
    """Yield why nobody can be elected."""
    elections = [
        (state((), None), alive(1)),
        (state(master=None), ()),
        (state(master=None), (Candidate(1, life(1, 9), 5, 1),)),
        (stuck(), alive(1, 2)),
    ]
    for before, among in elections:
        yield _refusal(before, Elect("b", among, None, "without master"))
    adopted = decide(state(), adopt(), STAMP)
    yield _refusal(adopted, Elect("b", alive(1, life=life(1, 2)), None, "without master"))


def judged() -> Iterator[str]:
    """Yield why a name needs another master."""
    hearing = Hearing(0.0)
    judging = Judging(hearing)
    yield judging.why_without_master(state(master=None), 1) or ""
    yield judging.why_without_master(state(), 9) or ""
    first = Heartbeat("b", 1, life(1), "h:1", epoch=5, end=100, confirm=90, last_epoch=5, view=(5, 31))
    hearing.heartbeat(first, 10.0)
    hearing.closed("b", 1, life(1), 10.0)
    for now in (10.1, 10.2):
        hearing.refused("b", 1, life(1), now)
    yield judging.why_without_master(state(), 10.3) or ""
    hearing.heartbeat(replace(first, life=life(1, 2)), 10.4)
    yield judging.why_without_master(state(), 10.5) or ""


def told() -> Iterator[str]:
    """Yield what the console itself says where nobody else tells it."""
    few = replace(state(), policy=NamePolicy(min_in_sync=3))
    for found in (state(master=None), few, state()):
        yield of_name(KnownState(found, False, None, 0), None, None).writable_reason or ""
    yield why_no_sends(BrokerRuntime({"sendRefusal": "", "unconfirmedMs": "12100"})) or ""
    yield _ENGINE_SILENT
    yield _SET_BACK
    listed = [BrokerAddress("C", "b", number, "h:1") for number in (2, 4)]
    yield Asked(listed, decision=Decided(heard=frozenset({4}))).silence(listed[0]) or ""
    epochs = [EpochStart(1, 0)]
    stopped = plan(OwnLog(0, 120, 120, epochs, is_clean=True, is_in_sync=False), MasterLog(0, 80, epochs))
    assert isinstance(stopped, Stop)
    yield stopped.held.reason


def test_the_console_has_words_for_all_that_controllers_say() -> None:
    refusals = {each.value for each in Refusal if each is not Refusal.DEPOSED}  # that one is of a single send
    warnings = {admin_handlers._UNCLEAN, admin_handlers._LOSS.format(3), admin_handlers._STOP_IT}
    said = {*written(), *refused(), *nobody(), *judged(), *told(), *refusals, *warnings}
    assert sorted(said) == sorted(EXAMPLES)
