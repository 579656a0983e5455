"""Live sockets of a whole gateway process, and publishing like the sampler and the jobs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from typing import Any, Protocol

import pytest
import redis.asyncio
from pytest_django.fixtures import Settings
from websockets.asyncio.client import ClientConnection, connect

from console import live
from console.lag.publishing import ClusterPublisher
from console.lag.reading import LagReading
from console.lag.shapes import GroupState, TopicState
from console.lag.state import ClusterState, StateBuilder
from tests.console.lag.figures import AT
from tests.gateway.installation import Installation
from tests.gateway.services import SERVICES, Services

Publish = Callable[[dict[str, Any]], Awaitable[None]]


class PublishCluster(Protocol):
    """Publishes the groups and topics of a cluster."""

    async def __call__(
        self, cluster: str, groups: Iterable[GroupState] = (), topics: Iterable[TopicState] = ()
    ) -> None: ...


class PublishTopics(Protocol):
    """Publishes the topics of a cluster."""

    async def __call__(self, cluster: str, **messages: int) -> None: ...


class Live:
    """A live socket for the console."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.hello: dict[str, Any] = {}

    async def say(self, **frame: Any) -> None:
        await self.connection.send(json.dumps(frame))

    async def hear(self) -> dict[str, Any]:
        frame: dict[str, Any] = json.loads(await asyncio.wait_for(self.connection.recv(), 20))
        return frame

    async def closed_with(self) -> int | None:
        await asyncio.wait_for(self.connection.wait_closed(), 20)
        return self.connection.close_code


@asynccontextmanager
async def listening(installation: Installation, path: str, role: str = "viewer") -> AsyncIterator[Live]:
    """Open a live socket and read its hello frame."""
    headers = {"Authorization": f"Bearer {installation.tokens[role]}"}
    async with connect(f"{installation.sockets}/{path}", additional_headers=headers, proxy=None) as connection:
        socket = Live(connection)
        socket.hello = await socket.hear()
        assert socket.hello["type"] == "hello"
        yield socket


@pytest.fixture(scope="session")
def installation(runs_as: str, request: pytest.FixtureRequest) -> Installation:
    """The installation that the tests are about."""
    if runs_as == SERVICES:
        services: Services = request.getfixturevalue("services")
        return services.by_turns
    found: Installation = request.getfixturevalue("installation")
    return found


@pytest.fixture(scope="session")
def redis_url(runs_as: str, request: pytest.FixtureRequest) -> str:
    """The Redis of the installation."""
    if runs_as == SERVICES:
        services: Services = request.getfixturevalue("services")
        return services.redis_url
    found: str = request.getfixturevalue("redis_url")
    return found


@pytest.fixture(scope="module")
def clusters(installation: Installation, request: pytest.FixtureRequest) -> Iterator[None]:
    """Add the `CLUSTERS` of a module, which answer nobody: the module says itself what is published of them."""
    names: tuple[str, ...] = getattr(request.module, "CLUSTERS", ())
    with installation.client() as admin:
        for name in names:
            added = admin.post("/api/v1/clusters", json={"name": name, "name_servers": ["127.0.0.1:1"]})
            assert added.status_code == 201, added.text
        yield
        for name in names:
            removed = admin.delete(f"/api/v1/clusters/{name}", headers={"If-Match": "*"})
            assert removed.status_code == 204, removed.text


@pytest.fixture
async def publish(settings: Settings, redis_url: str, clusters: None) -> AsyncIterator[Publish]:
    """Publish states to the subscribers at the installation's Redis."""
    layer = settings.CHANNEL_LAYERS["default"]
    settings.CHANNEL_LAYERS = {"default": {**layer, "CONFIG": {**layer["CONFIG"], "hosts": [redis_url]}}}
    async with redis.asyncio.Redis.from_url(redis_url) as store:
        publisher = live.Publisher(store)

        async def act(states: dict[str, Any]) -> None:
            await publisher.publish(states)

        yield act


@pytest.fixture
async def publish_cluster(settings: Settings, redis_url: str, clusters: None) -> AsyncIterator[PublishCluster]:
    """Publish the groups and topics of a cluster as the sampler does."""
    layer = settings.CHANNEL_LAYERS["default"]
    settings.CHANNEL_LAYERS = {"default": {**layer, "CONFIG": {**layer["CONFIG"], "hosts": [redis_url]}}}
    publishers: dict[str, ClusterPublisher] = {}
    nothing = StateBuilder().step(LagReading(at=1_800_000_000_000))
    async with redis.asyncio.Redis.from_url(redis_url) as store:

        async def act(cluster: str, groups: Iterable[GroupState] = (), topics: Iterable[TopicState] = ()) -> None:
            publisher = publishers.setdefault(cluster, ClusterPublisher(cluster, store))
            by_name = {each.name: each for each in groups}, {each.name: each for each in topics}
            await publisher.publish(ClusterState(nothing.overview, *by_name), by_name[0])

        yield act


@pytest.fixture
def publish_topics(publish_cluster: PublishCluster) -> PublishTopics:
    """Publish the topics of a cluster, with their messages, as the sampler does."""

    async def act(cluster: str, **messages: int) -> None:
        topics = [TopicState(name=name, measured_at=AT, messages=count) for name, count in messages.items()]
        await publish_cluster(cluster, topics=topics)

    return act


@pytest.fixture
async def watched(redis_url: str) -> AsyncIterator[Callable[[str], Awaitable[bool]]]:
    """Return whether a subject has subscribers, which then get the next state."""
    async with redis.asyncio.Redis.from_url(redis_url) as store:

        async def look(subject: str) -> bool:
            return bool(await store.exists(f"gantry:asgi:group:{live.channel_group(subject)}"))

        yield look
