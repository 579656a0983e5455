"""Requirements of the control plane without Redis: brokers are still asked, other requests name the reason."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis
from websockets.sync.client import connect

from tests.gateway.installation import PASSWORD, Installation, running_installation
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
        with running.client() as gateway:
            gateway.post("/api/v1/clusters/local/groups", json={"name": "without-redis"}).raise_for_status()
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
        assert client.get("/api/v1/clusters/local/groups/without-redis/clients").json()["callers_known"] is False
    assert (cluster["reachable"], cluster["brokers"]) == (None, None)
    assert re.search("not (been )?sampled", cluster["reason"])
    assert {each.json()["code"] for each in (history, ticket)} == {"REDIS_UNREACHABLE"}


def test_one_signs_in_and_out_while_redis_is_silent(silent: Installation) -> None:
    # Nobody waits for it twenty seconds, as its client's own retries would.
    with httpx.Client(base_url=silent.url, trust_env=False, timeout=15) as client:
        client.get("/api/v1/csrf")
        client.headers["X-CSRFToken"] = client.cookies["csrftoken"]
        signed_in = client.post("/api/v1/login", json={"username": "viewer", "password": PASSWORD})
        assert signed_in.status_code == 200, signed_in.text
        client.headers["X-CSRFToken"] = client.cookies["csrftoken"]
        assert client.get("/api/v1/me").json()["username"] == "viewer"
        assert client.post("/api/v1/logout").status_code == 204


def test_under_a_key_nothing_is_done_while_redis_is_silent(silent: Installation) -> None:
    body = {"body": {"encoding": "text", "data": "x"}}
    for path, sent in (("topics", {"name": "orders-silent"}), ("topics/orders/messages", body)):
        with httpx.Client(base_url=silent.url, trust_env=False, timeout=15) as client:
            client.headers["Authorization"] = f"Bearer {silent.tokens['admin']}"
            answer = client.post(f"/api/v1/clusters/local/{path}", json=sent, headers={"Idempotency-Key": "k"})
        assert (answer.status_code, answer.json()["code"]) == (503, "REDIS_UNREACHABLE"), answer.text


def test_a_ticket_is_refused_while_redis_is_silent(silent: Installation) -> None:
    with connect(f"{silent.sockets}/lag?ticket=x", proxy=None) as socket:
        assert json.loads(socket.recv(15))["problem"]["code"] == "REDIS_UNREACHABLE"


def test_a_change_of_a_version_is_made_without_redis(alone: Installation) -> None:
    with alone.client() as client:
        path = "/api/v1/clusters/local/topics"
        assert client.post(path, json={"name": "orders-alone", "write_queues": 2}).status_code == 201
        tag = {"If-Match": client.get(f"{path}/orders-alone").headers["etag"]}
        made = [client.patch(f"{path}/orders-alone", json={"write_queues": n}, headers=tag) for n in (3, 4)]
    assert [each.status_code for each in made] == [200, 412]
