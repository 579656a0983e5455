"""Purging a topic: its first messages become unreadable, its queue offsets go on (broker/README.md#purging-a-topic)."""

from __future__ import annotations

from broker_core.broker.limits import BrokerLimits
from broker_core.broker.offsets import ConsumerOffsets, Resets
from broker_core.broker.processors.handlers import Handlers, body_of
from broker_core.broker.saving import Saver
from broker_core.broker.topics import Topics, check_name
from broker_core.protocol import bodies
from broker_core.protocol.bodies.topics import QueueOffsets
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.topics import PurgeTopicRequest
from broker_core.remoting.connection import Connection
from broker_core.store import MessageStore


class PurgeProcessor:
    """Answers 30105."""

    def __init__(
        self,
        *,
        store: MessageStore,
        topics: Topics,
        offsets: ConsumerOffsets,
        resets: Resets,
        saver: Saver,
        limits: BrokerLimits,
    ) -> None:
        self._store = store
        self._topics = topics
        self._offsets = offsets
        self._resets = resets
        self._saver = saver
        self._limits = limits

    def handlers(self) -> Handlers:
        return {RequestCode.PURGE_TOPIC: self.purge}

    async def purge(self, request: Command, _: Connection) -> Command:
        """Purge the queues up to the given offsets, and let groups that were before them continue there.

        Repeating it changes nothing. The answer says where each queue begins.
        """
        topic = request.header(PurgeTopicRequest).topic
        check_name(topic)
        self._topics.check_is_not_system(topic)
        self._topics.get(topic)
        begins = self._store.purge(topic, body_of(QueueOffsets, request, self._limits).offset_table)
        for group in self._offsets.groups_of(topic):
            for queue_id, offset in list(self._offsets.of(group, topic).items()):
                begin = begins.get(queue_id)
                if begin is not None and offset < begin:
                    self._resets.set_offset(group, topic, queue_id, begin)
        await self._saver.save(self._offsets)
        answer = QueueOffsets({queue_id: int(begin) for queue_id, begin in begins.items()})
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(answer))
