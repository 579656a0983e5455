"""Brokers that ask soon and often, a gateway whose hooks may be on this host, and a hook."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from tests.compat import java_build
from tests.console.alerts.receivers import Hook, web_hook
from tests.gateway.installation import Installation, running_installation
from tests.support.apache import ApacheBroker, started_apache
from tests.support.cluster import RunningBroker, started_broker
from tests.support.redis import redis_server
from tests.support.wait import wait_until

LOCAL: Final = "local"
BODY: Final = {"encoding": "json", "data": {"id": "A17"}}
_OFTEN: Final = {"transactionTimeOut": "50", "transactionCheckInterval": "200", "transactionCheckMax": "100000"}
_numbers = count(1)


@pytest.fixture(scope="module")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[RunningBroker]]:
    """Two brokers of one cluster."""
    with ExitStack() as stack:
        first = stack.enter_context(started_broker(tmp_path_factory.mktemp("a"), settings=_OFTEN))
        second = started_broker(
            tmp_path_factory.mktemp("b"), settings=_OFTEN, name_servers=first.name_server, broker_name="broker-b"
        )
        yield [first, stack.enter_context(second)]


@pytest.fixture(scope="module")
def redis_url() -> Iterator[str]:
    """A Redis of its own: of all gateways at one Redis a single one serves hooks."""
    with redis_server() as url:
        yield url


@pytest.fixture(scope="module")
def checked(
    tmp_path_factory: pytest.TempPathFactory, brokers: list[RunningBroker], redis_url: str
) -> Iterator[Installation]:
    """A gateway of these brokers."""
    data, networks = tmp_path_factory.mktemp("checked"), {"GANTRY_WEBHOOK_NETWORKS": "127.0.0.0/8"}
    name_server = brokers[0].name_server
    with running_installation(data, name_server=name_server, redis_url=redis_url, **networks) as running:
        yield running


@pytest.fixture(scope="module")
def apache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApacheBroker]:
    """Apache RocketMQ's broker, where the machine has what it takes."""
    if missing := java_build.missing_tool():
        pytest.skip(f"left out: Apache RocketMQ's broker needs a JDK and Maven, and there is no {missing}")
    java_build.SERVER.build()
    often = {"transactionTimeOut": "50", "transactionCheckInterval": "1000"}
    with started_apache(tmp_path_factory.mktemp("apache"), settings=often) as running:
        yield running


class Checks:
    """One cluster of that gateway as an operator, and the hook of its test."""

    def __init__(self, http: httpx.Client, hook: Hook, cluster: str) -> None:
        self.http = http
        self.hook = hook
        self.path = f"/api/v1/clusters/{cluster}"
        self.group = f"payments-{next(_numbers)}"

    def topic(self) -> str:
        """Create a topic with a queue on each broker."""
        name = f"orders-{next(_numbers)}"
        made = self.http.post(f"{self.path}/topics", json={"name": name, "read_queues": 1, "write_queues": 1})
        assert made.status_code == 201, made.text
        return name

    def registered(self, **fields: Any) -> dict[str, Any]:
        """Register the hook for the group."""
        made = self.http.post(
            f"{self.path}/transaction-hooks", json={"group": self.group, "url": self.hook.url, **fields}
        )
        assert made.status_code == 201, made.text
        found: dict[str, Any] = made.json()
        return found

    def shown(self, hook: dict[str, Any]) -> dict[str, Any]:
        """Return a hook as it is now."""
        answer = self.http.get(f"{self.path}/transaction-hooks/{hook['id']}")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def prepared(self, topic: str, key: str = "A17") -> dict[str, Any]:
        """Prepare a message that nobody decides about."""
        sent = {"body": BODY, "keys": [key], "tag": "paid", "properties": {"source": "web"}}
        path = f"{self.path}/topics/{topic}/messages?transaction=prepare&group={self.group}"
        answer = self.http.post(path, json=sent)
        assert answer.status_code == 201, answer.text
        half: dict[str, Any] = answer.json()
        return half

    def keys_in(self, topic: str) -> list[str]:
        """Return the keys of the messages that consumers of a topic get."""
        found = self.http.get(f"{self.path}/topics/{topic}/messages").json()["items"]
        return sorted(key for message in found for key in message["keys"])

    def state_of(self, half: dict[str, Any]) -> str:
        """Return how a transaction stands."""
        return str(self.http.get(f"{self.path}/transactions/{half['transaction_id']}").json()["state"])


@pytest.fixture
def hook() -> Iterator[Hook]:
    """A web server that does not know yet how transactions ended."""
    with web_hook() as running:
        running.status, running.answer = 200, b'{"decision": "unknown"}'
        yield running


@pytest.fixture
def checks(checked: Installation, hook: Hook) -> Iterator[Checks]:
    """The cluster of Gantry's brokers; hooks that a test registers are deleted at its end."""
    with checked.client("operator") as http:
        made = Checks(http, hook, LOCAL)
        yield made
        for each in http.get(f"{made.path}/transaction-hooks").json()["items"]:
            http.delete(f"{made.path}/transaction-hooks/{each['id']}", headers={"If-Match": "*"}).raise_for_status()


@pytest.fixture
def few_checks(checked: Installation, tmp_path: Path, hook: Hook) -> Iterator[Checks]:
    """A cluster of a broker that gives a transaction up after three checks."""
    few = _OFTEN | {"transactionCheckMax": "3"}
    with started_broker(tmp_path, settings=few) as broker, checked.client("admin") as http:
        added = http.post("/api/v1/clusters", json={"name": "few", "name_servers": [broker.name_server]})
        assert added.status_code == 201, added.text
        wait_until(lambda: http.get("/api/v1/clusters/few/groups").status_code == 200)
        yield Checks(http, hook, "few")
        http.delete("/api/v1/clusters/few", headers={"If-Match": "*"}).raise_for_status()


@pytest.fixture
def apache_checks(checked: Installation, apache: ApacheBroker, hook: Hook) -> Iterator[Checks]:
    """A cluster of Apache RocketMQ."""
    with checked.client("admin") as http:
        added = http.post("/api/v1/clusters", json={"name": "apache", "name_servers": [apache.name_server]})
        assert added.status_code == 201, added.text
        wait_until(lambda: http.get("/api/v1/clusters/apache/groups").status_code == 200)
        yield Checks(http, hook, "apache")
        http.delete("/api/v1/clusters/apache", headers={"If-Match": "*"}).raise_for_status()
