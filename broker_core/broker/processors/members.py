"""Connected clients: the members of consumer and producer groups, and the groups that read a topic."""

from __future__ import annotations

from collections.abc import Iterable

from broker_core.broker.clients import Clients, ConsumerGroup, Member
from broker_core.broker.errors import GroupOffline, NoMembers
from broker_core.broker.offsets import ConsumerOffsets
from broker_core.broker.processors.handlers import Handlers
from broker_core.protocol import bodies
from broker_core.protocol.bodies.groups import Connection as ConnectionBody
from broker_core.protocol.bodies.groups import (
    ConsumerConnection,
    GroupList,
    ProducerConnection,
    ProducerInfo,
    ProducerTableInfo,
)
from broker_core.protocol.codes import LanguageCode, RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers import groups as headers
from broker_core.remoting.connection import Connection


class MemberProcessor:
    """Answers 203, 204, 300 and 328."""

    def __init__(self, *, clients: Clients[Connection], offsets: ConsumerOffsets) -> None:
        self._clients = clients
        self._offsets = offsets

    def handlers(self) -> Handlers:
        return {
            RequestCode.GET_CONSUMER_CONNECTION_LIST: self.consumers,
            RequestCode.GET_PRODUCER_CONNECTION_LIST: self.producers,
            RequestCode.GET_ALL_PRODUCER_INFO: self.all_producers,
            RequestCode.QUERY_TOPIC_CONSUME_BY_WHO: self.readers_of_topic,
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
        members = self._clients.producers_of(name)
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
            for group, members in self._clients.producers().items()
        }
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(ProducerTableInfo(table)))

    def readers_of_topic(self, request: Command, _: Connection) -> Command:
        """Return the groups that have offsets in a topic or currently subscribe to it."""
        topic = request.header(headers.QueryTopicConsumeByWhoRequest).topic
        names = dict.fromkeys((*self._clients.groups_on(topic), *self._offsets.groups_of(topic)))
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(GroupList(list(names))))


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
