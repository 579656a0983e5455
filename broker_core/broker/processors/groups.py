"""Groups: settings, members, and how far they are (remoting-protocol.md 2.10, 3.10 to 3.12; behaviour.md F.10)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from broker_core.broker.clients import Member
from broker_core.broker.errors import GroupNotFound, GroupOffline, IllegalArgument, NoMembers
from broker_core.broker.parts import Parts
from broker_core.broker.processors.handlers import Handlers, body_of
from broker_core.protocol import bodies
from broker_core.protocol.bodies.groups import (
    Connection as ConnectionBody,
)
from broker_core.protocol.bodies.groups import (
    ConsumerConnection,
    GroupList,
    ProducerConnection,
    ProducerInfo,
    ProducerTableInfo,
    SubscriptionGroupConfig,
)
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.stats import (
    ConsumeStats,
    ConsumeStatsList,
    OffsetWrapper,
    QueryConsumeTimeSpanBody,
    QueueTimeSpan,
)
from broker_core.protocol.bodies.topics import TopicConfig
from broker_core.protocol.codes import LanguageCode, RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers import groups as headers
from broker_core.protocol.topics import OFFSET_MOVED_EVENT
from broker_core.remoting.connection import Connection


class GroupProcessor:
    """Answers 200, 201, 203, 204, 207, 208, 300, 303, 317, 328 and 352."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def handlers(self) -> Handlers:
        """Return which code is answered by which method."""
        return {
            RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: self.put,
            RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: self.all,
            RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG: self.one,
            RequestCode.DELETE_SUBSCRIPTIONGROUP: self.delete,
            RequestCode.GET_CONSUMER_CONNECTION_LIST: self.consumers,
            RequestCode.GET_PRODUCER_CONNECTION_LIST: self.producers,
            RequestCode.GET_ALL_PRODUCER_INFO: self.all_producers,
            RequestCode.GET_CONSUME_STATS: self.stats,
            RequestCode.GET_BROKER_CONSUME_STATS: self.all_stats,
            RequestCode.QUERY_TOPIC_CONSUME_BY_WHO: self.readers_of_topic,
            RequestCode.QUERY_CONSUME_TIME_SPAN: self.time_span,
        }

    # -- settings

    async def put(self, request: Command, _: Connection) -> Command:
        """Create a group or replace its settings."""
        config = body_of(SubscriptionGroupConfig, request, self._parts.config.limits)
        if not config.group_name.strip():
            raise IllegalArgument("the group has no name")
        self._parts.groups.put(config, now=self._parts.clock())
        await self._parts.saver.save(self._parts.groups)
        return Command.response(ResponseCode.SUCCESS)

    def all(self, _request: Command, _: Connection) -> Command:
        """Return the settings of all groups."""
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(self._parts.groups.wrapper()))

    def one(self, request: Command, _: Connection) -> Command:
        """Return the settings of one group."""
        name = request.header(headers.GetSubscriptionGroupConfigRequest).group
        group = self._parts.groups.find(name)
        if group is None:
            raise GroupNotFound(name)
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(group))

    async def delete(self, request: Command, _: Connection) -> Command:
        """Forget a group's settings and leases, and its offsets if asked; an unknown group is forgotten already."""
        header = request.header(headers.DeleteSubscriptionGroupRequest)
        parts = self._parts
        parts.groups.delete(header.group_name, now=parts.clock())
        parts.locks.drop_group(header.group_name)
        parts.leases.close_matching(group=header.group_name)
        parts.request_modes.forget(group=header.group_name)
        parts.stats.forget(f"{topic}@{header.group_name}" for topic in parts.offsets.topics_of(header.group_name))
        if header.remove_offset:
            parts.offsets.drop_group(header.group_name)
        await parts.saver.save(parts.groups)
        return Command.response(ResponseCode.SUCCESS)

    # -- members

    def consumers(self, request: Command, _: Connection) -> Command:
        """Return a group's members and subscriptions."""
        name = request.header(headers.GetConsumerConnectionListRequest).consumer_group
        group = self._parts.clients.find_consumers(name)
        if group is None:
            raise GroupOffline(f"the consumer group[{name}] not online")
        body = ConsumerConnection(
            _connections(group.members.values()),
            group.subscriptions,
            group.consume_type,
            group.message_model,
            group.consume_from_where,
        )
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(body))

    def producers(self, request: Command, _: Connection) -> Command:
        """Return a producer group's members."""
        name = request.header(headers.GetProducerConnectionListRequest).producer_group
        members = self._parts.clients.producers_of(name)
        if not members:
            raise NoMembers(f"the producer group[{name}] not exist")
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(ProducerConnection(_connections(members))))

    def all_producers(self, _request: Command, _: Connection) -> Command:
        """Return the members of all producer groups."""
        table = {
            group: [
                ProducerInfo(
                    member.client_id,
                    f"/{member.channel.peer}",
                    LanguageCode(member.language).name,
                    member.version,
                    member.seen_at,
                )
                for member in members
            ]
            for group, members in self._parts.clients.producers().items()
        }
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(ProducerTableInfo(table)))

    def readers_of_topic(self, request: Command, _: Connection) -> Command:
        """Return the groups that have offsets in a topic or subscribe it now."""
        topic = request.header(headers.QueryTopicConsumeByWhoRequest).topic
        names = dict.fromkeys((*self._parts.clients.groups_on(topic), *self._parts.offsets.groups_of(topic)))
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(GroupList(list(names))))

    # -- how far they are

    def stats(self, request: Command, _: Connection) -> Command:
        """Return, for each queue that a group reads, its offset and the queue's end; an unknown group reads nothing."""
        header = request.header(headers.GetConsumeStatsRequest)
        topics = [header.topic] if header.topic else self._parts.offsets.topics_of(header.consumer_group)
        table: dict[MessageQueue, OffsetWrapper] = {}
        tps = 0.0
        for topic in self._read_topics(header.consumer_group, topics):
            table.update(self._offsets_in(header.consumer_group, topic, topic.read_queue_nums))
            tps += self._parts.stats.consume_tps(header.consumer_group, topic.topic_name)
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(ConsumeStats(table, tps)))

    def all_stats(self, request: Command, _: Connection) -> Command:
        """Return the same of every group, by topic."""
        ordered_only = request.header(headers.GetBrokerConsumeStatsRequest).is_order
        groups: list[dict[str, list[ConsumeStats]]] = []
        total = 0
        for config in self._parts.groups.all():
            group = config.group_name
            found = []
            for topic in self._read_topics(group, self._parts.offsets.topics_of(group)):
                if ordered_only and not topic.order:
                    continue
                table = dict(self._offsets_in(group, topic, topic.write_queue_nums))
                total += sum(each.broker_offset - each.consumer_offset for each in table.values())
                found.append(ConsumeStats(table, self._parts.stats.consume_tps(group, topic.topic_name)))
            groups.append({group: found})
        body = ConsumeStatsList(groups, self._parts.address, total)
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(body))

    def time_span(self, request: Command, _: Connection) -> Command:
        """Return, per queue, its range in time and how late a group is there."""
        header = request.header(headers.QueryConsumeTimeSpanRequest)
        topic = self._parts.topics.get(header.topic)
        now = self._parts.clock()
        spans = [self._span(header.group, topic, queue_id, now) for queue_id in range(topic.write_queue_nums)]
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(QueryConsumeTimeSpanBody(spans)))

    def _read_topics(self, group: str, topics: Iterable[str]) -> Iterator[TopicConfig]:
        """Return those of the topics that exist and that the group still reads, as far as its members say."""
        online = self._parts.clients.find_consumers(group)
        for name in topics:
            config = self._parts.topics.find(name)
            if config is None or name == OFFSET_MOVED_EVENT:
                continue
            if online is None or name in online.subscriptions or self._parts.leases.takes(group, name):
                yield config

    def _offsets_in(self, group: str, topic: TopicConfig, queues: int) -> Iterator[tuple[MessageQueue, OffsetWrapper]]:
        store, name = self._parts.store, topic.topic_name
        committed = self._parts.offsets.of(group, name)
        for queue_id in range(queues):
            consumed = max(committed.get(queue_id, 0), 0)
            last = store.store_time(name, queue_id, consumed - 1) if consumed else None
            queue = MessageQueue(name, self._parts.config.identity.name, queue_id)
            leased = self._parts.leases.find(group, name, queue_id)
            # Readers take the difference of both offsets for what is in flight: with leases, what is out on lease.
            pulled = None if leased is None else consumed + leased.held_count
            yield queue, OffsetWrapper(store.max_offset(name, queue_id), consumed, last or 0, pulled)

    def _span(self, group: str, topic: TopicConfig, queue_id: int, now: int) -> QueueTimeSpan:
        store, name = self._parts.store, topic.topic_name
        low, high = store.min_offset(name, queue_id), store.max_offset(name, queue_id)
        consumed = self._parts.offsets.find(group, name, queue_id) or 0
        first = store.store_time(name, queue_id, low) or 0
        last_read = store.store_time(name, queue_id, consumed - 1) if consumed > low else None
        unread = store.store_time(name, queue_id, consumed) if consumed < high else None
        return QueueTimeSpan(
            MessageQueue(name, self._parts.config.identity.name, queue_id),
            first,
            store.store_time(name, queue_id, high - 1) or 0,
            first if last_read is None else last_read,
            0 if unread is None else now - unread,
        )


def _connections(members: Iterable[Member[Connection]]) -> list[ConnectionBody]:
    return [
        ConnectionBody(member.client_id, member.channel.peer, LanguageCode(member.language).name, member.version)
        for member in members
    ]
