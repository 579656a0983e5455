"""Leases of the API: requests messages from brokers, seals their receipts, counts open leases."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from broker_core.client.consumer.leases import LeasedMessage, LeaseReceipt
from broker_core.client.consumer.pop import LeaseConsumer
from broker_core.clock import now_ms
from broker_core.errors import GantryError
from broker_core.protocol import properties as names
from console.moments import rfc3339
from gateway.auth import Principal
from gateway.data.bodies import CONTENT_TYPE, present
from gateway.data.consumers import Caller
from gateway.data.messages import user_properties
from gateway.data.parts import DataPlaneParts
from gateway.data.receipts import Receipt
from gateway.data.schemas import Leased, Order

# For a broker "at once" is a lease that ends immediately.
NOW_MS: Final = 1

_log = logging.getLogger(__name__)

BodyEncoding = Literal["auto", "json", "text", "base64"]


@dataclass(frozen=True, slots=True)
class LeaseHolder:
    """The holder of leases: a caller, for a group on a topic of a cluster."""

    cluster: str
    group: str
    topic: str
    caller: str
    who: Caller

    @classmethod
    def of(cls, cluster: str, group: str, topic: str, principal: Principal, address: str) -> LeaseHolder:
        """Return the principal at an address as a holder of leases."""
        return cls(cluster, group, topic, principal.key, Caller.of(principal, address))

    @property
    def group_key(self) -> str:
        """The key under which the leases of the group are counted."""
        return f"{self.cluster}/{self.group}"


@dataclass(frozen=True, slots=True)
class Wanted:
    """The parameters of each request to the broker."""

    consumer: LeaseConsumer
    topic: str
    lease_ms: int
    tag_expression: str
    order: Order = "none"

    async def ask(self, max_messages: int, *, wait_ms: int) -> list[LeasedMessage]:
        """Lease up to the maximum number of messages; wait at most `wait_ms` for the first."""
        received = await self.consumer.receive(
            self.topic,
            max_messages=max_messages,
            wait_ms=wait_ms,
            lease_ms=self.lease_ms,
            tag_expression=self.tag_expression,
            is_ordered=self.order == "fifo",
        )
        return list(received.messages)


def lease_out(
    parts: DataPlaneParts, holder: LeaseHolder, leased: LeasedMessage, encoding: BodyEncoding, reason: str | None
) -> Leased:
    """Count the lease and return the message with its sealed receipt; `reason` is why it last failed."""
    stored, properties = leased.message, leased.message.properties
    receipt = _count_out(parts, holder, leased)
    content_type = properties.get(CONTENT_TYPE)
    return Leased(
        message_id=receipt.message_id,
        topic=holder.topic,
        broker=leased.receipt.broker_name,
        queue_id=stored.queue_id,
        offset=stored.queue_offset,
        keys=stored.keys,
        tag=stored.tag,
        ordering_key=properties.get(names.SHARDING_KEY),
        properties=user_properties(properties),
        content_type=content_type,
        body=present(stored.body, content_type, encoding),
        born_at=rfc3339(stored.born_timestamp),
        stored_at=rfc3339(stored.store_timestamp),
        delivery_count=leased.delivery_count,
        first_delivered_at=None if leased.first_delivered_at is None else rfc3339(leased.first_delivered_at),
        nack_reason=reason,
        receipt=parts.receipts.seal(receipt),
        lease_expires_at=rfc3339(receipt.expires_at),
    )


def _count_out(parts: DataPlaneParts, holder: LeaseHolder, leased: LeasedMessage) -> Receipt:
    lease = leased.receipt.to_text()
    _count(parts, holder, lease, leased.receipt.invisible_ms)
    return Receipt(
        cluster=holder.cluster,
        group=holder.group,
        topic=holder.topic,
        lease=lease,
        # By our clock: the broker's may differ, and ours decides whether the receipt is still valid.
        expires_at=now_ms() + leased.receipt.invisible_ms,
        delivery_count=leased.delivery_count,
        message_id=leased.message.message_id,
    )


def renew(parts: DataPlaneParts, holder: LeaseHolder, old: Receipt, handle: LeaseReceipt) -> Receipt:
    """Count a lease with its new end after it was extended; return its new receipt."""
    forget(parts, holder, old)
    lease = handle.to_text()
    _count(parts, holder, lease, handle.invisible_ms)
    return msgspec.structs.replace(old, lease=lease, expires_at=now_ms() + handle.invisible_ms)


def forget(parts: DataPlaneParts, holder: LeaseHolder, receipt: Receipt) -> None:
    """Stop counting a settled lease, and notify its watcher."""
    parts.leases.settle(receipt.lease, group=holder.group_key, caller=holder.caller)
    settled = parts.watched.pop(receipt.lease, None)
    if settled is not None:
        settled()
    parts.consumers.settled(receipt.lease)


async def give_back(
    parts: DataPlaneParts, holder: LeaseHolder, consumer: LeaseConsumer, messages: Iterable[LeasedMessage]
) -> None:
    """End the leases of messages that could not be delivered, so that others get them at once."""
    for leased in messages:
        lease = leased.receipt.to_text()
        parts.leases.settle(lease, group=holder.group_key, caller=holder.caller)
        parts.consumers.settled(lease)
        try:
            await consumer.give_back(leased.receipt)
        except GantryError as error:
            # The lease expires anyway; only the wait is longer.
            _log.warning("topic=%s: a message could not be given back: %s", leased.message.topic, error)


def _count(parts: DataPlaneParts, holder: LeaseHolder, lease: str, lease_ms: int) -> None:
    until = parts.clock() + lease_ms / 1000
    parts.leases.add(lease, group=holder.group_key, caller=holder.caller, expires_at=until)
    parts.consumers.leased(holder.cluster, holder.group, holder.who, lease, lease_ms)
