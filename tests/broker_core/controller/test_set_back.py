"""A state that was set back: healed by a living master, or adopted by an operator."""

from __future__ import annotations

from dataclasses import replace

import pytest

from broker_core.controller.commands import Adopt, Elect, Heal, View
from broker_core.controller.errors import Refused
from broker_core.controller.replicas import decide
from broker_core.controller.set_back import healing, is_confirmed, is_set_back
from broker_core.protocol.bodies.controller import MasterLife, NameState
from tests.broker_core.controller.states import STAMP, after, alive, life, replica, state


def test_a_state_is_set_back_when_somebody_was_told_a_newer_one() -> None:
    assert not is_set_back(None, (0, 0))
    assert is_set_back(None, (0, 1))
    assert not is_set_back(state(), (5, 31))
    assert not is_set_back(state(), (4, 99))
    assert is_set_back(state(), (5, 32))
    assert is_set_back(state(), (6, 1))


def test_what_a_master_tells_is_written_as_the_newest() -> None:
    told = state((2, 3), 2, epoch=7, version=40, next_id=5)
    healed = after(state(), Heal(told))
    assert healed == replace(told, version=41, change="c", last=healed.last)
    assert after(None, Heal(told)).view == (7, 41)


def test_an_id_that_was_given_stays_given() -> None:
    assert after(state(next_id=9), Heal(state(version=40))).next_id == 9


def test_a_state_is_not_healed_with_an_older_one() -> None:
    before = state()
    with pytest.raises(Refused, match="not older"):
        decide(before, Heal(state(version=30)), STAMP)
    assert decide(before, Heal(state()), STAMP) is before


def test_an_adopted_state_is_above_all_that_was_told() -> None:
    adopted = after(state(), Adopt("b", "C", (3,), views=((7, 20), (6, 50))))
    assert adopted.view == (1007, 51)
    assert (adopted.master, adopted.in_sync, adopted.set_version) == (None, [3], 13)
    assert after(adopted, Elect("b", alive(3), None, "adopted")).epoch == 1008


def test_a_name_that_is_lost_is_adopted_from_its_replicas() -> None:
    told = ((1, replica(1)), (4, replica(4, clean=False)))
    adopted = after(None, Adopt("b", "C", (4,), views=((7, 20),), replicas=told))
    assert (adopted.view, adopted.next_id, sorted(adopted.replicas)) == ((1007, 21), 5, [1, 4])
    assert adopted.replicas[4].clean
    elected = after(adopted, Elect("b", alive(4), None, "adopted"))
    assert elected.master == MasterLife(4, life(4))


@pytest.mark.parametrize(("members", "sentence"), [((), "no replica is named"), ((1, 9), "no replica 9")])
def test_only_replicas_can_be_gone_on_from(members: tuple[int, ...], sentence: str) -> None:
    with pytest.raises(Refused, match=sentence) as refused:
        decide(state(), Adopt("b", "C", members, ()), STAMP)
    assert refused.value.code == 2003


KEPT = state(version=20)
TOLD = state((2, 3), 2, epoch=7, version=40)
LIVES = {each: life(each) for each in (1, 2, 3)}


def test_a_name_heals_once_all_are_heard() -> None:
    assert healing(KEPT, {2: TOLD, 1: KEPT}, LIVES, TOLD.view) == Heal(TOLD)
    assert healing(None, {2: TOLD}, {2: life(2), 3: life(3)}, TOLD.view) == Heal(TOLD)


@pytest.mark.parametrize(
    ("told", "heard", "newest"),
    [
        ({}, LIVES, TOLD.view),  # nobody could tell a state
        ({1: TOLD, 3: TOLD}, LIVES, TOLD.view),  # not told by the master
        ({2: TOLD}, LIVES, (7, 41)),  # somebody knows a newer one
        ({2: TOLD}, LIVES | {2: life(2, 2)}, TOLD.view),  # the master's life is over
        ({2: TOLD}, {1: life(1), 2: life(2)}, TOLD.view),  # a member of the told set is not heard
        ({2: TOLD}, {2: life(2), 3: life(3)}, TOLD.view),  # a member of the kept set is not heard
        ({2: TOLD, 1: state((1, 4), replicas={1: replica(1), 4: replica(4)})}, LIVES, TOLD.view),
        ({2: replace(TOLD, master=None)}, LIVES, TOLD.view),
        ({2: KEPT}, LIVES, KEPT.view),  # not set back
    ],
)
def test_a_name_does_not_heal_while_a_newer_state_may_exist(
    told: dict[int, NameState], heard: dict[int, str], newest: View
) -> None:
    assert healing(KEPT, told, heard, newest) is None


def test_a_name_is_confirmed_by_all_its_replicas() -> None:
    assert is_confirmed(KEPT, (1, 2, 3), KEPT.view)
    assert not is_confirmed(KEPT, (1, 2), KEPT.view)
    assert not is_confirmed(KEPT, (1, 2, 3), TOLD.view)
