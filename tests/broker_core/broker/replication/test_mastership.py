"""A replica as the master of one epoch."""

from __future__ import annotations

from dataclasses import replace

import pytest

from broker_core.broker.replication.mastership import MasterLimits, Mastership
from broker_core.broker.replication.messages import (
    Accepted,
    CloseSlave,
    Confirmed,
    Exchange,
    HandedOver,
    Refusal,
    Refused,
    SendToSlave,
    Span,
)
from broker_core.protocol.bodies.controller import MasterLife, NamePolicy, NameState, ReplicaState, new_state
from broker_core.protocol.ha_epochs import EpochStart, MasterHandshake, Report, SlaveHandshake
from broker_core.store.consume_queue import QueueEnd
from tests.broker_core.broker.replication.epochs_store import MemoryStore

ME = MasterLife(1, "4-a")
EPOCHS = (EpochStart(1, 0), EpochStart(3, 80))


def view(members: tuple[int, ...] = (1, 2), min_in_sync: int = 1, **changes: object) -> NameState:
    replicas = {each: ReplicaState(f"a{each}", f"h{each}", "4-a", "c", clean=True, last_epoch=1) for each in (1, 2, 3)}
    state = replace(new_state("b", "C"), version=9, epoch=3, master=ME, in_sync=list(members), replicas=replicas)
    return replace(state, policy=NamePolicy(min_in_sync), **changes)  # type: ignore[arg-type]


def master(state: NameState | None = None, *, size: int = 100, confirm: int = 80) -> Mastership:
    store = MemoryStore(bytes(size), EPOCHS, confirm)
    return Mastership(ME, state or view(), store, MasterLimits(batch=50, unconfirmed=60), now=0.0)


def connect(mastership: Mastership, broker_id: int, link: int, upto: int, now: float = 0.0) -> None:
    answer = mastership.exchange(Exchange(broker_id, "4-a", 3, 64))
    assert isinstance(answer, Accepted)
    mastership.greeted(link, SlaveHandshake(broker_id, answer.ticket), now)
    mastership.reported(link, Report(upto), now)


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        (Exchange(2, "4-a", 2, 64), "epoch"),
        (Exchange(9, "4-a", 3, 64), "no other replica 9"),
        (Exchange(1, "4-a", 3, 64), "no other replica 1"),
        (Exchange(2, "4-a", 3, 128), "segments"),
        (Exchange(2, "3-f", 3, 64), "later life"),
        (Exchange(2, "no life", 3, 64), "is not a life"),
    ],
)
def test_a_slave_that_cannot_follow_is_told_why(request_: Exchange, why: str) -> None:
    answer = master().exchange(request_)
    assert isinstance(answer, Refused)
    assert why in answer.reason


@pytest.mark.parametrize(
    ("newest", "confirm", "begin"), [(False, 80, 10), (True, 80, 64), (True, 100, 64), (True, 60, 10)]
)
def test_a_slave_without_a_log_is_told_where_a_copy_begins_and_of_the_queues_before_it(
    newest: bool, confirm: int, begin: int
) -> None:
    store = MemoryStore(bytes(90), EPOCHS, confirm, begin=10)
    store.queues_before = {("T", 0): QueueEnd(5, 4, 2)}
    mastership = Mastership(ME, view(), store, MasterLimits(), now=0.0)
    empty, other = (mastership.exchange(Exchange(2, "4-a", 3, 64, newest, each)) for each in (True, False))
    assert isinstance(empty, Accepted)
    assert isinstance(other, Accepted)
    assert (empty.begin, empty.queue_ends) == (begin, store.queues_before)
    assert (other.begin, other.queue_ends) == (begin, {})


def test_a_stream_without_the_last_ticket_is_closed() -> None:
    """Its reports may be those of an earlier life, which lost what they tell."""
    mastership = master()
    first, second = (mastership.exchange(Exchange(2, life, 3, 64)) for life in ("4-a", "5-b"))
    assert isinstance(first, Accepted)
    assert isinstance(second, Accepted)
    for ticket in (first.ticket, 0, second.ticket + 1):
        assert isinstance(mastership.greeted(7, SlaveHandshake(2, ticket), 0.0)[-1], CloseSlave)
    assert isinstance(mastership.greeted(8, SlaveHandshake(3, second.ticket), 0.0)[-1], CloseSlave)


