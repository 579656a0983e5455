"""Requirements of `gateway.data.consumers`: callers are visible from the first receive to the last lease."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import Any

import pytest
import redis.asyncio
from pytest_django import Settings

from broker_core.client.errors import NotSupported
from broker_core.clock import now_ms
from console.accounts.addresses import client_address
from console.lag import lease_consumers
from console.lag.shapes import LeaseConsumerState
from console.moments import rfc3339
from gateway.data.consumers import GONE_AFTER_MS, Caller, LeaseConsumers
from gateway.data.parts import DataPlaneParts
from tests.gateway.data.conftest import Api, Door
from tests.gateway.data.test_stream import open_talk
from tests.support.wait import eventually


async def shown(parts: DataPlaneParts, group: str) -> list[LeaseConsumerState]:
    found = await lease_consumers.find(parts.redis, "local", time.time_ns() // 1_000_000)
    assert found is not None
    return found.get(group, [])


@pytest.mark.in_process
async def test_whoever_receives_is_shown_with_what_is_in_flight(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    await api.produce(topic, *"abc")
    before = time.time_ns() // 1_000_000
    messages = await api.receive(group, topic, max_messages=3, lease_ms=60_000)

    async def in_flight(count: int) -> bool:
        return [each.in_flight for each in await shown(api.parts, group)] == [count]

    await eventually(lambda: in_flight(3))
    (consumer,) = await shown(api.parts, group)
    assert (consumer.caller, consumer.user, consumer.kind) == ("ada-laptop", "ada", "token")
    assert consumer.address == "127.0.0.1"
    assert rfc3339(before) <= consumer.since <= consumer.last_receive_at
    await api.settle("ack", group, topic, messages[0]["receipt"])
    await api.settle("nack", group, topic, messages[1]["receipt"])
    await eventually(lambda: in_flight(1))


async def test_whoever_waits_for_a_first_message_is_there(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    waiting = asyncio.create_task(api.receive(group, topic, wait_ms=20_000))

    async def is_shown() -> bool:
        return [each.in_flight for each in await shown(api.parts, group)] == [0]

    await eventually(is_shown)
    await api.produce(topic, "a")
    assert len(await waiting) == 1


@pytest.mark.in_process
async def test_a_socket_is_a_consumer_too(api: Api, door: Door) -> None:
    topic, group = await api.topic(), api.group()
    async with open_talk(door, "consume", "developer") as socket:
        await socket.say(type="subscribe", group=group, topic=topic, credit=5)

        async def is_shown() -> bool:
            return [each.user for each in await shown(api.parts, group)] == ["dev"]

        await eventually(is_shown)


@pytest.mark.in_process
async def test_behind_a_proxy_that_is_known_the_client_is_shown(
    api: Api, parts: DataPlaneParts, settings: Settings
) -> None:
    topic, group = await api.topic(), api.group()
    settings.GANTRY_PROXIES = ["127.0.0.1"]
    parts.client_address = client_address
    headers = {"X-Forwarded-For": "198.51.100.1, 203.0.113.9"}
    answer = await api.post(f"/groups/{group}/topics/{topic}:receive", {}, headers=headers)
    assert answer.status_code == 200

    async def is_shown() -> bool:
        return [each.address for each in await shown(api.parts, group)] == ["203.0.113.9"]

    await eventually(is_shown)


@pytest.mark.in_process
async def test_a_process_that_ends_takes_its_consumers_with_it(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    await api.receive(group, topic)

    async def is_shown() -> bool:
        return bool(await shown(api.parts, group))

    await eventually(is_shown)
    await api.parts.consumers.close()
    assert await shown(api.parts, group) == []


class Writes:
    """A Redis that only records writes."""

    def __init__(self) -> None:
        self.fields: list[Any] = []

    async def hset(self, key: str, process: str, field: bytes) -> None:
        self.fields.append(field)

    async def pexpire(self, key: str, ms: int) -> None: ...

    async def hdel(self, key: str, process: str) -> None:
        self.fields.append(None)


async def test_a_thousand_messages_are_written_once_and_a_consumer_that_stays_away_is_gone(redis_url: str) -> None:
    now = 1_790_000_000_000
    writes: Any = Writes()
    known = LeaseConsumers(writes, clock=lambda: now)
    caller = Caller("ci", "ann", "token", "10.0.0.7")
    for number in range(1_000):
        with known.asking("local", "billing", caller):
            known.leased("local", "billing", caller, str(number // 10), [number], 60_000)
    await eventually(lambda: asyncio.sleep(0, bool(writes.fields)))
    assert len(writes.fields) == 1
    (row,) = lease_consumers.added({b"p": writes.fields[0]}, now)["billing"]
    assert row.in_flight == 1_000
    # The leases expire, and half a minute later no consumer is left.
    now += 60_000 + GONE_AFTER_MS + 1
    await eventually(lambda: asyncio.sleep(0, writes.fields[-1] is None))
    await known.close()


async def test_who_is_told_that_there_are_no_leases_is_no_consumer() -> None:
    writes: Any = Writes()
    known = LeaseConsumers(writes)
    for group in ("billing", "shipping"):
        with (
            suppress(NotSupported),
            known.asking("old", group, Caller("ci", "ann", "token", "10.0.0.7")),
        ):
            if group == "billing":
                raise NotSupported(3, " request type 200050 not supported", "h:1")
    await eventually(lambda: asyncio.sleep(0, bool(writes.fields)))
    assert list(lease_consumers.added({b"p": writes.fields[0]}, now_ms())) == ["shipping"]
    await known.close()


async def test_without_redis_nobody_can_say_who_receives(api: Api) -> None:
    async with redis.asyncio.Redis.from_url("redis://127.0.0.1:1") as nowhere:
        assert await lease_consumers.find(nowhere, "local", 0) is None
