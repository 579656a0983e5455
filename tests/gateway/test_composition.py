"""Requirements of `gateway.composition`, `pages`, `health`, `lookups` and `shutdown`: a whole gateway process."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis
from websockets.asyncio.client import connect
from websockets.sync.client import connect as connect_in_thread
from websockets.typing import Subprotocol

from broker_core.client.blocking import BlockingSession
from gateway import sockets
from tests.gateway.installation import PASSWORD, ROOT, Installation, running_installation
from tests.support.cluster import RunningBroker
from tests.support.wait import wait_until

BODY = {"body": {"encoding": "json", "data": {"id": "A17"}}}
BEATS = ("gantry:sampler:beat", "gantry:worker:beat", "gantry:beat:beat")


def topic_of(installation: Installation, name: str) -> str:
    """Create a topic through the control plane."""
    with installation.client() as client:
        made = client.post("/api/v1/clusters/local/topics", json={"name": name, "read_queues": 1, "write_queues": 1})
        assert made.status_code == 201, made.text
    return name


@contextmanager
def signed_in(installation: Installation, role: str = "admin") -> Iterator[httpx.Client]:
    """A browser: session and CSRF cookies instead of a token."""
    with installation.client(None) as client:
        client.get("/api/v1/csrf")
        answer = client.post(
            "/api/v1/login",
            json={"username": role, "password": PASSWORD},
            headers={"X-CSRFToken": client.cookies["csrftoken"]},
        )
        assert answer.status_code == 200, answer.text
        yield client


def beat(redis_url: str, *keys: str, ago_s: float = 0) -> None:
    with redis.Redis.from_url(redis_url) as store:
        for key in keys:
            store.set(key, int((time.time() - ago_s) * 1000))


def test_one_process_serves_data_plane_and_control_plane(installation: Installation) -> None:
    topic = topic_of(installation, "orders-both")
    with installation.client() as client:
        produced = client.post(f"/api/v1/clusters/local/topics/{topic}/messages", json=BODY)
        browsed = client.get(f"/api/v1/clusters/local/topics/{topic}/messages")
    assert produced.status_code == 201
    assert [item["message_id"] for item in browsed.json()["items"]] == [produced.json()["results"][0]["message_id"]]


def test_a_path_of_the_api_that_is_nowhere_is_a_problem(installation: Installation) -> None:
    with installation.client() as client:
        answer = client.get("/api/v1/nowhere")
    assert (answer.status_code, answer.json()["code"]) == (404, "NOT_FOUND")
    assert answer.headers["content-type"] == "application/problem+json"


def test_tokens_are_those_of_the_database_with_their_scopes(installation: Installation) -> None:
    orders, payments = topic_of(installation, "orders-token"), topic_of(installation, "payments-token")

    def status(role: str | None, topic: str) -> int:
        with installation.client(role) as client:
            return client.post(f"/api/v1/clusters/local/topics/{topic}/messages", json=BODY).status_code

    assert status(None, orders) == 401
    assert [status(role, orders) for role in ("admin", "operator", "developer", "viewer")] == [201, 201, 201, 403]
    assert (status("narrow", orders), status("narrow", payments)) == (403, 403), "a viewer's token stays a viewer's"


def test_a_browser_needs_its_csrf_token_to_produce(installation: Installation) -> None:
    topic = topic_of(installation, "orders-browser")
    path = f"/api/v1/clusters/local/topics/{topic}/messages"
    with signed_in(installation) as browser:
        refused = browser.post(path, json=BODY)
        assert (refused.status_code, refused.json()["code"]) == (403, "CSRF_FAILED")
        foreign = browser.post(
            path, json=BODY, headers={"X-CSRFToken": browser.cookies["csrftoken"], "Origin": "http://evil.example"}
        )
        assert foreign.status_code == 403
        stored = browser.post(path, json=BODY, headers={"X-CSRFToken": browser.cookies["csrftoken"]})
        assert stored.status_code == 201


def test_a_session_that_ended_counts_no_more(installation: Installation) -> None:
    with signed_in(installation) as browser:
        cookies = dict(browser.cookies)
        browser.post("/api/v1/logout", headers={"X-CSRFToken": cookies["csrftoken"]})
    with installation.client(None) as stranger:
        answer = stranger.post(
            "/api/v1/clusters/local/topics/orders/messages",
            json=BODY,
            headers={
                "Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items()),
                "X-CSRFToken": cookies["csrftoken"],
            },
        )
    assert answer.status_code == 401


def test_ready_names_what_is_not_up(installation: Installation, redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as store:
        store.delete(*BEATS)
    beat(redis_url, "gantry:worker:beat", ago_s=90)
    with installation.client(None) as client:
        wait_until(lambda: client.get("/readyz").json()["not_up"] == ["sampler", "worker", "beat"])
        answer = client.get("/readyz")
        assert (answer.status_code, answer.json()["status"]) == (503, "not_ready")
        assert answer.json()["checks"]["sampler"] == {"up": False, "reason": "no sign of life"}
        assert answer.json()["checks"]["worker"]["reason"].startswith("silent for 9")
        assert answer.json()["checks"]["broker"] == {"up": True, "reason": None}
        beat(redis_url, *BEATS)
        wait_until(lambda: client.get("/readyz").status_code == 200)
        assert client.head("/healthz").status_code == 200
        assert client.post("/healthz").status_code == 405


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_pages_for_machines_carry_the_id_of_the_request(installation: Installation, path: str) -> None:
    with installation.client(None) as client:
        assert client.get(path).headers["x-request-id"]
        assert client.get(path, headers={"X-Request-Id": "probe-7"}).headers["x-request-id"] == "probe-7"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/v1/clusters/local/topics/orders/messages"),
        ("POST", "/api/v1/clusters/local/groups/g/topics/t:receive"),
        ("GET", "/api/v1/clusters/local/topics"),
        ("GET", "/topics"),
        ("POST", "/api/v1/login"),
    ],
)
def test_a_foreign_host_name_is_refused_on_every_plane(installation: Installation, method: str, path: str) -> None:
    with installation.client() as client:
        answer = client.request(method, path, headers={"Host": "evil.example"})
        assert (answer.status_code, answer.json()["code"]) == (400, "HOST_NOT_SERVED")
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["request_id"] == answer.headers["x-request-id"]


def test_the_brokers_ports_are_published_on_loopback_alone() -> None:
    lines = (ROOT / "docker-compose.yml").read_text().splitlines()
    (ports,) = (line for line in lines if "9876:9876" in line)
    assert ports.split("ports:")[1].strip() == (
        '["${GANTRY_PUBLISH:-127.0.0.1}:9876:9876", "${GANTRY_PUBLISH:-127.0.0.1}:10911:10911"]'
    )


def test_metrics_are_for_this_machine_or_for_those_who_may_read(installation: Installation) -> None:
    with installation.client(None) as client:
        page = client.get("/metrics")
        assert page.headers["content-type"].startswith("text/plain")
        assert "gantry_gateway_requests_total" in page.text
        assert "process_cpu_seconds_total" in page.text
        proxied = client.get("/metrics", headers={"X-Forwarded-For": "203.0.113.9"})
        assert proxied.status_code == 401
        rebound = client.get("/metrics", headers={"Host": "evil.example"})
        assert rebound.status_code == 401
    with installation.client("viewer") as viewer:
        assert viewer.get("/metrics", headers={"X-Forwarded-For": "203.0.113.9"}).status_code == 200
    with installation.client("narrow") as narrow:
        assert narrow.get("/metrics", headers={"X-Forwarded-For": "203.0.113.9"}).status_code == 403


async def first_frame(installation: Installation, path: str, **options: Any) -> tuple[dict[str, Any], int | None]:
    """Open a socket; return its first frame, and its close code if it was refused."""
    async with connect(f"{installation.sockets}/{path}", proxy=None, **options) as socket:
        frame = json.loads(await socket.recv())
        if frame["type"] == "error":
            await asyncio.wait_for(socket.wait_closed(), 10)
        return frame, socket.close_code


@pytest.mark.parametrize("path", ["produce", "consume", "events", "lag"])
async def test_every_socket_takes_token_session_or_ticket(installation: Installation, path: str) -> None:
    token = {"Authorization": f"Bearer {installation.tokens['developer']}"}
    assert (await first_frame(installation, path, additional_headers=token))[0]["type"] == "hello"
    with signed_in(installation) as browser:
        cookie = {"Cookie": "; ".join(f"{name}={value}" for name, value in browser.cookies.items())}
        ticket = browser.post("/api/v1/ws-tickets", headers={"X-CSRFToken": browser.cookies["csrftoken"]}).json()
    own = await first_frame(installation, path, additional_headers=cookie, origin=installation.url)
    assert own[0]["type"] == "hello"
    foreign = await first_frame(installation, path, additional_headers=cookie, origin="http://evil.example")
    assert (foreign[0]["problem"]["code"], foreign[1]) == ("FORBIDDEN", sockets.FORBIDDEN)
    assert (await first_frame(installation, f"{path}?ticket={ticket['ticket']}"))[0]["type"] == "hello"
    again = await first_frame(installation, f"{path}?ticket={ticket['ticket']}")
    assert (again[0]["problem"]["code"], again[1]) == ("NOT_AUTHENTICATED", sockets.NOT_AUTHENTICATED)
    assert (await first_frame(installation, path))[1] == sockets.NOT_AUTHENTICATED


@pytest.mark.parametrize("path", ["produce", "consume", "events", "lag"])
async def test_a_client_that_offers_only_other_sub_protocols_is_refused(installation: Installation, path: str) -> None:
    token = {"Authorization": f"Bearer {installation.tokens['developer']}"}
    other, ours = Subprotocol("x"), Subprotocol(sockets.SUBPROTOCOL)
    frame, code = await first_frame(installation, path, additional_headers=token, subprotocols=[other])
    assert (frame["problem"]["code"], code) == ("INVALID", sockets.BAD_FRAME)
    assert frame["problem"]["errors"][0]["pointer"] == "Sec-WebSocket-Protocol"
    assert "mqgw.v1.json; offered: x." in frame["problem"]["detail"]
    both, _ = await first_frame(installation, path, additional_headers=token, subprotocols=[other, ours])
    assert both["type"] == "hello"


async def test_a_socket_that_is_nowhere_is_told_so(installation: Installation) -> None:
    frame, code = await first_frame(installation, "nowhere")
    assert (frame["problem"]["code"], code) == ("NOT_FOUND", sockets.NOT_FOUND)


def test_a_stopping_gateway_keeps_nobody_waiting(tmp_path: Path, shared_broker: RunningBroker, redis_url: str) -> None:
    with running_installation(tmp_path, name_server=shared_broker.name_server, redis_url=redis_url) as installation:
        topic = topic_of(installation, "orders-stop")
        answers: list[httpx.Response] = []

        def wait_for_messages() -> None:
            with installation.client() as client:
                path = f"/api/v1/clusters/local/groups/g-stop/topics/{topic}:receive"
                answers.append(client.post(path, json={"wait_ms": 30_000}))

        waiting = threading.Thread(target=wait_for_messages)
        waiting.start()
        headers = {"Authorization": f"Bearer {installation.tokens['admin']}"}
        with connect_in_thread(f"{installation.sockets}/consume", additional_headers=headers, proxy=None) as socket:
            socket.recv()
            wait_until(lambda: _knows_group(shared_broker, "g-stop"))
            assert installation.stop() == 0
        waiting.join(10)
        assert answers[0].json()["reason"] == "draining"
        assert "Traceback" not in installation.log


async def test_a_stopping_gateway_says_goodbye_on_every_channel(
    tmp_path: Path, shared_broker: RunningBroker, redis_url: str
) -> None:
    with running_installation(tmp_path, name_server=shared_broker.name_server, redis_url=redis_url) as installation:
        headers = {"Authorization": f"Bearer {installation.tokens['admin']}"}
        streams = {**headers, "Accept": "text/event-stream"}
        topic = topic_of(installation, "orders-goodbye")
        queries = {"events": "subjects=overview:local", "lag": "groups=*", "tail": f"topics={topic}"}
        asking = httpx.AsyncClient(base_url=installation.url, headers=streams, trust_env=False, timeout=30)
        async with AsyncExitStack() as stack:
            client = await stack.enter_async_context(asking)
            answers = [
                await stack.enter_async_context(client.stream("GET", f"/ws/v1/{name}", params=httpx.QueryParams(query)))
                for name, query in queries.items()
            ]
            open_sockets = [
                await stack.enter_async_context(
                    connect(f"{installation.sockets}/{name}", additional_headers=headers, proxy=None)
                )
                for name in ("produce", "consume", *queries)
            ]
            for socket in open_sockets:
                await socket.recv()
            assert await asyncio.to_thread(installation.stop) == 0
            for socket in open_sockets:
                await socket.wait_closed()
                assert (socket.close_code, socket.close_reason) == (sockets.DRAINING, sockets.DRAINING_REASON)
            for answer in answers:
                assert answer.status_code == 200
                text = (await answer.aread()).decode()
                closed = {"type": "closed", "code": sockets.DRAINING, "reason": sockets.DRAINING_REASON}
                assert text.endswith(f"event: closed\ndata: {json.dumps(closed, separators=(',', ':'))}\n\n")
        assert "Traceback" not in installation.log


def _knows_group(broker: RunningBroker, name: str) -> bool:
    with BlockingSession(broker.config) as session:
        return name in session.run(session.admin.groups.list()).found


def test_each_check_has_an_address_of_its_own_and_a_reason(installation: Installation, redis_url: str) -> None:
    beat(redis_url, *BEATS)
    with installation.client("viewer") as viewer:
        wait_until(lambda: viewer.get("/api/v1/health/checks/worker").status_code == 200)
        beat(redis_url, "gantry:worker:beat", ago_s=90)
        wait_until(lambda: viewer.get("/api/v1/health/checks/worker").status_code == 503)
        worker = viewer.get("/api/v1/health/checks/worker").json()
        assert (worker["passed"], worker["reason"][:12]) == (False, "silent for 9")
        checks = viewer.get("/api/v1/health/checks")
        assert checks.status_code == 503
        # Whatever the disk of this machine says; and nobody samples here.
        failed = {each["name"] for each in checks.json()["items"] if not each["passed"]}
        assert failed - {"disk", "sampling"} == {"worker"}
        assert viewer.get("/api/v1/health/checks/nonsense").status_code == 404
        beat(redis_url, *BEATS)
    with installation.client(None) as stranger:
        assert stranger.get("/api/v1/health/checks").status_code == 401
