"""What an account asked for before it was deleted or lost rights is not served afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from typing import Any, Final

import pytest

from broker_core.broker.access import revoking
from broker_core.broker.access.access import Access
from broker_core.protocol import bodies
from broker_core.protocol.bodies.access import PlainAccessConfig
from broker_core.protocol.bodies.heartbeat import ConsumerData, HeartbeatData
from broker_core.protocol.codes import PULL_SUBSCRIPTION, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.admin import DeleteAccessConfigRequest
from broker_core.protocol.headers.clients import HeartBeatRequest
from broker_core.protocol.headers.pull import PullMessageRequest
from broker_core.remoting import ConnectionClosed
from tests.broker_core.broker.access.conftest import ADMIN, CONSUMER, FILE, PRODUCER
from tests.support.broker import Wire, another_client
from tests.support.wait import eventually

HOUR_MS: Final = 3_600_000
Waits = Callable[[Wire], Coroutine[Any, Any, Command]]
MEMBER: Final = bodies.encode(HeartbeatData("idle", [], [ConsumerData("billing")]))
WAITS: Final[dict[str, Waits]] = {
    "a pull": lambda wire: wire.try_pull("orders", 0, group="billing", wait_ms=HOUR_MS),
    "a pop": lambda wire: wire.try_pop("orders", group="billing", wait_ms=HOUR_MS),
}


def access_of(wire: Wire) -> Access:
    assert wire.broker.components.access is not None
    return wire.broker.components.access


async def delete(wire: Wire) -> None:
    await access_of(wire).delete_account(CONSUMER.access_key)


async def take_topic(wire: Wire) -> None:
    await access_of(wire).put_account(PlainAccessConfig(CONSUMER.access_key, None, topic_perms=["orders=DENY"]))


async def take_group(wire: Wire) -> None:
    await access_of(wire).put_account(PlainAccessConfig(CONSUMER.access_key, None, group_perms=[]))


async def rewrite_file(wire: Wire) -> None:
    access = access_of(wire)
    access.main_file.write_text(FILE.replace("consumer-account", "renamed-account"))
    await access.reload(0)


@pytest.fixture
async def consumer(guarded: Wire) -> AsyncIterator[Wire]:
    """A member of the group billing."""
    other = another_client(guarded)
    other.credentials = CONSUMER
    await other.heartbeat("consumer", group="billing", topics={"orders": "*"}, producer_group="askers")
    yield other
    await other.client.close()


async def waiting(guarded: Wire) -> int:
    figures = await guarded.runtime_info()
    return int(figures["parkedPulls"]) + int(figures["parkedPops"])


@pytest.mark.parametrize("take", [delete, take_topic, take_group, rewrite_file])
@pytest.mark.parametrize("what", WAITS)
async def test_who_lost_its_right_gets_nothing_that_it_waited_for(
    guarded: Wire, consumer: Wire, what: str, take: Callable[[Wire], Awaitable[None]]
) -> None:
    poll = asyncio.create_task(WAITS[what](consumer))
    await eventually(lambda: waiting(guarded))

    await take(guarded)

    with pytest.raises(ConnectionClosed, match="closed"):
        await poll
    await guarded.send("orders", b"for billing")
    assert await waiting(guarded) == 0
    assert len(guarded.broker.components.leases) == 0


async def test_memberships_end_with_the_account(guarded: Wire, consumer: Wire) -> None:
    clients = guarded.broker.components.clients
    assert clients.find_consumers("billing") is not None

    await delete(guarded)

    await eventually(lambda: clients.find_consumers("billing") is None and len(clients.producers) == 0)


async def test_who_gains_a_right_goes_on(guarded: Wire, consumer: Wire) -> None:
    poll = asyncio.create_task(WAITS["a pull"](consumer))
    await eventually(lambda: waiting(guarded))

    await access_of(guarded).put_account(
        PlainAccessConfig(CONSUMER.access_key, None, topic_perms=["orders=PUB|SUB", "bills=SUB"])
    )

    await guarded.send("orders", b"for billing")
    assert (await poll).code == ResponseCode.SUCCESS


async def test_other_accounts_go_on(guarded: Wire, consumer: Wire) -> None:
    poll = asyncio.create_task(WAITS["a pull"](consumer))
    await eventually(lambda: waiting(guarded))

    await access_of(guarded).delete_account(PRODUCER.access_key)

    await guarded.send("orders", b"for billing")
    assert (await poll).code == ResponseCode.SUCCESS


async def test_an_address_that_is_trusted_no_more_is_closed(guarded: Wire) -> None:
    other = another_client(guarded)
    await access_of(guarded).put_global_white(["127.0.0.1"], None)
    poll = asyncio.create_task(WAITS["a pull"](other))
    await eventually(lambda: waiting(guarded))

    await access_of(guarded).put_global_white([], None)

    with pytest.raises(ConnectionClosed):
        await poll
    await other.client.close()


async def test_who_deletes_its_own_account_gets_the_answer(guarded: Wire) -> None:
    answer = await guarded.ask(DeleteAccessConfigRequest(ADMIN.access_key))
    assert answer.code == ResponseCode.SUCCESS
    assert ADMIN.access_key not in access_of(guarded).table.accounts


async def test_a_client_that_does_not_read_is_cut_off(guarded: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    # Its connection cannot be closed in good order while answers lie there for it.
    monkeypatch.setattr(revoking, "_GRACE_SECONDS", 0.0)
    await guarded.send("orders", bytes(200_000))
    host, _, port = guarded.address.rpartition(":")
    _, writer = await asyncio.open_connection(host, int(port), limit=1024)
    writer.write(CONSUMER.sign(Command.request(HeartBeatRequest(), MEMBER)).encode())
    header = PullMessageRequest("billing", "orders", 0, 0, 1, PULL_SUBSCRIPTION, subscription="*")
    writer.write(CONSUMER.sign(Command.request(header)).encode() * 400)
    clients = guarded.broker.components.clients

    def is_stuck() -> bool:
        group = clients.find_consumers("billing")
        return group is not None and not any(member.channel.has_room for member in group.members.values())

    await eventually(is_stuck)

    await delete(guarded)

    await eventually(lambda: clients.find_consumers("billing") is None)
    writer.close()
