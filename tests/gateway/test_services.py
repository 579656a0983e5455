"""Requirements of the services of ``docker-compose.yml`` together: several gateways, and what outlives one of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import httpx
import psycopg
import pytest

from gateway.control.django_application import KEPT_THREADS
from tests.gateway.installation import PASSWORD, Installation
from tests.gateway.services import Services, is_wanted
from tests.support.story import Story
from tests.support.wait import wait_until

API = "/api/v1/clusters/local"


@pytest.fixture(scope="module")
def gateways(services: Services) -> list[Installation]:
    """The gateways of the services."""
    return services.gateways


@pytest.fixture(scope="module")
def browser(gateways: list[Installation]) -> Iterator[httpx.Client]:
    """Somebody who signed in at the first gateway; cookies count for both."""
    with gateways[0].client(None) as client:
        client.get("/api/v1/csrf")
        client.headers["X-CSRFToken"] = client.cookies["csrftoken"]
        signed_in = client.post("/api/v1/login", json={"username": "admin", "password": PASSWORD})
        assert signed_in.status_code == 200, signed_in.text
        client.headers["X-CSRFToken"] = client.cookies["csrftoken"]
        yield client


def test_every_service_is_up_and_both_gateways_say_so(gateways: list[Installation]) -> None:
    for gateway in gateways:
        with gateway.client(None) as client:
            wait_until(lambda client=client: client.get("/readyz").status_code == 200)  # type: ignore[misc]


def test_who_signed_in_at_one_gateway_works_at_the_other(gateways: list[Installation], browser: httpx.Client) -> None:
    made = browser.post("/api/v1/tokens", json={"name": "shop", "scopes": ["produce", "consume", "read", "manage"]})
    assert made.status_code == 201, made.text
    at_b = {"Authorization": f"Bearer {made.json()['token']}"}
    with gateways[1].client(None) as client:
        client.headers.update(at_b)
        api = "/api/v1/clusters/local"
        assert client.post(f"{api}/topics", json={"name": "services"}).status_code == 201
        sent = client.post(f"{api}/topics/services/messages", json={"body": {"encoding": "text", "data": "x"}})
        assert sent.status_code == 201, sent.text
        got = client.post(f"{api}/groups/billing/topics/services:receive", json={"wait_ms": 10_000})
        assert [each["message_id"] for each in got.json()["messages"]] == [sent.json()["results"][0]["message_id"]]
    audit = httpx.get(f"{gateways[1].url}/api/v1/audit", cookies=dict(browser.cookies), trust_env=False)
    assert {"topic.create", "token.create"} <= {each["action"] for each in audit.json()["items"]}


def test_of_changes_of_one_version_at_both_gateways_exactly_one_is_made(
    gateways: list[Installation], browser: httpx.Client
) -> None:
    made = browser.post("/api/v1/users", json={"username": "mia", "password": PASSWORD, "role": "viewer"})
    assert made.status_code == 201, made.text
    headers = {"If-Match": made.headers["etag"], "X-CSRFToken": browser.cookies["csrftoken"]}
    cookies = dict(browser.cookies)

    def change(number: int) -> int:
        url = f"{gateways[number % 2].url}/api/v1/users/{made.json()['id']}"
        role = ("operator", "developer")[number % 2]
        return httpx.patch(url, json={"role": role}, headers=headers, cookies=cookies, trust_env=False).status_code

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(change, range(8)))
    assert sorted(answers) == [200, *[412] * 7]


def test_a_gateway_keeps_few_connections_to_the_database_and_uses_them_again(
    services: Services, browser: httpx.Client
) -> None:
    """docs/operations.md: "Each gateway process keeps up to 16 connections to PostgreSQL for its next requests".

    It also says: "and one for each thread of its own work, of which there are five more than the machine has cores".
    """
    at_most = KEPT_THREADS + (os.cpu_count() or 1) + 5
    url, cookies = f"{services.gateways[0].url}/api/v1/audit", dict(browser.cookies)

    def ask(_number: int) -> int:
        return httpx.get(url, cookies=cookies, trust_env=False, timeout=60).status_code

    with psycopg.connect(services.database.url, autocommit=True) as watching:

        def backends() -> set[int]:
            query = "SELECT pid FROM pg_stat_activity WHERE application_name = 'gateway-1'"
            return {pid for (pid,) in watching.execute(query).fetchall()}

        with ThreadPoolExecutor(60) as pool:
            assert set(pool.map(ask, range(180))) == {200}
        wait_until(lambda: len(backends()) <= at_most)
        kept = seen = backends()
        assert kept
        for number in range(3 * at_most):
            assert ask(number) == 200
            seen = seen | backends()
        # Each lives for a minute, which may end meanwhile.
        assert len(seen - kept) <= at_most


def test_a_job_is_done_by_the_services_that_run_it(gateways: list[Installation], browser: httpx.Client) -> None:
    for name in ("source", "target"):
        assert browser.post(f"{API}/topics", json={"name": name}).status_code == 201
    body = {"messages": [{"body": {"encoding": "text", "data": str(number)}} for number in range(20)]}
    assert browser.post(f"{API}/topics/source/messages", json=body).status_code == 201
    job = {"type": "replay", "source": {"topic": "source"}, "target": {"topic": "target"}}
    made = browser.post("/api/v1/jobs", json=job)
    assert made.status_code in (201, 202), made.text
    path = f"{gateways[1].url}/api/v1/jobs/{made.json()['id']}"

    def state() -> str:
        return str(httpx.get(path, cookies=dict(browser.cookies), trust_env=False).json()["state"])

    wait_until(lambda: state() not in ("queued", "running", "starting"))
    assert state() == "succeeded"


@pytest.mark.skipif(not is_wanted(), reason="SERVICES=1 has the whole story, and the test above one job of it")
def test_the_main_job_from_end_to_end_at_two_gateways(services: Services) -> None:
    asked, watched = services.gateways
    headers = {"Authorization": f"Bearer {asked.tokens['admin']}"}
    with httpx.Client(base_url=f"{asked.url}/api/v1", headers=headers, timeout=180, trust_env=False) as http:
        Story(http, watched.sockets, "payments", messages=1_000).run()


def test_what_a_gateway_was_at_when_it_was_killed_is_done_once_by_another(services: Services) -> None:
    left = services.gateways[0]
    with left.client() as client:
        assert client.post(f"{API}/topics", json={"name": "in-the-middle"}).status_code == 201
    is_running = Event()

    def send(gateway: Installation, key: str) -> int | None:
        message = {"keys": [key], "body": {"encoding": "text", "data": key}}
        with gateway.client() as client:
            try:
                answer = client.post(
                    f"{API}/topics/in-the-middle/messages", json=message, headers={"Idempotency-Key": key}
                )
            except httpx.TransportError:
                return None
        return answer.status_code

    def producer(number: int, killed: Installation) -> list[str]:
        """Send until the gateway is gone; return all keys, those last whose outcome is not known."""
        sent: list[str] = []
        while True:
            sent.append(f"{number}-{len(sent)}")
            status = send(killed, sent[-1])
            if status is None:
                return sent
            assert status == 201
            is_running.set()

    # Given producers whose gateway is killed under their hands
    with services.another() as killed, ThreadPoolExecutor(8) as pool:
        producers = [pool.submit(producer, number, killed) for number in range(8)]
        is_running.wait(60)
        killed.kill()
        keys = [key for each in producers for key in each.result()]
    # When they try again at another one, also what they know to be done
    for key in keys:
        wait_until(lambda key=key: send(left, key) == 201)  # type: ignore[misc]
    # Then each message is stored once
    with left.client() as client:
        wait_until(lambda: _stored(client, "in-the-middle") >= len(keys))
        assert _stored(client, "in-the-middle") == len(keys)


def _stored(client: httpx.Client, topic: str) -> int:
    return sum(queue["count"] for queue in client.get(f"{API}/topics/{topic}/queues").json()["items"])


def test_a_gateway_that_is_killed_loses_no_receipt_session_or_idempotency_key(
    services: Services, browser: httpx.Client
) -> None:
    left = services.gateways[0]
    made = browser.post("/api/v1/tokens", json={"name": "till", "scopes": ["produce", "consume", "read", "manage"]})
    token = {"Authorization": f"Bearer {made.json()['token']}"}
    assert browser.post(f"{API}/topics", json={"name": "killed"}).status_code == 201
    path = f"{API}/groups/billing/topics/killed"
    message = {"body": {"encoding": "text", "data": "once"}}
    key = {"Idempotency-Key": "before-the-end"}
    with services.another() as killed:
        # Given a session, a key and a receipt of one gateway
        with killed.client(None) as client:
            client.get("/api/v1/csrf")
            client.headers["X-CSRFToken"] = client.cookies["csrftoken"]
            assert client.post("/api/v1/login", json={"username": "admin", "password": PASSWORD}).status_code == 200
            session = dict(client.cookies)
        with killed.client(None) as client:
            client.headers.update(token)
            sent = client.post(f"{API}/topics/killed/messages", json=message, headers=key)
            got = client.post(f"{path}:receive", json={"wait_ms": 10_000, "lease_ms": 120_000})
        (received,) = got.json()["messages"]
        # When it is killed
        killed.kill()
    # Then the others know all three
    with left.client(None) as client:
        client.headers.update(token)
        again = client.post(f"{API}/topics/killed/messages", json=message, headers=key)
        assert (again.status_code, again.headers.get("idempotency-replayed")) == (201, "true"), again.text
        assert again.json() == sent.json()
        done = client.post(f"{path}:ack", json={"receipts": [received["receipt"]]})
        assert [each["status"] for each in done.json()["results"]] == ["acked"], done.text
        assert client.post(f"{path}:receive", json={}).json()["messages"] == []
    me = httpx.get(f"{left.url}/api/v1/me", cookies=session, trust_env=False)
    assert (me.status_code, me.json()["username"]) == (200, "admin")


def test_moments_and_json_are_stored_as_they_were_given(gateways: list[Installation], browser: httpx.Client) -> None:
    job = {
        "type": "replay",
        "source": {"topic": "source", "from": "2026-03-29T01:30:00+02:00"},
        "target": {"topic": "target"},
    }
    made = browser.post(
        "/api/v1/schedules", json={"name": "späte 夜", "cron": "30 2 * * *", "zone": "Asia/Shanghai", "job": job}
    )
    assert made.status_code == 201, made.text
    shown = httpx.get(
        f"{gateways[1].url}/api/v1/schedules/{made.json()['id']}", cookies=dict(browser.cookies), trust_env=False
    ).json()
    assert (shown["name"], shown["zone"], shown["job"]["source"]) == (
        "späte 夜",
        "Asia/Shanghai",
        made.json()["job"]["source"],
    )
    assert shown["next_run_at"].endswith("T18:30:00.000Z")


def test_a_database_that_was_away_is_used_again(services: Services, browser: httpx.Client) -> None:
    assert browser.get("/api/v1/users").status_code == 200
    services.database.restart()
    for gateway in services.gateways:
        answers = [
            httpx.get(f"{gateway.url}/api/v1/users", cookies=dict(browser.cookies), trust_env=False).status_code
            for _ in range(8)
        ]
        assert answers == [200] * 8, "a connection that the restart ended is not used"
