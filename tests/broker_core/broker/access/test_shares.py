"""Over the wire: what one account takes of a limit, and that others still get theirs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from broker_core.broker import BrokerLimits
from broker_core.protocol import bodies
from broker_core.protocol.bodies.locks import LockBatchRequestBody
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.clients import LockBatchMqRequest
from broker_core.protocol.headers.offsets import UpdateConsumerOffsetRequest
from broker_core.protocol.signature import Credentials
from tests.support.broker import Wire, another_client, started
from tests.support.wait import eventually

ADMIN = Credentials("administrator", "secret-of-admin")
ALICE = Credentials("alice-account", "secret-of-alice")
BOB = Credentials("bob-account", "secret-of-bob")

FILE = """\
accounts:
- {accessKey: administrator, secretKey: secret-of-admin, admin: true}
- {accessKey: alice-account, secretKey: secret-of-alice, defaultTopicPerm: PUB|SUB, defaultGroupPerm: SUB}
- {accessKey: bob-account, secretKey: secret-of-bob, defaultTopicPerm: PUB|SUB, defaultGroupPerm: SUB}
"""
ONE_OF_FOUR = BrokerLimits(queue_locks=4, open_transactions=4, parked_pulls=4, parked_pops=4, groups=40)


@pytest.fixture
async def admin(tmp_path: Path) -> AsyncIterator[Wire]:
    """A broker with the topic orders, of which an account may hold one of everything."""
    config = tmp_path / "store" / "config"
    config.mkdir(parents=True)
    (config / "plain_acl.yml").write_text(FILE)
    async with started(tmp_path / "store", access_control=True, limits=ONE_OF_FOUR) as wire:
        wire.credentials = ADMIN
        await wire.create_topic("orders", queues=4)
        yield wire


@pytest.fixture
async def alice(admin: Wire) -> AsyncIterator[Wire]:
    wire = another_client(admin)
    wire.credentials = ALICE
    yield wire
    await wire.client.close()


@pytest.fixture
async def bob(admin: Wire) -> AsyncIterator[Wire]:
    wire = another_client(admin)
    wire.credentials = BOB
    yield wire
    await wire.client.close()


def assert_share(answer: Command, limit: str, code: ResponseCode = ResponseCode.SYSTEM_ERROR) -> None:
    assert answer.code == code
    assert f"limit {limit}=" in str(answer.remark)
    assert "one account may have 1 / 4 of them" in str(answer.remark)


async def prepare(wire: Wire, unique_id: str) -> Command:
    properties = {"TRAN_MSG": "true", "PGROUP": "payers", "UNIQ_KEY": unique_id}
    return await wire.try_send("orders", b"half", properties=properties)


async def test_open_transactions(alice: Wire, bob: Wire) -> None:
    assert (await prepare(alice, "1")).code == ResponseCode.SUCCESS
    assert_share(await prepare(alice, "2"), "open_transactions")
    assert (await prepare(bob, "3")).code == ResponseCode.SUCCESS


async def lock(wire: Wire, queue_id: int) -> Command:
    body = LockBatchRequestBody("billing", "c", [MessageQueue("orders", "broker-a", queue_id)])
    return await wire.ask(LockBatchMqRequest(), bodies.encode(body))


async def test_queue_locks(alice: Wire, bob: Wire) -> None:
    assert (await lock(alice, 0)).code == ResponseCode.SUCCESS
    assert_share(await lock(alice, 1), "queue_locks")
    assert (await lock(bob, 2)).code == ResponseCode.SUCCESS


async def test_groups_of_heartbeats_and_pulls(admin: Wire, alice: Wire, bob: Wire) -> None:
    for number in range(10):
        assert (await alice.heartbeat("c", group=f"a{number}")).code == ResponseCode.SUCCESS
    assert_share(await alice.heartbeat("c", group="a10"), "groups")
    assert_share(await alice.try_pull("orders", 0, group="a11"), "groups")
    assert_share(await alice.try_pop("orders", group="a12"), "groups")
    assert (await alice.try_pull("orders", 0, group="a9")).code == ResponseCode.PULL_NOT_FOUND
    assert (await bob.try_pull("orders", 0, group="b")).code == ResponseCode.PULL_NOT_FOUND
    topics = admin.broker.components.topics
    assert topics.find("%RETRY%a9") is not None
    assert topics.find("%RETRY%a10") is None


async def test_topics_of_groups_and_of_sends_count_together(admin: Wire, alice: Wire) -> None:
    groups = admin.broker.components.groups
    await alice.heartbeat("c", group="billing")
    await alice.send("new", b"x")
    assert groups.creator_of("billing") == ALICE.access_key
    text = admin.broker.components.topics.text()
    assert b'"createdBy": {"%RETRY%billing":"alice-account","new":"alice-account"}' in text


async def test_long_polls(admin: Wire, alice: Wire, bob: Wire) -> None:
    waiting = [asyncio.create_task(wire.try_pull("orders", 0, wait_ms=30_000)) for wire in (alice, bob)]

    async def both_wait() -> bool:
        return await admin.parked_pulls() == 2

    await eventually(both_wait)
    for wire in (alice, bob):
        assert_share(await wire.try_pull("orders", 0, wait_ms=30_000), "parked_pulls", ResponseCode.SYSTEM_BUSY)
    await admin.send("orders", b"x")
    assert [(await each).code for each in waiting] == [ResponseCode.SUCCESS] * 2


async def test_long_polls_for_leases(admin: Wire, alice: Wire, bob: Wire) -> None:
    waiting = [asyncio.create_task(wire.try_pop("orders", wait_ms=30_000)) for wire in (alice, bob)]

    async def both_wait() -> bool:
        return (await admin.runtime_info())["parkedPops"] == "2"

    await eventually(both_wait)
    assert_share(await alice.try_pop("orders", wait_ms=30_000), "parked_pops", ResponseCode.POLLING_FULL)
    for _ in waiting:
        await admin.send("orders", b"x")
    assert {(await each).code for each in waiting} <= {ResponseCode.SUCCESS, ResponseCode.POLLING_TIMEOUT}


async def test_an_account_sets_the_first_offset_of_a_quarter_of_the_groups(alice: Wire, bob: Wire) -> None:
    async def commit(wire: Wire, number: int) -> Command:
        return await wire.ask(UpdateConsumerOffsetRequest(f"invented{number}", "orders", 0, 1))

    for number in range(10):
        assert (await commit(alice, number)).code == ResponseCode.SUCCESS
    refused = await commit(alice, 10)
    assert refused.code == ResponseCode.SYSTEM_ERROR
    assert "one account may have 1 / 4 of them; no offset was kept for group 'invented10'" in str(refused.remark)
    assert (await commit(alice, 9)).code == ResponseCode.SUCCESS
    assert (await commit(bob, 10)).code == ResponseCode.SUCCESS
