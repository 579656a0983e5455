"""Locks of orderly consumption: one owner per queue, who renews the lock until release or expiry."""

from __future__ import annotations

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
