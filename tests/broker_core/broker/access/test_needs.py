"""The rights that each request needs."""

from __future__ import annotations

from typing import Any, Final

import pytest

from broker_core.broker.access.accounts import Kind, Need, Right
from broker_core.broker.access.needs import needs_of
from broker_core.protocol import bodies
from broker_core.protocol.bodies.heartbeat import ConsumerData, HeartbeatData, ProducerData, SubscriptionData
from broker_core.protocol.bodies.locks import LockBatchRequestBody
from broker_core.protocol.bodies.pop import BatchAck, BatchAckMessageRequestBody, QueryAssignmentRequestBody
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import RequestCode as Code
from broker_core.protocol.command import Command
from tests.support.broker import Wire

PUBLISH: Final = Need(Kind.TOPIC, "orders", Right.PUB)
READ: Final = Need(Kind.TOPIC, "orders", Right.SUB)
EITHER: Final = Need(Kind.TOPIC, "orders", Right.PUB | Right.SUB)
MEMBER: Final = Need(Kind.GROUP, "billing", Right.SUB)
TIMERS: Final = Need(Kind.TOPIC, "rmq_sys_wheel_timer", Right.SUB, is_listed_only=True)
REPLIES: Final = Need(Kind.TOPIC, "local_REPLY_TOPIC", Right.SUB, is_listed_only=True)
TRACES: Final = Need(Kind.TOPIC, "RMQ_SYS_TRACE_TOPIC", Right.PUB)

