"""What a master tells of its leases, and what its slaves make of that."""

from __future__ import annotations

import zlib
from base64 import b64encode

import pytest

from broker_core.broker.pop import mirror
from broker_core.broker.pop.changes import Change
from broker_core.broker.pop.feed import LeaseFeed
from broker_core.broker.pop.journal import encode
from broker_core.broker.pop.leases import Leases
from broker_core.broker.pop.mirror import LeaseTeller, changes_of
from broker_core.protocol.bodies.state import LeaseChanges
from broker_core.protocol.errors import MalformedBody


class Master:
    """Leases with their feed."""

    def __init__(self) -> None:
        feed = LeaseFeed()
        self.leases = Leases(lambda change: feed.note(encode(change)))
        self.teller = LeaseTeller(self.leases, feed)

    def pop(self, group: str, *offsets: int) -> None:
        queue = self.leases.find(group, "T", 0) or self.leases.open(group, "T", 0, 0)
        self.leases.lease(queue, offsets, next_offset=max(offsets) + 1, now=1, invisible_ms=100)


def told(teller: LeaseTeller, since: int | None) -> LeaseChanges:
    changes = teller.since(since)
    assert changes is not None
    return changes


def follow(slave: Leases, changes: LeaseChanges) -> list[Change]:
    if changes.is_whole:
        rebuilt = Leases(lambda change: None)
        for change in changes_of(changes):
            rebuilt.apply(change)
        slave.become(rebuilt)
    else:
        for change in changes_of(changes):
            slave.follow(change)
    return list(slave.snapshot())


def test_a_slave_gets_all_leases_first_and_then_what_changed() -> None:
    master, recorded = Master(), list[Change]()
    slave = Leases(recorded.append)
    master.pop("billing", 0, 1)
    assert follow(slave, told(master.teller, None)) == list(master.leases.snapshot())
    count = master.teller.count
    assert master.teller.since(count) is None

    master.pop("billing", 2)
    master.pop("shipping", 0)
    changes = told(master.teller, count)
    assert not changes.is_whole
    assert follow(slave, changes) == list(master.leases.snapshot())
    again = Leases(lambda change: None)
    for change in recorded:
        again.apply(change)
    assert list(again.snapshot()) == list(master.leases.snapshot())


def test_leases_that_are_gone_at_the_master_are_gone_at_a_slave_that_lacked_too_much() -> None:
    master, slave = Master(), Leases(lambda change: None)
    slave.lease(slave.open("old", "T", 0, 0), [0], next_offset=1, now=1, invisible_ms=100)
    changes = told(master.teller, -5)
    assert changes.is_whole
    assert follow(slave, changes) == []


def test_too_many_leases_are_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    master = Master()
    master.pop("billing", 0)
    monkeypatch.setattr(mirror, "MOST_BYTES", 4)
    assert list(changes_of(told(master.teller, None))) == []


@pytest.mark.parametrize(
    "frames",
    [
        "&",
        b64encode(b"not compressed").decode(),
        b64encode(zlib.compress(b"torn")).decode(),
        b64encode(zlib.compress(b"")[:-1]).decode(),
    ],
)
def test_what_is_damaged_is_refused(frames: str) -> None:
    with pytest.raises(MalformedBody, match="leases"):
        changes_of(LeaseChanges(is_whole=True, frames=frames))
