"""The decisions of the last day in Redis, for what a broker of Apache RocketMQ cannot tell.

Such a broker stores a message that is committed again once more. A broker of Gantry knows how each transaction ended,
also from those who decide without the gateway, and is asked each time.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final, Literal

from redis.exceptions import RedisError

from broker_core.client.admin import Admin
from broker_core.protocol.half_records import SentAs
from console.idempotency import KEEP_MS
from gateway.broker_products import is_gantry
from gateway.data.parts import DataPlaneParts
from gateway.transaction_ids import HalfPlace

Ended = Literal["committed", "rolled_back"]
Decisions = Mapping[str, str]
"""By the spot of a half record: how its transaction ended."""

_PREFIX: Final = "gantry:transaction:decisions"

_log = logging.getLogger(__name__)


def spot_of(place: HalfPlace) -> str:
    """Return what tells half records apart whose messages have one id."""
    return f"{place.queue_offset}:{place.log_offset}"


async def decisions_of(parts: DataPlaneParts, place: HalfPlace) -> Decisions:
    """Return the remembered decisions on half records with the message id of `place`, its own and others."""
    try:
        found = await parts.redis.hgetall(_key_of(place))
    except RedisError as error:
        _log.warning("decisions on transactions cannot be remembered: %s", error)
        return {}
    return {_text(spot): _text(ended) for spot, ended in found.items()}


async def keep_decision(parts: DataPlaneParts, place: HalfPlace, ended: Ended) -> None:
    """Remember a decision for a day; without Redis only the log says that it is not remembered."""
    key = _key_of(place)
    try:
        async with parts.redis.pipeline(transaction=True) as both:
            both.hset(key, spot_of(place), ended)
            both.pexpire(key, KEEP_MS)
            await both.execute()
    except RedisError as error:
        _log.warning("the decision on message %s is not remembered: %s", place.message_id, error)


async def decided_on_apache(parts: DataPlaneParts, place: HalfPlace, decisions: Decisions) -> str | None:
    """Return how a transaction ended, if it is one of a broker of Apache RocketMQ and `decisions` tell; else None.

    Raises what the broker raises.
    """
    if not decisions:
        return None
    admin = await parts.connections.admin(place.cluster)
    if await is_gantry(admin, place.broker):
        return None
    return decisions.get(spot_of(place)) or await _by_another_record(admin, place, decisions)


async def _by_another_record(admin: Admin, place: HalfPlace, decisions: Decisions) -> str | None:
    """Return the decision on another record of the same transaction: such a broker copies one with every check."""
    own = await _sent_as(admin, place.broker, spot_of(place))
    for spot, ended in decisions.items():
        other = await _sent_as(admin, place.broker, spot)
        if other is None or other == own:  # one that is gone may have been the same
            return ended
    return None


async def _sent_as(admin: Admin, broker: str, spot: str) -> SentAs | None:
    queue_offset, _, log_offset = spot.partition(":")
    placed = await admin.transactions.half(broker, int(queue_offset), int(log_offset))
    return None if placed is None else SentAs.of(placed.message)


def _text(kept: bytes | str) -> str:
    return kept.decode() if isinstance(kept, bytes) else kept


def _key_of(place: HalfPlace) -> str:
    return f"{_PREFIX}:{place.cluster}:{place.broker}:{place.message_id}"
