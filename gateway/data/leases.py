"""Leases of the API: requests messages from brokers, seals their receipts, counts open leases."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from broker_core.client.consumer.leases import LeasedMessage, LeasedRecords, LeaseReceipt
from broker_core.client.consumer.pop import LeaseConsumer, Received
from broker_core.client.consumer.subscriptions import SQL92, TAG
from broker_core.clock import now_ms
from broker_core.errors import GantryError
from broker_core.protocol import properties as names
from broker_core.protocol.applications import CONTENT_TYPE
from console.moments import rfc3339
from gateway.auth import Principal
from gateway.data.bodies import present
from gateway.data.consumers import Caller
from gateway.data.messages import user_properties
from gateway.data.parts import DataPlaneParts
from gateway.data.receipts import Portion, Receipt, text_of
from gateway.data.schemas import Filter, Leased, Order
from gateway.problems import ProblemError

# For a broker "at once" is a lease that ends immediately.
NOW_MS: Final = 1
_KINDS: Final = {"tag": TAG, "sql": SQL92}

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
    filter: Filter
    order: Order = "none"

    async def ask(self, max_messages: int, *, wait_ms: int) -> Received:
        """Lease up to the maximum number of messages; wait at most `wait_ms` for the first."""
        return await self.consumer.receive(
            self.topic,
            max_messages=max_messages,
            wait_ms=wait_ms,
            lease_ms=self.lease_ms,
            tag_expression=self.filter.expression,
            expression_type=_KINDS[self.filter.type],
            is_ordered=self.order == "fifo",
        )

    async def ask_records(self, max_messages: int) -> LeasedRecords | None:
        """Do the same without waiting and without decoding; None if `ask` has to."""
        return await self.consumer.receive_records(self.topic, max_messages=max_messages, lease_ms=self.lease_ms)


def lease_out(
    parts: DataPlaneParts,
    holder: LeaseHolder,
    leased: Sequence[LeasedMessage],
    encoding: BodyEncoding,
    reasons: Mapping[str, str],
) -> list[Leased]:
    """Count the leases of one pop and return its messages with sealed receipts.

    `reasons` has, by message id, why a message last failed.
    """
    if not leased:
        return []
    lease_ms = leased[0].receipt.invisible_ms
    # By our clock: the broker's may differ, and ours decides whether the receipt is still valid.
    shown = _Shown(parts.receipts.seal, holder, encoding, reasons, now_ms() + lease_ms)
    messages = [shown.message(each) for each in leased]
    for portion, offsets in shown.portions():
        count(parts, holder, portion, offsets, lease_ms)
    return messages


class _Shown:
    """The messages of one pop as an answer shows them."""

    def __init__(
        self,
        seal: Callable[[Receipt], str],
        holder: LeaseHolder,
        encoding: BodyEncoding,
        reasons: Mapping[str, str],
        expires_at: int,
    ) -> None:
        self._seal = seal
        self._holder = holder
        self._encoding = encoding
        self._reasons = reasons
        self._expires_at = expires_at
        self._expires = rfc3339(expires_at)
        self._portions: dict[tuple[str, ...], tuple[Portion, str, list[int]]] = {}

    def portions(self) -> list[tuple[str, list[int]]]:
        """Return the text and the queue offsets of each portion of the messages so far."""
        return [(text, offsets) for _, text, offsets in self._portions.values()]

    def _receipt(self, leased: LeasedMessage, message_id: str) -> Receipt:
        handle = leased.receipt
        place = handle.broker_name, handle.topic, handle.extra_info.rpartition(" ")[0]
        known = self._portions.get(place)
        if known is None:
            portion = Portion(self._holder.cluster, self._holder.topic, self._expires_at, handle.portion)
            known = self._portions[place] = portion, text_of(portion), []
        portion, text, offsets = known
        offsets.append(handle.queue_offset)
        return Receipt(portion, text, handle.queue_offset, leased.delivery_count, message_id)

    def message(self, leased: LeasedMessage) -> Leased:
        stored, holder = leased.message, self._holder
        properties, message_id, delivery_count = stored.properties, stored.message_id, leased.delivery_count
        content_type = properties.get(CONTENT_TYPE)
        first = leased.first_delivered_at
        return Leased(
            message_id=message_id,
            topic=holder.topic,
            broker=leased.receipt.broker_name,
            queue_id=stored.queue_id,
            offset=stored.queue_offset,
            keys=stored.keys,
            tag=stored.tag,
            ordering_key=properties.get(names.SHARDING_KEY),
            properties=user_properties(properties),
            content_type=content_type,
            body=present(stored.body, content_type, self._encoding),
            born_at=rfc3339(stored.born_timestamp),
            stored_at=rfc3339(stored.store_timestamp),
            delivery_count=delivery_count,
            first_delivered_at=None if first is None else rfc3339(first),
            nack_reason=self._reasons.get(message_id),
            receipt=self._seal(self._receipt(leased, message_id)),
            lease_expires_at=self._expires,
        )


def renew(parts: DataPlaneParts, holder: LeaseHolder, old: Receipt, handle: LeaseReceipt) -> Receipt:
    """Count a lease with its new end after it was extended; return its new receipt."""
    forget(parts, old.portion_text, [old.queue_offset])
    lease_ms = handle.invisible_ms
    portion = Portion(holder.cluster, holder.topic, now_ms() + lease_ms, handle.portion)
    text = text_of(portion)
    count(parts, holder, text, [old.queue_offset], lease_ms)
    return Receipt(portion, text, old.queue_offset, old.delivery_count, old.message_id)


def count(parts: DataPlaneParts, holder: LeaseHolder, portion: str, offsets: Sequence[int], lease_ms: int) -> None:
    """Count leases of a portion, by its text, which end in `lease_ms`."""
    until = parts.clock() + lease_ms / 1000
    parts.leases.add(portion, offsets, group=holder.group_key, caller=holder.caller, expires_at=until)
    parts.consumers.leased(holder.cluster, holder.group, holder.who, portion, offsets, lease_ms)


def forget(parts: DataPlaneParts, portion: str, offsets: Sequence[int]) -> None:
    """Stop counting settled leases of a portion, by its text, wherever they were granted; notify their watchers."""
    if not parts.settled(portion, offsets):
        parts.told.tell(portion, offsets)


async def room(parts: DataPlaneParts, holder: LeaseHolder, wanted: int) -> int:
    """Return how many of `wanted` messages may be leased; raise TOO_MANY_IN_FLIGHT if none.

    Before it refuses, it waits for what other processes settled.
    """
    try:
        return parts.leases.room(group=holder.group_key, caller=holder.caller, wanted=wanted, now=parts.clock())
    except ProblemError:
        await parts.told.catch_up()
        return parts.leases.room(group=holder.group_key, caller=holder.caller, wanted=wanted, now=parts.clock())


async def give_back(consumer: LeaseConsumer, messages: Iterable[LeasedMessage]) -> None:
    """End the leases of messages that could not be delivered, so that others get them at once."""
    for leased in messages:
        try:
            await consumer.give_back(leased.receipt)
        except GantryError as error:
            # The lease expires anyway; only the wait is longer.
            _log.warning("topic=%s: a message could not be given back: %s", leased.message.topic, error)