GROUP_AND_TOPIC: Final = {"consumerGroup": "billing", "topic": "orders"}
FIELDS: Final[list[tuple[Code, dict[str, str], set[Need]]]] = [
    (Code.SEND_MESSAGE, {"topic": "orders", "producerGroup": "p"}, {PUBLISH}),
    (Code.SEND_MESSAGE, {"topic": "%RETRY%billing"}, {MEMBER}),
    (Code.SEND_MESSAGE, {"topic": "%DLQ%billing"}, {MEMBER}),
    (Code.SEND_MESSAGE, {"topic": "RMQ_SYS_TRACE_TOPIC"}, set()),
    (Code.SEND_MESSAGE, {"topic": "RMQ_SYS_TRACE_TOPIC", "sysFlag": "1", "properties": "KEYS\x01k\x02"}, set()),
    (Code.SEND_MESSAGE, {"topic": "RMQ_SYS_TRACE_TOPIC", "sysFlag": "4"}, {TRACES}),
    (Code.SEND_MESSAGE, {"topic": "RMQ_SYS_TRACE_TOPIC", "sysFlag": "?"}, {TRACES}),
    (Code.SEND_MESSAGE, {"topic": "RMQ_SYS_TRACE_TOPIC", "properties": "DELAY\x013"}, {TRACES}),
    (Code.RECALL_MESSAGE, {"topic": "RMQ_SYS_TRACE_TOPIC"}, {TRACES}),
    (Code.SEND_MESSAGE_V2, {"a": "p", "b": "orders"}, {PUBLISH}),
    (Code.SEND_MESSAGE_V2, {"a": "mine", "b": "%RETRY%billing"}, {MEMBER}),
    (Code.SEND_BATCH_MESSAGE, {"a": "p", "b": "orders"}, {PUBLISH}),
    (Code.SEND_REPLY_MESSAGE, {"topic": "orders"}, {PUBLISH}),
    (Code.SEND_REPLY_MESSAGE, {"topic": "local_REPLY_TOPIC"}, set()),
    (Code.SEND_REPLY_MESSAGE, {"topic": "other_REPLY_TOPIC"}, {Need(Kind.TOPIC, "other_REPLY_TOPIC", Right.PUB)}),
    (Code.SEND_REPLY_MESSAGE_V2, {"b": "orders", "topic": "local_REPLY_TOPIC"}, {PUBLISH}),
    (Code.SEND_REPLY_MESSAGE_V2, {"b": "local_REPLY_TOPIC"}, set()),
    (Code.RECALL_MESSAGE, {"topic": "orders"}, {PUBLISH}),
    (Code.RESCHEDULE_MESSAGE, {"topic": "orders"}, {PUBLISH}),
    (Code.PULL_MESSAGE, GROUP_AND_TOPIC, {READ, MEMBER}),
    (Code.PULL_MESSAGE, {"consumerGroup": "billing", "topic": "%RETRY%billing"}, {MEMBER}),
    (Code.LITE_PULL_MESSAGE, GROUP_AND_TOPIC, {READ, MEMBER}),
    (Code.QUERY_MESSAGE, {"topic": "orders"}, {READ}),
    (Code.QUERY_CONSUME_QUEUE, {"topic": "orders"}, {READ}),
    (Code.LIST_TIMERS, {"topic": "orders"}, {READ}),
    (Code.LIST_TIMERS, {}, {TIMERS}),
    (Code.LIST_TIMERS, {"topic": ""}, {TIMERS}),
    (Code.QUERY_MESSAGE, {"topic": "rmq_sys_wheel_timer"}, {TIMERS}),
    (Code.QUERY_MESSAGE, {"topic": "local_REPLY_TOPIC"}, {REPLIES}),
    (Code.QUERY_MESSAGE, {"topic": "%DLQ%billing"}, {MEMBER}),
    (Code.QUERY_CONSUMER_OFFSET, GROUP_AND_TOPIC, {READ, MEMBER}),
    (Code.UPDATE_CONSUMER_OFFSET, GROUP_AND_TOPIC, {READ, MEMBER}),
    (Code.SEARCH_OFFSET_BY_TIMESTAMP, {"topic": "orders"}, {EITHER}),
    (Code.GET_MAX_OFFSET, {"topic": "orders"}, {EITHER}),
    (Code.GET_MIN_OFFSET, {"topic": "orders"}, {EITHER}),
    (Code.GET_EARLIEST_MSG_STORETIME, {"topic": "orders"}, {EITHER}),
    (Code.INVOKE_BROKER_TO_RESET_OFFSET, {"group": "billing", "topic": "orders"}, {READ, MEMBER}),
    (Code.INVOKE_BROKER_TO_GET_CONSUMER_STATUS, {"group": "billing", "topic": "orders"}, {READ, MEMBER}),
    (Code.INVOKE_BROKER_TO_GET_CONSUMER_STATUS, {"group": "billing", "clientAddr": "c"}, {MEMBER}),
    (
        Code.CLONE_GROUP_OFFSET,
        {"srcGroup": "other", "destGroup": "billing", "topic": "orders"},
        {READ, MEMBER, Need(Kind.GROUP, "other", Right.SUB)},
    ),
    (Code.UNREGISTER_CLIENT, {"clientID": "c", "consumerGroup": "billing"}, {MEMBER}),
    (Code.UNREGISTER_CLIENT, {"clientID": "c", "producerGroup": "p"}, set()),
    (Code.GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": "billing"}, {MEMBER}),
    (Code.GET_CONSUMER_RUNNING_INFO, {"consumerGroup": "billing", "clientId": "c"}, {MEMBER}),
    (Code.POP_MESSAGE, GROUP_AND_TOPIC, {READ, MEMBER}),
    (Code.ACK_MESSAGE, GROUP_AND_TOPIC, {READ, MEMBER}),
    (Code.PEEK_MESSAGE, GROUP_AND_TOPIC, {READ, MEMBER}),
    (Code.CHANGE_MESSAGE_INVISIBLETIME, GROUP_AND_TOPIC, {READ, MEMBER}),
    (Code.NOTIFICATION, GROUP_AND_TOPIC, {READ, MEMBER}),
    (Code.POLLING_INFO, GROUP_AND_TOPIC, {READ, MEMBER}),
]
QUEUES: Final = [MessageQueue("orders", "broker-a", number) for number in (0, 1)]
BODIES: Final[list[tuple[Code, Any, set[Need]]]] = [
    (
        Code.HEART_BEAT,
        HeartbeatData(
            "c",
            [ProducerData("p")],
            [
                ConsumerData(
                    "billing", subscription_data_set=[SubscriptionData("orders"), SubscriptionData("%RETRY%billing")]
                )
            ],
        ),
        {READ, MEMBER},
    ),
    (Code.LOCK_BATCH_MQ, LockBatchRequestBody("billing", "c", QUEUES), {READ, MEMBER}),
    (Code.UNLOCK_BATCH_MQ, LockBatchRequestBody("billing", "c", QUEUES), {READ, MEMBER}),
    (Code.QUERY_ASSIGNMENT, QueryAssignmentRequestBody("orders", "billing", "c"), {READ, MEMBER}),
    (Code.BATCH_ACK_MESSAGE, BatchAckMessageRequestBody("b", [BatchAck("billing", "orders")]), {READ, MEMBER}),
]
PLACES: Final[list[tuple[Code, dict[str, str], set[Need]]]] = [
    (Code.VIEW_MESSAGE_BY_ID, {"offset": "0"}, {READ}),
    (Code.CONSUMER_SEND_MSG_BACK, {"group": "billing", "offset": "0", "delayLevel": "0"}, {READ, MEMBER}),
    (
        Code.CONSUME_MESSAGE_DIRECTLY,
        {"consumerGroup": "billing", "clientId": "c", "msgId": "7F00000100002A9F0000000000000000"},
        {READ, MEMBER},
    ),
    (
        Code.END_TRANSACTION,
        {"producerGroup": "p", "tranStateTableOffset": "0", "commitLogOffset": "0", "commitOrRollback": "8"},
        {PUBLISH},
    ),
]


def needs(wire: Wire, request: Command) -> set[Need]:
    components = wire.broker.components
    return set(needs_of(components.arrivals, components.config.limits, "local")[request.code](request))


async def test_each_request_that_names_its_topic_and_group(guarded: Wire) -> None:
    for code, fields, expected in FIELDS:
        assert needs(guarded, Command(int(code), dict(fields))) == expected, code
    for code, body, expected in BODIES:
        assert needs(guarded, Command(int(code), body=bodies.encode(body))) == expected, code


@pytest.mark.parametrize("properties", [{}, {"DELAY": "18"}], ids=["in its topic", "waiting"])
async def test_each_request_that_names_a_place(guarded: Wire, properties: dict[str, str]) -> None:
    await guarded.send("orders", b"x", properties=properties)

    for code, fields, expected in PLACES:
        assert needs(guarded, Command(int(code), dict(fields))) == expected, code


async def test_every_kind_of_needs_is_covered(guarded: Wire) -> None:
    components = guarded.broker.components
    covered = {int(code) for code, *_ in (*FIELDS, *BODIES, *PLACES)}
    assert covered == set(map(int, needs_of(components.arrivals, components.config.limits, "local")))
