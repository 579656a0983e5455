"""Queue locks, which the members of an orderly group take and renew."""

from __future__ import annotations

from collections.abc import Callable

from broker_core.broker.access.permits import Permits
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.names import check_names
from broker_core.broker.processors.handlers import Handlers, body_of
from broker_core.broker.queue_locks import Queue, QueueLocks
from broker_core.broker.topics import Topics
from broker_core.protocol import bodies
from broker_core.protocol.bodies.locks import LockBatchRequestBody, LockBatchResponseBody
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.remoting.connection import Connection


class LockProcessor:
    """Answers 41 and 42."""

    def __init__(
        self,
        *,
        locks: QueueLocks,
        topics: Topics,
        permits: Permits,
        broker_name: str,
        limits: BrokerLimits,
        clock: Callable[[], int],
    ) -> None:
        self._locks = locks
        self._topics = topics
        self._permits = permits
        self._broker_name = broker_name
        self._limits = limits
        self._clock = clock

    def handlers(self) -> Handlers:
        return {RequestCode.LOCK_BATCH_MQ: self.lock, RequestCode.UNLOCK_BATCH_MQ: self.unlock}

    def lock(self, request: Command, connection: Connection) -> Command:
        """Lock the free queues; return those that the client holds now.

        Queues that this broker does not have are left out: Apache RocketMQ locks whatever is named, without end.
        """
        locks = self._locks
        wanted = body_of(LockBatchRequestBody, request, self._limits)
        group, client_id = wanted.consumer_group, wanted.client_id
        check_names(consumerGroup=group, clientId=client_id)
        for queue in wanted.mq_set:
            check_names(topic=queue.topic, brokerName=queue.broker_name)
        queues = [_as_key(queue) for queue in wanted.mq_set if self._has(queue)]
        account = self._permits.account_of(request, connection)
        locks.check_room(group, client_id, queues, account)
        held = locks.lock(group, client_id, queues, now=self._clock(), account=account)
        granted = LockBatchResponseBody([MessageQueue(*queue) for queue in held])
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(granted))

    def _has(self, queue: MessageQueue) -> bool:
        topic = self._topics.find(queue.topic)
        if topic is None or queue.broker_name != self._broker_name:
            return False
        return 0 <= queue.queue_id < max(topic.read_queue_nums, topic.write_queue_nums)

    def unlock(self, request: Command, _: Connection) -> Command:
        """Release the queues that the client holds."""
        given = body_of(
            LockBatchRequestBody, request, self._limits
        )  # as the check of rights has read it: they are alike
        self._locks.unlock(given.consumer_group, given.client_id, map(_as_key, given.mq_set))
        return Command.response(ResponseCode.SUCCESS)


def _as_key(queue: MessageQueue) -> Queue:
    return queue.topic, queue.broker_name, queue.queue_id
