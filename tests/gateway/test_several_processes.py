"""Requirements of several gateway processes on one database, one Redis and one broker."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from itertools import count
from threading import Barrier
from typing import Any

import httpx
import pytest

from tests.gateway.installation import Installation, another_process
from tests.support.wait import wait_until

_numbers = count(1)
API = "/api/v1/clusters/local"


@pytest.fixture(scope="module")
def siblings(installation: Installation) -> Iterator[list[Installation]]:
    """Two more processes; the first of them is killed by a test."""
    with ExitStack() as stack:
        with ThreadPoolExecutor() as pool:
            running = [another_process(installation) for _ in range(2)]
            yielded = list(pool.map(lambda each: each.__enter__(), running))
        for each in running:
            stack.push(each.__exit__)
        yield yielded


@pytest.fixture
def topic(installation: Installation) -> str:
    """A topic with one queue."""
    name = f"orders-several-{next(_numbers)}"
    with installation.client() as client:
        made = client.post(f"{API}/topics", json={"name": name, "read_queues": 1, "write_queues": 1})
    assert made.status_code == 201, made.text
    return name


def call(process: Installation, path: str, body: Any, **headers: str) -> httpx.Response:
    with process.client() as client:
        return client.post(API + path, json=body, headers=headers)


def stored(process: Installation, topic: str) -> int:
    with process.client() as client:
        (queue,) = client.get(f"{API}/topics/{topic}/queues").json()["items"]
    return int(queue["max_offset"])


def test_a_storm_of_retries_at_several_processes_stores_one_message(
    installation: Installation, siblings: list[Installation], topic: str
) -> None:
    message = {"keys": ["A17"], "body": {"encoding": "text", "data": "once"}}

    def send(number: int) -> httpx.Response:
        process = [installation, *siblings][number % 3]
        return call(process, f"/topics/{topic}/messages", message, **{"Idempotency-Key": f"storm-{topic}"})

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(send, range(48)))
    done = [answer for answer in answers if answer.status_code == 201]
    assert {answer.json()["code"] for answer in answers if answer not in done} <= {"IN_PROGRESS"}
    assert len({answer.content for answer in done}) == 1
    assert [answer.headers.get("idempotency-replayed") for answer in done].count(None) == 1
    for number in range(3):
        assert send(number).headers["idempotency-replayed"] == "true", "each process has the answer"
    wait_until(lambda: stored(installation, topic) == 1)


def test_a_group_that_several_processes_use_first_at_once_stands_in_the_audit_once(
    installation: Installation, siblings: list[Installation], topic: str
) -> None:
    processes = [installation, *siblings]

    def made() -> Counter[str]:
        page = clients[0].get("/api/v1/audit", params={"action": "group.create", "limit": 100}).json()
        return Counter(row["resource"] for row in page["items"] if topic in row["resource"])

    with ExitStack() as stack, ThreadPoolExecutor(3) as pool:
        clients = [stack.enter_context(process.client()) for process in processes]
        for client in clients:
            assert client.get("/healthz").status_code == 200  # connected, so that what follows comes at the same time

        def use(group: str) -> None:
            together = Barrier(3)

            def receive(client: httpx.Client) -> int:
                together.wait()
                return client.post(f"{API}/groups/{group}/topics/{topic}:receive", json={}).status_code

            assert set(pool.map(receive, clients)) == {200}

        groups = [f"at-once-{number}-{topic}" for number in range(8)]
        for group in groups:
            use(group)
        # By the time one that came later is written, the earlier ones are, too.
        use(f"last-{topic}")
        wait_until(lambda: made()[f"local/groups/last-{topic}"] > 0)
        assert made() == Counter(f"local/groups/{group}" for group in [*groups, f"last-{topic}"])


def leases_out(process: Installation) -> float:
    with process.client() as client:
        text = client.get("/metrics").text
    return sum(float(value) for value in re.findall(r"^gantry_gateway_leases_out\{[^}]*\} (\S+)", text, re.M))


def test_what_one_process_leased_and_another_acknowledged_is_not_out(
    installation: Installation, siblings: list[Installation], topic: str
) -> None:
    one, other = installation, siblings[1]
    path = f"/groups/billing-{topic}/topics/{topic}"
    before = leases_out(one)
    assert call(one, f"/topics/{topic}/messages", {"body": {"encoding": "text", "data": "x"}}).status_code == 201
    received = call(one, f"{path}:receive", {"wait_ms": 10_000, "lease_ms": 600_000})
    (message,) = received.json()["messages"]
    assert leases_out(one) == before + 1
    assert call(other, f"{path}:ack", {"receipts": [message["receipt"]]}).status_code == 200
    wait_until(lambda: leases_out(one) == before)


def test_a_lease_outlives_the_process_that_granted_it(
    installation: Installation, siblings: list[Installation], topic: str
) -> None:
    a, b, c = siblings[0], installation, siblings[1]
    group = f"billing-{topic}"
    path = f"/groups/{group}/topics/{topic}"
    body = {"encoding": "text", "data": "x"}
    assert call(b, f"/topics/{topic}/messages", {"body": body}).status_code == 201
    asked = {"wait_ms": 10_000, "lease_ms": 120_000, "attempt_id": "first"}
    received = call(a, f"{path}:receive", asked)
    (message,) = received.json()["messages"]

    a.kill()
    assert call(b, f"{path}:receive", {}).json()["messages"] == [], "it is still on lease"
    (same,) = call(c, f"{path}:receive", asked).json()["messages"]
    assert same == message, "the attempt is known to every process"

    extended = call(b, f"{path}:extend", {"receipts": [message["receipt"]], "lease_ms": 120_000})
    assert extended.status_code == 200, extended.text
    renewed = extended.json()["results"][0]["new_receipt"]
    old = call(c, f"{path}:ack", {"receipts": [message["receipt"]]})
    assert (old.status_code, old.json()["code"]) == (409, "RECEIPT_EXPIRED")
    assert call(b, f"{path}:receive", {}).json()["messages"] == [], "the extended lease holds"

    acked = call(c, f"{path}:ack", {"receipts": [renewed]})
    assert (acked.status_code, acked.json()["results"][0]["status"]) == (200, "acked"), acked.text
    again = call(b, f"{path}:ack", {"receipts": [renewed]})
    assert (again.status_code, again.json()["results"][0]["status"]) == (200, "already_acked"), again.text
    assert call(b, f"{path}:receive", {}).json()["messages"] == []


def _changes(topic: str, kind: str) -> tuple[str, str, list[dict[str, Any]]]:
    """Return where a resource shows its ETag, how and where it is changed, and eight different changes."""
    numbers = range(1, 9)
    if kind == "topic":
        return f"/topics/{topic}", f"PATCH /topics/{topic}", [{"write_queues": 1 + n} for n in numbers]
    if kind == "queues":
        queues = [{"brokers": [{"broker": "broker-a", "write_queues": 1 + n}]} for n in numbers]
        return f"/topics/{topic}/queues", f"PATCH /topics/{topic}/queues", queues
    if kind == "group":
        return f"/groups/{topic}", f"PATCH /groups/{topic}", [{"retry_max_times": n} for n in numbers]
    if kind == "broker":
        path = "/brokers/broker-a/config"
        return path, f"PATCH {path}", [{"settings": {"fileReservedTime": str(40 + n)}} for n in numbers]
    many = [{"topics": [topic], "write_queues": 1 + n} for n in numbers]
    return f"/topics/{topic}/queues", "POST /topics:update", many


@pytest.mark.parametrize("kind", ["topic", "queues", "group", "broker", "many"])
def test_of_changes_of_one_version_at_several_processes_one_is_made(
    installation: Installation, siblings: list[Installation], topic: str, kind: str
) -> None:
    if kind == "group":
        assert call(installation, "/groups", {"name": topic}).status_code == 201
    shown, change, bodies = _changes(topic, kind)
    method, path = change.split()
    with ExitStack() as stack:
        clients = [stack.enter_context(each.client()) for each in (installation, siblings[1])]
        for first in range(0, 8, 2):
            if kind == "many":
                tags = [each.post(f"{API}{path}?dry_run=true", json=bodies[0]).headers["etag"] for each in clients]
            else:
                tags = [each.get(API + shown).headers["etag"] for each in clients]
            requests = [
                partial(client.request, method, API + path, json=body, headers={"If-Match": tags[0]})
                for client, body in zip(clients, bodies[first:], strict=False)
            ]
            assert together(requests) == {200: 1, 412: 1}


def together(requests: Sequence[Callable[[], httpx.Response]]) -> Counter[int]:
    """Send the requests in the same moment; return how often each status was the answer."""
    ready = Barrier(len(requests))

    def send(request: Callable[[], httpx.Response]) -> int:
        ready.wait(30)
        return request().status_code

    with ThreadPoolExecutor(len(requests)) as pool:
        return Counter(pool.map(send, requests))