def test_no_ticket_says_what_another_one_is() -> None:
    drawn = iter([5, 5, 0, 9])
    mastership = Mastership(ME, view(), MemoryStore(bytes(30)), MasterLimits(), 0.0, lambda _: next(drawn))
    first, second = (mastership.exchange(Exchange(each, life, 3, 64)) for each, life in ((2, "4-a"), (3, "4-a")))
    assert isinstance(first, Accepted)
    assert isinstance(second, Accepted)
    assert (first.ticket, second.ticket) == (6, 1)


def test_the_handshake_tells_epochs_and_end() -> None:
    mastership = master()
    answer = mastership.exchange(Exchange(2, "4-a", 3, 64))
    assert isinstance(answer, Accepted)
    effects = mastership.greeted(7, SlaveHandshake(2, answer.ticket), 0.0)
    assert effects == [SendToSlave(7, MasterHandshake(3, 100, EPOCHS))]


def test_spans_cross_neither_epochs_nor_segments() -> None:
    mastership = master(size=100)
    connect(mastership, 2, 7, 10)
    spans = [mastership.next_span(7, 0.0) for _ in range(4)]
    assert spans == [Span(10, 50, 1, 0, 80), Span(60, 4, 1, 0, 80), Span(64, 16, 1, 0, 80), Span(80, 20, 3, 80, 80)]
    assert mastership.next_span(7, 0.0) is None
    assert mastership.needed_from == 100


def test_an_idle_stream_tells_a_risen_confirm_offset_soon_and_else_a_heartbeat() -> None:
    mastership = master()
    connect(mastership, 2, 7, 100)
    assert mastership.next_span(7, 0.1) == Span(100, 0, 3, 80, 100)
    assert mastership.next_span(7, 5.0) is None
    assert mastership.next_span(7, 5.2) == Span(100, 0, 3, 80, 100)


def test_confirm_is_what_every_member_has() -> None:
    mastership = master(view((1, 2, 3)))
    connect(mastership, 2, 7, 100)
    assert mastership.in_sync.confirm == 80
    connect(mastership, 3, 8, 90)
    assert mastership.in_sync.confirm == 90
    assert mastership.reported(8, Report(100), 0.0) == [Confirmed(100)]


def test_a_member_that_is_gone_holds_it() -> None:
    mastership = master(view((1, 2, 3)))
    connect(mastership, 2, 7, 100)
    connect(mastership, 3, 8, 90)
    mastership.closed(8, 0.0)
    assert mastership.advance() == []
    assert mastership.in_sync.confirm == 90


@pytest.mark.parametrize("upto", [101, 1 << 40])
def test_a_report_beyond_the_end_closes_the_stream(upto: int) -> None:
    mastership = master()
    connect(mastership, 2, 7, 90)
    assert isinstance(mastership.reported(7, Report(upto), 0.0)[-1], CloseSlave)
    assert mastership.next_span(7, 0.0) is None


def test_a_replica_that_has_everything_is_proposed_and_counts_at_once() -> None:
    mastership = master(view((1, 2)))
    connect(mastership, 2, 7, 100)
    connect(mastership, 3, 8, 100)
    proposed = mastership.wanted(0.0)
    assert proposed is not None
    assert [each.id for each in proposed.members] == [1, 2, 3]
    assert mastership.in_sync.effective == (1, 2, 3)


def test_a_replica_in_another_life_than_the_registered_one_is_not_proposed() -> None:
    mastership = master(view((1, 2)))
    connect(mastership, 2, 7, 100)
    answer = mastership.exchange(Exchange(3, "5-b", 3, 64))
    assert isinstance(answer, Accepted)
    mastership.greeted(8, SlaveHandshake(3, answer.ticket), 0.0)
    mastership.reported(8, Report(100), 0.0)
    assert mastership.wanted(0.0) is None


def test_a_member_leaves_when_it_is_gone_for_long_and_counts_until_that_is_decided() -> None:
    mastership = master(view((1, 2)))
    assert mastership.wanted(1.0) is None
    proposed = mastership.wanted(1.1)
    assert proposed is not None
    assert [each.id for each in proposed.members] == [1]
    assert mastership.in_sync.effective == (1, 2)


