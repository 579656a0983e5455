"""Members get only what their accounts may have: a half message goes to those that may send to its topic."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from broker_core.broker import Broker, BrokerLimits
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.headers.clients import ConsumeMessageDirectlyRequest
from broker_core.protocol.record import decode_one
from broker_core.protocol.signature import Credentials
from tests.broker_core.broker.access.conftest import ADMIN, CONSUMER, FILE, PRODUCER, STRANGER
from tests.broker_core.broker.access.test_check import assert_refused
from tests.support.broker import Wire, another_client, started
from tests.support.wait import eventually

HALF = {"TRAN_MSG": "true", "PGROUP": "payers", "UNIQ_KEY": "half-1"}
DUE_MS = 7_000


async def join(wire: Wire, credentials: Credentials | None, group: str = "payers", *, client_id: str = "payer") -> None:
    wire.credentials = credentials
    answer = await wire.heartbeat(client_id, producer_group=group)
    assert answer.code == ResponseCode.SUCCESS, answer.remark


@pytest.fixture
async def stranger(guarded: Wire) -> AsyncIterator[Wire]:
    """A client without rights that says it is of the producer group."""
    other = another_client(guarded)
    await join(other, STRANGER, client_id="stranger")
    yield other
    await other.client.close()


@pytest.fixture
async def payer(guarded: Wire) -> AsyncIterator[Wire]:
    other = another_client(guarded)
    yield other
    await other.client.close()


async def check(broker: Broker, later_ms: int = DUE_MS) -> None:
    """Let the time of checks come."""
    await broker.components.checks.step(broker.components.clock() + later_ms)


def asked(wire: Wire) -> list[bytes]:
    return [decode_one(each.body).body for each in wire.pushed if each.code == RequestCode.CHECK_TRANSACTION_STATE]


async def seen(wire: Wire) -> None:
    """Return when the client has got what the broker sent before now: its connection is read in order."""
    await wire.runtime_info()


async def test_only_who_may_send_to_the_topic_is_asked(guarded: Wire, stranger: Wire, payer: Wire) -> None:
    await guarded.send("orders", b"a secret", properties=HALF)

    await check(guarded.broker)
    await check(guarded.broker)
    await seen(stranger)
    assert asked(stranger) == []
    assert [half.checks for half in guarded.broker.components.transactions.table] == [0]  # nobody could be asked

    await join(payer, PRODUCER)
    for round_ in (1, 2, 3):
        await check(guarded.broker, round_ * 70_000)
    await eventually(lambda: len(asked(payer)) == 3)
    await seen(stranger)
    assert asked(stranger) == []


async def test_who_lost_the_right_is_not_asked_any_more(guarded: Wire, payer: Wire, tmp_path: Path) -> None:
    await guarded.send("orders", b"a secret", properties=HALF)
    await join(payer, PRODUCER)
    access = guarded.broker.components.access
    assert access is not None
    (tmp_path / "store" / "config" / "plain_acl.yml").write_text(FILE.replace("orders=PUB", "orders=DENY"))
    for _ in range(2):  # a change counts when two looks found the same
        await access.reload(0)

    await check(guarded.broker)

    await guarded.runtime_info()
    assert asked(payer) == []


async def test_an_address_that_needs_no_account_is_asked(guarded: Wire, payer: Wire) -> None:
    await guarded.send("orders", b"a secret", properties=HALF)
    access = guarded.broker.components.access
    assert access is not None
    await access.put_global_white(["127.0.0.1"], None)
    await join(payer, None)

    await check(guarded.broker)

    await eventually(lambda: asked(payer) == [b"a secret"])


async def test_without_access_control_every_member_is_asked(tmp_path: Path) -> None:
    async with started(tmp_path / "store") as wire:
        await wire.create_topic("orders")
        await wire.send("orders", b"a secret", properties=HALF)
        await join(wire, ADMIN)
        await check(wire.broker)
        await eventually(lambda: asked(wire) == [b"a secret"])


async def test_nobody_takes_the_replies_of_another_accounts_client(guarded: Wire, stranger: Wire, payer: Wire) -> None:
    # Given a producer, and another account that says it is the same client
    await join(payer, PRODUCER, "askers")
    refused = await stranger.heartbeat("payer", producer_group="thieves")
    assert_refused(refused, "The client id 'payer' belongs to another account while that is connected")

    # Then a reply goes to the one that was there first
    answer = await guarded.try_send(
        "local_REPLY_TOPIC",
        b"for payer",
        properties={"REPLY_TO_CLIENT": "payer"},
        code=RequestCode.SEND_REPLY_MESSAGE_V2,
    )
    assert answer.code == ResponseCode.SUCCESS
    assert [each.body for each in payer.pushed] == [b"for payer"]
    assert stranger.pushed == []


async def test_nobody_is_another_accounts_consumer(guarded: Wire, stranger: Wire, payer: Wire) -> None:
    # Given a consumer, and an account that may consume as the same group
    payer.credentials = CONSUMER
    await payer.heartbeat("consumer", group="billing", topics={"orders": "*"})
    stranger.credentials = ADMIN

    refused = await stranger.heartbeat("consumer", group="billing", topics={"orders": "*"})

    assert_refused(refused, "The client id 'consumer' belongs to another account while that is connected")
    group = guarded.broker.components.clients.find_consumers("billing")
    assert group is not None
    assert len(group.members) == 1
    assert (await stranger.heartbeat("other", group="billing", topics={"orders": "*"})).code == ResponseCode.SUCCESS


async def test_a_client_id_is_free_when_its_connection_has_ended(guarded: Wire, stranger: Wire, payer: Wire) -> None:
    await join(payer, PRODUCER, "askers")
    await payer.client.close()
    producers = guarded.broker.components.clients.producers
    await eventually(lambda: not producers.of_group("askers"))

    assert (await stranger.heartbeat("payer", producer_group="others")).code == ResponseCode.SUCCESS


async def test_a_client_may_have_several_connections(guarded: Wire, payer: Wire) -> None:
    other = another_client(guarded)
    for wire in (payer, other):
        await join(wire, PRODUCER, "askers")
    await other.client.close()


async def test_one_account_does_not_use_up_the_groups_of_all(guarded_and_small: Wire) -> None:
    first, second = another_client(guarded_and_small), another_client(guarded_and_small)
    for wire, group in ((first, "p1"), (second, "p2"), (second, "p1")):
        await join(wire, STRANGER, group)
    refused = await second.heartbeat("payer", producer_group="p3")
    assert (refused.code, refused.remark) == (
        ResponseCode.SYSTEM_ERROR,
        "limit groups=8 reached: one account may have 1 / 4 of them; "
        "the producer groups of client 'payer' were not registered",
    )
    await join(guarded_and_small, PRODUCER, "p3", client_id="another")
    await first.client.close()
    await second.client.close()


@pytest.fixture
async def guarded_and_small(tmp_path: Path) -> AsyncIterator[Wire]:
    """A broker that lets an account have two producer groups."""
    config = tmp_path / "store" / "config"
    config.mkdir(parents=True)
    (config / "plain_acl.yml").write_text(FILE)
    limits = BrokerLimits(groups=8)
    async with started(tmp_path / "store", access_control=True, limits=limits) as wire:
        yield wire


async def test_a_consumer_is_not_given_by_hand_what_its_account_may_not_read(guarded: Wire, payer: Wire) -> None:
    # Given a consumer whose account may read the topic orders alone
    payer.credentials = CONSUMER
    await payer.heartbeat("consumer", group="billing", topics={"orders": "*"})
    await guarded.create_topic("secrets")
    ids = [(await guarded.send(topic, topic.encode())).msg_id for topic in ("orders", "secrets")]

    answers = [await guarded.ask(ConsumeMessageDirectlyRequest("billing", "consumer", each)) for each in ids]

    assert answers[0].code == ResponseCode.SUCCESS
    assert_refused(answers[1], "The account of client 'consumer' may not read topic:secrets")
    assert [decode_one(each.body).body for each in payer.pushed if each.body] == [b"orders"]
