"""One broker and one Redis for all tests of the gateway; each test uses its own topics, groups and keys.

The suites of the data plane and of the live channels run on two kinds of installations (`runs_as`): on a gateway in a
process, and on the services of ``docker-compose.yml``, by turns on several gateways. There those marked ``sample`` run
each time, and with SERVICES=1 all but those marked ``in_process``.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.gateway.installation import Installation, running_installation
from tests.gateway.services import PROCESS, SERVICES, Services, is_left_out, running_services
from tests.support.cluster import RunningBroker, started_broker
from tests.support.postgres import NOT_INSTALLED, find_programs
from tests.support.redis import redis_server


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the services are not asked for, unless all is wanted."""
    if left_out := [item for item in items if is_left_out(item)]:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not is_left_out(item)]


@pytest.fixture(scope="session", params=[PROCESS, SERVICES])
def runs_as(request: pytest.FixtureRequest) -> str:
    """What kind of installation a test runs on."""
    return str(request.param)


@pytest.fixture(scope="session")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    """All services of ``docker-compose.yml``."""
    if (programs := find_programs()) is None:
        pytest.skip(NOT_INSTALLED)
    with running_services(tmp_path_factory.mktemp(SERVICES), programs) as running:
        yield running


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
