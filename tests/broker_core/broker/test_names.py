"""Names that clients give are kept in memory, so they are refused when they are too long, wherever they come."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import pytest

from broker_core.broker.names import MAX_NAME
from broker_core.protocol import bodies
from broker_core.protocol.bodies.groups import SubscriptionGroupConfig
from broker_core.protocol.bodies.heartbeat import ConsumerData, HeartbeatData, ProducerData
from broker_core.protocol.bodies.locks import LockBatchRequestBody
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.clients import HeartBeatRequest, LockBatchMqRequest
from broker_core.protocol.headers.groups import CreateSubscriptionGroupRequest
from broker_core.protocol.headers.offsets import UpdateConsumerOffsetRequest
from tests.support.broker import Wire, started

LONGEST: Final = "n" * MAX_NAME
TOO_LONG: Final = LONGEST + "n"
HALF: Final = {"TRAN_MSG": "true"}


async def beat(wire: Wire, client_id: str, producer: str = "p") -> Command:
    data = HeartbeatData(client_id, [ProducerData(producer)], [ConsumerData("billing")])
    return await wire.ask(HeartBeatRequest(), bodies.encode(data))


async def lock(wire: Wire, group: str = "g", client_id: str = "c", topic: str = "t", broker: str = "b") -> Command:
    body = LockBatchRequestBody(group, client_id, [MessageQueue(topic, broker, 0)])
    return await wire.ask(LockBatchMqRequest(), bodies.encode(body))


# Each gives the broker one name to keep.
KEEPING: Final[dict[str, Callable[[Wire, str], Awaitable[Command]]]] = {
    "a send": lambda wire, name: wire.try_send("orders", b"x", producer_group=name),
    "a half message": lambda wire, name: wire.try_send("orders", b"x", properties=HALF | {"PGROUP": name}),
    "the client of a heartbeat": beat,
    "the producer of a heartbeat": lambda wire, name: beat(wire, "c", name),
    "a pull": lambda wire, name: wire.try_pull("orders", 0, group=name),
    "the attempt of a pop": lambda wire, name: wire.try_pop("orders", attempt_id=name),
    "an offset": lambda wire, name: wire.ask(UpdateConsumerOffsetRequest(name, "orders", 0, 1)),
    "an offset of a topic": lambda wire, name: wire.ask(UpdateConsumerOffsetRequest("g", name, 0, 1)),
    "a lock of a group": lambda wire, name: lock(wire, group=name),
    "a lock of a client": lambda wire, name: lock(wire, client_id=name),
    "a lock of a topic": lambda wire, name: lock(wire, topic=name),
    "a lock at a broker": lambda wire, name: lock(wire, broker=name),
    "a group": lambda wire, name: wire.ask(
        CreateSubscriptionGroupRequest(), bodies.encode(SubscriptionGroupConfig(name))
    ),
}


@pytest.mark.parametrize("what", KEEPING)
async def test_a_name_that_is_too_long_is_refused_and_not_kept(tmp_path: Path, what: str) -> None:
    async with started(tmp_path) as wire:
        await wire.create_topic("orders")
        parts = wire.broker.components
        before = parts.store.appended_log_offset

        refused = await KEEPING[what](wire, TOO_LONG)

        assert refused.code == ResponseCode.INVALID_PARAMETER
        assert f"has {MAX_NAME + 1} characters, more than {MAX_NAME}" in str(refused.remark)
        kept = (
            len(parts.beside.producers),
            len(parts.clients.producers),
            len(parts.locks),
            parts.offsets.groups(),
            parts.store.appended_log_offset,
        )
        assert kept == (0, 0, 0, [], before)
        assert parts.groups.find(TOO_LONG) is None

        assert (await KEEPING[what](wire, LONGEST)).code != ResponseCode.INVALID_PARAMETER


async def test_a_reply_with_such_a_name_reaches_nobody(tmp_path: Path) -> None:
    async with started(tmp_path) as wire:
        await wire.heartbeat("asker", producer_group="askers")
        answer = await wire.try_send(
            "local_REPLY_TOPIC",
            b"x",
            properties={"REPLY_TO_CLIENT": "asker"},
            code=RequestCode.SEND_REPLY_MESSAGE_V2,
            producer_group=TOO_LONG,
        )
        assert (answer.code, wire.pushed) == (ResponseCode.INVALID_PARAMETER, [])


async def test_consumers_are_registered_although_a_producers_name_is_refused(tmp_path: Path) -> None:
    async with started(tmp_path) as wire:
        await beat(wire, "c", TOO_LONG)
        assert wire.broker.components.clients.find_consumers("billing") is not None
