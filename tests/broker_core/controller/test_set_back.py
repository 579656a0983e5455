"""A state that was set back: healed by a living master, or adopted by an operator."""

from __future__ import annotations

from dataclasses import replace

import pytest

from broker_core.controller.commands import Adopt, Candidate, Elect, Heal, Register, View
from broker_core.controller.errors import Refused
from broker_core.controller.replicas import decide
from broker_core.controller.set_back import healing, is_confirmed, is_set_back
from broker_core.protocol.bodies.controller import MasterLife, NameState, ReplicaState
from tests.broker_core.controller.states import STAMP, after, alive, life, replica, state


def heard(*numbers: int, restarts: int = 1) -> tuple[tuple[int, ReplicaState], ...]:
    """Return what is known of these replicas from their heartbeats alone."""
    return tuple((each, replica(each, ha="", check="", clean=False, life=life(each, restarts))) for each in numbers)


def registration(number: int, restarts: int = 1) -> Register:
    """Return how a life registers that may have lost records."""
    of = replica(number)
    return Register("b", "C", number, life(number, restarts), of.address, of.ha, of.check, False, of.last_epoch)


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
    adopted = after(state(), Adopt("b", "C", (3,), views=((7, 20), (6, 50)), replicas=heard(3)))
    assert adopted.view == (1007, 51)
    assert (adopted.master, adopted.in_sync, adopted.set_version) == (None, [3], 13)
    assert after(adopted, Elect("b", alive(3), None, "adopted")).epoch == 1008


def test_a_name_that_is_lost_is_adopted_from_its_replicas() -> None:
    adopted = after(None, Adopt("b", "C", (4,), views=((7, 20),), replicas=heard(1, 4)))
    assert (adopted.view, adopted.next_id, sorted(adopted.replicas)) == ((1007, 21), 5, [1, 4])
    assert adopted.replicas[4].clean
    elected = after(adopted, registration(4), Elect("b", alive(4), None, "adopted"))
    assert elected.master == MasterLife(4, life(4))


def test_a_life_that_was_adopted_is_clean_when_it_registers() -> None:
    adopted = after(state(), Adopt("b", "C", (2, 3), (), heard(2, 3, restarts=2)))
    assert after(adopted, registration(3, restarts=2)).in_sync == [2, 3]
    assert after(adopted, registration(3, restarts=3)).in_sync == [2]  # nobody accepted what this one may lack


def test_nobody_is_elected_before_all_that_were_adopted_have_registered() -> None:
    adopted = after(state(), registration(2, restarts=2), Adopt("b", "C", (2, 3), (), heard(2, 3, restarts=2)))
    longest = (Candidate(2, life(2, 2), 5, 218), Candidate(3, life(3, 2), 5, 226))
    election = Elect("b", longest, None, "without master")
    with pytest.raises(Refused, match="replica 3 of b was adopted and has not registered yet"):
        decide(adopted, election, STAMP)
    elected = after(adopted, registration(3, restarts=2), election)
    assert elected.master == MasterLife(3, life(3, 2))
    assert after(adopted, replace(election, among=longest[:1])).master == MasterLife(2, life(2, 2))


@pytest.mark.parametrize(
    ("members", "code", "sentence"),
    [
        ((), 2003, "no replica is named"),
        ((1, 9), 2003, "no replica 9"),
        ((1, 3), 2006, "replica 3 of b is not heard: start it, or go on without it"),
    ],
)
def test_only_replicas_that_are_heard_can_be_gone_on_from(members: tuple[int, ...], code: int, sentence: str) -> None:
    with pytest.raises(Refused, match=sentence) as refused:
        decide(state(), Adopt("b", "C", members, (), heard(1, 2)), STAMP)
    assert refused.value.code == code


def test_an_earlier_life_than_the_one_that_is_kept_does_not_count_as_heard() -> None:
    with pytest.raises(Refused, match="is not heard"):
        decide(after(state(), registration(3, restarts=2)), Adopt("b", "C", (3,), (), heard(3)), STAMP)


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
