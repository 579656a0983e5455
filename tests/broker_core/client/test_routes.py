"""The route cache."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from broker_core.client.errors import TopicNotFound, Unreachable
from broker_core.client.routes import Route, Routes
from broker_core.client.tasks import Tasks
from broker_core.errors import GantryError
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.routes import BrokerData, QueueData, TopicRouteData


def data(*, queues: int = 2, perm: int = 6, ids: tuple[int, ...] = (0, 1), conf: str | None = None) -> TopicRouteData:
    addrs = {broker_id: f"10.0.0.{broker_id}:10911" for broker_id in ids}
    return TopicRouteData(
        broker_datas=[BrokerData("broker-a", "test", addrs)],
        queue_datas=[QueueData("broker-a", queues, queues, perm)],
        order_topic_conf=conf,
    )


class NameServer:
    """Returns the answers set by a test, and counts requests."""

    def __init__(self) -> None:
        self.known: dict[str, TopicRouteData] = {}
        self.asked: list[str] = []
        self.failure: GantryError | None = None

    async def ask(self, topic: str) -> TopicRouteData:
        self.asked.append(topic)
        await asyncio.sleep(0)
        if self.failure is not None:
            raise self.failure
        if topic not in self.known:
            raise TopicNotFound(topic)
        return self.known[topic]


@pytest.fixture
async def server() -> NameServer:
    return NameServer()


@pytest.fixture
async def routes(server: NameServer) -> AsyncIterator[Routes]:
    tasks = Tasks("test")
    yield Routes(server.ask, tasks)
    await tasks.close()


def test_queues_without_permission_are_left_out() -> None:
    assert Route.of("t", data(perm=4)).write_queues == ()
    assert len(Route.of("t", data(perm=4)).read_queues) == 2
    assert Route.of("t", data(perm=2)).read_queues == ()


def test_a_broker_without_a_master_is_read_but_not_written() -> None:
    route = Route.of("t", data(ids=(1,)))

    assert route.write_queues == ()
    assert len(route.read_queues) == 2
    assert route.masters == {}


def test_an_order_topic_has_the_queues_of_its_list() -> None:
    route = Route.of("t", data(conf="broker-b:2;broker-a:1"))

    assert route.write_queues == (
        MessageQueue("t", "broker-b", 0), MessageQueue("t", "broker-b", 1), MessageQueue("t", "broker-a", 0),
    )  # fmt: skip


async def test_a_route_is_asked_for_once(routes: Routes, server: NameServer) -> None:
    server.known["t"] = data()

    first, second = await asyncio.gather(routes.get("t"), routes.get("t"))
    third = await routes.get("t")

    assert first is second is third
    assert server.asked == ["t"]


async def test_one_caller_that_gives_up_does_not_spoil_it_for_the_others(routes: Routes, server: NameServer) -> None:
    server.known["t"] = data()
    first, second = asyncio.ensure_future(routes.get("t")), asyncio.ensure_future(routes.get("t"))
    await asyncio.sleep(0)

    first.cancel()

    assert (await second).topic == "t"


async def test_an_unknown_topic_is_asked_for_again(routes: Routes, server: NameServer) -> None:
    with pytest.raises(TopicNotFound):
        await routes.get("t")
    server.known["t"] = data()

    assert await routes.get("t")


async def test_an_old_route_outlives_its_name_server(routes: Routes, server: NameServer) -> None:
    server.known["t"] = data()
    before = await routes.get("t")
    server.failure = Unreachable("ns", "gone")

    await routes.refresh_all()

    assert routes.find("t") is before


async def test_an_unchanged_route_stays_the_same_object(routes: Routes, server: NameServer) -> None:
    server.known["t"] = data()
    before = await routes.get("t")
    server.known["t"] = data()
    await routes.refresh_all()
    assert routes.find("t") is before

    server.known["t"] = data(queues=8)
    await routes.refresh_all()

    after = routes.find("t")
    assert after is not None
    assert len(after.write_queues) == 8


async def test_a_topic_long_out_of_use_is_forgotten(routes: Routes, server: NameServer) -> None:
    server.known.update(used=data(), unused=data())
    await routes.get("used")
    await routes.get("unused")

    for _ in range(21):
        await routes.refresh_all()
        routes.find("used")

    assert routes.find("used") is not None
    assert routes.find("unused") is None


async def test_reading_falls_back_to_any_broker_that_is_there(routes: Routes) -> None:
    routes.install("t", data(ids=(0, 2)))

    assert routes.readable("broker-a") == "10.0.0.0:10911"
    assert routes.readable("broker-a", 1) == "10.0.0.2:10911"
    assert routes.readable("broker-a", 7) == "10.0.0.0:10911"
    assert routes.readable("broker-b") is None


async def test_slaves_are_listed_only_if_wanted(routes: Routes) -> None:
    routes.install("t", data())

    assert routes.addresses(masters_only=True) == ["10.0.0.0:10911"]
    assert routes.addresses(masters_only=False) == ["10.0.0.0:10911", "10.0.0.1:10911"]


async def test_new_brokers_are_announced(server: NameServer) -> None:
    announced: list[int] = []
    routes = Routes(server.ask, Tasks("test"), on_new_brokers=lambda: announced.append(1))

    routes.install("t", data())
    routes.install("u", data())
    routes.install("t", data(ids=(0, 1, 2)))

    assert len(announced) == 2
