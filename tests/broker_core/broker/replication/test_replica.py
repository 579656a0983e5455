"""A replica, fed with whatever may come."""

from __future__ import annotations

from dataclasses import replace
from errno import EMFILE
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.broker.replication.messages import (
    Accepted,
    Answered,
    ApplyId,
    Ask,
    AskMaster,
    Become,
    BeginAnew,
    Exchange,
    Halt,
    Heard,
    Held,
    Hold,
    Identity,
    LeaveMaster,
    NextId,
    OpenStream,
    Outcome,
    Refusal,
    Refused,
    RefuseWaiting,
    Register,
    SaveIdentity,
    SendHeartbeat,
    SendToMaster,
)
from broker_core.broker.replication.replica import Replica, ReplicaSettings
from broker_core.broker.role import Role, RoleKind
from broker_core.protocol.bodies.controller import MasterLife, NameState, ReplicaState, new_state
from broker_core.protocol.ha_epochs import Data, EpochStart, MasterHandshake, Report, SlaveHandshake
from broker_core.store.consume_queue import QueueEnd
from broker_core.store.errors import StoreFull
from tests.broker_core.broker.replication.epochs_store import MemoryStore

ME = Identity("C", "b", 1, "c", "4-a")


def view(master: MasterLife | None, *, epoch: int = 1, version: int = 5, life: str = "4-a") -> NameState:
    replicas = {
        1: ReplicaState("a1", "h1", life, "c", clean=True, last_epoch=0),
        2: ReplicaState("a2", "h2", "7-b", "c", clean=True, last_epoch=0),
    }
    state = replace(new_state("b", "C"), epoch=epoch, version=version, master=master, replicas=replicas)
    return replace(state, in_sync=[1, 2])


MINE, THEIRS = MasterLife(1, "4-a"), MasterLife(2, "7-b")


def replica(identity: Identity = ME, store: MemoryStore | None = None) -> Replica:
    return Replica(identity, store or MemoryStore(), ReplicaSettings("a1", "h1", controllers=3))


def told(each: Replica, state: NameState, now: float = 0.0) -> list[Any]:
    return list(each.heard(Heard(0, now, state=state), now))


def test_a_stranger_asks_for_an_id_then_registers() -> None:
    stranger = replica(replace(ME, broker_id=0))
    (ask,) = stranger.tick(0.0)
    assert ask == Ask(0, 1, NextId())
    (saved,) = stranger.answered(Answered(1, Outcome.DONE, broker_id=3), 0.1)
    assert isinstance(saved, SaveIdentity)
    (ask,) = stranger.tick(0.1)
    assert isinstance(ask, Ask)
    assert ask.command == ApplyId(3, "c")
    assert stranger.answered(Answered(ask.number, Outcome.DONE), 0.2) == [SaveIdentity(stranger.identity)]
    assert stranger.identity.broker_id == 3
    heartbeat, ask = stranger.tick(0.2)
    assert isinstance(heartbeat, SendHeartbeat)
    assert isinstance(ask, Ask)
    assert isinstance(ask.command, Register)


def test_a_silent_controller_is_followed_by_the_next() -> None:
    each = replica()
    targets = [
        effect.controller for now in (0.0, 0.5, 1.0, 2.0) for effect in each.tick(now) if isinstance(effect, Ask)
    ]
    assert targets == [0, 1, 2]


def test_unclean_is_told_until_the_state_shows_this_life() -> None:
    each = replica(replace(ME, is_unclean=True))
    told(each, view(None, life="3-a"))
    assert each.identity == replace(ME, is_unclean=True, known=(1, 5))
    told(each, view(None, version=6))
    assert each.identity == replace(ME, known=(1, 6))


def refused(each: Replica, begin: float, seconds: float) -> list[float]:
    """Refuse every registration for so long; return when one was asked for."""
    times = []
    for step in range(round(seconds * 10)):
        now = begin + step / 10
        for effect in each.tick(now):
            if isinstance(effect, Ask):
                times.append(now)
                assert each.answered(Answered(effect.number, Outcome.REFUSED), now) == []
    return times


