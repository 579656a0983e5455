"""The services of ``docker-compose.yml`` as processes, with PostgreSQL and two gateways."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from gateway.up.config import UpConfig
from gateway.up.processes import plan
from tests.gateway.installation import PASSWORD, ROOT, Installation, gateway_process
from tests.support.cluster import RunningBroker
from tests.support.postgres import NOT_INSTALLED, find_programs, postgres_server
from tests.support.redis import redis_server
from tests.support.wait import wait_until

PROGRAMS = find_programs()
_OTHERS = ("sampler", "worker", "beat")
pytestmark = pytest.mark.skipif(PROGRAMS is None, reason=NOT_INSTALLED)


@pytest.fixture(scope="module")
def gateways(tmp_path_factory: pytest.TempPathFactory, shared_broker: RunningBroker) -> Iterator[list[Installation]]:
    """Two gateways, after the first start of all services."""
    assert PROGRAMS is not None
    data: Path = tmp_path_factory.mktemp("services")
    with ExitStack() as stack:
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GANTRY_")},
            "DJANGO_SETTINGS_MODULE": "gateway.settings",
            "GANTRY_ADMIN_PASSWORD": PASSWORD,
            "GANTRY_DATABASE_URL": stack.enter_context(postgres_server(PROGRAMS)),
            "GANTRY_REDIS_URL": stack.enter_context(redis_server()),
            "GANTRY_NAME_SERVERS": shared_broker.name_server,
            "GANTRY_DATA_DIR": str(data),
        }
        setup = [sys.executable, "manage.py", "bootstrap", "--migrate"]
        subprocess.run(setup, env=environment, cwd=ROOT, check=True, capture_output=True)
        with ThreadPoolExecutor() as pool:
            stack.enter_context(other_services(environment, data))
            both = [gateway_process(data, environment, {}, log=f"gateway-{name}.log") for name in "ab"]
            running = list(pool.map(lambda each: each.__enter__(), both))
        for each in both:
            stack.push(each.__exit__)
        yield running


@contextmanager
def other_services(environment: Mapping[str, str], data: Path) -> Iterator[None]:
    """Run sampler, worker and beat until the block ends."""
    children = [child for child in plan(UpConfig.read(environment), data).children if child.name in _OTHERS]
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for child in children:
            with (data / f"{child.name}.log").open("wb") as log:
                processes.append(subprocess.Popen(child.command, env=environment, cwd=ROOT, stdout=log, stderr=log))
        yield
    finally:
        for process in processes:
            process.send_signal(signal.SIGTERM)
        for process in processes:
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
