"""Locks of orderly consumption: one owner per queue, who renews the lock until release or expiry."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from broker_core.broker.errors import LimitReached
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.queue_locks import LOCK_LIFE_MS, QueueLocks

QUEUES = [("orders", "broker-a", queue_id) for queue_id in range(2)]


def test_a_queue_has_one_owner() -> None:
    locks = QueueLocks()
    assert locks.lock("billing", "one", QUEUES[:1], now=0) == QUEUES[:1]

    assert locks.lock("billing", "two", QUEUES, now=10) == QUEUES[1:]
    assert locks.owner("billing", QUEUES[0], now=10) == "one"


def test_the_owner_renews_its_lock() -> None:
    locks = QueueLocks()
    locks.lock("billing", "one", QUEUES, now=0)
    locks.lock("billing", "one", QUEUES, now=LOCK_LIFE_MS)

    assert locks.lock("billing", "two", QUEUES, now=LOCK_LIFE_MS + 1) == []


def test_a_lock_that_was_not_renewed_is_free() -> None:
    locks = QueueLocks()
    locks.lock("billing", "one", QUEUES, now=0)

    assert locks.lock("billing", "two", QUEUES, now=LOCK_LIFE_MS + 1) == QUEUES
    assert locks.owner("billing", QUEUES[0], now=LOCK_LIFE_MS + 1) == "two"


def test_groups_are_those_of_which_a_client_holds_a_queue() -> None:
    locks = QueueLocks()
    locks.lock("shipping", "one", QUEUES, now=10)
    locks.lock("billing", "one", QUEUES[:1], now=0)

    assert locks.groups(LOCK_LIFE_MS) == ["billing", "shipping"]
    assert locks.groups(LOCK_LIFE_MS + 1) == ["shipping"]
    locks.unlock("shipping", "one", QUEUES)
    assert locks.groups(20) == ["billing"]


def test_only_the_owner_frees_a_queue() -> None:
    locks = QueueLocks()
    locks.lock("billing", "one", QUEUES, now=0)

    locks.unlock("billing", "two", QUEUES)
    assert locks.owner("billing", QUEUES[0], now=1) == "one"

    locks.unlock("billing", "one", QUEUES)
    assert locks.owner("billing", QUEUES[0], now=1) is None


def test_groups_do_not_hinder_each_other() -> None:
    locks = QueueLocks()
    locks.lock("billing", "one", QUEUES, now=0)

    assert locks.lock("audit", "two", QUEUES, now=0) == QUEUES


def test_locks_that_are_over_are_forgotten() -> None:
    locks = QueueLocks()
    locks.lock("billing", "one", QUEUES[:1], now=0)
    locks.lock("billing", "one", QUEUES[1:], now=100)

    locks.expire(LOCK_LIFE_MS + 1)

    assert locks.owner("billing", QUEUES[0], now=0) is None
    assert locks.owner("billing", QUEUES[1], now=0) == "one"


def test_a_group_that_is_deleted_holds_nothing() -> None:
    locks = QueueLocks()
    locks.lock("billing", "one", QUEUES, now=0)

    locks.drop_group("billing")

    assert locks.owner("billing", QUEUES[0], now=0) is None


def test_an_account_has_a_quarter_of_all_locks_and_gets_back_what_ends() -> None:
    locks = QueueLocks(BrokerLimits(queue_locks=8))

    def take(*queues: int, now: int = 0) -> None:
        wanted = [("orders", "broker-a", queue_id) for queue_id in queues]
        locks.check_room("billing", "one", wanted, "alice")
        locks.lock("billing", "one", wanted, now=now, account="alice")

    endings: tuple[Callable[[], None], ...] = (
        lambda: locks.unlock("billing", "one", QUEUES),
        lambda: locks.expire(LOCK_LIFE_MS + 1),
        lambda: locks.drop_group("billing"),
    )
    for give_back in endings:
        take(0, 1)
        take(0, 1)
        with pytest.raises(LimitReached, match="limit queue_locks=8 reached: one account may have 1 / 4 of them"):
            take(2)
        locks.check_room("audit", "two", QUEUES, "bob")
        give_back()


def test_a_lock_that_another_takes_over_counts_for_that_ones_account() -> None:
    locks = QueueLocks(BrokerLimits(queue_locks=8))
    locks.lock("billing", "one", QUEUES, now=0, account="alice")
    locks.lock("billing", "two", QUEUES, now=LOCK_LIFE_MS + 1, account="bob")

    locks.check_room("audit", "one", QUEUES, "alice")
    with pytest.raises(LimitReached):
        locks.check_room("audit", "two", QUEUES, "bob")


def test_while_none_may_be_granted_nobody_holds_a_queue() -> None:
    locks = QueueLocks()
    locks.lock("billing", "one", QUEUES, now=0)
    locks.may_grant = lambda: False
    assert locks.lock("billing", "one", QUEUES, now=1) == []

    locks.may_grant = lambda: True
    assert locks.lock("billing", "two", QUEUES, now=1) == []
    locks.drop_all()
    assert locks.lock("billing", "two", QUEUES, now=1) == QUEUES
