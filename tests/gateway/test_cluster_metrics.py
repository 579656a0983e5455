"""Requirements of `gateway.cluster_metrics`: brokers are asked at the scrape, and what is unknown has no sample."""

from __future__ import annotations

from typing import Any

import msgspec
import orjson
import pytest
import redis.asyncio

from broker_core.client.admin.clusters import BrokerRuntime
from broker_core.client.producer import Producer
from broker_core.protocol.message import Message
from console.clusters.connections import ClusterAddress, Connections
from console.lag.shapes import BrokerState, OverviewState, TopicState
from gateway import cluster_metrics
from gateway.cluster_metrics import COUNTERS, GAUGES
from tests.support.cluster import RunningBroker, create_topic

CLUSTER = "measured"
AT = "2026-05-01T08:00:00.123Z"


def figures(runtime: BrokerRuntime) -> dict[str, float | None]:
    return {each.name: each.read(runtime) for each in (*GAUGES, *COUNTERS)}


def test_a_broker_that_tells_nothing_has_no_figures() -> None:
    assert set(figures(BrokerRuntime({})).values()) == {None}


@pytest.mark.parametrize(
    ("text", "count"), [("0 B", 0), ("1.5 KiB", 1536), ("2 MiB", 2**21), ("much", None), ("7 x", None)]
)
def test_bytes_to_flush_are_read_as_brokers_write_them(text: str, count: float | None) -> None:
    assert figures(BrokerRuntime({"remainHowManyDataToFlush": text}))["unflushed_bytes"] == count


def test_messages_wait_in_the_levels_and_in_the_timer() -> None:
    levels = {"scheduleMessageOffset_1": "3,10", "scheduleMessageOffset_2": "5,5"}
    assert figures(BrokerRuntime(levels))["delayed_messages"] == 7
    assert figures(BrokerRuntime({**levels, "timerMessages": "4"}))["delayed_messages"] == 11
    assert figures(BrokerRuntime({"timerMessages": "4"}))["delayed_messages"] == 4, "no level was ever used"
    assert figures(BrokerRuntime({"timerMessages": "0"}))["delayed_messages"] == 0


def overview(*brokers: BrokerState) -> Any:
    """Return the published state of a cluster of which only the brokers are known."""
    fields = [field.name for field in msgspec.structs.fields(OverviewState) if field.required]
    known = {"at": AT, "lag_unknown_groups": 0, "brokers": msgspec.to_builtins(brokers), "brokers_answering": 1}
    return {**dict.fromkeys(fields), **known, "worst_groups": [], "missing": []}


async def publish(store: redis.asyncio.Redis, subject: str, data: Any) -> None:
    event = {"type": "state", "subject": subject, "seq": 1, "at": AT, "data": data}
    await store.set(f"gantry:live:{subject}", orjson.dumps(event), ex=20)


@pytest.mark.django_db(transaction=True)
async def test_a_running_broker_tells_its_figures(shared_broker: RunningBroker, redis_url: str) -> None:
    async def find(name: str) -> ClusterAddress | None:
        return ClusterAddress(name, (shared_broker.name_server,)) if name == CLUSTER else None

    connections = Connections(find)
    async with redis.asyncio.Redis.from_url(redis_url) as store:
        session = await connections.session(CLUSTER)
        await create_topic(session, "measured-topic")
        async with Producer(session) as producer:
            for _ in range(40):
                await producer.send(Message("measured-topic", b"x"))
        [broker] = await (await connections.admin(CLUSTER)).clusters.brokers()
        up = BrokerState(name=broker.name, address=broker.addr, broker_id=0, role="master", reachable=True, reason=None)
        down = BrokerState(
            name="gone", address="127.0.0.1:1", broker_id=0, role="master", reachable=False, reason="refused"
        )
        slave = BrokerState(
            name=broker.name,
            address="127.0.0.1:2",
            broker_id=1,
            role="slave",
            reachable=True,
            reason=None,
            behind_bytes=70,
        )
        topics = [
            TopicState(name="%DLQ%billing", messages=3),
            TopicState(name="orders", messages=9),
            TopicState(name="new"),
        ]
        await publish(store, f"overview:{CLUSTER}", overview(up, down, slave))
        await publish(store, f"topics:{CLUSTER}", {"at": AT, "items": msgspec.to_builtins(topics)})
        families = await cluster_metrics.families(store, connections)
        await store.delete(f"gantry:live:overview:{CLUSTER}", f"gantry:live:topics:{CLUSTER}")
    await connections.close()
    found = {
        (sample.name, *sample.labels.values()): sample.value
        for family in families
        for sample in family.samples
        if sample.labels.get("cluster", CLUSTER) == CLUSTER
    }
    assert found["gantry_broker_up", CLUSTER, broker.name] == 1
    assert found["gantry_broker_up", CLUSTER, "gone"] == 0
    assert found["gantry_replica_lag_bytes", CLUSTER, broker.name, "1"] == 70
    assert not [key for key in found if key[0] == "gantry_replica_lag_ms"]
    assert found["gantry_broker_stored_messages_total", CLUSTER, broker.name] >= 40
    assert not [key for key in found if "gone" in key and key[0] != "gantry_broker_up"]
    put = [found["gantry_broker_put_latency_seconds", CLUSTER, broker.name, each] for each in ("0.5", "0.99", "0.999")]
    assert 0 < put[0] <= put[1] <= put[2]
    assert found["gantry_broker_leases", CLUSTER, broker.name] >= 0
    assert found["gantry_broker_open_transactions", CLUSTER, broker.name] >= 0
    assert found["gantry_dead_letter_messages", CLUSTER, "billing"] == 3
    assert [key[2] for key in found if key[0] == "gantry_topic_messages"] == ["orders"]
    assert found["gantry_jobs", "failed"] == 0
