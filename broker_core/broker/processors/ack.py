"""Settling leases: acknowledge one or many messages, extend a lease or return it.

Of a receipt only the pop time is used, together with queue and offset of the request; `pop.py` describes how clients
build receipts.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Final

from broker_core.broker.errors import IllegalArgument, LeaseLost
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.offsets import ConsumerOffsets
from broker_core.broker.pop.leases import Leases, Settled
from broker_core.broker.pop.queue_leases import QueueLeases
from broker_core.broker.processors.handlers import Handlers, body_of
from broker_core.broker.processors.pop import MAX_LEASE_MS
from broker_core.broker.topics import Topics
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.pop import (
    AckResult,
    BatchAck,
    BatchAckMessageRequestBody,
    BatchAckMessageResponseBody,
)
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers import pop as headers
from broker_core.remoting.connection import Connection

_REVIVE_QUEUE: Final = 0
_DONE: Final = int(AckResult.DONE)
_OTHERS: Final = {Settled.ALREADY_DONE: int(AckResult.ALREADY_DONE), Settled.LOST: int(AckResult.LOST)}
_MAX_REASON: Final = 1000  # characters
_TIME_DIGITS: Final = 19  # of a 64-bit number
_UNKNOWN: Final = (
    "no lease with this receipt is known: a switch of the master or a reset of the group took it back, "
    "and the message may be delivered again"
)
"""Who asks holds a receipt; that nobody got the message would be untrue where the broker forgot the lease."""


class AckProcessor:
    """Answers 200051, 200053 and 200151."""

    def __init__(
        self,
        *,
        topics: Topics,
        leases: Leases,
        offsets: ConsumerOffsets,
        limits: BrokerLimits,
        clock: Callable[[], int],
        settled: Callable[[QueueLeases], None],
    ) -> None:
        """`settled` is called with the queue of every message that is done."""
        self._topics = topics
        self._leases = leases
        self._offsets = offsets
        self._limits = limits
        self._clock = clock
        self._settled = settled

    def handlers(self) -> Handlers:
        return {
            RequestCode.ACK_MESSAGE: self.ack,
            RequestCode.BATCH_ACK_MESSAGE: self.batch_ack,
            RequestCode.CHANGE_MESSAGE_INVISIBLETIME: self.change,
        }

    def ack(self, request: Command, _: Connection) -> Command:
        """Mark a leased message as done. A repeated acknowledgement succeeds too, and its remark says so."""
        header = request.header(headers.AckMessageRequest)
        queue = self._leased_queue(header.consumer_group, header.topic, header.queue_id)
        pop_time = _pop_time(header.extra_info)
        settled = self._settle(queue, header.offset, pop_time)
        if settled is Settled.LOST:
            raise _lost(queue, header.offset, pop_time, self._clock())
        remark = "already acknowledged" if settled is Settled.ALREADY_DONE else None
        return Command.response(ResponseCode.SUCCESS, remark=remark)

    def batch_ack(self, request: Command, _: Connection) -> Command:
        """Mark many messages as done; those whose leases were lost are skipped: they are delivered again anyway.

        Nothing is settled if a bit set is not valid. The body of the answer has the result of each message.
        """
        body = body_of(BatchAckMessageRequestBody, request, self._limits)
        room = self._limits.leases_per_group
        wanted: list[tuple[BatchAck, list[int]]] = []
        for ack in body.acks:
            self._topics.get(ack.topic)
            wanted.append((ack, _offsets_of(ack, room)))
            room -= len(wanted[-1][1])
        results = [result for ack, offsets in wanted for result in self._settle_all(ack, offsets)]
        lost = results.count(AckResult.LOST)
        remark = f"{lost} leases were lost" if lost else None
        answer = coder.encode(BatchAckMessageResponseBody(results))
        return Command.response(ResponseCode.SUCCESS, remark=remark, body=answer)

    def change(self, request: Command, _: Connection) -> Command:
        """Give a leased message a new lease from now on; 0 ms returns it at once, uncounted if no client got it."""
        header = request.header(headers.ChangeInvisibleTimeRequest)
        if header.invisible_time > MAX_LEASE_MS:
            raise IllegalArgument(f"invisibleTime {header.invisible_time} is not between 0 and {MAX_LEASE_MS} ms")
        now, pop_time = self._clock(), _pop_time(header.extra_info)
        queue = self._leased_queue(header.consumer_group, header.topic, header.queue_id)
        _state, lease = self._leases.extend(
            queue,
            header.offset,
            pop_time=pop_time,
            now=now,
            invisible_ms=max(header.invisible_time, 0),
            was_delivered=not header.suspend,
            failure=None if header.failure_reason is None else header.failure_reason[:_MAX_REASON],
        )
        if lease is None:
            raise _lost(queue, header.offset, pop_time, now)
        response = headers.ChangeInvisibleTimeResponse(lease.pop_time, lease.visible_at - lease.pop_time, _REVIVE_QUEUE)
        return Command.response(ResponseCode.SUCCESS, response)

    def _settle_all(self, ack: BatchAck, offsets: list[int]) -> list[int]:
        queue = self._leases.find(ack.consumer_group, ack.topic, ack.queue_id)
        if queue is None:
            return [_OTHERS[Settled.LOST]] * len(offsets)
        states = self._leases.settle_all(queue, offsets, pop_time=ack.pop_time, now=self._clock())
        if Settled.DONE in states:
            self._report(queue)
        return [_DONE if state is Settled.DONE else _OTHERS[state] for state in states]

    def _settle(self, queue: QueueLeases, offset: int, pop_time: int) -> Settled:
        settled = self._leases.settle(queue, offset, pop_time=pop_time, now=self._clock())
        if settled is Settled.DONE:
            self._report(queue)
        return settled

    def _report(self, queue: QueueLeases) -> None:
        self._offsets.commit(queue.group, queue.topic, queue.queue_id, queue.committed)
        self._settled(queue)

    def _leased_queue(self, group: str, topic: str, queue_id: int) -> QueueLeases:
        self._topics.get(topic)
        queue = self._leases.find(group, topic, queue_id)
        if queue is None:
            raise LeaseLost(f"{_UNKNOWN}: group {group} has none in topic {topic} queue {queue_id}")
        return queue


def _pop_time(receipt: str) -> int:
    parts = receipt.split(" ")
    if len(parts) < 2 or not parts[1].isdecimal() or len(parts[1]) > _TIME_DIGITS:
        raise IllegalArgument(f"extraInfo {receipt[:80]!r} is not a receipt")
    return int(parts[1])


def _offsets_of(ack: BatchAck, room: int) -> list[int]:
    """Return the offsets whose bits are set; the lowest bit of the first byte is the start offset.

    Raises IllegalArgument for an invalid bit set, or one with more bits than a group can have leases.
    """
    try:
        octets = base64.b64decode(ack.bit_set, validate=True).rstrip(b"\0")
    except ValueError as error:  # also raised for non-ASCII text
        raise IllegalArgument(f"the bit set {ack.bit_set[:40]!r} is not Base64") from error
    if 8 * len(octets) > room + 7:
        raise IllegalArgument(f"a bit set of {8 * len(octets)} messages; limit leases_per_group leaves room for {room}")
    bits = int.from_bytes(octets, "little")
    if not bits & (bits + 1):  # usual: all messages of a pop, one after the other
        return list(range(ack.start_offset, ack.start_offset + bits.bit_length()))
    return [
        ack.start_offset + 8 * at + bit
        for at, octet in enumerate(octets)
        if octet
        for bit in range(8)
        if octet >> bit & 1
    ]


def _lost(queue: QueueLeases, offset: int, pop_time: int, now: int) -> LeaseLost:
    lease = queue.find(offset)
    if lease is None:
        return LeaseLost("the message is already done" if queue.is_done(offset) else _UNKNOWN)
    if lease.pop_time != pop_time:  # a delivery, an extension and a return look alike here: each is a new lease
        return LeaseLost("the receipt is void: its lease was extended or returned, or the message was delivered again")
    return LeaseLost(f"the lease ended {now - lease.visible_at} ms ago; the message may be delivered again")
