"""Live clients: heartbeats, members, locks (remoting-protocol.md 2.6)."""

from __future__ import annotations

from dataclasses import replace

from broker_core.broker.clients import ConsumerGroup, Member
from broker_core.broker.errors import GroupNotFound, NoMembers
from broker_core.broker.filters.tags import parse_tags
from broker_core.broker.parts import Parts
from broker_core.broker.processors.handlers import Handlers, body_of
from broker_core.broker.queue_locks import Queue
from broker_core.broker.retry_topics import ensure_retry_topic
from broker_core.protocol import bodies
from broker_core.protocol.bodies.heartbeat import (
    CheckClientRequestBody,
    ConsumerData,
    GetConsumerListByGroupResponseBody,
    HeartbeatData,
)
from broker_core.protocol.bodies.locks import LockBatchRequestBody, LockBatchResponseBody, UnlockBatchRequestBody
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers import clients as headers
from broker_core.remoting.connection import Connection


class ClientProcessor:
    """Answers 34, 35, 38, 41, 42 and 46; tells groups when their members change."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._watched: set[Connection] = set()

    def handlers(self) -> Handlers:
        """Return which code is answered by which method."""
        return {
            RequestCode.HEART_BEAT: self.heartbeat,
            RequestCode.UNREGISTER_CLIENT: self.unregister,
            RequestCode.GET_CONSUMER_LIST_BY_GROUP: self.members,
            RequestCode.LOCK_BATCH_MQ: self.lock,
            RequestCode.UNLOCK_BATCH_MQ: self.unlock,
            RequestCode.CHECK_CLIENT_CONFIG: self.check,
        }

    def heartbeat(self, request: Command, connection: Connection) -> Command:
        """Note who is there; groups that changed are told before the answer goes out (remoting-protocol.md 2.6)."""
        data = body_of(HeartbeatData, request, self._parts.config.limits)
        self._check_room(data)
        now = self._parts.clock()
        if connection not in self._watched:
            self._watched.add(connection)
            connection.on_close(self.leave)
        member = Member(connection, data.client_id, request.language, request.version, now)
        for producer in data.producer_data_set:
            self._parts.clients.heartbeat_producer(producer.group_name, replace(member))
        for consumer in data.consumer_data_set:
            self._heartbeat_consumer(consumer, replace(member), now)
        return Command.response(ResponseCode.SUCCESS)

    def unregister(self, request: Command, connection: Connection) -> Command:
        """Take the connection out of the named groups; the others of a consumer group are told."""
        header = request.header(headers.UnregisterClientRequest)
        if header.producer_group:
            self._parts.clients.leave_producer(header.producer_group, connection)
        if header.consumer_group and self._parts.clients.leave_consumer(header.consumer_group, connection):
            self._notify(header.consumer_group)
        return Command.response(ResponseCode.SUCCESS)

    def leave(self, connection: Connection) -> None:
        """Take a closed connection out of everything; the others of its consumer groups are told."""
        self._watched.discard(connection)
        for group in self._parts.clients.leave(connection):
            self._notify(group)

    def expire(self, now: int) -> None:
        """Close the connections whose clients have not been heard for too long, and free the queues they locked."""
        self._parts.locks.expire(now)
        for connection in self._parts.clients.silent_since(now - self._parts.config.periods.client_expiry):
            connection.close("no heartbeat")

    def members(self, request: Command, _: Connection) -> Command:
        """Return the client ids of a group, each once: all members must see the same list."""
        group = request.header(headers.GetConsumerListByGroupRequest).consumer_group
        ids = self._group(group).client_ids()
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(GetConsumerListByGroupResponseBody(ids)))

    def lock(self, request: Command, _: Connection) -> Command:
        """Lock what is free; return what the client holds now."""
        limits, locks = self._parts.config.limits, self._parts.locks
        wanted = body_of(LockBatchRequestBody, request, limits)
        queues = [_as_key(queue) for queue in wanted.mq_set]
        news = locks.count_new(wanted.consumer_group, queues)
        if news and len(locks) + news > limits.queue_locks:
            raise limits.refuse("queue_locks", f"client {wanted.client_id[:80]!r} got no lock")
        held = locks.lock(wanted.consumer_group, wanted.client_id, queues, now=self._parts.clock())
        granted = LockBatchResponseBody([MessageQueue(*queue) for queue in held])
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(granted))

    def unlock(self, request: Command, _: Connection) -> Command:
        """Free what the client holds."""
        given = body_of(UnlockBatchRequestBody, request, self._parts.config.limits)
        self._parts.locks.unlock(given.consumer_group, given.client_id, map(_as_key, given.mq_set))
        return Command.response(ResponseCode.SUCCESS)

    def check(self, request: Command, _: Connection) -> Command:
        """Say whether the broker can serve a subscription: tags only."""
        subscription = body_of(CheckClientRequestBody, request, self._parts.config.limits).subscription_data
        if subscription.expression_type != "TAG":
            remark = f"The broker does not support consumer to filter message by {subscription.expression_type}"
            return Command.response(ResponseCode.SYSTEM_ERROR, remark=remark)
        parse_tags(subscription.sub_string)
        return Command.response(ResponseCode.SUCCESS)

    def _check_room(self, data: HeartbeatData) -> None:
        """Raise LimitReached for a client of too many groups, or new producer groups beyond their number."""
        limits, clients = self._parts.config.limits, self._parts.clients
        if len(data.producer_data_set) + len(data.consumer_data_set) > limits.groups_per_client:
            raise limits.refuse("groups_per_client", f"client {data.client_id[:80]!r} was not registered")
        news = sum(1 for each in data.producer_data_set if not clients.has_producers(each.group_name))
        if news and clients.producer_groups + news > limits.groups:
            raise limits.refuse("groups", f"the producer groups of client {data.client_id[:80]!r} were not registered")

    def _heartbeat_consumer(self, data: ConsumerData, member: Member[Connection], now: int) -> None:
        try:
            config = self._parts.groups.get_or_create(data.group_name, now=now)
        except GroupNotFound:
            return  # the reference skips such a consumer silently (behaviour.md C.1)
        ensure_retry_topic(self._parts, config, now=now)
        if self._parts.clients.heartbeat_consumer(data, member) and config.notify_consumer_ids_changed_enable:
            self._notify(data.group_name)

    def _notify(self, group: str) -> None:
        """Tell every member of a group that it changed (behaviour.md C.1)."""
        consumers = self._parts.clients.find_consumers(group)
        for connection in consumers.members if consumers is not None else ():
            if not connection.is_closing:
                connection.send(Command.request(headers.NotifyConsumerIdsChangedRequest(group), one_way=True))

    def _group(self, name: str) -> ConsumerGroup[Connection]:
        group = self._parts.clients.find_consumers(name)
        if group is None:
            raise NoMembers(f"no consumer for this group, {name}")
        return group


def _as_key(queue: MessageQueue) -> Queue:
    return queue.topic, queue.broker_name, queue.queue_id
