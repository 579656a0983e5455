"""What the indexes of the brokers tell of one transaction that is not open, or may not be: all its records."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from broker_core.client.admin import Admin
from broker_core.client.admin.placed import PlacedMessage
from broker_core.client.admin.transactions import HalfMessage
from broker_core.client.errors import TopicNotFound
from broker_core.protocol.half_records import SentAs, is_committed
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

    Raises the error of a broker that was not searched.
    """
    if half.unique_id is None:
        return None
    searches = (_same(admin, half, topic) for topic in (HALF_TOPIC, TRANSACTION_EXPIRED_TOPIC, OP_HALF_TOPIC))
    halves, given_up, ops = await asyncio.gather(*searches)
    # Last: a commit meanwhile is seen, and what it ends is not taken for a rollback.
    committed = any(is_committed(each.message) for each in await _same(admin, half, half.topic))
    return Trail(_read(halves), _read(given_up), max((each.message.log_offset for each in ops), default=-1), committed)


def _read(placed: Sequence[PlacedMessage]) -> list[HalfMessage]:
    halves = (HalfMessage.of(each.broker_name, each.message) for each in placed)
    return [half for half in halves if half is not None]


async def _same(admin: Admin, half: HalfMessage, topic: str) -> list[PlacedMessage]:
    """Return the records of the same message in a topic of its broker, newest first."""
    assert half.unique_id is not None
    try:
        result = await admin.messages.search(topic, half.unique_id)
    except TopicNotFound:
        return []
    if result.failed:
        raise next(iter(result.failed.values()))
    own = [each for each in result.messages if each.broker_name == half.broker_name]
    return [each for each in own if SentAs.of(each.message) == half.sent_as]
