"""Why a message last failed: kept in Redis for its next receiver, since a lease cannot hold text."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from redis.exceptions import RedisError

from broker_core.client.consumer.leases import LeasedMessage
from gateway.data.leases import LeaseHolder
from gateway.data.parts import DataPlaneParts

KEEP_SECONDS: Final = 7 * 24 * 3600

_log = logging.getLogger(__name__)


async def keep_reason(parts: DataPlaneParts, holder: LeaseHolder, message_id: str, reason: str) -> None:
    """Store why a message failed; without Redis the message is still redelivered, but without the reason."""
    try:
        await parts.redis.set(_key(holder, message_id), reason.encode(), ex=KEEP_SECONDS)
    except RedisError as error:
        _log.warning("group=%s: the reason of a nack could not be stored: %s", holder.group, error)


async def last_reasons(parts: DataPlaneParts, holder: LeaseHolder, leased: Sequence[LeasedMessage]) -> dict[str, str]:
    """Return by message id why messages last failed; asks Redis only if one was delivered before."""
    again = [message.message.message_id for message in leased if message.delivery_count > 1]
    if not again:
        return {}
    try:
        kept = await parts.redis.mget([_key(holder, message_id) for message_id in again])
    except RedisError as error:
        _log.warning("group=%s: the reasons of nacks could not be read: %s", holder.group, error)
        return {}
    found = zip(again, kept, strict=True)
    return {message_id: reason.decode() for message_id, reason in found if isinstance(reason, bytes)}


def _key(holder: LeaseHolder, message_id: str) -> str:
    return f"gantry:nack:{holder.cluster}:{holder.group}:{holder.topic}:{message_id}"
