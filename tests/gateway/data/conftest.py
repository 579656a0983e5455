"""A data plane for each test, or several gateways by turns (`runs_as`), and their API for programs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, cycle
from typing import Any

import httpx
import pytest

from broker_core.protocol.headers.pop import PollingInfoRequest, PollingInfoResponse
from gateway.data.parts import DataPlaneParts
from tests.gateway.running import make_parts, running_plane
from tests.gateway.services import SERVICES, Services
from tests.support.cluster import RunningBroker, create_topic

_numbers = count(1)
# A loaded machine may need more than the usual three seconds to store a message.
_PATIENT = {"options": {"timeout_ms": 30_000}}


@pytest.fixture
def parts(runs_as: str, request: pytest.FixtureRequest) -> DataPlaneParts:
    """The parts of a data plane that reaches the broker of all tests, or that of the services."""
    if runs_as == SERVICES:
        services: Services = request.getfixturevalue("services")
        return make_parts(services.name_server, services.redis_url)
    shared_broker: RunningBroker = request.getfixturevalue("shared_broker")
    return make_parts(shared_broker.name_server, request.getfixturevalue("redis_url"))


class Door:
    """Where the data plane is asked: its processes one after the other, and the tokens of the cast."""

    def __init__(self, addresses: Sequence[str], tokens: Mapping[str, str]) -> None:
        self._addresses = cycle(addresses)
        self._tokens = tokens

    def next(self) -> str:
        """Return the ``host:port`` of the process whose turn it is."""
        return next(self._addresses)

    def authorization(self, token: str) -> dict[str, str]:
        """Return the header of a member of the cast, or of any other text."""
        return {"Authorization": f"Bearer {self._tokens.get(token, token)}"}


@pytest.fixture
async def door(runs_as: str, parts: DataPlaneParts, request: pytest.FixtureRequest) -> AsyncIterator[Door]:
    """The way to the data plane."""
    if runs_as == SERVICES:
        services: Services = request.getfixturevalue("services")
        made = services.gateways[0].tokens
        tokens = {**made, "developer": made["writer"], "narrow": made["orders"]}
        yield Door([f"127.0.0.1:{each.port}" for each in services.gateways], tokens)
        await parts.connections.close()
        await parts.redis.aclose()
        return
    async with running_plane(parts) as where:
        yield Door([where], {})


class _ByTurns(httpx.AsyncHTTPTransport):
    """Asks the process whose turn it is."""

    def __init__(self, door: Door) -> None:
        super().__init__()
        self._door = door

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        request.url = httpx.URL(f"http://{self._door.next()}").join(request.url.raw_path.decode())
        return await super().handle_async_request(request)


@dataclass
class Api:
    """The API for programs: paths below the cluster, JSON in and out."""

    client: httpx.AsyncClient
    parts: DataPlaneParts
    door: Door = field(default_factory=lambda: Door(["here"], {}))

    async def topic(self, *, queues: int = 1) -> str:
        """Create a topic for the test."""
        name = f"orders-{next(_numbers)}"
        await create_topic(await self.parts.connections.session("local"), name, queues=queues)
        return name

    def group(self) -> str:
        """Return the name of a group for the test."""
        return f"billing-{next(_numbers)}"

    async def post(self, path: str, body: Any = None, *, token: str = "admin", **options: Any) -> httpx.Response:
        """Post JSON, or with `content=` bytes, to a path below the cluster; messages get time to be stored."""
        headers = {**self.door.authorization(token), **options.pop("headers", {})}
        if "content" not in options:
            is_produce = path.endswith("/messages") and isinstance(body, dict)
            options["json"] = {**_PATIENT, **body} if is_produce else {} if body is None else body
        return await self.client.post(f"/api/v1/clusters/local{path}", headers=headers, **options)

    async def produce(self, topic: str, *texts: str, **entry: Any) -> list[dict[str, Any]]:
        """Store messages with these texts; return their results."""
        messages = [{"body": {"encoding": "text", "data": text}, **entry} for text in texts]
        answer = await self.post(f"/topics/{topic}/messages", {"messages": messages})
        assert answer.status_code == 201, answer.text
        results: list[dict[str, Any]] = answer.json()["results"]
        return results

    async def receive(self, group: str, topic: str, **wanted: Any) -> list[dict[str, Any]]:
        """Lease messages."""
        answer = await self.post(f"/groups/{group}/topics/{topic}:receive", wanted)
        assert answer.status_code == 200, answer.text
        messages: list[dict[str, Any]] = answer.json()["messages"]
        return messages

    async def waiting(self, group: str, topic: str) -> int:
        """Return how many receives wait at the broker."""
        session = await self.parts.connections.session("local")
        (addr,) = (await session.routes.get(topic)).masters.values()
        answer = await session.invoke(addr, PollingInfoRequest(group, topic, -1))
        return answer.header(PollingInfoResponse).polling_num

    async def settle(self, verb: str, group: str, topic: str, *receipts: str, **more: Any) -> httpx.Response:
        """Ack, nack or extend receipts."""
        return await self.post(f"/groups/{group}/topics/{topic}:{verb}", {"receipts": list(receipts), **more})


@pytest.fixture
async def api(door: Door, parts: DataPlaneParts) -> AsyncIterator[Api]:
    """The API of the test's data plane."""
    client = httpx.AsyncClient(base_url="http://127.0.0.1", transport=_ByTurns(door), trust_env=False, timeout=180)
    async with client:
        yield Api(client, parts, door)


def code_of(answer: httpx.Response) -> tuple[int, str]:
    """Return status and code of a problem, after checking that it is one."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    problem = answer.json()
    assert problem["status"] == answer.status_code
    # A repeated answer is exactly the first one.
    if "idempotency-replayed" not in answer.headers:
        assert problem["request_id"] == answer.headers["x-request-id"]
    return answer.status_code, problem["code"]
