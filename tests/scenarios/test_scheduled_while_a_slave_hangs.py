"""A slave hangs while messages wait for their time: what is changed or sent meanwhile comes once, or is recalled."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from tests.scenarios.test_replicas import L, pid_of, replicas
from tests.support.gantry import Gantry, Place
from tests.support.ports import free_ports
from tests.support.wait import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.timeout(900)]

OLD_MS: Final = 7_000
NEW_MS: Final = 20_000
SETTLED_S: Final = 60.0


@pytest.fixture
def gantry(tmp_path: Path) -> Iterator[Gantry]:
    place = Place(tmp_path / "data", free_ports(), free_ports(), free_ports(24) + 2)
    with place.started(GANTRY_REPLICAS="3") as gantry:
        yield gantry


@contextmanager
def hanging_slave(gantry: Gantry, http: httpx.Client) -> Iterator[None]:
    """Stop one slave for as long as the block runs."""
    told = replicas(http)
    slave = next(each for each in told["replicas"] if each["broker_id"] != told["master_id"])
    pid = pid_of(gantry, int(slave["address"].rpartition(":")[2]))
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def scheduled(http: httpx.Client, key: str) -> str:
    """Send a message that waits; return its id."""
    body = {"keys": [key], "delay_ms": OLD_MS, "body": {"encoding": "text", "data": key}}
    answer = http.post(f"{L}/topics/orders/messages", json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["results"][0]["message_id"])


def came(http: httpx.Client, key: str) -> list[dict[str, Any]]:
    """Return the messages with a key that are in the topic."""
    found: list[dict[str, Any]] = http.get(f"{L}/messages:search", params={"topic": "orders", "key": key}).json()[
        "items"
    ]
    return found


def test_what_is_moved_or_recalled_while_a_slave_hangs_comes_once_or_never(gantry: Gantry) -> None:
    with gantry.client() as http:
        assert http.post(f"{L}/topics", json={"name": "orders"}).status_code == 201
        wait_until(lambda: len(replicas(http)["failover"]["in_sync"]) == 3, within=SETTLED_S)
        moved, recalled, plain = (scheduled(http, key) for key in ("moved", "recalled", "plain"))
        with hanging_slave(gantry, http):
            answers = [
                http.patch(f"{L}/scheduled/{moved}", json={"delay_ms": NEW_MS}),
                http.delete(f"{L}/scheduled/{recalled}"),
            ]
            time.sleep(OLD_MS / 1000)
        assert [(each.status_code, each.json()["code"], each.json()["retryable"]) for each in answers] == [
            (504, "TIMED_OUT", True)
        ] * 2, [each.text for each in answers]
        assert http.delete(f"{L}/scheduled/{recalled}").status_code == 200
        wait_until(lambda: len(came(http, "plain")) == 1, within=SETTLED_S)
        assert came(http, "moved") == []
        wait_until(lambda: len(came(http, "moved")) == 1, within=NEW_MS / 1000 + SETTLED_S)
        assert (came(http, "recalled"), len(came(http, "plain"))) == ([], 1)
        assert http.delete(f"{L}/scheduled/{plain}").status_code == 409
