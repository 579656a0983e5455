"""The commands on the state of a broker name: each precondition, and what changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from broker_core.controller.commands import (
    AcceptLoss,
    AlterSet,
    ApplyId,
    Candidate,
    Command,
    Elect,
    Register,
    Remove,
    SetPolicy,
)
from broker_core.controller.errors import Refused
from broker_core.controller.replicas import decide, next_id
from broker_core.protocol.bodies.controller import MOST_ELECTIONS, MasterLife, NamePolicy, NameState
from tests.broker_core.controller.states import STAMP, after, alive, life, replica, state

APPLY = ApplyId("b", "C", 1, "check1")


def register(number: int, restarts: int = 2, **changed: Any) -> Register:
    kept = Register(
        "b", "C", number, life(number, restarts), f"10.0.0.{number}:10911", f"10.0.0.{number}:10912",
        check=f"check{number}", is_clean=True, last_epoch=5,
    )  # fmt: skip
    return replace(kept, **changed)


def alter(*members: int, **changed: Any) -> AlterSet:
    kept = AlterSet("b", 1, life(1), 5, 12, tuple((each, life(each)) for each in members))
    return replace(kept, **changed)


def elect(*among: int, deposes: int | None = 1, **changed: Any) -> Elect:
    deposed = MasterLife(deposes, life(deposes)) if deposes else None
    return replace(Elect("b", alive(*among), deposed, "killed"), **changed)


def stuck() -> NameState:
    return state((2,), None, replicas={each: replica(each, clean=each != 2) for each in (1, 2, 3)})


@pytest.mark.parametrize(
    ("before", "command", "code", "sentence"),
    [
        (None, register(1), 2008, "no replica of b ever took an id"),
        (state(), replace(APPLY, id=9), 2014, "gets id 4, not 9"),
        (state(), replace(APPLY, check="other"), 2014, "gets id 4, not 1"),
        (state(), replace(APPLY, id=4, cluster="D"), 2014, "belongs to cluster C, not D"),
        (None, replace(APPLY, check=""), 2005, "check code"),
        (state(), register(4), 2010, "no replica 4"),
        (state(), register(1, check="other"), 2014, "belongs to another folder"),
        (state(), register(1, cluster="D"), 2014, "belongs to cluster C"),
        (state(), register(1, life="1-ffff"), 2014, "its folder was copied"),
        (state(), register(1, restarts=0), 2014, "its folder was copied"),
        (state(), elect(2, deposes=None), 2011, "replica 1 is the master"),
        (state(), elect(2, deposes=2), 2011, "replica 1 is the master"),
        (state(), elect(3), 2012, "every acknowledged message of b is heard: 1, 2"),
        (state(), elect(among=(Candidate(2, life(2, 9), 5, 1),)), 2012, "has not registered since it started"),
        (stuck(), elect(2, deposes=None), 2012, "may have lost acknowledged messages"),
        (state((), None), elect(1, 2, 3, deposes=None), 2012, "no replica of b is known"),
        (state(), elect(2, 3, chosen=9), 2003, "no replica 9"),
        (state(), elect(2, 3, chosen=1), 2006, "replica 1 of b is not heard"),
        (state(), elect(2, 3, chosen=3), 2012, "replica 3 of b may lack"),
        (state(), alter(1, 2, 3, epoch=4), 2000, "in epoch 5, not 4"),
        (state(), alter(1, 2, 3, epoch=6), 2000, "in epoch 5, not 6"),
        (state(), alter(1, 2, 3, id=2, life=life(2)), 2002, "is not the master"),
        (state(), alter(1, 2, 3, life=life(1, 2)), 2002, "is not the master"),
        (state(), alter(1, 2, 3, set_version=11), 2001, "has version 12, not 11"),
        (state(), alter(1, 2, 9), 2003, "no replica 9"),
        (state(), alter(2), 2013, "cannot leave"),
        (state(), alter(1, members=((1, life(1)), (3, life(3, 2)))), 2013, "replica 3 is in life"),
        (state(), Remove("b", ()), 2003, "no replica is named"),
        (state(), Remove("b", (2, 9)), 2003, "no replica 9"),
        (state(), Remove("b", (1,)), 2009, "is the master"),
        (state((1, 2), None), Remove("b", (1, 2)), 2009, "no other replica"),
        (state(policy=NamePolicy(3)), Remove("b", (3,)), 2009, "would have 2 replicas"),
        (state(), SetPolicy("b", min_in_sync=0), 2005, "so min_in_sync is 1 to"),
        (state(), SetPolicy("b", min_in_sync=4), 2005, "3 replicas, so min_in_sync is 1 to 3, not"),
        (state(), AcceptLoss("b", 2, alive(2), None), 2011, "replica 1 is the master"),
        (stuck(), AcceptLoss("b", 9, alive(2), None), 2003, "no replica 9"),
        (stuck(), AcceptLoss("b", 2, alive(1), None), 2006, "replica 2 of b is not heard"),
        (state((1, 2), None), AcceptLoss("b", 3, alive(2, 3), None), 2005, "replica 2 of b has every"),
    ],
)
def test_a_command_is_refused(before: NameState | None, command: Command, code: int, sentence: str) -> None:
    with pytest.raises(Refused, match=sentence) as refused:
        decide(before, command, STAMP)
    assert refused.value.code == code


@pytest.mark.parametrize("command", [register(1), elect(2), alter(1), Remove("b", (3,)), SetPolicy("b", 2), APPLY])
def test_nothing_is_decided_about_a_state_that_was_set_back(command: Command) -> None:
    with pytest.raises(Refused, match="was set back") as refused:
        decide(state(), command, STAMP, newest=(5, 32))
    assert refused.value.code == 2007
    with pytest.raises(Refused, match="was set back"):
        decide(None, command, STAMP, newest=(0, 1))


@pytest.mark.parametrize(
    "command",
    [
        ApplyId("b", "C", 1, "check1"),
        register(1, 1),
        alter(1, 2),
        SetPolicy("b", min_in_sync=1, unclean_allowed=False),
    ],
)
def test_what_is_so_already_is_not_written_again(command: Command) -> None:
    before = state()
    assert decide(before, command, STAMP) is before


def test_ids_are_given_in_turn() -> None:
    assert next_id(None) == 1
    first = after(None, APPLY)
    assert (first.name, first.cluster, first.version, first.in_sync, next_id(first)) == ("b", "C", 1, [], 2)
    second = after(first, ApplyId("b", "C", 2, "check2"))
    assert sorted(second.replicas) == [1, 2]
    assert second.version == 2


def test_an_id_is_not_given_again_after_its_replica_was_removed() -> None:
    assert next_id(after(state(), Remove("b", (3,)))) == 4


def test_the_first_to_register_is_in_sync_since_nothing_was_acknowledged() -> None:
    new = after(None, APPLY, ApplyId("b", "C", 2, "check2"), register(2), register(1))
    assert (new.in_sync, new.set_version, new.master, new.last_clean) == ([2], 1, None, 2)
    elected = after(new, elect(among=(Candidate(2, life(2, 2), 0, 0),), deposes=None))
    assert (elected.epoch, elected.master) == (6, MasterLife(2, life(2, 2)))


def test_a_first_one_that_is_unclean_waits_for_an_operator() -> None:
    new = after(None, APPLY, register(1, is_clean=False))
    assert new.in_sync == [1]
    assert not new.replicas[1].clean


def test_a_new_life_needs_a_new_epoch() -> None:
    started = after(state(), register(1, told=7))
    assert started.master is None
    assert (started.in_sync, started.set_version, started.epoch, started.top_epoch) == ([1, 2], 12, 5, 7)
    assert started.replicas[1].life == life(1, 2)
    assert after(started, elect(2)).epoch == 8


def test_an_unclean_life_leaves_the_set_when_others_are_in_it() -> None:
    started = after(state(), register(1, is_clean=False))
    assert (started.in_sync, started.set_version, started.master, started.last_clean) == ([2], 13, None, 2)


def test_an_unclean_life_alone_in_the_set_stays_unclean_in_its_next_life() -> None:
    started = after(state((1,)), register(1, is_clean=False), register(1, 3))
    assert (started.in_sync, started.set_version) == ([1], 12)
    assert not started.replicas[1].clean
    assert started.replicas[1].life == life(1, 3)


def test_a_member_counted_again_is_clean() -> None:
    unclean = after(state(), register(2, is_clean=False))
    assert unclean.in_sync == [1]
    again = after(unclean, alter(1, members=((1, life(1)), (2, life(2, 2))), set_version=13))
    assert (again.in_sync, again.set_version) == ([1, 2], 14)
    assert again.replicas[2].clean


def test_an_election_changes_master_and_epoch_and_never_the_set() -> None:
    elected = after(state(), elect(2))
    assert elected == replace(
        state(), epoch=6, master=MasterLife(2, life(2)), version=32, change="c", last_clean=2, last=elected.last,
        elected=elected.elected,
    )  # fmt: skip
    assert (elected.last.why, elected.last.by, elected.last.at) == ("killed", "n1", STAMP.at)


def test_why_a_master_was_elected_outlives_the_next_changes() -> None:
    first = after(state(), elect(2))
    (election,) = first.elected
    assert (election.epoch, election.version, election.master, election.in_sync) == (
        6,
        32,
        MasterLife(2, life(2)),
        [1, 2],
    )
    assert (election.why, election.by, election.at) == ("killed", "n1", STAMP.at)

    later = after(first, register(1))
    assert (later.last.why, later.elected) == ("replica 1 started", [election])
    for _ in range(MOST_ELECTIONS):
        later = after(later, elect(2, deposes=2))
    assert [each.epoch for each in later.elected] == [*range(7, 7 + MOST_ELECTIONS)]


def test_an_epoch_is_above_all_that_any_replica_told() -> None:
    told = (*alive(2), Candidate(3, life(3), last_epoch=8, end=0, told=9))
    assert after(state(top_epoch=7), elect(among=told)).epoch == 10


@pytest.mark.parametrize(
    ("first", "second", "best"),
    [
        (Candidate(1, life(1), 5, 100), Candidate(2, life(2), 4, 200), 1),
        (Candidate(1, life(1), 5, 100), Candidate(2, life(2), 5, 101), 2),
        (Candidate(1, life(1), 5, 100, priority=2), Candidate(2, life(2), 5, 100, priority=1), 2),
        (Candidate(1, life(1), 5, 100), Candidate(2, life(2), 5, 100), 2),
    ],
)
def test_the_longest_log_then_the_priority_then_the_old_master(first: Candidate, second: Candidate, best: int) -> None:
    before = state((1, 2), None, last_clean=2)
    assert after(before, elect(among=(first, second), deposes=None)).master == MasterLife(best, life(best))


def test_an_operator_chooses() -> None:
    longer = Candidate(1, life(1), 5, 500)
    chosen = after(state(), elect(among=(longer, *alive(2)), chosen=2))
    assert chosen.master == MasterLife(2, life(2))


def test_the_set_grows_and_shrinks() -> None:
    grown = after(state(), alter(1, 2, 3))
    assert (grown.in_sync, grown.set_version, grown.epoch) == ([1, 2, 3], 13, 5)
    shrunk = after(grown, alter(1, set_version=13))
    assert (shrunk.in_sync, shrunk.set_version) == ([1], 14)


def test_a_removed_replica_is_forgotten() -> None:
    gone = after(state(), Remove("b", (2,)))
    assert (sorted(gone.replicas), gone.in_sync, gone.set_version) == ([1, 3], [1], 13)
    with pytest.raises(Refused, match="was removed"):
        decide(gone, register(2), STAMP)


def test_the_last_of_the_set_is_removed_by_force_only() -> None:
    gone = after(state((2,), None), Remove("b", (2,), is_forced=True))
    assert (gone.in_sync, gone.last_clean) == ([], 0)
    restarted = after(gone, register(3))
    assert restarted.in_sync == []  # messages were acknowledged, and it may lack them


def test_loss_is_accepted_for_a_stuck_name() -> None:
    accepted = after(stuck(), AcceptLoss("b", 2, alive(1, 2), None))
    assert (accepted.master, accepted.epoch, accepted.in_sync, accepted.set_version) == (
        MasterLife(2, life(2)), 6, [2], 13,
    )  # fmt: skip
    assert accepted.replicas[2].clean


def test_loss_is_accepted_for_a_replica_outside_the_set() -> None:
    accepted = after(stuck(), AcceptLoss("b", 3, alive(3), None))
    assert (accepted.master, accepted.in_sync) == (MasterLife(3, life(3)), [3])


def test_policy() -> None:
    changed = after(state(), SetPolicy("b", min_in_sync=2))
    assert changed.policy == NamePolicy(2, unclean_allowed=False)
    assert after(changed, SetPolicy("b", unclean_allowed=True)).policy == NamePolicy(2, unclean_allowed=True)


def test_a_state_never_becomes_longer_than_an_engine_takes() -> None:
    checks = {each: replica(1, check="x" * 1000) for each in range(1, 62)}
    full = state(replicas=checks, next_id=62)
    with pytest.raises(Refused, match="remove replicas") as refused:
        decide(full, replace(register(2), check="x" * 1000, address="y" * 9000), STAMP)
    assert refused.value.code == 2005


def test_new_replicas_leave_room_for_what_happens_to_those_that_are_there() -> None:
    half = state(replicas={each: replica(1, check="x" * 1000) for each in range(1, 34)}, next_id=34)
    with pytest.raises(Refused, match="has 33 replicas, and there is no room for another") as refused:
        decide(half, ApplyId("b", "C", 34, "x"), STAMP)
    assert refused.value.code == 2005
    applied = replace(half, replicas=half.replicas | {2: replica(1, check="x", life="")})
    with pytest.raises(Refused, match="no room for another"):
        decide(applied, replace(register(2), check="x"), STAMP)
    assert after(half, replace(register(3), check="x" * 1000)).replicas[3].life


def test_no_epoch_follows_the_highest_that_headers_can_tell() -> None:
    last = state(epoch=(1 << 31) - 1)
    with pytest.raises(Refused, match="used its epochs up"):
        decide(last, Elect("b", alive(1, 2), MasterLife(1, life(1)), "silent"), STAMP)


def test_why_a_set_changed_names_who_joined_and_left() -> None:
    members = ((1, life(1)), (3, life(3)))
    changed = after(state((1, 2), 1), AlterSet("b", 1, life(1), 5, 12, members))
    assert changed.last.why == "replica 3 joined and replica 2 left the in-sync set"
