"""Requirements of the control plane without Redis: brokers are still asked, other requests name the reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gateway.installation import Installation, running_installation
from tests.support.cluster import RunningBroker


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory, shared_broker: RunningBroker) -> Iterator[Installation]:
    """A gateway without Redis."""
    data: Path = tmp_path_factory.mktemp("alone")
    url = f"unix://{data / 'nothing.sock'}"
    with running_installation(data, name_server=shared_broker.name_server, redis_url=url) as running:
        yield running


@pytest.mark.parametrize("path", ["/overview", "/topics", "/groups", "/topics/TBW102/queues"])
def test_brokers_are_asked_directly(alone: Installation, path: str) -> None:
    with alone.client() as client:
        assert client.get(f"/api/v1/clusters/local{path}").status_code == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/api/v1/clusters/local/overview/history"), ("POST", "/api/v1/ws-tickets")],
)
def test_what_needs_redis_can_be_tried_again_later(alone: Installation, method: str, path: str) -> None:
    with alone.client() as client:
        answer = client.request(method, path)
    assert (answer.status_code, answer.json()["code"], answer.json()["retryable"]) == (503, "REDIS_UNREACHABLE", True)
