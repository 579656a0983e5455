"""What each request needs: a right for topics and groups, an administrator, or no more than a valid signature.

Apache RocketMQ 4.9 asks for rights in ten kinds of requests and for an administrator in five. Here every request that
reads or changes messages, offsets, leases and locks asks for the rights of what it names, and every request that
changes the broker asks for an administrator. What only tells figures and lists takes any account, as in Apache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from broker_core.broker.access.accounts import Kind, Need, Right, need_group, need_topic
from broker_core.broker.arrivals import Arrivals
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.processors.handlers import body_of
from broker_core.broker.sent_text import asks_for_nothing
from broker_core.protocol import properties as names
from broker_core.protocol.bodies.heartbeat import HeartbeatData
from broker_core.protocol.bodies.locks import LockBatchRequestBody
from broker_core.protocol.bodies.pop import BatchAckMessageRequestBody, QueryAssignmentRequestBody
from broker_core.protocol.codes import RequestCode as Code
from broker_core.protocol.command import Command
from broker_core.protocol.headers.clients import ConsumeMessageDirectlyRequest
from broker_core.protocol.headers.messages import ViewMessageByIdRequest
from broker_core.protocol.headers.send import ConsumerSendMessageBackRequest
from broker_core.protocol.headers.transactions import EndTransactionRequest
from broker_core.protocol.message_id import parse_offset_id
from broker_core.protocol.record import decode_one
from broker_core.protocol.sys_flag import TRANSACTION_MASK
from broker_core.protocol.topics import TIMER_TOPIC, TRACE_TOPIC, real_topic, reply_topic

Needs = Callable[[Command], Iterable[Need]]
"""Returns the rights that a request needs, all of them."""

EITHER: Final = Right.PUB | Right.SUB
ADMINS_ONLY: Final = frozenset(
    {
        Code.UPDATE_AND_CREATE_TOPIC,
        Code.UPDATE_AND_CREATE_TOPIC_LIST,
        Code.UPDATE_BROKER_CONFIG,
        Code.UPDATE_AND_CREATE_ACL_CONFIG,
        Code.DELETE_ACL_CONFIG,
        Code.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG,
        Code.GET_BROKER_CLUSTER_ACL_CONFIG,
        Code.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
        Code.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST,
        Code.DELETE_SUBSCRIPTIONGROUP,
        Code.DELETE_TOPIC_IN_BROKER,
        Code.CLEAN_EXPIRED_CONSUMEQUEUE,
        Code.CLEAN_UNUSED_TOPIC,
        Code.RESUME_CHECK_HALF_MESSAGE,
        Code.DELETE_EXPIRED_COMMITLOG,
        Code.SET_MESSAGE_REQUEST_MODE,
        Code.PURGE_TOPIC,
    }
)
"""Requests of administrators."""

ANY_ACCOUNT: Final = frozenset(
    {
        Code.GET_ALL_TOPIC_CONFIG,
        Code.GET_BROKER_CONFIG,
        Code.GET_BROKER_RUNTIME_INFO,
        Code.GET_ALL_CONSUMER_OFFSET,
        Code.GET_ALL_DELAY_OFFSET,
        Code.CHECK_CLIENT_CONFIG,
        Code.GET_BROKER_CLUSTER_ACL_INFO,
        Code.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
        Code.GET_TOPIC_STATS_INFO,
        Code.GET_CONSUMER_CONNECTION_LIST,
        Code.GET_PRODUCER_CONNECTION_LIST,
        Code.GET_CONSUME_STATS,
        Code.QUERY_TOPIC_CONSUME_BY_WHO,
        Code.QUERY_CONSUME_TIME_SPAN,
        Code.GET_SYSTEM_TOPIC_LIST_FROM_BROKER,
        Code.QUERY_CORRECTION_OFFSET,
        Code.VIEW_BROKER_STATS_DATA,
        Code.GET_BROKER_CONSUME_STATS,
        Code.GET_ALL_PRODUCER_INFO,
        Code.GET_TOPIC_CONFIG,
        Code.GET_SUBSCRIPTIONGROUP_CONFIG,
        Code.SUMMARIZE_TIMERS,
        Code.GET_PROGRESS,
        Code.GET_BROKER_HA_STATUS,
        Code.LIST_TOPIC_PRODUCERS,
        Code.END_POP_WAIT,  # ends a request of the same connection
        Code.QUERY_TOPICS_BY_CONSUMER,
        Code.QUERY_SUBSCRIPTION_BY_CONSUMER,
    }
)
"""Requests that need no right."""


def needs_of(arrivals: Arrivals, limits: BrokerLimits, cluster: str) -> dict[int, Needs]:
    """Return what each request needs that names topics or groups; `arrivals` tell the topic of a stored message."""
    replies = reply_topic(cluster)
    found = _of_fields() | _of_replies(replies) | _of_bodies(limits) | _of_stored(arrivals)
    return {code: _with_replies(needs, replies) for code, needs in found.items()}


def _with_replies(needs: Needs, replies: str) -> Needs:
    """Return the same needs, but that the topic `replies` must be listed: it has answers from one client to another."""

    def marked(request: Command) -> Iterable[Need]:
        for need in needs(request):
            is_meant = need.kind is Kind.TOPIC and need.name == replies
            yield need._replace(is_listed_only=True) if is_meant else need

    return marked


def _of_fields() -> dict[int, Needs]:
    publish, consume = _fields(topic="topic", rights=Right.PUB), _fields(topic="topic", group="consumerGroup")
    read, either = _fields(topic="topic"), _fields(topic="topic", rights=EITHER)
    member = _fields(group="consumerGroup")
    return {
        Code.SEND_MESSAGE: _sends(topic="topic", sys_flag="sysFlag", properties="properties"),
        Code.SEND_MESSAGE_V2: _sends(topic="b", sys_flag="f", properties="i"),
        Code.SEND_BATCH_MESSAGE: _sends(topic="b", sys_flag="f", properties="i"),
        Code.RECALL_MESSAGE: publish,
        Code.RESCHEDULE_MESSAGE: publish,
        Code.PULL_MESSAGE: consume,
        Code.LITE_PULL_MESSAGE: consume,
        Code.QUERY_MESSAGE: read,
        Code.QUERY_CONSUME_QUEUE: read,
        Code.LIST_TIMERS: _timers,
        Code.QUERY_CONSUMER_OFFSET: consume,
        Code.UPDATE_CONSUMER_OFFSET: consume,
        Code.SEARCH_OFFSET_BY_TIMESTAMP: either,
        Code.GET_MAX_OFFSET: either,
        Code.GET_MIN_OFFSET: either,
        Code.GET_EARLIEST_MSG_STORETIME: either,
        Code.INVOKE_BROKER_TO_RESET_OFFSET: _fields(topic="topic", group="group"),
        # Every member of the group is asked, and the answer waits for all of them.
        Code.INVOKE_BROKER_TO_GET_CONSUMER_STATUS: _fields(topic="topic", group="group"),
        Code.CLONE_GROUP_OFFSET: _clone,
        Code.UNREGISTER_CLIENT: member,
        Code.GET_CONSUMER_LIST_BY_GROUP: member,
        Code.GET_CONSUMER_RUNNING_INFO: member,
        Code.POP_MESSAGE: consume,
        Code.ACK_MESSAGE: consume,
        Code.PEEK_MESSAGE: consume,
        Code.CHANGE_MESSAGE_INVISIBLETIME: consume,
        Code.NOTIFICATION: consume,
        Code.POLLING_INFO: consume,
    }


def _fields(*, topic: str | None = None, group: str | None = None, rights: Right = Right.SUB) -> Needs:
    """Return the needs of a request whose fields of these names have a topic and a group."""

    def needs(request: Command) -> Iterable[Need]:
        named_topic = None if topic is None else request.ext_fields.get(topic)
        if named_topic is not None:
            yield need_topic(named_topic, rights)
        named_group = None if group is None else request.ext_fields.get(group)
        if named_group is not None:
            yield need_group(named_group)

    return needs


def _sends(*, topic: str, sys_flag: str, properties: str) -> Needs:
    """Return the needs of a send whose fields have these names.

    Every client may send traces, as in Apache; a trace is a plain message, and what waits or opens a transaction is
    none: it would take from what all have in common.
    """

    def needs(request: Command) -> Iterable[Need]:
        fields = request.ext_fields
        named = fields.get(topic)
        if named is not None and not (
            named == TRACE_TOPIC
            and _is_outside_transactions(fields.get(sys_flag, "0"))
            and asks_for_nothing(fields.get(properties, ""))
        ):
            yield need_topic(named, Right.PUB)

    return needs


def _is_outside_transactions(sys_flag: str) -> bool:
    try:
        return not int(sys_flag) & TRANSACTION_MASK
    except ValueError:
        return False


def _of_replies(replies: str) -> dict[int, Needs]:
    """Return the needs of replies: none for the topic `replies`, where each reaches only the client that waits for it.

    A reply names any topic and is stored there like a message, so elsewhere it needs what a message needs.
    """

    def needs_at(field: str) -> Needs:
        def needs(request: Command) -> Iterable[Need]:
            topic = request.ext_fields.get(field)
            if topic is not None and topic != replies:
                yield need_topic(topic, Right.PUB)

        return needs

    return {Code.SEND_REPLY_MESSAGE: needs_at("topic"), Code.SEND_REPLY_MESSAGE_V2: needs_at("b")}


def _timers(request: Command) -> Iterable[Need]:
    """Waiting messages of all topics, which an empty name asks for too, are those of the topic in which they wait."""
    yield need_topic(request.ext_fields.get("topic") or TIMER_TOPIC, Right.SUB)


def _clone(request: Command) -> Iterable[Need]:
    fields = request.ext_fields
    yield from (need_group(fields[name]) for name in ("srcGroup", "destGroup") if name in fields)
    if "topic" in fields:
        yield need_topic(fields["topic"], Right.SUB)


def _of_bodies(limits: BrokerLimits) -> dict[int, Needs]:
    def heartbeat(request: Command) -> Iterable[Need]:
        for consumer in body_of(HeartbeatData, request, limits).consumer_data_set:
            yield need_group(consumer.group_name)
            for subscription in consumer.subscription_data_set:
                yield need_topic(subscription.topic, Right.SUB)

    def locks(request: Command) -> Iterable[Need]:
        body = body_of(LockBatchRequestBody, request, limits)
        yield need_group(body.consumer_group)
        yield from (need_topic(topic, Right.SUB) for topic in {queue.topic for queue in body.mq_set})

    def assignment(request: Command) -> Iterable[Need]:
        body = body_of(QueryAssignmentRequestBody, request, limits)
        return need_group(body.consumer_group), need_topic(body.topic, Right.SUB)

    def batch_ack(request: Command) -> Iterable[Need]:
        for ack in body_of(BatchAckMessageRequestBody, request, limits).acks:
            yield need_group(ack.consumer_group)
            yield need_topic(ack.topic, Right.SUB)

    return {
        Code.HEART_BEAT: heartbeat,
        Code.LOCK_BATCH_MQ: locks,
        Code.UNLOCK_BATCH_MQ: locks,
        Code.QUERY_ASSIGNMENT: assignment,
        Code.BATCH_ACK_MESSAGE: batch_ack,
    }


def _of_stored(arrivals: Arrivals) -> dict[int, Needs]:
    """Return the needs of requests that name a message by its place: the rights for its topic.

    A place without a message needs nothing, since the request finds nothing either.
    """

    def topic_at(log_offset: int, rights: Right) -> Iterable[Need]:
        record = arrivals.find_named(log_offset)
        if record is not None:
            message = decode_one(record, decompress=False)
            yield need_topic(real_topic(message.topic, message.properties.get(names.REAL_TOPIC)), rights)

    def look(request: Command) -> Iterable[Need]:
        return topic_at(request.header(ViewMessageByIdRequest).offset, Right.SUB)

    def send_back(request: Command) -> Iterable[Need]:
        header = request.header(ConsumerSendMessageBackRequest)
        yield need_group(header.group)
        yield from topic_at(header.offset, Right.SUB)

    def consume(request: Command) -> Iterable[Need]:
        header = request.header(ConsumeMessageDirectlyRequest)
        yield need_group(header.consumer_group)
        yield from topic_at(parse_offset_id(header.msg_id).log_offset, Right.SUB)

    def end_transaction(request: Command) -> Iterable[Need]:
        return topic_at(request.header(EndTransactionRequest).commit_log_offset, Right.PUB)

    return {
        Code.VIEW_MESSAGE_BY_ID: look,
        Code.CONSUMER_SEND_MSG_BACK: send_back,
        Code.CONSUME_MESSAGE_DIRECTLY: consume,
        Code.END_TRANSACTION: end_transaction,
    }
