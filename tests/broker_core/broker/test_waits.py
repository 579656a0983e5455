"""What a send waits for: the disk, a replica, or both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import pytest

from broker_core.broker.durability import GroupCommit, OnFlushed
from broker_core.broker.errors import WaitingFull
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.waits import ReplicaWaits, Waits
from broker_core.protocol.codes import ResponseCode

SUCCESS, NO_DISK = ResponseCode.SUCCESS, ResponseCode.FLUSH_DISK_TIMEOUT
NO_SLAVE, LATE = ResponseCode.SLAVE_NOT_AVAILABLE, ResponseCode.FLUSH_SLAVE_TIMEOUT


@dataclass
class Rule:
    """A replica whose place the test says."""

    at: int = 0
    refuses: ResponseCode | None = None
    timeout_code: ResponseCode = LATE

    def position(self) -> int:
        return self.at

    def refusal(self, end: int) -> ResponseCode | None:
        return self.refuses


class Disk:
    """A group commit that the test settles."""

    def __init__(self) -> None:
        self.waiting: list[OnFlushed] = []

    def __len__(self) -> int:
        return len(self.waiting)

    def wait(self, _: int, answer: OnFlushed, *, now: int, sends: int = 1) -> None:
        self.waiting.append(answer)

    def settle(self, is_flushed: bool) -> None:
        waiting, self.waiting = self.waiting, []
        for answer in waiting:
            answer(is_flushed)

    def expire(self, now: int) -> None:
        """Times belong to the tests of the disk."""


def waits_of(
    disk: Disk, replicas: ReplicaWaits | None, *, flushes: bool = True, limit: int = 100
) -> tuple[Waits, list[ResponseCode]]:
    limits = BrokerLimits(unflushed_waiters=limit)
    return Waits(cast(GroupCommit, disk), replicas, flushes=flushes, limits=limits), []


def test_sends_are_answered_in_order_when_a_replica_has_them() -> None:
    rule = Rule()
    waits, answers = ReplicaWaits(rule, lambda: 3_000), list[tuple[int, ResponseCode]]()
    for end in (100, 200, 300):
        waits.wait(end, lambda code, end=end: answers.append((end, code)), now=0)  # type: ignore[misc]
    assert (len(waits), answers) == (3, [])

    rule.at = 250
    waits.advance()
    assert answers == [(100, SUCCESS), (200, SUCCESS)]
    waits.expire(2_999)
    assert len(waits) == 1
    waits.expire(3_000)
    assert answers[2:] == [(300, LATE)]


def test_without_a_replica_that_is_near_nobody_waits() -> None:
    rule = Rule(at=50, refuses=NO_SLAVE)
    waits, answers = ReplicaWaits(rule, lambda: 3_000), list[ResponseCode]()

    waits.wait(50, answers.append, now=0)
    waits.wait(51, answers.append, now=0)

    assert (answers, len(waits)) == ([SUCCESS, NO_SLAVE], 0)


def test_a_send_that_cannot_wait_overtakes_those_that_do() -> None:
    rule = Rule()
    waits, answers = ReplicaWaits(rule, lambda: 3_000), list[ResponseCode]()
    waits.wait(100, answers.append, now=0)
    rule.refuses = NO_SLAVE
    waits.wait(200, answers.append, now=0)
    assert answers == [NO_SLAVE]

    waits.give_up()
    assert answers == [NO_SLAVE, LATE]


@pytest.mark.parametrize(
    ("is_flushed", "at", "expected"), [(True, 9, SUCCESS), (False, 9, NO_DISK), (True, 0, LATE), (False, 0, LATE)]
)
@pytest.mark.parametrize("disk_first", [True, False])
def test_of_both_the_replica_is_told_first(is_flushed: bool, at: int, expected: ResponseCode, disk_first: bool) -> None:
    rule, disk = Rule(), Disk()
    replicas = ReplicaWaits(rule, lambda: 3_000)
    waits, answers = waits_of(disk, replicas)
    waits.wait(9, answers.append, now=0)

    def settle_replicas() -> None:
        rule.at = at
        replicas.advance()
        waits.expire(3_000)

    if disk_first:
        disk.settle(is_flushed)
        assert answers == []
        settle_replicas()
    else:
        settle_replicas()
        assert answers == []
        disk.settle(is_flushed)
    assert answers == [expected]


def test_the_disk_alone_answers_where_no_replica_is_waited_for() -> None:
    disk = Disk()
    waits, answers = waits_of(disk, None)
    waits.wait(9, answers.append, now=0)
    disk.settle(False)
    waits.wait(9, answers.append, now=0)
    disk.settle(True)
    assert answers == [NO_DISK, SUCCESS]


def test_the_replica_alone_answers_where_the_disk_is_not_waited_for() -> None:
    disk = Disk()
    waits, answers = waits_of(disk, ReplicaWaits(Rule(at=9), lambda: 3_000), flushes=False)
    waits.wait(9, answers.append, now=0)
    assert (answers, len(disk)) == ([SUCCESS], 0)


@pytest.mark.parametrize(("flushes", "has_replicas"), [(False, False), (True, False), (False, True), (True, True)])
def test_it_is_needed_where_something_is_waited_for(flushes: bool, has_replicas: bool) -> None:
    replicas = ReplicaWaits(Rule(), lambda: 3_000) if has_replicas else None
    waits, _ = waits_of(Disk(), replicas, flushes=flushes)
    assert waits.are_needed is (flushes or has_replicas)


def test_no_more_sends_wait_than_may() -> None:
    replicas = ReplicaWaits(Rule(), lambda: 3_000)
    waits, answers = waits_of(Disk(), replicas, flushes=False, limit=30)
    waits.wait(9, answers.append, now=0, sends=24)
    assert waits.room == 6
    waits.wait(9, answers.append, now=0, sends=6)
    with pytest.raises(WaitingFull, match="unflushed_waiters=30"):
        waits.check_room()
    waits.expire(3_000)
    assert waits.room == 30
