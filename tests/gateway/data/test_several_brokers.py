"""Requirements of the data plane while one of two brokers is down or hangs: scripted brokers answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from broker_core.protocol.codes import RequestCode, ResponseCode
from tests.gateway.data.conftest import Api
from tests.gateway.running import make_parts, running_plane
from tests.support.scripted import Cluster, refuse, scripted_cluster

RECEIVE = "/groups/billing/topics/orders:receive"


@asynccontextmanager
async def two_brokers() -> AsyncIterator[tuple[Cluster, Api]]:
    """A data plane in front of broker-a and broker-b, which both have the topic orders and no messages."""
    async with scripted_cluster("broker-a", "broker-b") as cluster:
        cluster.add_topic("orders", queues=1)
        for peer in cluster.brokers.values():
            peer.on(RequestCode.POP_MESSAGE, refuse(ResponseCode.PULL_NOT_FOUND))
        parts = make_parts(cluster.name_server.addr, "unix:///nowhere.sock")
        async with (
            running_plane(parts) as where,
            httpx.AsyncClient(base_url=f"http://{where}", trust_env=False) as client,
        ):
            yield cluster, Api(client, parts)


async def test_an_empty_answer_says_so_if_a_broker_was_not_asked() -> None:
    async with two_brokers() as (cluster, api):
        whole = (await api.post(RECEIVE, {})).json()
        assert (whole["reason"], whole["missing"]) == ("timeout", [])

        # When a broker is down, also once no name server lists it
        await cluster["broker-b"].stop()
        for reason in ("refused the connection", "no name server lists it now"):
            for wait_ms in (0, 50):
                found = (await api.post(RECEIVE, {"wait_ms": wait_ms})).json()
                # Then the topic is not said to be empty
                assert (found["messages"], found["reason"]) == ([], "incomplete")
                (missing,) = found["missing"]
                assert missing["broker"] == "broker-b"
                assert reason in missing["reason"]
            cluster.add_topic("orders", queues=1, on=("broker-a",))
            cluster.brokers.pop("broker-b", None)
            await (await api.parts.connections.session("local")).routes.refresh("orders")
