"""The control plane for a program of an operator, on the gateway that all tests share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from typing import Any

import httpx
import pytest

from tests.gateway.installation import Installation
from tests.support.wait import wait_until

_numbers = count(1)


class Control:
    """Requests below the cluster ``local`` as one of the cast, with unused names."""

    def __init__(self, clients: dict[str, httpx.Client]) -> None:
        self._clients = clients

    def as_(self, role: str) -> httpx.Client:
        """Return the client of admin, operator, developer, viewer, narrow, or of a stranger without a token."""
        return self._clients[role]

    def call(self, method: str, path: str, *, role: str = "operator", **options: Any) -> httpx.Response:
        """Send a request to a path below the cluster."""
        return self._clients[role].request(method, f"/api/v1/clusters/local{path}", **options)

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
        """Receive and acknowledge this many messages."""
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


@pytest.fixture(scope="session")
def control(installation: Installation) -> Iterator[Control]:
    """The control plane for all tests."""
    with ExitStack() as stack:
        clients = {role: stack.enter_context(installation.client(role)) for role in installation.tokens}
        clients["stranger"] = stack.enter_context(installation.client(None))
        yield Control(clients)
