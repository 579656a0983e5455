"""Brokers and their state."""

from __future__ import annotations

import pytest

from broker_core.client.admin import Admin
from broker_core.client.admin.clusters import BrokerRuntime
from broker_core.client.config import ClientConfig
from broker_core.client.errors import Unreachable
from broker_core.client.session import Session
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.routes import KVTable
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from tests.broker_core.client.conftest import Live
from tests.support.scripted import scripted_cluster, succeed


async def test_the_broker_is_listed(live: Live) -> None:
    (broker,) = await live.admin.clusters.brokers()

    assert (broker.cluster, broker.name, broker.addr) == ("test", "broker-a", live.running.address)
    assert broker.is_master


async def test_a_broker_reports_its_figures(live: Live) -> None:
    await live.send(await live.topic(), "a")

    runtime = (await live.admin.clusters.runtime()).found[live.running.address]

    assert runtime.version == "V4_9_8"
    assert runtime.booted_at
    assert runtime.stored_total
    assert runtime.commit_log_bytes
    assert runtime.earliest_message_at
    assert runtime.disk_used_ratio is not None
    assert 0 < runtime.disk_used_ratio < 1
    assert runtime.in_rate is not None


async def test_an_uncounted_statistic_is_none(live: Live) -> None:
    assert await live.admin.clusters.stats_of(live.running.address, "TOPIC_PUT_NUMS", "nowhere") is None


async def test_one_broker_that_fails_does_not_hide_the_others() -> None:
    async with scripted_cluster("broker-a", "broker-b") as cluster:
        body = coder.encode(KVTable({"putTps": "12.5 11.0 10.9"}))
        for peer in cluster.brokers.values():
            peer.on(
                RequestCode.GET_BROKER_RUNTIME_INFO,
                succeed(lambda _: Command.response(ResponseCode.SUCCESS, body=body)),
            )
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            admin = Admin(session)
            await admin.clusters.brokers()
            await cluster["broker-b"].stop()

            answers = await admin.clusters.runtime()

    (runtime,) = answers.found.values()
    assert runtime.in_rate == 12.5
    assert [type(error) for error in answers.failed.values()] == [Unreachable]


async def test_no_name_server_is_unreachable() -> None:
    async with Session(ClientConfig(["127.0.0.1:1"])) as session:
        with pytest.raises(Unreachable):
            await Admin(session).clusters.brokers()


@pytest.mark.parametrize("text", ["", "nonsense", "NaN", "inf"])
def test_nonsense_is_not_a_figure(text: str) -> None:
    runtime = BrokerRuntime({"putTps": text, "commitLogDiskRatio": text, "commitLogMinOffset": text})

    assert (runtime.in_rate, runtime.disk_used_ratio, runtime.commit_log_bytes) == (None, None, None)
    assert BrokerRuntime({}).version is None
