"""The services of ``docker-compose.yml`` as processes: its commands and environments, PostgreSQL, several gateways."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from tests.gateway.installation import PASSWORD, ROOT, Installation, gateway_process
from tests.support.compose import services
from tests.support.ports import free_ports
from tests.support.postgres import NOT_INSTALLED, PostgresServer, find_programs, postgres_server
from tests.support.redis import redis_server
from tests.support.wait import wait_until

PROGRAMS = find_programs()
API = "/api/v1/clusters/local"
_OTHERS = ("sampler", "worker", "beat")
pytestmark = pytest.mark.skipif(PROGRAMS is None, reason=NOT_INSTALLED)


@pytest.fixture(scope="module")
def database() -> Iterator[PostgresServer]:
    """An empty database."""
    assert PROGRAMS is not None
    with postgres_server(PROGRAMS) as running:
        yield running


@pytest.fixture(scope="module")
def gateways(tmp_path_factory: pytest.TempPathFactory, database: PostgresServer) -> Iterator[list[Installation]]:
    """Three gateways, after the first start of all services; a test kills the last one."""
    data: Path = tmp_path_factory.mktemp("services")
    compose = services(
        {"GANTRY_ADMIN_PASSWORD": PASSWORD, "POSTGRES_PASSWORD": "staple", "GANTRY_ADVERTISE": "127.0.0.1"}
    )
    with ExitStack() as stack:
        name_server, broker = free_ports(), free_ports(4) + 2
        addresses = {
            "GANTRY_BIND": "127.0.0.1",
            "GANTRY_DATABASE_URL": database.url,
            "GANTRY_REDIS_URL": stack.enter_context(redis_server()),
            "GANTRY_NAME_SERVERS": f"127.0.0.1:{name_server}",
        }
        outside = {name: value for name, value in os.environ.items() if not name.startswith("GANTRY_")}
        image = {"PYTHONUNBUFFERED": "1", "PYTHONPATH": str(ROOT), "GANTRY_DATA_DIR": str(data)}
        environments = {name: {**outside, **image, **each.environment, **addresses} for name, each in compose.items()}
        subprocess.run(
            compose["setup"].here(data=data), env=environments["setup"], cwd=ROOT, check=True, capture_output=True
        )
        ports = ("--namesrv-port", str(name_server), "--broker-port", str(broker))
        commands = {name: compose[name].here(data=data) for name in _OTHERS}
        commands["broker"] = compose["broker"].here(data=data, more=ports)
        stack.enter_context(processes(commands, environments, data))
        serve = compose["gateway"].here(data=data)
        with ThreadPoolExecutor() as pool:
            running = [
                gateway_process(
                    data, environments["gateway"], {}, log=f"gateway-{name}.log",
                    command=lambda port: (*serve, "--host", "127.0.0.1", "--port", str(port)),
                )
                for name in "abc"
            ]  # fmt: skip
            started = list(pool.map(lambda each: each.__enter__(), running))
        for each in running:
            stack.push(each.__exit__)
        yield started


@contextmanager
def processes(
    commands: Mapping[str, Sequence[str]], environments: Mapping[str, Mapping[str, str]], data: Path
) -> Iterator[None]:
    """Run the commands by the names of their services until the block ends."""
    running: list[subprocess.Popen[bytes]] = []
    try:
        for name, command in commands.items():
            with (data / f"{name}.log").open("wb") as log:
                running.append(subprocess.Popen(command, env=environments[name], cwd=ROOT, stdout=log, stderr=log))
        yield
    finally:
        for process in running:
            process.send_signal(signal.SIGTERM)
        for process in running:
            process.wait(60)


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


def test_a_gateway_that_is_killed_loses_no_receipt_session_or_idempotency_key(
    gateways: list[Installation], browser: httpx.Client
) -> None:
    left, killed = gateways[0], gateways[2]
    made = browser.post("/api/v1/tokens", json={"name": "till", "scopes": ["produce", "consume", "read", "manage"]})
    token = {"Authorization": f"Bearer {made.json()['token']}"}
    assert browser.post(f"{API}/topics", json={"name": "killed"}).status_code == 201
    path = f"{API}/groups/billing/topics/killed"
    message = {"body": {"encoding": "text", "data": "once"}}
    key = {"Idempotency-Key": "before-the-end"}
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


def test_a_database_that_was_away_is_used_again(
    gateways: list[Installation], browser: httpx.Client, database: PostgresServer
) -> None:
    assert browser.get("/api/v1/users").status_code == 200
    database.restart()
    for gateway in gateways[:2]:
        answers = [
            httpx.get(f"{gateway.url}/api/v1/users", cookies=dict(browser.cookies), trust_env=False).status_code
            for _ in range(8)
        ]
        assert answers == [200] * 8, "a connection that the restart ended is not used"