def test_a_replica_that_was_refused_goes_on_with_its_heartbeats() -> None:
    each = replica()
    refused(each, 0.0, 100.0)
    beats = [now for now in range(200, 210) if any(isinstance(effect, SendHeartbeat) for effect in each.tick(now))]
    assert beats == list(range(200, 210))


def test_a_slave_that_is_no_replica_any_more_serves_nothing_until_it_is_one_again() -> None:
    each = replica()
    state = view(MasterLife(2, "1-z"), version=6)
    others = {number: known for number, known in state.replicas.items() if number != ME.broker_id}
    assert any(isinstance(effect, Become) and effect.role.kind is RoleKind.SLAVE for effect in told(each, state))
    removed = told(each, replace(state, version=7, replicas=others))
    assert Become(Role(RoleKind.FENCED, ME.broker_id)) in removed
    again = told(each, replace(state, version=8))
    assert any(isinstance(effect, Become) and effect.role.kind is RoleKind.SLAVE for effect in again)


def test_a_replica_that_was_removed_asks_more_and_more_rarely() -> None:
    times = refused(replica(), 0.0, 200.0)
    pauses = [later - earlier for earlier, later in pairwise(times)]
    assert pauses == sorted(pauses)
    assert pauses[0] < 1.2
    assert 29.9 < pauses[-1] < 30.2
    assert len(times) < 12


@pytest.mark.parametrize("state", [None, view(None, version=6, life="3-a")], ids=["answer", "state"])
def test_a_replica_that_was_removed_asks_at_once_when_controllers_know_it_again(state: NameState | None) -> None:
    each = replica()
    (*_, last) = refused(each, 0.0, 100.0)
    each.heard(Heard(0, last, state=replace(view(None), replicas={})), last + 1)
    assert not any(isinstance(effect, Ask) for effect in each.tick(last + 1))
    each.heard(Heard(0, last, state=state), last + 2)
    (ask,) = [effect for effect in each.tick(last + 2) if isinstance(effect, Ask)]
    assert isinstance(ask.command, Register)
    each.answered(Answered(ask.number, Outcome.REFUSED), last + 2)
    assert refused(each, last + 2, 1.2) == [pytest.approx(last + 3)]


@pytest.mark.parametrize("identity", [ME, replace(ME, broker_id=0)], ids=["a life", "an id"])
def test_who_is_refused_says_so_until_it_is_let_in_and_asks_more_and_more_rarely(identity: Identity) -> None:
    each, held = replica(identity), Held(Hold.REFUSED, "this controller is of cluster D, not of C")
    times = []
    for step in range(600):
        for effect in each.tick(step / 10):
            if isinstance(effect, Ask):
                times.append(step)
                each.answered(Answered(effect.number, Outcome.REFUSED, held=held), step / 10)
    assert len(times) < 10
    assert (each.held, each.trouble) == (held, held.reason)
    (ask,) = [effect for effect in each.tick(99.0) if isinstance(effect, Ask)]
    each.answered(Answered(ask.number, Outcome.DONE, broker_id=3), 99.0)
    assert (each.held, each.trouble) == (None, "")


def test_it_takes_over_only_for_this_life() -> None:
    each = replica()
    assert not any(isinstance(effect, Become) for effect in told(each, view(MasterLife(1, "3-a"), life="3-a")))
    assert each.refusal(0.0) is Refusal.FENCED
    effects = told(each, view(MINE, epoch=2))
    assert Become(Role(RoleKind.MASTER, 0, None, 2)) in effects
    assert each.epoch == 2


def test_stepping_down_is_told_first_then_senders_then_the_streams_close() -> None:
    each = replica()
    told(each, view(MINE))
    effects = [effect for effect in told(each, view(THEIRS, epoch=2)) if not isinstance(effect, SaveIdentity)]
    assert effects[:2] == [Become(Role(RoleKind.SLAVE, 1, "a2", 2)), RefuseWaiting(Refusal.DEPOSED)]


