"""Queue locks, which the members of an orderly group take and renew."""

from __future__ import annotations

from collections.abc import Callable

from broker_core.broker.limits import BrokerLimits
from broker_core.broker.names import check_names
from broker_core.broker.processors.handlers import Handlers, body_of
from broker_core.broker.queue_locks import Queue, QueueLocks
from broker_core.protocol import bodies
from broker_core.protocol.bodies.locks import LockBatchRequestBody, LockBatchResponseBody
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.remoting.connection import Connection


class LockProcessor:
    """Answers 41 and 42."""

    def __init__(self, *, locks: QueueLocks, limits: BrokerLimits, clock: Callable[[], int]) -> None:
        self._locks = locks
        self._limits = limits
        self._clock = clock

    def handlers(self) -> Handlers:
        return {RequestCode.LOCK_BATCH_MQ: self.lock, RequestCode.UNLOCK_BATCH_MQ: self.unlock}

    def lock(self, request: Command, _: Connection) -> Command:
        """Lock the free queues; return those that the client holds now."""
        limits, locks = self._limits, self._locks
        wanted = body_of(LockBatchRequestBody, request, limits)
        check_names(consumerGroup=wanted.consumer_group, clientId=wanted.client_id)
        for queue in wanted.mq_set:
            check_names(topic=queue.topic, brokerName=queue.broker_name)
        queues = [_as_key(queue) for queue in wanted.mq_set]
        news = locks.count_new(wanted.consumer_group, queues)
        if news and len(locks) + news > limits.queue_locks:
            raise limits.refuse("queue_locks", f"client {wanted.client_id[:80]!r} got no lock")
        held = locks.lock(wanted.consumer_group, wanted.client_id, queues, now=self._clock())
        granted = LockBatchResponseBody([MessageQueue(*queue) for queue in held])
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(granted))

    def unlock(self, request: Command, _: Connection) -> Command:
        """Release the queues that the client holds."""
        given = body_of(
            LockBatchRequestBody, request, self._limits
        )  # as the check of rights has read it: they are alike
        self._locks.unlock(given.consumer_group, given.client_id, map(_as_key, given.mq_set))
        return Command.response(ResponseCode.SUCCESS)


def _as_key(queue: MessageQueue) -> Queue:
    return queue.topic, queue.broker_name, queue.queue_id
