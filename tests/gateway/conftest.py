"""One broker and one Redis for all tests of the gateway; each test uses its own topics, groups and keys."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.gateway.installation import Installation, running_installation
from tests.support.cluster import RunningBroker, started_broker
from tests.support.redis import redis_server


@pytest.fixture(scope="session")
def shared_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A name server and a broker."""
    with started_broker(tmp_path_factory.mktemp("broker")) as running:
        yield running


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """A Redis."""
    with redis_server() as url:
        yield url


@pytest.fixture(scope="session")
def installation(
    tmp_path_factory: pytest.TempPathFactory, shared_broker: RunningBroker, redis_url: str
) -> Iterator[Installation]:
    """A gateway process with database, users and tokens."""
    data = tmp_path_factory.mktemp("installation")
    with running_installation(data, name_server=shared_broker.name_server, redis_url=redis_url) as running:
        yield running