def test_an_older_view_changes_nothing() -> None:
    each = replica()
    told(each, view(MINE, epoch=2))
    assert told(each, view(THEIRS, epoch=1, version=99)) == []
    assert told(each, view(THEIRS, epoch=2, version=4)) == []


def test_a_later_life_of_the_same_replica_stops_this_one() -> None:
    each = replica()
    assert any(isinstance(effect, Halt) for effect in told(each, view(None, life="5-c")))
    assert each.tick(9.0) == []
    assert each.held == Held(Hold.REPLACED, "replica 1 runs in a later life: 5-c")


def test_a_slave_asks_connects_cuts_and_follows() -> None:
    store = MemoryStore(bytes(30), [EpochStart(1, 0)])
    each = replica(store=store)
    told(each, view(THEIRS, epoch=2))
    ask = next(effect for effect in each.tick(0.0) if isinstance(effect, AskMaster))
    assert ask.request == Exchange(1, "4-a", 2, 64, is_empty=False)
    (opened,) = each.exchanged(ask.link, Accepted(9, 0), 0.1)
    assert opened == OpenStream(ask.link, "h2", SlaveHandshake(1, 9))
    (report,) = each.from_master(ask.link, MasterHandshake(2, 40, (EpochStart(1, 0), EpochStart(2, 20))), 0.2)
    assert report == SendToMaster(ask.link, Report(20))
    effects = each.from_master(ask.link, Data(20, 2, 20, 22, b"abc"), 0.3)
    assert effects[-1] == SendToMaster(ask.link, Report(22))
    assert store.confirm == 22
    assert store.epochs == [EpochStart(1, 0), EpochStart(2, 20)]


def test_a_slave_without_a_log_takes_the_queues_before_its_copy_and_then_connects() -> None:
    store, ends = MemoryStore(), {("T", 0): QueueEnd(5, 4, 2)}
    each = replica(store=store)
    told(each, view(THEIRS))
    ask = next(effect for effect in each.tick(0.0) if isinstance(effect, AskMaster))
    assert ask.request.is_empty
    assert isinstance(each.exchanged(ask.link, Accepted(9, 64, ends), 0.1)[0], OpenStream)
    assert store.queues_before == ends


def test_a_slave_that_makes_many_queues_does_not_take_its_master_for_silent() -> None:
    each = replica()
    told(each, view(THEIRS))
    ask = next(effect for effect in each.tick(0.0) if isinstance(effect, AskMaster))
    assert each.following is not None
    for now in (1.5, 3.0, 4.5):
        each.following.exchanging(ask.link, now)
        assert not any(isinstance(effect, LeaveMaster) for effect in each.tick(now + 1))
    assert isinstance(each.exchanged(ask.link, Accepted(9, 64), 5.0)[0], OpenStream)
    each.following.exchanging(ask.link, 5.5)
    assert any(isinstance(effect, LeaveMaster) for effect in each.tick(7.3))


@pytest.mark.parametrize("error", [StoreFull(Path("disk"), 1), OSError(EMFILE, "too many open files")])
def test_a_slave_that_cannot_make_its_queues_says_why_and_tries_again_later(error: Exception) -> None:
    store = MemoryStore()
    store.begin_behind = Mock(side_effect=error)  # type: ignore[method-assign]
    each = replica(store=store)
    told(each, view(THEIRS))
    ask = next(effect for effect in each.tick(0.0) if isinstance(effect, AskMaster))
    assert each.exchanged(ask.link, Accepted(9, 64), 0.0) == [LeaveMaster(ask.link)]
    assert each.following is not None
    assert each.following.trouble == f"no copy can begin here: {error}"
    assert any(isinstance(effect, AskMaster) for effect in each.tick(0.3))


