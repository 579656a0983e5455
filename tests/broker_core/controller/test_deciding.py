"""Commands in an engine that is changed by others, does not answer, or has lost the lead."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from broker_core.controller.commands import ApplyId, Register, SetPolicy, Stamp
from broker_core.controller.deciding import ATTEMPTS, Deciding
from broker_core.controller.decisions import Kept, Lead, Unsettled
from broker_core.controller.errors import Refused
from broker_core.controller.file_decisions import FileDecisions
from broker_core.controller.states import States, state_of
from broker_core.protocol.bodies.controller import encode_state
from tests.broker_core.controller.states import life, state

POLICY = SetPolicy("b", min_in_sync=2)


class Disturbed:
    """An engine to which something happens before each writing."""

    def __init__(self, engine: FileDecisions) -> None:
        self.engine = engine
        self.disturb: Callable[[], object] = lambda: None
        self.reads = 0

    async def read(self) -> tuple[int, dict[str, Kept]]:
        self.reads += 1
        return await self.engine.read()

    async def put(self, name: str, seen: Kept | None, text: str, lead: Lead | None = None) -> Kept:
        happening = self.disturb()
        if hasattr(happening, "__await__"):
            await happening
        return await self.engine.put(name, seen, text, lead)

    def __getattr__(self, name: str) -> object:
        return getattr(self.engine, name)


class Case:
    """A controller's deciding, and another one's on the same engine."""

    def __init__(self, engine: FileDecisions) -> None:
        self.disturbed = Disturbed(engine)
        self.states = States()
        self.deciding = Deciding(self.disturbed, self.states, lambda _: (0, 0), lambda change: Stamp(change, "n1", 0))  # type: ignore[arg-type]
        self.other = Deciding(engine, States(), lambda _: (0, 0), lambda change: Stamp(change, "n2", 0))


@pytest.fixture
async def case(tmp_path: Path) -> AsyncIterator[Case]:
    engine = FileDecisions.open(tmp_path)
    await engine.put("b", None, encode_state(state()).decode())
    yield Case(engine)
    await engine.close()


def register(restarts: int) -> Register:
    return Register("b", "C", 3, life(3, restarts), "a:1", "a:2", "check3", is_clean=True, last_epoch=5)


async def test_a_command_that_lost_is_decided_anew(case: Case) -> None:
    restarts = iter(range(2, 2 + ATTEMPTS - 1))

    async def change() -> None:
        if (next_one := next(restarts, None)) is not None:
            await case.other.carry_out(register(next_one))

    case.disturbed.disturb = change
    done = await case.deciding.carry_out(POLICY)
    assert done.after.policy.min_in_sync == 2
    assert done.after.replicas[3].life == life(3, ATTEMPTS)
    assert case.deciding.conflicts == ATTEMPTS - 1


async def test_it_is_not_tried_for_ever(case: Case) -> None:
    restarts = iter(range(2, 99))

    async def change() -> None:
        await case.other.carry_out(register(next(restarts)))

    case.disturbed.disturb = change
    with pytest.raises(Refused, match="changed by others") as refused:
        await case.deciding.carry_out(POLICY)
    assert refused.value.code == 2007
    assert case.deciding.conflicts == ATTEMPTS


async def test_what_is_not_known_to_be_done_is_answered_2007(case: Case) -> None:
    async def fail() -> None:
        raise Unsettled("etcd does not answer")

    case.disturbed.disturb = fail
    with pytest.raises(Refused, match="not known whether this was decided: etcd does not answer") as refused:
        await case.deciding.carry_out(POLICY)
    assert refused.value.code == 2007
    assert case.deciding.unsettled == 1


async def test_a_refusal_is_never_made_from_memory(case: Case) -> None:
    case.states.take_all(*await case.disturbed.engine.read(), now=0.0)
    await case.other.carry_out(ApplyId("b", "C", 4, "check4"))
    done = await case.deciding.carry_out(ApplyId("b", "C", 5, "check5"))  # from memory 4 would be next
    assert sorted(done.after.replicas) == [1, 2, 3, 4, 5]
    assert case.disturbed.reads == 1


async def test_what_is_so_already_is_looked_up_too(case: Case) -> None:
    case.states.take_all(*await case.disturbed.engine.read(), now=0.0)
    await case.other.carry_out(POLICY)
    done = await case.deciding.carry_out(SetPolicy("b", min_in_sync=1))
    assert done.after.policy.min_in_sync == 1


async def test_a_known_state_saves_a_read(case: Case) -> None:
    case.states.take_all(*await case.disturbed.engine.read(), now=0.0)
    done = await case.deciding.carry_out(POLICY)
    assert case.disturbed.reads == 0
    assert case.states.find("b") == done.after
    _, names = await case.disturbed.engine.read()
    assert state_of("b", names["b"]) == done.after


async def test_a_preview_changes_nothing(case: Case) -> None:
    done = await case.deciding.preview(POLICY)
    assert (done.before, done.after.policy.min_in_sync) == (state(), 2)
    assert (await case.deciding.preview(POLICY)).before == state()


async def test_without_the_lead_nothing_is_elected(case: Case) -> None:
    engine = case.disturbed.engine
    lead = await engine.lead("n1")
    assert lead is not None
    await engine.resign(lead)
    with pytest.raises(Refused, match="no longer leads") as refused:
        await case.deciding.carry_out(POLICY, lead)
    assert refused.value.code == 2007


@pytest.mark.parametrize(
    ("text", "sentence"), [("{}", "is no state"), (encode_state(state(name="c")).decode(), "is the state of c")]
)
async def test_what_is_no_state_is_told(case: Case, text: str, sentence: str) -> None:
    engine = case.disturbed.engine
    _, names = await engine.read()
    await engine.put("b", names["b"], text)
    with pytest.raises(Refused, match=sentence) as refused:
        await case.deciding.carry_out(POLICY)
    assert refused.value.code == 1
    case.states.take_all(*await engine.read(), now=0.0)
    assert (case.states.find("b"), case.states.names()) == (None, ["b"])
