"""A cluster that threads can ask."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from console.clusters import connections, services
from console.clusters.connections import ClusterAddress
from tests.support.cast import BY, Cast
from tests.support.cluster import RunningBroker, started_broker


@pytest.fixture
def running(tmp_path: Path, cast: Cast) -> Iterator[RunningBroker]:
    """The broker of a cluster ``prod``."""
    with started_broker(tmp_path) as broker:

        async def find(name: str) -> ClusterAddress:
            return ClusterAddress(name, (broker.name_server,))

        before = connections._process.find_cluster
        connections.use(None)
        connections.look_up_by(find)
        services.add(BY, name="prod", name_servers=[broker.name_server])
        yield broker
        _end_connections()
        if before is not None:
            connections.look_up_by(before)


def _end_connections() -> None:
    """Close the connections that this test opened: they would call a broker that is gone."""
    opened, loop = connections._process.connections, connections._process.loop_thread
    connections.use(None)
    if opened is not None and loop is not None:
        loop.run(opened.close())