def test_without_room_for_its_epoch_an_elected_replica_is_fenced_and_silent_until_there_is_some() -> None:
    store = MemoryStore(bytes(20), [EpochStart(1, 0)])
    each, rolled = replica(store=store), store.roll_epoch
    told(each, view(THEIRS))
    store.roll_epoch = Mock(side_effect=StoreFull(Path("disk"), 1))  # type: ignore[method-assign]
    effects = told(each, view(MINE, epoch=2), 1.0)
    assert effects[-2:] == [Become(Role(RoleKind.FENCED, 1)), RefuseWaiting(Refusal.NO_ROOM)]
    assert each.mastership is None
    assert each.refusal(1.0) is Refusal.NO_ROOM
    assert "epoch 2 cannot begin here: no space left" in each.trouble
    assert [each.tick(now) for now in (1.1, 1.3, 2.0, 9.0)] == [[]] * 4
    assert store.roll_epoch.call_count < 5
    store.roll_epoch = rolled  # type: ignore[method-assign]
    assert Become(Role(RoleKind.MASTER, 0, None, 2)) in each.tick(99.0)
    assert (each.trouble, store.epochs[-1]) == ("", EpochStart(2, 20))


def test_who_waits_for_room_follows_another_that_is_elected_instead() -> None:
    store = MemoryStore(bytes(20), [EpochStart(1, 0)])
    each = replica(store=store)
    store.roll_epoch = Mock(side_effect=StoreFull(Path("disk"), 1))  # type: ignore[method-assign]
    told(each, view(MINE, epoch=2))
    effects = told(each, view(THEIRS, epoch=3))
    assert Become(Role(RoleKind.SLAVE, 1, "a2", 3)) in effects
    assert any(isinstance(effect, AskMaster) for effect in each.tick(1.0))


def test_a_slave_without_room_to_cut_its_log_tries_again_later() -> None:
    store = MemoryStore(bytes(30), [EpochStart(1, 0)])
    each, cut = replica(store=store), store.cut
    store.cut = Mock(side_effect=StoreFull(Path("disk"), 1))  # type: ignore[method-assign]
    told(each, view(THEIRS, epoch=2))
    greeting = MasterHandshake(2, 40, (EpochStart(1, 0), EpochStart(2, 20)))
    for now, expected in ((0.0, LeaveMaster), (1.0, SendToMaster)):
        ask = next(effect for effect in each.tick(now) if isinstance(effect, AskMaster))
        each.exchanged(ask.link, Accepted(9, 0), now)
        (effect,) = each.from_master(ask.link, greeting, now)
        assert isinstance(effect, expected)
        assert not each.halted
        store.cut = cut  # type: ignore[method-assign]
    assert len(store.log) == 20


def test_a_stream_that_ends_at_once_again_and_again_is_opened_more_and_more_rarely() -> None:
    store = MemoryStore()
    store.append_raw = Mock(side_effect=StoreFull(Path("disk"), 1))  # type: ignore[method-assign]
    each, now, tried = replica(store=store), 0.0, []
    told(each, view(THEIRS))
    for _ in range(5):
        while not (asked := [effect for effect in each.tick(now) if isinstance(effect, AskMaster)]):
            now += 0.1
        tried.append(now)
        each.exchanged(asked[0].link, Accepted(9, 0), now)
        each.from_master(asked[0].link, MasterHandshake(1, 40, (EpochStart(1, 0),)), now)
        assert each.from_master(asked[0].link, Data(0, 1, 0, 0, b"ab"), now) == [LeaveMaster(asked[0].link)]
        assert each.following is not None
        assert "no space left" in each.following.trouble
    pauses = [later - earlier for earlier, later in pairwise(tried)]
    assert pauses == sorted(pauses)
    assert pauses[-1] > 4 * pauses[0]


def test_data_for_another_place_ends_the_stream_and_it_begins_anew() -> None:
    each = replica()
    told(each, view(THEIRS))
    ask = next(effect for effect in each.tick(0.0) if isinstance(effect, AskMaster))
    each.exchanged(ask.link, Accepted(9, 0), 0.0)
    each.from_master(ask.link, MasterHandshake(1, 40, (EpochStart(1, 0),)), 0.0)
    assert each.from_master(ask.link, Data(10, 1, 0, 0, b"ab"), 0.0) == [LeaveMaster(ask.link)]
    again = next(effect for effect in each.tick(0.3) if isinstance(effect, AskMaster))
    assert again.link != ask.link


