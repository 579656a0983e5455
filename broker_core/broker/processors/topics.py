"""Topics: settings, ranges of their queues, deletion (remoting-protocol.md 2.10; behaviour.md B.6)."""

from __future__ import annotations

from broker_core.broker.errors import IllegalArgument
from broker_core.broker.parts import Parts
from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.topics import check_name
from broker_core.protocol import bodies
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.stats import TopicOffset, TopicStatsTable
from broker_core.protocol.bodies.topics import TopicConfig, TopicList
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers import topics as headers
from broker_core.remoting.connection import Connection

_FILTER_TYPES = ("SINGLE_TAG", "MULTI_TAG")


class TopicProcessor:
    """Answers 17, 21, 202, 215, 305 and 351."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def handlers(self) -> Handlers:
        """Return which code is answered by which method."""
        return {
            RequestCode.UPDATE_AND_CREATE_TOPIC: self.put,
            RequestCode.GET_ALL_TOPIC_CONFIG: self.all,
            RequestCode.GET_TOPIC_CONFIG: self.one,
            RequestCode.DELETE_TOPIC_IN_BROKER: self.delete,
            RequestCode.GET_TOPIC_STATS_INFO: self.stats,
            RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER: self.system_topics,
        }

    async def put(self, request: Command, _: Connection) -> Command:
        """Create a topic or replace its settings; name servers know it before the answer goes out."""
        header = request.header(headers.CreateTopicRequest)
        check_name(header.topic)
        self._parts.topics.check_is_not_system(header.topic)
        self._parts.config.limits.check_queues(
            readQueueNums=header.read_queue_nums, writeQueueNums=header.write_queue_nums
        )
        config = _config_of(header)
        before = self._parts.topics.find(header.topic)
        if before is not None:
            config = TopicConfig(
                config.topic_name,
                config.read_queue_nums,
                config.write_queue_nums,
                config.perm,
                config.topic_filter_type,
                config.topic_sys_flag,
                before.order,  # the flag of the header does not count (behaviour.md B.6)
            )
        self._parts.topics.put(config, now=self._parts.clock())
        await self._parts.saver.save(self._parts.topics)
        # Of all topics: two that are made at once have one version, and name servers pass over the second of a version.
        await self._parts.registration.wait()
        return Command.response(ResponseCode.SUCCESS)

    def all(self, _request: Command, _: Connection) -> Command:
        """Return the settings of all topics."""
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(self._parts.topics.wrapper()))

    def one(self, request: Command, _: Connection) -> Command:
        """Return the settings of one topic."""
        topic = self._parts.topics.get(request.header(headers.GetTopicConfigRequest).topic)
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(topic))

    async def delete(self, request: Command, _: Connection) -> Command:
        """Forget a topic with its queues, and the offsets and leases that groups have there.

        The reference keeps the offsets, and a topic made again under the name then starts with offsets beyond its end.
        """
        topic = request.header(headers.DeleteTopicRequest).topic
        check_name(topic)
        parts = self._parts
        parts.topics.check_is_not_system(topic)
        parts.topics.delete(topic, now=parts.clock())
        parts.store.delete_topic(topic)
        readers = parts.offsets.groups_of(topic)
        parts.offsets.drop_topic(topic)
        parts.leases.close_matching(topic=topic)
        parts.stats.forget([topic, *(f"{topic}@{group}" for group in readers)])
        parts.request_modes.forget(topic=topic)
        parts.registration.want()
        await parts.saver.save(parts.topics)
        return Command.response(ResponseCode.SUCCESS)

    def stats(self, request: Command, _: Connection) -> Command:
        """Return the range of each write queue, when its last message was stored, and how many come a second."""
        topic = request.header(headers.GetTopicStatsInfoRequest).topic
        config = self._parts.topics.get(topic)
        store, broker = self._parts.store, self._parts.config.identity.name
        table = {}
        for queue_id in range(config.write_queue_nums):
            low, high = store.min_offset(topic, queue_id), store.max_offset(topic, queue_id)
            last = store.store_time(topic, queue_id, high - 1) if high > low else None
            table[MessageQueue(topic, broker, queue_id)] = TopicOffset(low, high, last or 0)
        body = TopicStatsTable(table, self._parts.stats.put_tps(topic))
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(body))

    def system_topics(self, _request: Command, _: Connection) -> Command:
        """Return the names of the topics that belong to the broker."""
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(TopicList(self._parts.topics.system_names())))


def _config_of(header: headers.CreateTopicRequest) -> TopicConfig:
    if header.topic_filter_type not in _FILTER_TYPES:
        raise IllegalArgument(f"topicFilterType {header.topic_filter_type!r} is none of {', '.join(_FILTER_TYPES)}")
    return TopicConfig(
        header.topic,
        header.read_queue_nums,
        header.write_queue_nums,
        header.perm,
        header.topic_filter_type,
        header.topic_sys_flag,
    )
