"""Requirements of several gateway processes on one database, one Redis and one broker."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import count
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