def members_wanted(mastership: Mastership, now: float) -> list[int] | None:
    proposed = mastership.wanted(now)
    return None if proposed is None else [each.id for each in proposed.members]


def master_of_two_that_hang() -> Mastership:
    """Return the master of a set of three, whose slaves had all, and then nothing of 20 bytes."""
    state = view((1, 2, 3), min_in_sync=2)
    store = MemoryStore(bytes(80), EPOCHS, 80)
    mastership = Mastership(ME, state, store, MasterLimits(), now=0.0)
    for broker_id in (2, 3):
        connect(mastership, broker_id, broker_id, 80)
    store.append_raw(80, bytes(20))
    assert members_wanted(mastership, 15.0) is None
    assert members_wanted(mastership, 15.1) == [1, 3]
    mastership.viewed(replace(state, in_sync=[1, 3], version=10, set_version=1))
    return mastership


def test_of_two_that_hang_one_leaves_and_comes_back_with_something_new_only() -> None:
    """The confirm offset stays at what both had, so that what each acknowledged before is never below it."""
    mastership = master_of_two_that_hang()
    assert members_wanted(mastership, 15.2) is None
    mastership.reported(2, Report(80), 16.0)
    assert members_wanted(mastership, 16.0) is None
    mastership.reported(2, Report(90), 17.0)
    assert members_wanted(mastership, 17.0) == [1, 2]


def test_who_left_may_join_on_a_new_connection_with_what_it_had() -> None:
    mastership = master_of_two_that_hang()
    connect(mastership, 2, 9, 80, now=16.0)
    assert members_wanted(mastership, 16.0) == [1, 2]


def test_no_set_below_the_policy_is_proposed_and_sends_are_refused_instead() -> None:
    mastership = master(view((1, 2), min_in_sync=2))
    assert mastership.wanted(5.0) is None
    assert mastership.refusal(5.0) is Refusal.SET_TOO_SMALL


def test_a_refusal_does_not_end_a_proposal_but_stops_confirming() -> None:
    mastership = master(view((1, 2)))
    proposed = mastership.wanted(2.0)
    mastership.in_sync.refused()
    connect(mastership, 2, 7, 100, now=2.0)
    assert mastership.in_sync.confirm == 80
    mastership.viewed(view((1, 2), version=10))
    assert mastership.wanted(2.0) == proposed
    assert mastership.in_sync.confirm == 100
    mastership.viewed(view((1, 2), version=11, set_version=1))
    assert mastership.wanted(2.0) is None


def test_without_a_lease_sends_go_on_while_all_are_there() -> None:
    mastership = master()
    assert mastership.refusal(0.0) is Refusal.NO_LEASE
    connect(mastership, 2, 7, 100)
    assert mastership.refusal(0.0) is None
    mastership.closed(7, 0.0)
    mastership.lease.grant(0.0, 2.5, 3)
    assert mastership.refusal(0.5) is None


def test_too_much_unconfirmed_is_refused_as_busy() -> None:
    mastership = master(view((1,)), confirm=30)
    reason = mastership.refusal(0.0)
    assert reason is Refusal.UNCONFIRMED
    assert reason.code == 2


def test_a_switch_by_hand_waits_for_the_log_of_the_chosen_one() -> None:
    mastership = master()
    connect(mastership, 2, 7, 90)
    mastership.lease.grant(0.0, 2.5, 3)
    assert mastership.hand_over(3, 3.0, 0.0) == "replica 3 is not in sync"
    assert mastership.hand_over(1, 3.0, 0.0) == "replica 1 is master"
    assert mastership.hand_over(2, 3.0, 0.0) is None
    assert mastership.hand_over(3, 3.0, 0.0) == "a hand-over to replica 2 is under way"
    assert mastership.refusal(0.0) is Refusal.SWITCHING
    assert HandedOver(2) in mastership.reported(7, Report(100), 0.1)
    assert not mastership.lease.holds(0.1)
    mastership.tick(3.0)
    assert mastership.refusal(3.0) is None


def test_a_silent_stream_is_closed() -> None:
    mastership = master()
    connect(mastership, 2, 7, 100)
    assert mastership.tick(20.0) == []
    assert [type(each) for each in mastership.tick(20.1)] == [CloseSlave]
