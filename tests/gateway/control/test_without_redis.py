"""Requirements of the control plane without Redis: brokers are still asked, other requests name the reason."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis

from tests.gateway.installation import Installation, running_installation
from tests.support.cluster import RunningBroker
from tests.support.redis import redis_server


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


@pytest.fixture(scope="module")
def silent(tmp_path_factory: pytest.TempPathFactory, shared_broker: RunningBroker) -> Iterator[Installation]:
    """A gateway whose Redis takes connections and answers nothing."""
    data: Path = tmp_path_factory.mktemp("silent")
    with (
        redis_server() as url,
        running_installation(data, name_server=shared_broker.name_server, redis_url=url) as running,
    ):
        with redis.Redis.from_url(url) as client:
            server: Any = client.info("server")
        os.kill(server["process_id"], signal.SIGSTOP)
        try:
            yield running
        finally:
            os.kill(server["process_id"], signal.SIGCONT)


@pytest.mark.parametrize("path", ["/overview", "/topics", "/groups"])
def test_brokers_are_asked_directly_while_redis_is_silent(silent: Installation, path: str) -> None:
    with silent.client() as client:
        assert client.get(f"/api/v1/clusters/local{path}").status_code == 200


def test_what_a_silent_redis_would_say_is_unknown_with_the_reason(silent: Installation) -> None:
    with silent.client() as client:
        (cluster,) = client.get("/api/v1/clusters").json()["items"]
        history = client.get("/api/v1/clusters/local/overview/history")
        ticket = client.post("/api/v1/ws-tickets")
    assert (cluster["reachable"], cluster["brokers"]) == (None, None)
    assert "not sampled" in cluster["reason"]
    assert {each.json()["code"] for each in (history, ticket)} == {"REDIS_UNREACHABLE"}
