"""The control plane for a program of an operator, on the gateway that all tests share.

Its tests run on two clusters of that gateway: ``local`` with Gantry's broker, and ``apache`` with Apache RocketMQ 4.9,
added over the API. A test marked ``gantry_only`` uses what such a broker cannot do; `test_apache.py` says what is
answered instead. Of the others, those marked ``sample`` run on ``apache`` each time, and all of them with APACHE=1.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import count
from typing import Any, Final, TypeAlias

import httpx
import pytest

from broker_core.client.admin import Admin
from broker_core.client.blocking import BlockingSession
from broker_core.protocol.bodies import MessageQueue
from tests.compat import java_build
from tests.gateway.control.documented import Document
from tests.gateway.installation import Installation
from tests.support.apache import ApacheBroker, started_apache
from tests.support.cluster import RunningBroker
from tests.support.gantry import ROOT
from tests.support.wait import wait_until

_numbers = count(1)
APACHE = "apache"
Broker: TypeAlias = RunningBroker | ApacheBroker


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what an Apache broker cannot do, and what is not in the sample, unless all is wanted."""
    is_whole = os.environ.get("APACHE") == "1"
    left_out = {
        item
        for item in items
        if _is_for_apache(item)
        and (item.get_closest_marker("gantry_only") or not (is_whole or item.get_closest_marker("sample")))
    }
    if left_out:
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]


def _is_for_apache(item: pytest.Item) -> bool:
    call = getattr(item, "callspec", None)
    return call is not None and call.params.get("cluster") == APACHE


