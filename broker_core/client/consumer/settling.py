"""Ends, extends and gives back the leases of messages that were received (broker/README.md#pop)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from broker_core.client.consumer.acks import BatchOfAcks, batches_of, batches_of_portions
from broker_core.client.consumer.leases import LeasePortion, LeaseReceipt
from broker_core.client.errors import LeaseExpired, MalformedAnswer, NotSupported, refusal
from broker_core.client.session import Session
from broker_core.errors import GantryError
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.pop import AckResult, BatchAckMessageResponseBody
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.pop import (
    AckMessageRequest,
    BatchAckMessageRequest,
    ChangeInvisibleTimeRequest,
    ChangeInvisibleTimeResponse,
)

_RELEASE_MS: Final = 10

_ACKNOWLEDGED_BEFORE: Final = "already acknowledged"
"""The remark of a Gantry broker for a repeated acknowledgement; other brokers do not mark it."""

_LEASE_OVER: Final = frozenset({ResponseCode.NO_MESSAGE, ResponseCode.MESSAGE_ILLEGAL, ResponseCode.INVALID_PARAMETER})


class LeaseSettler:
    """Tells the brokers what became of leased messages; their receipts say whose they are."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def ack(self, receipt: LeaseReceipt) -> bool:
        """End a lease: the message is consumed. Return False if the broker reports that it already was.

        Raises LeaseExpired if the broker no longer knows the lease. Apache brokers do not detect a late
        acknowledgement, and the message is delivered again anyway.
        """
        header = AckMessageRequest(
            receipt.group, receipt.topic, receipt.queue_id, receipt.extra_info, receipt.queue_offset
        )
        return (await self._settle(receipt, header)).remark != _ACKNOWLEDGED_BEFORE

    async def ack_many(self, receipts: Sequence[LeaseReceipt]) -> list[bool | GantryError]:
        """End many leases with one request to each broker; return for each what `ack` returns, or its error.

        Brokers that do not report single results, as Apache RocketMQ's, are believed.
        """
        batches = batches_of(receipts) if len(receipts) > 1 else []
        return await self._ack_all(batches, len(receipts), receipts.__getitem__)

    async def ack_portions(self, portions: Sequence[tuple[LeasePortion, Sequence[int]]]) -> list[bool | GantryError]:
        """Do what `ack_many` does with the messages of portions, given by their offsets; one result for each."""
        size = sum(len(offsets) for _, offsets in portions)
        batches = batches_of_portions(portions) if size > 1 else []

        def receipt_at(place: int) -> LeaseReceipt:
            for portion, offsets in portions:
                if place < len(offsets):
                    return portion.receipt(offsets[place])
                place -= len(offsets)
            raise IndexError(place)

        return await self._ack_all(batches, size, receipt_at)

    async def _ack_all(
        self, batches: Sequence[BatchOfAcks], size: int, receipt_at: Callable[[int], LeaseReceipt]
    ) -> list[bool | GantryError]:
        results: dict[int, bool | GantryError] = {}
        if len(batches) == 1:
            results = await self._ack_batch(batches[0], receipt_at)
        else:
            for found in await asyncio.gather(*(self._ack_batch(batch, receipt_at) for batch in batches)):
                results |= found
        if len(results) < size:
            alone = [place for place in range(size) if place not in results]
            acks = [self._try_ack(receipt_at(place)) for place in alone]
            results |= dict(zip(alone, await asyncio.gather(*acks), strict=True))
        return [results[place] for place in range(size)]

    async def extend(self, receipt: LeaseReceipt, lease_ms: int, *, failure: str | None = None) -> LeaseReceipt:
        """Make the lease end `lease_ms` from now and return its new receipt; the old one becomes invalid.

        A short time returns the message: it is delivered again after that time. `failure` says why it failed, empty if
        nobody knows: a Gantry broker gives it to the dead letter, others ignore it. Raises LeaseExpired.
        """
        header = ChangeInvisibleTimeRequest(
            receipt.group,
            receipt.topic,
            receipt.queue_id,
            receipt.extra_info,
            receipt.queue_offset,
            lease_ms,
            failure_reason=failure,
        )
        answer = await self._settle(receipt, header)
        return receipt.renewed(answer.header(ChangeInvisibleTimeResponse))

    async def give_back(self, receipt: LeaseReceipt) -> None:
        """End the lease of an undelivered message: it is delivered again at once, and this delivery does not count.

        Apache brokers count it. Raises LeaseExpired.
        """
        header = ChangeInvisibleTimeRequest(
            receipt.group,
            receipt.topic,
            receipt.queue_id,
            receipt.extra_info,
            receipt.queue_offset,
            _RELEASE_MS,
            suspend=True,
        )
        await self._settle(receipt, header)

    async def _ack_batch(
        self, batch: BatchOfAcks, receipt_at: Callable[[int], LeaseReceipt]
    ) -> dict[int, bool | GantryError]:
        """Return results by place; none at all if the broker does not know batches."""
        places = batch.places
        topic = next(iter(batch.portions)).topic
        try:
            body = coder.encode(batch.body)
            addr, answer = await self._session.ask_master(batch.broker_name, topic, BatchAckMessageRequest(), body)
            if answer.code != ResponseCode.SUCCESS:
                raise self._session.named(refusal(answer.code, answer.remark, addr, topic=topic), addr)
        except NotSupported:
            return {}
        except GantryError as error:
            return dict.fromkeys(places, error)
        if not answer.body:
            return dict.fromkeys(places, True)
        told = coder.decode(BatchAckMessageResponseBody, answer.body).results
        if len(told) != len(places):
            raise MalformedAnswer(addr, f"{len(told)} results for {len(places)} acknowledgements")
        if not any(told):
            return dict.fromkeys(places, True)
        return {place: _result(receipt_at(place), result) for place, result in zip(places, told, strict=True)}

    async def _try_ack(self, receipt: LeaseReceipt) -> bool | GantryError:
        try:
            return await self.ack(receipt)
        except GantryError as error:
            return error

    async def _settle(self, receipt: LeaseReceipt, header: AckMessageRequest | ChangeInvisibleTimeRequest) -> Command:
        # A second extension would not fit the receipt that the first one made.
        is_repeatable = isinstance(header, AckMessageRequest)
        addr, answer = await self._session.ask_master(
            receipt.broker_name, receipt.topic, header, is_repeatable=is_repeatable
        )
        if answer.code in _LEASE_OVER:
            raise LeaseExpired(receipt.topic, receipt.queue_id, receipt.queue_offset, answer.remark or "")
        if answer.code != ResponseCode.SUCCESS:
            raise self._session.named(refusal(answer.code, answer.remark, addr, topic=receipt.topic), addr)
        return answer


def _result(receipt: LeaseReceipt, result: int) -> bool | GantryError:
    if result == AckResult.LOST:
        return LeaseExpired(receipt.topic, receipt.queue_id, receipt.queue_offset, "it ended, or was extended")
    return result == AckResult.DONE
