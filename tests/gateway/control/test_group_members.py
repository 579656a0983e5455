"""Requirements of `gateway.control.group_members`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from urllib.parse import quote

import pytest

from broker_core.client.admin.groups import GroupConnections
from broker_core.client.config import ClientConfig, PushConfig
from broker_core.client.consumer.push import PushConsumer
from broker_core.client.errors import Unreachable
from broker_core.client.session import Session
from broker_core.protocol.message import StoredMessage
from console.errors import BrokersSilent
from gateway.control.group_members import require_member
from tests.gateway.control.conftest import Broker, Control


async def handled(message: StoredMessage) -> None:
    """Consume a message."""


@pytest.mark.sample
async def test_members_that_take_messages_from_each_other_are_told(control: Control, broker: Broker) -> None:
    topic, group = control.topic(queues=2), control.group()
    control.produce(topic, "a", tag="paid")

    async def told() -> tuple[bool | None, list[tuple[str, int]]]:
        # The members answer on the loop of this test.
        shown = await asyncio.to_thread(control.get, f"/groups/{group}/subscriptions")
        return shown["consistent"], [(row["expression"], len(row["clients"] or ())) for row in shown["items"]]

    async with AsyncExitStack() as stack:
        # Given a member that is alone
        first = await joined(stack, broker, group, (topic, "paid"))
        assert await told() == (True, [("paid", 1)])
        # When another one subscribes to other messages of the topic
        await joined(stack, broker, group, (topic, "sent"))
        # Then both are named
        assert await told() == (False, [("paid", 1), ("sent", 1)])
        # And a member says what it reads
        path = f"/groups/{group}/clients/{quote(first, safe='')}"
        member = await asyncio.to_thread(control.get, path)
        assert (member["client_id"], member["threads"]) == (first, PushConfig().concurrency)
        assert [(each["topic"], each["expression"]) for each in member["subscriptions"]] == [(topic, "paid")]
        assert {each["topic"] for each in member["queues"]} <= {topic, f"%RETRY%{group}"}
        assert all(each["cached_messages"] >= 0 for each in member["queues"])


async def joined(stack: AsyncExitStack, broker: Broker, group: str, wanted: tuple[str, str]) -> str:
    """Start a member of a group that subscribes to one topic; return its client id."""
    session = await stack.enter_async_context(Session(ClientConfig([broker.name_server])))
    consumer = PushConsumer(session, group, handled, PushConfig(start_from="first", persist_offsets_ms=100))
    consumer.subscribe(*wanted)
    await stack.enter_async_context(consumer)
    return session.client_id


def test_members_of_a_broker_that_is_away_are_unknown(control: Control, gone: Callable[[str], None]) -> None:
    topic, group = control.topic(), control.group()
    path = f"/groups/{group}/subscriptions"
    assert (control.get(path)["consistent"], control.get(path)["missing"]) == (True, [])
    gone(topic)
    shown = control.get(path)
    assert (shown["consistent"], [each["broker"] for each in shown["missing"]]) == (None, ["broker-gone"])
    clients = control.get(f"/groups/{group}/clients")
    assert (clients["items"], [each["broker"] for each in clients["missing"]]) == ([], ["broker-gone"])


def test_a_client_is_not_denied_while_a_broker_that_may_know_it_is_silent() -> None:
    silent = GroupConnections(failed={"b:1": Unreachable("b:1", "refused")})
    with pytest.raises(BrokersSilent, match="is not known: the broker at b:1 cannot be reached"):
        require_member("billing", "10.0.0.7@1", silent)


def test_a_client_that_is_not_there_is_not_found(control: Control) -> None:
    answer = control.call("GET", f"/groups/{control.group()}/clients/nobody")
    assert (answer.status_code, answer.json()["code"]) == (404, "NOT_FOUND")
