"""Requirements of `broker_core.client.absent_brokers`."""

from __future__ import annotations

import pytest

from broker_core.client import absent_brokers
from broker_core.client.config import ClientConfig
from broker_core.client.session import Session
from broker_core.protocol.codes import RequestCode
from tests.support.scripted import scripted_cluster
from tests.support.wait import eventually


async def test_a_broker_that_is_up_without_the_topic_is_not_absent() -> None:
    async with scripted_cluster("broker-a", "broker-b") as cluster:
        cluster.add_topic("orders")
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            await session.routes.get("orders")
            cluster.add_topic("orders", on=("broker-a",))
            await session.routes.refresh("orders")

            assert session.absent.of("orders") == ("broker-b",)
            await eventually(lambda: session.absent.of("orders") == ())


async def test_a_broker_whose_queues_are_not_readable_is_there() -> None:
    async with scripted_cluster("broker-a") as cluster:
        cluster.add_topic("orders")
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            await session.routes.get("orders")
            cluster.add_topic("orders", perm=2)
            await session.routes.refresh("orders")

            assert session.absent.of("orders") == ()


async def test_it_is_looked_for_about_once_a_second_and_forgotten_after_an_hour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with scripted_cluster("broker-a", "broker-b") as cluster:
        cluster.add_topic("orders")
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            await session.routes.get("orders")
            cluster.add_topic("orders", on=("broker-a",))
            del cluster.brokers["broker-b"]
            await session.routes.refresh("orders")

            for _ in range(50):
                assert session.absent.of("orders") == ("broker-b",)
            await eventually(lambda: cluster.name_server.asked(RequestCode.GET_BROKER_CLUSTER_INFO))
            await eventually(lambda: len(cluster.name_server.asked(RequestCode.GET_ROUTEINFO_BY_TOPIC)) == 3)

            monkeypatch.setattr(absent_brokers, "_FORGET_SECONDS", 0.0)
            await session.routes.refresh("orders")
            assert session.absent.of("orders") == ()
