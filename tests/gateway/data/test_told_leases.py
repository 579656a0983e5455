"""Requirements of `gateway.data.told_leases`: what one process granted and another one settled is no longer out."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator

import httpx
import pytest
import redis.asyncio
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from gateway.data.told_leases import STREAM, ToldLeases
from gateway.limits import GatewayLimits
from tests.gateway.data.conftest import Api, Door, code_of
from tests.gateway.data.test_consumers import shown
from tests.gateway.data.test_stream import open_talk
from tests.gateway.running import make_parts, running_plane
from tests.support.cluster import RunningBroker
from tests.support.wait import eventually

_LIMITS = GatewayLimits(leases_per_caller=3)


@pytest.fixture
async def pair(shared_broker: RunningBroker, redis_url: str) -> AsyncIterator[tuple[Api, Api]]:
    """Two processes that share broker and Redis; each lets a caller have three messages."""
    one, two = (make_parts(shared_broker.name_server, redis_url, limits=_LIMITS) for _ in range(2))
    async with (
        running_plane(one) as here,
        running_plane(two) as there,
        httpx.AsyncClient(base_url=f"http://{here}", trust_env=False) as first,
        httpx.AsyncClient(base_url=f"http://{there}", trust_env=False) as second,
    ):
        yield Api(first, one, Door([here], {})), Api(second, two, Door([there], {}))


def out(api: Api) -> int:
    return api.parts.leases.total(api.parts.clock())


async def received(api: Api, topic: str, group: str) -> list[str]:
    """Take all three messages that the caller may have; return their receipts."""
    await api.produce(topic, *"abc")
    messages = await api.receive(group, topic, max_messages=32, lease_ms=120_000)
    assert len(messages) == 3
    return [message["receipt"] for message in messages]


async def test_what_another_process_acknowledges_makes_room_at_once(pair: tuple[Api, Api]) -> None:
    one, two = pair
    topic, group = await one.topic(), one.group()
    for _ in range(4):
        receipts = await received(one, topic, group)
        assert (await two.settle("ack", group, topic, *receipts)).json()["settled"] == 3
    await eventually(lambda: out(one) == 0)

    async def none_in_flight() -> bool:
        return [each.in_flight for each in await shown(one.parts, group)] == [0]

    await eventually(none_in_flight)


async def test_what_another_process_extends_counts_once_and_there(pair: tuple[Api, Api]) -> None:
    one, two = pair
    topic, group = await one.topic(), one.group()
    receipts = await received(one, topic, group)
    assert (await two.settle("extend", group, topic, *receipts[:2], lease_ms=60_000)).status_code == 200
    assert (await two.settle("nack", group, topic, receipts[2], delay_ms=60_000)).status_code == 200
    await eventually(lambda: (out(one), out(two)) == (0, 2))


async def test_too_many_in_flight_says_when_to_try_again(pair: tuple[Api, Api]) -> None:
    one, _ = pair
    topic, group = await one.topic(), one.group()
    await received(one, topic, group)
    refused = await one.post(f"/groups/{group}/topics/{topic}:receive", {})
    assert code_of(refused) == (429, "TOO_MANY_IN_FLIGHT")
    assert refused.headers["retry-after"] == "1"


async def test_a_socket_is_not_told_of_leases_that_another_process_settled(pair: tuple[Api, Api]) -> None:
    one, two = pair
    topic, group = await one.topic(), one.group()
    await one.produce(topic, "acked", "nacked", "kept")
    async with open_talk(one.door, "consume") as socket:
        await socket.say(type="subscribe", group=group, topic=topic, credit=3, lease_ms=2_000)
        messages = {message["body"]["data"]: message["receipt"] for message in await socket.hear_of("message", 3)}
        await two.settle("ack", group, topic, messages["acked"])
        await two.settle("nack", group, topic, messages["nacked"], delay_ms=60_000)
        (expired,) = await socket.hear_of("lease_expired")
        assert expired["receipts"] == [messages["kept"]]
    assert not one.parts.watched


async def test_leases_that_end_are_not_shown_though_nobody_receives_again(pair: tuple[Api, Api]) -> None:
    one, _ = pair
    topic, group = await one.topic(), one.group()
    await one.produce(topic, "a")
    await one.receive(group, topic, lease_ms=1_000)
    assert one.parts.leases
    await eventually(lambda: not one.parts.leases)


async def test_without_redis_it_is_told_when_redis_is_back(redis_url: str, caplog: pytest.LogCaptureFixture) -> None:
    heard: list[tuple[str, list[int]]] = []

    def process(store: redis.asyncio.Redis) -> ToldLeases:
        return ToldLeases(store, lambda text, offsets: heard.append((text, list(offsets))), listens=bool, sweep=bool)

    async with (
        redis.asyncio.Redis.from_url(redis_url) as store,
        redis.asyncio.Redis(host="127.0.0.1", port=1, retry=Retry(NoBackoff(), 0)) as nowhere,
    ):
        await store.delete(STREAM)
        lost = process(nowhere)
        lost.tell("p", [1])
        with caplog.at_level(logging.WARNING):
            await lost.share()
            lost.tell("p", [2, 3])
            await lost.share()
        assert len(caplog.records) == 1
        lost._store = store
        await lost.share()
        listening = ToldLeases(
            store, lambda text, offsets: heard.append((text, list(offsets))), listens=lambda: True, sweep=bool
        )
        await listening.share()
        await listening.share()
        assert heard == [("p", [1, 2, 3])]
        assert 0 < await store.ttl(STREAM) <= 60
