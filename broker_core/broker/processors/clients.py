"""Live clients: heartbeats and members."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Set
from contextlib import suppress
from dataclasses import replace
from typing import Final

from broker_core.broker.access.permits import Permits
from broker_core.broker.clients import Clients, ConsumerGroup
from broker_core.broker.errors import AccessRefused, GroupNotFound, NoMembers, Refused, TopicNameTooLong
from broker_core.broker.filters.expressions import accept_of
from broker_core.broker.filters.registered import ConsumerFilters
from broker_core.broker.groups import Groups
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.members import Member
from broker_core.broker.names import check_names
from broker_core.broker.processors.handlers import Handlers, body_of
from broker_core.broker.retries import GroupTopics
from broker_core.protocol import bodies
from broker_core.protocol.bodies.heartbeat import (
    CheckClientRequestBody,
    ConsumerData,
    GetConsumerListByGroupResponseBody,
    HeartbeatData,
)
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers import clients as headers
from broker_core.remoting.connection import Connection

_SHOWN: Final = 80


class ClientProcessor:
    """Answers 34, 35, 38 and 46; notifies groups when their members change."""

    def __init__(
        self,
        *,
        clients: Clients[Connection],
        groups: Groups,
        group_topics: GroupTopics,
        filters: ConsumerFilters,
        permits: Permits,
        limits: BrokerLimits,
        serves_sql: bool,
        expiry_ms: int,
        clock: Callable[[], int],
    ) -> None:
        self._clients = clients
        self._groups = groups
        self._group_topics = group_topics
        self._filters = filters
        self._permits = permits
        self._limits = limits
        self._serves_sql = serves_sql
        self._expiry_ms = expiry_ms
        self._clock = clock
        self._watched: set[Connection] = set()

    def handlers(self) -> Handlers:
        return {
            RequestCode.HEART_BEAT: self.heartbeat,
            RequestCode.UNREGISTER_CLIENT: self.unregister,
            RequestCode.GET_CONSUMER_LIST_BY_GROUP: self.members,
            RequestCode.CHECK_CLIENT_CONFIG: self.check,
        }

    def heartbeat(self, request: Command, connection: Connection) -> Command:
        """Register a client's groups; members of changed groups are notified before the answer is sent."""
        data = body_of(HeartbeatData, request, self._limits)
        self._check(data)
        now = self._clock()
        if connection not in self._watched:
            self._watched.add(connection)
            connection.on_close(self.leave)
        fingerprint = data.heartbeat_fingerprint or 0
        access_key = self._permits.account_of(request, connection)
        member = Member(connection, data.client_id, request.language, request.version, now, access_key, fingerprint)
        for consumer in data.consumer_data_set:
            group = self._clients.find_consumers(consumer.group_name)
            _check_owner(member, () if group is None else group.members.values())
        refusal = self._add_producers(data, member)
        answer = self._add_consumers(data, member, now)
        if refusal is not None:
            raise refusal
        return answer

    def _add_producers(self, data: HeartbeatData, member: Member[Connection]) -> Refused | None:
        """Register the producer groups of a heartbeat; return why not, for what is no reason to stop its consumers."""
        names = {each.group_name for each in data.producer_data_set}
        try:
            for name in names:
                check_names(producerGroup=name)
            if names:
                _check_owner(member, self._clients.producers.of_client(member.client_id))
            self._check_producers(names, member)
        except Refused as refusal:
            return refusal
        for name in names:
            self._clients.producers.add(name, replace(member))
        return None

    def _add_consumers(self, data: HeartbeatData, member: Member[Connection], now: int) -> Command:
        if data.without_sub:
            is_known = [self._renew_consumer(each.group_name, replace(member)) for each in data.consumer_data_set]
            return Command.response(ResponseCode.SUCCESS, headers.HeartBeatResponse(True, not all(is_known)))
        self._heartbeat_consumers(data.consumer_data_set, member, now)
        return Command.response(ResponseCode.SUCCESS, headers.HeartBeatResponse(True) if member.fingerprint else None)

    def unregister(self, request: Command, connection: Connection) -> Command:
        """Remove the connection from the named groups; the other members of a consumer group are notified."""
        header = request.header(headers.UnregisterClientRequest)
        if header.producer_group:
            self._clients.producers.remove(header.producer_group, connection)
        if header.consumer_group and self._clients.leave_consumer(header.consumer_group, connection):
            self._notify(header.consumer_group)
        return Command.response(ResponseCode.SUCCESS)

    def leave(self, connection: Connection) -> None:
        """Remove a closed connection from all groups; the other members of its consumer groups are notified."""
        self._watched.discard(connection)
        for group in self._clients.leave(connection):
            self._notify(group)

    def expire(self, now: int) -> None:
        """Close the connections whose clients have sent no heartbeat for too long."""
        for connection in self._clients.silent_since(now - self._expiry_ms):
            connection.close("no heartbeat")

    def members(self, request: Command, _: Connection) -> Command:
        """Return the client ids of a group, without duplicates: all members must see the same list."""
        group = request.header(headers.GetConsumerListByGroupRequest).consumer_group
        ids = self._group(group).client_ids()
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(GetConsumerListByGroupResponseBody(ids)))

    def check(self, request: Command, _: Connection) -> Command:
        """Check whether the broker can read a subscription."""
        subscription = body_of(CheckClientRequestBody, request, self._limits).subscription_data
        accept_of(subscription.expression_type, subscription.sub_string, serves_sql=self._serves_sql)
        return Command.response(ResponseCode.SUCCESS)

    def _check(self, data: HeartbeatData) -> None:
        """Raise IllegalArgument for a client whose id is too long, LimitReached for one with too many groups."""
        check_names(clientID=data.client_id)
        limits = self._limits
        if len(data.producer_data_set) + len(data.consumer_data_set) > limits.groups_per_client:
            raise limits.refuse("groups_per_client", f"client {data.client_id[:_SHOWN]!r} was not registered")

    def _check_producers(self, names: Set[str], member: Member[Connection]) -> None:
        """Raise LimitReached where a connection, an account, or all together would have too many producer groups."""
        limits, producers = self._limits, self._clients.producers
        who = f"the producer groups of client {member.client_id[:_SHOWN]!r} were not registered"
        if _would_exceed(limits.groups_per_client, names, producers.groups_of_channel(member.channel)):
            raise limits.refuse("groups_per_client", who)
        if _would_exceed(limits.groups, names, producers.groups().keys()):
            raise limits.refuse("groups", who)
        of_account = producers.groups_of_account(member.access_key) if member.access_key else ()
        if _would_exceed(limits.share("groups"), names, of_account):
            raise limits.refuse_share("groups", who)

    def _heartbeat_consumers(self, consumers: Iterable[ConsumerData], member: Member[Connection], now: int) -> None:
        """Register each group that can be; raise the first refusal afterwards, so that it keeps no other one out."""
        refusals = []
        for consumer in consumers:
            try:
                self._heartbeat_consumer(consumer, replace(member), now)
            except Refused as refusal:
                refusals.append(refusal)
        if refusals:
            raise refusals[0]

    def _heartbeat_consumer(self, data: ConsumerData, member: Member[Connection], now: int) -> None:
        try:
            config = self._groups.get_or_create(data.group_name, now=now, account=member.access_key)
        except GroupNotFound:
            return  # Apache RocketMQ silently ignores such a consumer
        with suppress(TopicNameTooLong):  # as with Apache RocketMQ such a group consumes, and has no retries
            self._group_topics.ensure_retry(config, now=now)
        if self._clients.heartbeat_consumer(data, member) and config.notify_consumer_ids_changed_enable:
            self._notify(data.group_name)
        self._filters.register(data.group_name, data.subscription_data_set)

    def _renew_consumer(self, name: str, member: Member[Connection]) -> bool:
        """Record a consumer that leaves out its subscriptions; return whether those are known from this connection."""
        known = self._clients.renew_consumer(name, member)
        config = self._groups.find(name)
        if known is None and config is not None and config.notify_consumer_ids_changed_enable:
            self._notify(name)
        return known is not None and known.fingerprint == member.fingerprint

    def _notify(self, group: str) -> None:
        """Notify every member of a group that the group changed."""
        consumers = self._clients.find_consumers(group)
        for connection in consumers.members if consumers is not None else ():
            if not connection.is_closing:
                connection.send(Command.request(headers.NotifyConsumerIdsChangedRequest(group), one_way=True))

    def _group(self, name: str) -> ConsumerGroup[Connection]:
        group = self._clients.find_consumers(name)
        if group is None:
            raise NoMembers(f"no consumer for this group, {name}")
        return group


def _would_exceed(limit: int, names: Set[str], held: Collection[str]) -> bool:
    """Return whether names make more than `limit` together with those that are held; known ones are always welcome."""
    news = sum(1 for name in names if name not in held)
    return news > 0 and len(held) + news > limit


def _check_owner(member: Member[Connection], others: Iterable[Member[Connection]]) -> None:
    """Raise AccessRefused for the client id of another account, to which replies for that id go, while it lives."""
    for other in others:
        is_same = other.channel is member.channel or other.access_key == member.access_key
        if not is_same and other.client_id == member.client_id and not other.channel.is_closing:
            raise AccessRefused(
                f"The client id {member.client_id[:_SHOWN]!r} belongs to another account while that is connected"
            )
