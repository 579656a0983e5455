"""What a slave passes on to its master, and what of it the master believes."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest

from broker_core.broker import Broker, BrokerLimits
from broker_core.broker.access.forwarded import CLIENT
from broker_core.broker.access.needs import ANY_ACCOUNT
from broker_core.broker.config import FailoverSettings
from broker_core.clock import boot_seconds
from broker_core.protocol import bodies
from broker_core.protocol.batch import encode_batch
from broker_core.protocol.bodies.locks import LockBatchRequestBody, LockBatchResponseBody
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.clients import LockBatchMqRequest, UnlockBatchMqRequest
from broker_core.protocol.headers.offsets import QueryConsumerOffsetRequest, UpdateConsumerOffsetRequest
from broker_core.protocol.headers.pull import PullMessageRequest
from broker_core.protocol.headers.send import (
    ConsumerSendMessageBackRequest,
    SendMessageResponse,
    SendMessageV2Request,
)
from broker_core.protocol.message import Message, StoredMessage
from broker_core.protocol.record import decode_many
from broker_core.protocol.signature import Credentials
from broker_core.remoting import ConnectionClosed
from broker_core.remoting.connection import Connection
from tests.support.broker import BORN, TIMEOUT_MS
from tests.support.replica_group import ReplicaGroup, replica_group
from tests.support.wait import eventually

ACCOUNTS = """\
accounts:
- {accessKey: administrator, secretKey: secret-of-admin, admin: true}
- {accessKey: replicas-of-b, secretKey: secret-of-replicas, admin: true}
- {accessKey: producer-account, secretKey: secret-of-producer, topicPerms: [T=PUB]}
- {accessKey: stranger-account, secretKey: secret-of-stranger}
"""
ADMIN = Credentials("administrator", "secret-of-admin")
PRODUCER = Credentials("producer-account", "secret-of-producer")
STRANGER = Credentials("stranger-account", "secret-of-stranger")


async def parts(group: ReplicaGroup) -> tuple[Broker, Broker]:
    """Return the master and the slave."""
    master = await group.master()
    (slave,) = group.slaves()
    return master, slave


async def stored(group: ReplicaGroup, broker: Broker, topic: str = "T") -> list[StoredMessage]:
    header = PullMessageRequest("readers", topic, 0, 0, 32, 4, subscription="*", suspend_timeout_millis=0)
    return list(decode_many((await group.ask(broker, header)).body))


def own_address(group: ReplicaGroup, broker: Broker) -> str:
    connection = group.client.find_connection(broker.address)
    assert connection is not None
    return connection.local


async def test_a_slave_answers_a_send_as_the_master_does(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master, slave = await parts(group)

        at_master = await group.send(master, b"0")
        at_slave = await group.send(slave, b"1")

        assert at_slave.code == ResponseCode.SUCCESS
        assert at_slave.header(SendMessageResponse).queue_offset == 1
        assert at_slave.ext_fields.keys() == at_master.ext_fields.keys()
        assert [each.body for each in await stored(group, master)] == [b"0", b"1"]


async def test_a_forwarded_message_is_from_its_producer_not_from_the_replica(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master, slave = await parts(group)

        for _ in range(3):  # also once the master could take many sends of this connection together
            await group.send(slave, b"x")

        born = {each.born_host for each in await stored(group, master)}
        assert born == {own_address(group, slave)}


async def test_a_refusal_of_the_master_is_answered_as_it_is(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master, slave = await parts(group)

        here, there = await group.send(slave, b"x", topic="nobody has it"), await group.send(master, b"x", topic="")

        assert here.code == (await group.send(master, b"x", topic="nobody has it")).code
        assert there.code != ResponseCode.SUCCESS


async def test_what_was_forwarded_is_not_forwarded_again(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master, slave = await parts(group)
        request = Command.request(SendMessageV2Request("T", 0, 0, BORN, 0, "producers", "TBW102", 4), b"x")
        request.ext_fields[CLIENT] = "10.1.2.3:4"

        answer = await group.client.invoke(slave.address, request, TIMEOUT_MS)

        assert answer.code == ResponseCode.SERVICE_NOT_AVAILABLE
        assert master.store.appended_log_offset == 0


async def test_a_one_way_send_reaches_the_master(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master, slave = await parts(group)
        request = Command.request(
            SendMessageV2Request("T", 0, 0, BORN, 0, "producers", "TBW102", 4), b"x", one_way=True
        )

        await group.client.one_way(slave.address, request)

        await eventually(lambda: master.store.confirmed_log_offset > 0)


async def test_a_message_that_was_not_handled_goes_back_by_a_slave(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master, slave = await parts(group)
        await group.send(master, b"x")
        (message,) = await stored(group, master)

        back = await group.ask(slave, ConsumerSendMessageBackRequest(message.log_offset, "readers", 3))

        assert back.code == ResponseCode.SUCCESS
        assert master.components.topics.find("%RETRY%readers") is not None


async def test_queues_are_locked_at_the_master_whoever_is_asked(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master, slave = await parts(group)
        queue = MessageQueue("T", "b", 0)

        async def lock(broker: Broker, client: str) -> list[MessageQueue]:
            body = bodies.encode(LockBatchRequestBody("readers", client, [queue]))
            answer = await group.ask(broker, LockBatchMqRequest(), body)
            return bodies.decode(LockBatchResponseBody, answer.body).lock_ok_mq_set

        await eventually(lambda: master.failover is not None and master.failover.has_lease())
        assert await lock(slave, "one") == [queue]
        assert await lock(master, "two") == []
        body = bodies.encode(LockBatchRequestBody("readers", "one", [queue]))
        assert (await group.ask(slave, UnlockBatchMqRequest(), body)).code == ResponseCode.SUCCESS
        assert await lock(master, "two") == [queue]


async def test_an_offset_committed_at_a_slave_comes_to_the_master(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master, slave = await parts(group)

        await group.ask(slave, UpdateConsumerOffsetRequest("readers", "T", 0, 7))

        await eventually(lambda: master.components.offsets.find("readers", "T", 0) == 7)
        answer = await group.ask(slave, QueryConsumerOffsetRequest("readers", "T", 0))
        assert answer.code == ResponseCode.SUCCESS


async def test_a_slave_refuses_what_it_may_not_forward(tmp_path: Path) -> None:
    settings = FailoverSettings(is_on=True, heartbeat_ms=100, gone_ms=500, forwards=False)
    async with replica_group(tmp_path, settings=settings) as group:
        master, slave = await parts(group)

        answer = await group.send(slave, b"x")

        assert answer.code == ResponseCode.SERVICE_NOT_AVAILABLE
        assert master.address in (answer.remark or "")


async def test_more_than_the_limit_is_not_forwarded_at_once(tmp_path: Path) -> None:
    async with replica_group(tmp_path, more={"limits": BrokerLimits(forwarded_requests=1)}) as group:
        _, slave = await parts(group)

        answers = await asyncio.gather(*(group.send(slave, b"x") for _ in range(8)))

        codes = {answer.code for answer in answers}
        assert codes == {ResponseCode.SUCCESS, ResponseCode.SYSTEM_BUSY}
        assert any("forwarded_requests" in (answer.remark or "") for answer in answers)


async def test_a_forwarded_request_is_checked_where_it_comes_in_and_signed_by_the_replica(tmp_path: Path) -> None:
    more = {"access_control": True, "replica_account": "replicas-of-b"}
    async with replica_group(tmp_path, more=more, accounts=ACCOUNTS, credentials=ADMIN) as group:
        master, slave = await parts(group)

        group.credentials = STRANGER
        assert "No default permission" in ((await group.send(slave, b"no")).remark or "")
        group.credentials = PRODUCER
        assert (await group.send(slave, b"yes")).code == ResponseCode.SUCCESS

        group.credentials = ADMIN
        (message,) = await stored(group, master)
        assert (message.body, message.born_host) == (b"yes", own_address(group, slave))


async def test_nobody_but_an_administrator_speaks_for_others(tmp_path: Path) -> None:
    more = {"access_control": True, "replica_account": "replicas-of-b"}
    async with replica_group(tmp_path, more=more, accounts=ACCOUNTS, credentials=ADMIN) as group:
        master, _ = await parts(group)
        request = Command.request(SendMessageV2Request("T", 0, 0, BORN, 0, "producers", "TBW102", 4), b"x")
        request.ext_fields[CLIENT] = "10.1.2.3:4"

        await group.client.invoke(master.address, PRODUCER.sign(replace(request)), TIMEOUT_MS)

        (message,) = await stored(group, master)
        assert message.born_host == own_address(group, master)


async def test_what_replicas_alone_serve_is_for_administrators(tmp_path: Path) -> None:
    """broker/README.md: brokers of one name ask each other for much that only an administrator may ask."""
    more = {"access_control": True, "replica_account": "replicas-of-b"}
    async with replica_group(tmp_path, more=more, accounts=ACCOUNTS, credentials=ADMIN) as group:
        master, _ = await parts(group)
        codes = master.components.mode.handlers(master.components.rest).keys() - ANY_ACCOUNT
        assert {RequestCode.GET_BROKER_EPOCH_CACHE, RequestCode.NAME_STATE} <= codes

        for code in codes:
            answer = await group.client.invoke(master.address, PRODUCER.sign(Command(code)), TIMEOUT_MS)
            assert "Need admin permission" in (answer.remark or ""), f"{code}: {answer.remark}"


async def test_what_found_the_master_too_late_is_not_forwarded(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master, slave = await parts(group)
        reach = slave.components.beside.forwarding._peers.connection

        async def late(address: str, timeout_ms: int | None = None) -> Connection:
            connection: Connection = await reach(address, timeout_ms)
            slave.components.beside.forwarding._clock = lambda: boot_seconds() + TIMEOUT_MS / 1000
            return connection

        with patch.object(slave.components.beside.forwarding._peers, "connection", late):
            answer = await group.send(slave, b"x")

        assert answer.code == ResponseCode.SERVICE_NOT_AVAILABLE
        assert master.store.appended_log_offset == 0


async def test_what_nobody_waits_for_any_more_is_not_forwarded(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master, slave = await parts(group)
        reach = slave.components.beside.forwarding._peers.connection

        async def leaving(address: str, timeout_ms: int | None = None) -> Connection:
            for peer in [each for each in list(slave._servers[0].connections) if each.unanswered]:
                peer.close("the client has gone")
            return await reach(address, timeout_ms)

        with (
            patch.object(slave.components.beside.forwarding._peers, "connection", leaving),
            pytest.raises(ConnectionClosed),
        ):
            await group.send(slave, b"x")

        await group.send(master, b"y")
        assert [each.body for each in await stored(group, master)] == [b"y"]


async def test_a_batch_is_forwarded_whole(tmp_path: Path) -> None:
    async with replica_group(tmp_path) as group:
        master, slave = await parts(group)
        header = SendMessageV2Request("T", 0, 0, BORN, 0, "producers", "TBW102", 4, properties="", batch=True)
        body = encode_batch([Message("T", b"0"), Message("T", b"1")])
        request = Command.request(header, body, code=RequestCode.SEND_BATCH_MESSAGE)

        answer = await group.client.invoke(slave.address, request, TIMEOUT_MS)

        assert answer.code == ResponseCode.SUCCESS
        assert [each.body for each in await stored(group, master)] == [b"0", b"1"]