class Control:
    """Requests below one cluster as one of the cast, with unused names."""

    def __init__(self, clients: dict[str, httpx.Client], cluster: str, broker: Broker) -> None:
        self._clients = clients
        self.cluster = cluster
        self.broker = broker
        self.path = f"/api/v1/clusters/{cluster}"
        self.is_apache = cluster == APACHE

    @property
    def clients(self) -> Iterable[httpx.Client]:
        """Return the clients of all of the cast."""
        return self._clients.values()

    def as_(self, role: str) -> httpx.Client:
        """Return the client of admin, operator, developer, viewer, narrow, or of a stranger without a token."""
        return self._clients[role]

    def call(self, method: str, path: str, *, role: str = "operator", **options: Any) -> httpx.Response:
        """Send a request to a path below the cluster."""
        return self._clients[role].request(method, f"{self.path}{path}", **options)

    def change(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Change or delete the resource at a path below the cluster, with its current ETag."""
        tag = self.call("GET", path).headers["etag"]
        return self.call(method, path, headers={"If-Match": tag}, **options)

    def get(self, path: str, *, role: str = "operator", **query: Any) -> Any:
        """Return the resource at a path below the cluster; it must exist."""
        query = {name.rstrip("_"): value for name, value in query.items()}
        answer = self.call("GET", path, role=role, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def token(self, *scopes: str) -> dict[str, str]:
        """Return the header of a new token of the admin with these scopes; a stranger may send it."""
        made = self.as_("admin").post("/api/v1/tokens", json={"name": self.name("t"), "scopes": list(scopes)})
        assert made.status_code == 201, made.text
        return {"Authorization": f"Bearer {made.json()['token']}"}

    def name(self, stem: str = "orders") -> str:
        """Return an unused name."""
        return f"{stem}-c{next(_numbers)}"

    def topic(self, stem: str = "orders", *, queues: int = 1) -> str:
        """Create a topic for the test."""
        name = self.name(stem)
        answer = self.call("POST", "/topics", json={"name": name, "read_queues": queues, "write_queues": queues})
        assert answer.status_code == 201, answer.text
        return name

    def group(self, stem: str = "billing") -> str:
        """Create a consumer group for the test."""
        name = self.name(stem)
        answer = self.call("POST", "/groups", json={"name": name})
        assert answer.status_code == 201, answer.text
        return name

    def produce(self, topic: str, *texts: str, **entry: Any) -> list[dict[str, Any]]:
        """Store messages with these texts, and wait until they can be found; return their results."""
        messages = [{"body": {"encoding": "text", "data": text}, **entry} for text in texts]
        patient = {"messages": messages, "options": {"timeout_ms": 30_000}}
        answer = self.call("POST", f"/topics/{topic}/messages", json=patient)
        assert answer.status_code == 201, answer.text
        results: list[dict[str, Any]] = answer.json()["results"]
        wait_until(lambda: self._has(topic, results[-1]))
        return results

    def consume(self, group: str, topic: str, count: int) -> None:
        """Receive and acknowledge this many messages; natively where the broker knows no leases."""
        if self.is_apache:
            with BlockingSession(self.broker.config) as session:
                session.run(_commit(session.admin, group, topic, count))
            return
        path = f"/groups/{group}/topics/{topic}"
        taken = 0
        while taken < count:
            answer = self.call(
                "POST", f"{path}:receive", json={"max_messages": min(32, count - taken), "wait_ms": 5000}
            )
            assert answer.status_code == 200, answer.text
            receipts = [message["receipt"] for message in answer.json()["messages"]]
            taken += len(receipts)
            if receipts:
                assert self.call("POST", f"{path}:ack", json={"receipts": receipts}).status_code == 200

    def _has(self, topic: str, result: dict[str, Any]) -> bool:
        queues = self.get(f"/topics/{topic}/queues")["items"]
        return any(q["queue_id"] == result["queue_id"] and q["max_offset"] > result["offset"] for q in queues)


async def _commit(admin: Admin, group: str, topic: str, count: int) -> None:
    """Move a group past its next `count` messages, as a native member that consumed them does."""
    stored = await admin.offsets.stored(group, topic)
    positions: dict[MessageQueue, int] = {
        queue: int(at) for each in stored.found.values() for queue, at in each.items()
    }
    moved: dict[MessageQueue, int] = {}
    for queue, ends in (await admin.topics.stats(topic)).queues.items():
        at = positions.get(queue, ends.min_offset)
        moved[queue] = min(at + count, ends.max_offset)
        count -= moved[queue] - at
    assert count == 0, f"{count} messages are missing"
    done = await admin.offsets.set(group, moved)
    assert not done.failed, done.failed


@pytest.fixture(scope="session", params=["local", APACHE])
def cluster(request: pytest.FixtureRequest) -> str:
    """The name of the cluster that a test is about."""
    return str(request.param)


@pytest.fixture(scope="session")
def broker(cluster: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """The broker of the cluster; Apache RocketMQ's where the machine has what it takes."""
    if cluster != APACHE:
        yield request.getfixturevalue("shared_broker")
        return
    if missing := java_build.missing_tool():
        pytest.skip(f"left out: Apache RocketMQ's broker needs a JDK and Maven, and there is no {missing}")
    java_build.SERVER.build()
    # Its topics of transactions can be read after its first round of checks.
    with started_apache(tmp_path_factory.mktemp(APACHE), settings={"transactionCheckInterval": "1000"}) as running:
        yield running


@pytest.fixture(scope="session")
def control(cluster: str, broker: Broker, installation: Installation) -> Iterator[Control]:
    """The control plane for all tests of a cluster."""
    with ExitStack() as stack:
        clients = {role: stack.enter_context(installation.client(role)) for role in installation.tokens}
        clients["stranger"] = stack.enter_context(installation.client(None))
        if cluster == APACHE:
            added = clients["admin"].post(
                "/api/v1/clusters", json={"name": APACHE, "name_servers": [broker.name_server]}
            )
            assert added.status_code == 201, added.text
            # In its first second Apache's broker has no figures of itself yet, and refuses to tell them.
            wait_until(lambda: clients["admin"].get(f"/api/v1/clusters/{APACHE}/groups").status_code == 200)
        yield Control(clients, cluster, broker)


@pytest.fixture
def documented(control: Control) -> Iterator[None]:
    """Compare each answer with the OpenAPI document."""
    document = Document(control.as_("admin").get("/api/v1/openapi.json").json())
    for client in control.clients:
        client.event_hooks = {"response": [document.check]}
    yield
    for client in control.clients:
        client.event_hooks = {}


@pytest.fixture
def gone(control: Control, installation: Installation) -> Iterator[Callable[..., None]]:
    """Let the console remember a broker that also has the topic, and perhaps the group, and no longer exists."""

    def remember(topic: str, group: str = "unused") -> None:
        environment = {**os.environ, "GANTRY_DATA_DIR": str(installation.data)}
        code = _REMEMBER.format(topic=topic, group=group, cluster=control.cluster)
        subprocess.run([sys.executable, ROOT / "manage.py", "shell", "-c", code], env=environment, check=True)

    yield remember
    assert control.call("DELETE", "/brokers/broker-gone").status_code == 204


_REMEMBER: Final = """
from datetime import UTC, datetime
from console.clusters.memory import QueueCounts, Sighting, remember
topics, groups = {{"{topic}": QueueCounts(4, 4, 6)}}, {{"{group}": ("{topic}",)}}
seen = Sighting("broker-gone", {{0: "127.0.0.1:1"}}, topics, groups)
remember("{cluster}", [seen], datetime(2026, 5, 1, 8, tzinfo=UTC))
"""
