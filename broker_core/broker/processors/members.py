"""Connected clients: the members of consumer and producer groups, and the groups that read a topic."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from broker_core.broker.clients import Clients, ConsumerGroup
from broker_core.broker.errors import GroupOffline, NoMembers
from broker_core.broker.members import Member
from broker_core.broker.offsets import ConsumerOffsets
from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.topic_producers import TopicProducers
from broker_core.broker.topics import Topics
from broker_core.protocol import bodies
from broker_core.protocol.bodies.groups import Connection as ConnectionBody
from broker_core.protocol.bodies.groups import (
    ConsumerConnection,
    GroupList,
    ProducerConnection,
    ProducerInfo,
    ProducerTableInfo,
    QuerySubscriptionResponseBody,
    SendingProducer,
    TopicProducersBody,
)
from broker_core.protocol.bodies.topics import TopicList
from broker_core.protocol.codes import LanguageCode, RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers import groups as headers
from broker_core.remoting.connection import Connection

_LANGUAGES: Final = {int(each): each.name for each in LanguageCode}


class MemberProcessor:
    """Answers 203, 204, 300, 328, 343, 345 and 30106, which is this broker's own."""

    def __init__(
        self,
        *,
        clients: Clients[Connection],
        offsets: ConsumerOffsets,
        topics: Topics,
        producers: TopicProducers,
        clock: Callable[[], int],
    ) -> None:
        self._clients = clients
        self._offsets = offsets
        self._topics = topics
        self._producers = producers
        self._clock = clock

    def handlers(self) -> Handlers:
        return {
            RequestCode.GET_CONSUMER_CONNECTION_LIST: self.consumers,
            RequestCode.GET_PRODUCER_CONNECTION_LIST: self.producers,
            RequestCode.GET_ALL_PRODUCER_INFO: self.all_producers,
            RequestCode.QUERY_TOPIC_CONSUME_BY_WHO: self.readers_of_topic,
            RequestCode.QUERY_TOPICS_BY_CONSUMER: self.topics_of_group,
            RequestCode.QUERY_SUBSCRIPTION_BY_CONSUMER: self.subscription,
            RequestCode.LIST_TOPIC_PRODUCERS: self.producers_of_topic,
        }

    def consumers(self, request: Command, _: Connection) -> Command:
        """Return a group's members and subscriptions."""
        name = request.header(headers.GetConsumerConnectionListRequest).consumer_group
        group = self._clients.find_consumers(name)
        if group is None:
            raise GroupOffline(f"the consumer group[{name}] not online")
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(consumer_connection(group)))

    def producers(self, request: Command, _: Connection) -> Command:
        """Return a producer group's members."""
        name = request.header(headers.GetProducerConnectionListRequest).producer_group
        members = list(self._clients.producers.of_group(name).values())
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
                for member in members.values()
            ]
            for group, members in self._clients.producers.groups().items()
        }
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(ProducerTableInfo(table)))

    def producers_of_topic(self, request: Command, _connection: Connection) -> Command:
        """Return the producers whose messages were stored in a topic, also those that have left since."""
        topic = request.header(headers.ListTopicProducersRequest).topic
        self._topics.get(topic)
        now, known = self._clock(), self._producers.of(topic)
        ids: dict[str, dict[str, str]] = {
            group: {
                member.channel.peer: member.client_id for member in self._clients.producers.of_group(group).values()
            }
            for group in {group for _, group, _ in known}
        }
        found = []
        for (_, group, peer), sends in known.items():
            sends.client_id = ids[group].get(peer, sends.client_id)
            found.append(
                SendingProducer(
                    group,
                    sends.client_id,
                    peer,
                    _LANGUAGES.get(sends.language),
                    sends.version,
                    sends.messages,
                    sends.last_at,
                    self._producers.rate(sends, now),
                )
            )
        body = TopicProducersBody(self._producers.complete_since(topic), found)
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(body))

    def readers_of_topic(self, request: Command, _: Connection) -> Command:
        """Return the groups that have offsets in a topic or currently subscribe to it."""
        topic = request.header(headers.QueryTopicConsumeByWhoRequest).topic
        names = dict.fromkeys((*self._clients.groups_on(topic), *self._offsets.groups_of(topic)))
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(GroupList(list(names))))

    def topics_of_group(self, request: Command, _: Connection) -> Command:
        """Return the topics in which a group has offsets."""
        group = request.header(headers.QueryTopicsByConsumerRequest).group
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(TopicList(self._offsets.topics_of(group))))

    def subscription(self, request: Command, _: Connection) -> Command:
        """Return what the members of a group subscribe to in a topic."""
        header = request.header(headers.QuerySubscriptionByConsumerRequest)
        group = self._clients.find_consumers(header.group)
        found = None if group is None else group.subscriptions.get(header.topic)
        body = QuerySubscriptionResponseBody(header.group, header.topic, found)
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(body))


def consumer_connection(group: ConsumerGroup[Connection]) -> ConsumerConnection:
    """Return the members and subscriptions of a group."""
    return ConsumerConnection(
        _connections(group.members.values()),
        group.subscriptions,
        group.consume_type,
        group.message_model,
        group.consume_from_where,
    )


def _connections(members: Iterable[Member[Connection]]) -> list[ConnectionBody]:
    return [
        ConnectionBody(member.client_id, member.channel.peer, LanguageCode(member.language).name, member.version)
        for member in members
    ]
