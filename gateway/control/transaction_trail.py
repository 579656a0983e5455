"""What the indexes of the brokers tell of one transaction that is not open, or may not be: all its records."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from broker_core.client.admin import Admin
from broker_core.client.admin.transactions import HalfMessage
from broker_core.protocol.half_records import is_committed
from broker_core.protocol.message import StoredMessage
from broker_core.protocol.topics import HALF_TOPIC, OP_HALF_TOPIC, TRANSACTION_EXPIRED_TOPIC
from gateway.control.transaction_shapes import Asked, State


@dataclass(frozen=True, slots=True)
class Trail:
    """The half records of a transaction and those by which it was given up, the newest first."""

    halves: Sequence[HalfMessage]
    given_up: Sequence[HalfMessage]
    rolled_back_at: int
    """The log offset of the rollback after it was given up; -1 for none."""
    is_committed: bool

    @property
    def newest(self) -> HalfMessage | None:
        """The newest half record, by which it is decided."""
        return self.halves[0] if self.halves else None

    @property
    def began_at(self) -> int | None:
        """When its first half record was stored, None if none of its records tells."""
        times = (each.began_at for each in (*self.halves, *self.given_up))
        return next((each for each in times if each is not None), None)

    def asked(self) -> Asked:
        """Return how often and when its producers were asked."""
        last = max((*self.halves, *self.given_up), key=lambda each: each.log_offset, default=None)
        if last is None:
            return Asked(None, None)
        asked = next((each for each in self.halves if each.checks), None)
        if asked is None:
            return Asked(last.all_checks, None)
        # A record may have been stored once more without a check
        same = (each for each in self.halves if (each.since, each.checks) == (asked.since, asked.checks))
        return Asked(last.all_checks, min(each.stored_at for each in same))

    def state(self, *, is_open: bool | None) -> State:
        """Return how the transaction stands; `is_open` is None where its broker does not tell that."""
        if self.is_committed:
            return "committed"
        if is_open is not False:
            return "open" if is_open else "unknown"
        given_up_at = max((each.log_offset for each in self.given_up), default=-1)
        later = max([self.rolled_back_at, *(each.log_offset for each in self.halves)])
        return "given_up" if given_up_at > later else "rolled_back"


async def trail_of(admin: Admin, half: HalfMessage) -> Trail | None:
    """Return the records that were made of the same sent message; None for one without a unique id.

    Raises NoRoute, BrokerRefused or Unreachable.
    """
    if half.unique_id is None:
        return None
    topics = HALF_TOPIC, TRANSACTION_EXPIRED_TOPIC, OP_HALF_TOPIC
    halves, given_up, ops = await asyncio.gather(*(admin.transactions.same_message(half, topic) for topic in topics))
    # Last: a commit meanwhile is seen, and what it ends is not taken for a rollback.
    committed = any(map(is_committed, await admin.transactions.same_message(half, half.topic)))
    return Trail(
        _read(half.broker_name, halves),
        _read(half.broker_name, given_up),
        max((each.log_offset for each in ops), default=-1),
        committed,
    )


def _read(broker_name: str, records: Sequence[StoredMessage]) -> list[HalfMessage]:
    halves = (HalfMessage.of(broker_name, each) for each in records)
    return [half for half in halves if half is not None]
