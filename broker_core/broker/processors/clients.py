"""Live clients: heartbeats, members, locks, and requests handed on to a client (remoting-protocol.md 2.6, 2.8)."""

from __future__ import annotations

from dataclasses import replace

from broker_core.broker.clients import ConsumerGroup, Member
from broker_core.broker.errors import ClientTooSlow, ClientUnreachable, GroupNotFound, NoMembers
from broker_core.broker.filters.tags import parse_tags
from broker_core.broker.parts import Parts
from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.queue_locks import Queue
from broker_core.broker.retries import retry_topic
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
from broker_core.protocol.message_id import parse_offset_id
from broker_core.remoting.connection import Connection
from broker_core.remoting.errors import RemotingError, RemotingTimeout


class ClientProcessor:
    """Answers 34, 35, 38, 41, 42, 46, 307 and 309; tells groups when their members change."""

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
            RequestCode.GET_CONSUMER_RUNNING_INFO: self.running_info,
            RequestCode.CONSUME_MESSAGE_DIRECTLY: self.consume_directly,
        }

    def heartbeat(self, request: Command, connection: Connection) -> Command:
        """Note who is there; groups that changed are told before the answer goes out (remoting-protocol.md 2.6)."""
        data = bodies.decode(HeartbeatData, request.body)
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
        wanted = bodies.decode(LockBatchRequestBody, request.body)
        held = self._parts.locks.lock(
            wanted.consumer_group, wanted.client_id, map(_as_key, wanted.mq_set), now=self._parts.clock()
        )
        granted = LockBatchResponseBody([MessageQueue(*queue) for queue in held])
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(granted))

    def unlock(self, request: Command, _: Connection) -> Command:
        """Free what the client holds."""
        given = bodies.decode(UnlockBatchRequestBody, request.body)
        self._parts.locks.unlock(given.consumer_group, given.client_id, map(_as_key, given.mq_set))
        return Command.response(ResponseCode.SUCCESS)

    def check(self, request: Command, _: Connection) -> Command:
        """Say whether the broker can serve a subscription: tags only."""
        subscription = bodies.decode(CheckClientRequestBody, request.body).subscription_data
        if subscription.expression_type != "TAG":
            remark = f"The broker does not support consumer to filter message by {subscription.expression_type}"
            return Command.response(ResponseCode.SYSTEM_ERROR, remark=remark)
        parse_tags(subscription.sub_string)
        return Command.response(ResponseCode.SUCCESS)

    async def running_info(self, request: Command, _: Connection) -> Command:
        """Hand the question on to the client and its answer back."""
        header = request.header(headers.GetConsumerRunningInfoRequest)
        return await self._hand_on(request, header.consumer_group, header.client_id)

    async def consume_directly(self, request: Command, _: Connection) -> Command:
        """Have a client consume one message now, outside its queues."""
        header = request.header(headers.ConsumeMessageDirectlyRequest)
        record = self._parts.store.find_raw(parse_offset_id(header.msg_id).log_offset)
        if record is None:
            raise ClientUnreachable(f"message {header.msg_id} is not in the store")
        fields = request.ext_fields | {"brokerName": self._parts.config.identity.name}
        handed = Command(request.code, fields, record)
        return await self._hand_on(handed, header.consumer_group, header.client_id)

    async def _hand_on(self, request: Command, group: str, client_id: str) -> Command:
        consumers = self._parts.clients.find_consumers(group)
        member = consumers.find_member(client_id) if consumers is not None else None
        if member is None:
            raise ClientUnreachable(f"The Consumer <{group}> <{client_id}> not online")
        timeout_ms = self._parts.config.periods.relay_timeout
        try:
            return await member.channel.invoke(
                Command(request.code, dict(request.ext_fields), request.body), timeout_ms
            )
        except RemotingTimeout as error:
            raise ClientTooSlow(f"consumer <{group}> <{client_id}> gave no answer in {timeout_ms} ms") from error
        except RemotingError as error:
            raise ClientUnreachable(f"invoke consumer <{group}> <{client_id}> Exception: {error}") from error

    def _heartbeat_consumer(self, data: ConsumerData, member: Member[Connection], now: int) -> None:
        try:
            config = self._parts.groups.get_or_create(data.group_name, now=now)
        except GroupNotFound:
            return  # the reference skips such a consumer silently (behaviour.md C.1)
        topics_before = len(self._parts.topics)
        self._parts.topics.get_or_create(retry_topic(data.group_name), queues=config.retry_queue_nums, now=now)
        if len(self._parts.topics) != topics_before:
            self._parts.registration.want()
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