_numbers = st.integers(0, 60)
_links = st.integers(0, 3)
_masters = st.sampled_from([None, MINE, THEIRS, MasterLife(1, "3-a")])
_epochs = st.lists(st.tuples(st.integers(1, 5), _numbers), max_size=3).map(
    lambda each: tuple(EpochStart(number, start) for number, start in sorted(dict(each).items()))
)
_from_master = st.one_of(
    st.builds(MasterHandshake, st.integers(1, 5), _numbers, _epochs),
    st.builds(Data, _numbers, st.integers(1, 5), _numbers, _numbers, st.binary(max_size=9)),
)
_from_slave = st.one_of(
    st.builds(SlaveHandshake, st.integers(1, 3), st.integers(0, 9)), st.builds(Report, st.integers(0, 1 << 40))
)
_heard = st.builds(
    Heard,
    st.integers(0, 2),
    st.floats(0, 9),
    st.booleans(),
    st.floats(0, 3),
    st.integers(0, 5),
    st.builds(lambda master, epoch, version: view(master, epoch=epoch, version=version), _masters, _numbers, _numbers),
)
_answered = st.builds(Answered, st.integers(0, 5), st.sampled_from(Outcome), st.none(), st.integers(0, 3))
_lives = st.sampled_from(["4-a", "7-b", "1-x", "", "x"])
_exchange = st.builds(Exchange, st.integers(0, 3), _lives, st.integers(0, 5), st.sampled_from([64, 9]))
_events = st.one_of(
    st.tuples(st.just("tick")),
    st.tuples(st.just("heard"), _heard),
    st.tuples(st.just("answered"), _answered),
    st.tuples(st.just("from_master"), _links, _from_master),
    st.tuples(st.just("from_slave"), _links, _from_slave),
    st.tuples(st.just("exchanged"), _links, st.one_of(st.builds(Accepted, _numbers, _numbers), st.just(Refused("no")))),
    st.tuples(st.just("exchange"), _exchange),
    st.tuples(st.just("master_closed"), _links),
    st.tuples(st.just("slave_closed"), _links),
    st.tuples(st.just("next_span"), _links),
    st.tuples(st.just("hand_over"), _links),
)


@given(st.lists(st.tuples(_events, st.floats(0, 2)), max_size=40))
def test_whatever_comes_in_whatever_order_is_taken_or_refused(events: list[tuple[tuple[Any, ...], float]]) -> None:
    store = MemoryStore(bytes(20), [EpochStart(1, 0)], confirm=10)
    each, now = replica(store=store), 0.0
    for (name, *arguments), pause in events:
        now += pause
        confirm = store.confirm
        times = [] if name == "exchange" else [3.0, now] if name == "hand_over" else [now]
        effects = getattr(each, name)(*arguments, *times)
        assert confirm <= store.confirm <= store.end
        if isinstance(effects, list) and any(isinstance(effect, BeginAnew | Halt) for effect in effects):
            assert each.halted


@pytest.mark.parametrize("log", [bytes(20), b""], ids=["a log", "an empty log"])
def test_an_epoch_in_which_nothing_was_written_does_not_stand_before_the_masters(log: bytes) -> None:
    shared = [EpochStart(1, 0)] if log else []
    store = MemoryStore(log, [*shared, EpochStart(3, len(log))])
    each = replica(store=store)
    told(each, view(THEIRS, epoch=4))
    ask = next(effect for effect in each.tick(0.0) if isinstance(effect, AskMaster))
    each.exchanged(ask.link, Accepted(9, 0), 0.1)
    epochs = (*shared, EpochStart(2, len(log)), EpochStart(4, 40))
    each.from_master(ask.link, MasterHandshake(4, 60, epochs), 0.2)
    effects = each.from_master(ask.link, Data(len(log), 2, len(log), 0, b"abcd"), 0.3)
    assert effects == [SendToMaster(ask.link, Report(len(log) + 4))]
    assert store.epochs == [*shared, EpochStart(2, len(log))]
