"""The lease of a master."""

from __future__ import annotations

from broker_core.broker.replication.lease import Lease


def test_it_runs_from_the_sending_of_the_heartbeat() -> None:
    lease = Lease(5)
    lease.grant(sent_at=10.0, grant=2.5, epoch=5)
    assert lease.holds(12.4)
    assert not lease.holds(12.5)
    assert lease.left(12.0) == 0.5


def test_an_answer_that_comes_late_does_not_shorten_it() -> None:
    lease = Lease(5)
    lease.grant(sent_at=10.0, grant=2.5, epoch=5)
    lease.grant(sent_at=9.0, grant=2.5, epoch=5)
    assert lease.holds(12.4)


def test_a_grant_for_another_epoch_and_none_at_all_count_for_nothing() -> None:
    lease = Lease(5)
    lease.grant(sent_at=10.0, grant=2.5, epoch=4)
    lease.grant(sent_at=10.0, grant=0.0, epoch=5)
    assert not lease.holds(10.0)


def test_it_rests_when_the_master_asked_for_another() -> None:
    lease = Lease(5)
    lease.grant(sent_at=10.0, grant=2.5, epoch=5)
    lease.rest(until=12.0)
    assert not lease.holds(11.0)
    assert lease.left(11.0) == 0.0
