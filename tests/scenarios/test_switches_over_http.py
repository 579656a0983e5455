"""A gateway before three replicas: messages are sent and consumed over HTTP and WebSocket while their master dies.

Whoever sends tries again with the same key until the answer is 201, and whoever consumes does nothing but go on.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import httpx
import orjson
import pytest
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

from tests.scenarios.test_replicas import L, pid_of, port_of_master, receive_all, replicas
from tests.support.gantry import Gantry, Place
from tests.support.ports import free_ports
from tests.support.wait import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.timeout(900)]

SENDERS: Final = 4
SOME: Final = 40
CREDIT: Final = 100
PAUSE_S: Final = 0.05
"""Between two sends of one sender: consumers are to keep up."""
SETTLED_S: Final = 60.0


@dataclass
class Traffic:
    """What was sent and what was received, by number."""

    stop: threading.Event = field(default_factory=threading.Event)
    stored: list[int] = field(default_factory=list)
    refused: list[dict[str, Any]] = field(default_factory=list)
    """Every problem that was told, over whatever path."""
    over_http: set[int] = field(default_factory=set)
    over_socket: set[int] = field(default_factory=set)
    faults: list[BaseException] = field(default_factory=list)

    def note(self, answer: httpx.Response) -> None:
        """Record a refusal, which must be a problem that may be tried again."""
        assert answer.headers["content-type"] == "application/problem+json", answer.text
        self.refused.append(answer.json())

    def missing(self, stored: set[int]) -> dict[str, list[int]]:
        """Return which of these were not received, by the way over which they were to be."""
        ways = {"http": stored - self.over_http, "socket": stored - self.over_socket}
        return {way: sorted(lacking) for way, lacking in ways.items() if lacking}

    def strict(self) -> list[dict[str, Any]]:
        """Return the problems that say that the same request would fail again."""
        return [each for each in self.refused if not each["retryable"]]


def send(http: httpx.Client, traffic: Traffic, sender: int) -> None:
    """Send numbers, each again with the same key until it is stored."""
    number = sender
    while not traffic.stop.is_set():
        body = {"body": {"encoding": "json", "data": number}}
        answer = http.post(f"{L}/topics/orders/messages", json=body, headers={"Idempotency-Key": f"number-{number}"})
        if answer.status_code == 201:
            traffic.stored.append(number)
            number += SENDERS
        else:
            traffic.note(answer)
        time.sleep(PAUSE_S)


def receive(http: httpx.Client, traffic: Traffic) -> None:
    """Receive over HTTP and settle; what could not be settled comes again."""
    path = f"{L}/groups/over-http/topics/orders"
    while not traffic.stop.is_set():
        answer = http.post(f"{path}:receive", json={"max_messages": 32, "wait_ms": 500, "lease_ms": 5_000})
        if answer.status_code != 200:
            traffic.note(answer)
            time.sleep(PAUSE_S)
            continue
        messages = answer.json()["messages"]
        if messages:
            http.post(f"{path}:ack", json={"receipts": [each["receipt"] for each in messages]})
        traffic.over_http.update(each["body"]["data"] for each in messages)


def follow(socket: ClientConnection, traffic: Traffic) -> None:
    """Consume over one WebSocket, which is never opened again."""
    wanted = {"type": "subscribe", "group": "over-socket", "topic": "orders", "lease_ms": 5_000, "credit": CREDIT}
    socket.send(orjson.dumps(wanted).decode())
    while not traffic.stop.is_set():
        try:
            frame = orjson.loads(socket.recv(timeout=0.5))
        except TimeoutError:
            continue
        if frame["type"] == "message":
            traffic.over_socket.add(frame["body"]["data"])
            socket.send(orjson.dumps({"type": "ack", "receipts": [frame["receipt"]]}).decode())
            socket.send(orjson.dumps({"type": "credit", "n": 1}).decode())
        elif frame["type"] == "error":
            traffic.refused.append(frame["problem"])


@contextmanager
def traffic_over(gantry: Gantry) -> Iterator[Traffic]:
    """Send and consume until the block ends; raises what a sender or a consumer raised."""
    traffic = Traffic()

    def run(work: Any, *arguments: Any) -> None:
        try:
            work(*arguments)
        except Exception as error:  # noqa: BLE001 - raised by the test
            traffic.faults.append(error)

    with ExitStack() as stack:
        clients = [stack.enter_context(gantry.client()) for _ in range(SENDERS + 1)]
        header = {"Authorization": f"Bearer {gantry.token}"}
        socket = stack.enter_context(
            connect(
                f"{gantry.live_url}/consume",
                additional_headers=header,
                subprotocols=[Subprotocol("mqgw.v1.json")],
                max_size=None,
            )
        )
        works = [(send, clients[number], traffic, number) for number in range(SENDERS)]
        threads = [
            threading.Thread(target=run, args=work)
            for work in (*works, (receive, clients[-1], traffic), (follow, socket, traffic))
        ]
        for thread in threads:
            thread.start()
        try:
            yield traffic
        finally:
            traffic.stop.set()
            for thread in threads:
                thread.join()
    for fault in traffic.faults:
        raise fault


def until_some_more(traffic: Traffic) -> None:
    """Wait until more was stored, and received on both ways."""

    def highest() -> list[int]:
        return [max(each, default=-1) for each in (traffic.stored, traffic.over_http, traffic.over_socket)]

    wanted = max(highest()) + SOME
    wait_until(lambda: bool(traffic.faults) or min(highest()) >= wanted, within=SETTLED_S)


@pytest.fixture
def gantry(tmp_path: Path) -> Iterator[Gantry]:
    place = Place(tmp_path / "data", free_ports(), free_ports(), free_ports(24) + 2)
    with place.started(GANTRY_REPLICAS="3") as gantry:
        yield gantry


def test_what_was_answered_201_arrives_and_consumers_go_on_by_themselves(gantry: Gantry) -> None:
    with gantry.client() as http:
        assert http.post(f"{L}/topics", json={"name": "orders"}).status_code == 201
        with traffic_over(gantry) as traffic:
            for of_master in (signal.SIGKILL, signal.SIGSTOP, signal.SIGKILL):
                wait_until(lambda: len(replicas(http)["failover"]["in_sync"]) == 3, within=SETTLED_S)
                until_some_more(traffic)
                port = port_of_master(http)
                pid = pid_of(gantry, port)
                os.kill(pid, of_master)
                wait_until(partial(has_other_master, http, port), within=SETTLED_S)
                until_some_more(traffic)
                if of_master is signal.SIGSTOP:
                    os.kill(pid, signal.SIGCONT)
            stored = set(traffic.stored)
            wait_until(lambda: bool(traffic.faults) or not traffic.missing(stored), within=SETTLED_S)
        assert traffic.strict() == []
        found = receive_all(http, "auditors")
        assert set(traffic.stored) <= set(found)
        assert sorted(found) == sorted(set(found)), "stored twice in spite of its key"


def has_other_master(http: httpx.Client, port: int) -> bool:
    """Whether another replica than the one at this port is master."""
    return replicas(http)["master_id"] is not None and port_of_master(http) != port
