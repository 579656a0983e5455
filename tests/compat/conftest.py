"""The unmodified Java client, built once, and the two servers that every test here is to pass against.

Where the machine has no Java compiler or Maven, one line says so.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.compat import java_build, passed
from tests.compat.driver import Driver, started_driver
from tests.compat.reading import Reader
from tests.compat.servers import KINDS, SHARED_SETTINGS, Server, SharedServers, started

__all__ = ["Server"]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what runs against Apache RocketMQ and is not in the sample, unless all of it is wanted."""
    if passed.runs_in_full():
        return
    left_out = [item for item in items if _is_for_apache(item) and item.get_closest_marker("sample") is None]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


def _is_for_apache(item: pytest.Item) -> bool:
    call = getattr(item, "callspec", None)
    return call is not None and call.params.get("server") == "apache"


@pytest.fixture(scope="session", autouse=True)
def _java_build() -> None:
    missing = java_build.missing_tool()
    if missing is not None:
        pytest.skip(
            f"left out: the Java client's tests need a JDK with a compiler and Maven, and there is no {missing}"
        )
    java_build.CLIENT.build()
    java_build.SERVER.build()


@pytest.fixture(scope="session")
def _shared_servers(_java_build: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedServers]:
    servers = SharedServers(tmp_path_factory.mktemp("shared"))
    try:
        yield servers
    finally:
        servers.stop()


@pytest.fixture(scope="module", params=sorted(KINDS, reverse=True))
def server(
    request: pytest.FixtureRequest, _shared_servers: SharedServers, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A broker with its name server that the tests of one module share: Gantry's, and then Apache RocketMQ's.

    A module's `SETTINGS`, by RocketMQ's names, go to both, its `APACHE_SETTINGS` to Apache RocketMQ alone; with one of
    `SHARED_SETTINGS` modules share their server.
    Each test uses topics and groups of its own.
    """
    settings = getattr(request.module, "SETTINGS", {})
    if any(settings is shared for shared in SHARED_SETTINGS):
        yield _shared_servers.get(request.param, settings)
        return
    if request.param == "apache":
        settings = settings | getattr(request.module, "APACHE_SETTINGS", {})
    with started(request.param, tmp_path_factory.mktemp(request.param), settings) as running:
        yield running


@pytest.fixture(scope="session")
def _jvm(_java_build: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    with started_driver(tmp_path_factory.mktemp("driver")) as driver:
        yield driver


@pytest.fixture
def driver(_jvm: Driver) -> Iterator[Driver]:
    """The JVM with the Java client that all tests share; what a test leaves running is shut down in order."""
    yield _jvm
    _jvm.shutdown_clients()


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A name for a topic or a group that no other test uses."""
    node = request.node.name.partition("[")[0].removeprefix("test_")
    return f"{node[:80]}"


@pytest.fixture
def reader(driver: Driver, server: Server) -> Reader:
    """Reads what lies in the server's topics."""
    return Reader(driver, server.name_server)
