"""Requirements of `console.replicas.away`: a replica that no name server lists says itself that it is held."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import redis.asyncio

from broker_core.clock import now_ms
from console import live
from console.clusters.connections import ClusterAddress, Connections
from console.clusters.models import Cluster
from console.lag.sampler import ClusterSampler
from console.lag.shapes import BrokerState, OverviewState
from console.replicas.away import held_among
from console.replicas.watch import ReplicaWatch
from tests.console.lag.figures import InProcess
from tests.console.replicas.administered import administered
from tests.support.ports import free_ports
from tests.support.replica_group import replica_group
from tests.support.wait import eventually

ADVICE = "keep a copy of its folder, remove it, empty the folder and start it again"


@pytest.fixture
async def store(redis_of_test: str) -> AsyncIterator[redis.asyncio.Redis]:
    async with redis.asyncio.Redis.from_url(redis_of_test) as found:
        await found.flushdb()
        yield found


@pytest.mark.django_db(transaction=True)
async def test_the_overview_says_of_an_unlisted_replica_that_it_is_held_and_of_a_silent_one_nothing(
    store: redis.asyncio.Redis, tmp_path: Path
) -> None:
    await Cluster.objects.acreate(name="prod", name_servers=["127.0.0.1:1"])
    async with replica_group(tmp_path, count=3) as group:
        # Given a loss that was accepted, and one of those with more that is back: the other one is stopped
        back, stopped = await group.lose()
        await group.start(back)

        async def find(_: str) -> ClusterAddress | None:
            return ClusterAddress("prod", (group.name_server,))

        connections = Connections(find)
        sampler = ClusterSampler("prod", connections, store, InProcess(), decisions=ReplicaWatch("prod"))

        async def states() -> dict[int | None, BrokerState]:
            await sampler.step(now_ms())
            event = await live.last_state(live.overview("prod"), store=store)
            shown = None if event is None else live.read(event["data"], OverviewState)
            return {} if shown is None else {each.replica_id: each for each in shown.brokers}

        async def one_is_held() -> bool:
            return any(each.held for each in (await states()).values())

        try:
            # When the sampler has asked
            await eventually(one_is_held)
            shown = await states()
        finally:
            await sampler.close()
            await connections.close()

        # Then the one says why it is away, and of the other one that is all that is known
        held_id = group.brokers[back].failover.replica.identity.broker_id  # type: ignore[union-attr]
        held = shown.pop(held_id)
        assert held.held is not None
        assert (held.held.code, held.reachable, held.behind_bytes) == ("ahead", False, None)
        assert held.reason is not None
        assert held.reason.startswith(f"the master has this log up to {held.held.common_end} only")
        assert held.reason.endswith(f"; replica {held_id} does not join by itself: {ADVICE}")
        assert (held.held.more_bytes or 0) > 0
        silent = next(each for each in shown.values() if each.address.endswith(f":{group.ports[stopped]}"))
        assert (silent.held, silent.reason) == (None, f"b {silent.replica_id} is not listed by any name server")
        assert [each.held for each in shown.values() if each.reachable] == [None]


async def test_who_is_another_replica_now_or_does_not_answer_is_not_called_held(tmp_path: Path) -> None:
    async with replica_group(tmp_path, count=3) as group, administered(group.name_server) as admin:
        back, _ = await group.lose()
        process = await group.start(back)
        number = process.failover.replica.identity.broker_id  # type: ignore[union-attr]

        async def found() -> bool:
            return bool(await held_among(admin, [(process.address, number)]))

        await eventually(found)
        leading = await group.master()
        nowhere = f"127.0.0.1:{free_ports(1)}"
        others = [(process.address, number + 1), (leading.address, leading.components.roles.now.broker_id)]
        assert await held_among(admin, [*others, (nowhere, number)]) == {}
