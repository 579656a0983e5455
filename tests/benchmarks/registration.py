"""A broker of 20,000 topics at its name server: the cost of a heartbeat and of a topic, beside a broker of one."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from broker_core.broker.config import Identity, TopicDefaults
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.registration import Registration
from broker_core.broker.replication.standing import Standing
from broker_core.broker.role import Role, Roles
from broker_core.broker.saving import JsonFile
from broker_core.broker.topics import Topics
from broker_core.namesrv.config import NameServerConfig
from broker_core.namesrv.server import NameServer
from broker_core.protocol.bodies.topics import TopicConfig
from broker_core.remoting import RemotingClient
from tests.benchmarks.measure import Row

MANY = 20_000
ROUNDS = 200


def run() -> list[Row]:
    """Return the rates of both, each the median of many."""
    one, many = asyncio.run(_rates(1)), asyncio.run(_rates(MANY))
    return [
        Row(f"{what}, {MANY} topics", rate, "a second", "with 1 topic", few)
        for what, rate, few in zip(("heartbeat", "register a new topic"), many, one, strict=True)
    ]


async def _rates(count: int) -> tuple[float, float]:
    name_server, client = NameServer(NameServerConfig(port=0)), RemotingClient()
    await name_server.start()
    with _topics(count) as topics:
        registration = Registration(
            Identity(), "127.0.0.1:10911", topics, [f"127.0.0.1:{name_server.port}"], client,
            roles=Roles(Role.of_id(0)), standing=Standing(), timeout_ms=60_000, clock=lambda: 1,
        )  # fmt: skip
        await registration.register()
        heartbeats, news = [], []
        for number in range(ROUNDS):
            heartbeats.append(await _seconds(registration))
            topics.put(TopicConfig(f"new-{number}", 4, 4), now=number)
            news.append(await _seconds(registration))
    await client.close()
    await name_server.close()
    return 1 / sorted(heartbeats)[ROUNDS // 2], 1 / sorted(news)[ROUNDS // 2]


@contextmanager
def _topics(count: int) -> Iterator[Topics]:
    with tempfile.TemporaryDirectory() as folder:
        limits = BrokerLimits(topics=count + ROUNDS + 100)
        file = JsonFile(Path(folder) / "topics.json")
        topics = Topics(file, identity=Identity(), defaults=TopicDefaults(), limits=limits)
        for number in range(count):
            topics.put(TopicConfig(f"topic-{number}", 4, 4), now=number)
        yield topics


async def _seconds(registration: Registration) -> float:
    begin = time.perf_counter()
    await registration.register()
    return time.perf_counter() - begin
