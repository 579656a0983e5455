"""Three replicas under one controller, as `GANTRY_REPLICAS=3` starts them: the master is killed under load."""

from __future__ import annotations

import itertools
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.gantry import Gantry, Place
from tests.support.ports import free_ports
from tests.support.wait import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.timeout(900)]

L = "/clusters/local"
TOPIC = f"{L}/topics/orders"
SOME = 100


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "data", free_ports(), free_ports(), free_ports(24) + 2)


@dataclass
class Sender:
    """Sends numbers, each at most once: what has a key the gateway does not send again while its fate is not known."""

    http: httpx.Client
    tried: int = 0
    stored: list[int] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def run(self) -> None:
        while not self.stopped.is_set():
            body = {"keys": [str(self.tried)], "body": {"encoding": "json", "data": self.tried}}
            number, self.tried = self.tried, self.tried + 1
            answer = self.http.post(f"{TOPIC}/messages", json=body, headers={"Idempotency-Key": str(number)})
            if answer.status_code == 201:
                self.stored.append(number)
            else:
                self.stopped.wait(0.1)


@contextmanager
def sending(gantry: Gantry) -> Iterator[Sender]:
    with gantry.client() as http:
        sender = Sender(http)
        thread = threading.Thread(target=sender.run, daemon=True)
        thread.start()
        try:
            yield sender
        finally:
            sender.stopped.set()
            thread.join()


def receive(http: httpx.Client, group: str) -> list[int] | None:
    """Return numbers that the group had not, settled; None while nobody serves it."""
    lease = {"max_messages": 32, "wait_ms": 500, "lease_ms": 60_000}
    answer = http.post(f"{L}/groups/{group}/topics/orders:receive", json=lease)
    if answer.status_code != 200:
        return None
    messages = answer.json()["messages"]
    receipts = [each["receipt"] for each in messages]
    if receipts:
        http.post(f"{L}/groups/{group}/topics/orders:ack", json={"receipts": receipts})
    return [each["body"]["data"] for each in messages]


def take(http: httpx.Client, received: set[int]) -> set[int]:
    """Add what a usual consumer gets to what it had, and return that."""
    received.update(receive(http, "billing") or ())
    return received


def receive_all(http: httpx.Client, group: str) -> list[int]:
    """Return what a new group has, until there is no more; nobody sends meanwhile."""
    batches = iter(lambda: receive(http, group), [])
    return list(itertools.chain.from_iterable(each for each in batches if each is not None))


def replicas(http: httpx.Client) -> dict[str, Any]:
    """Return what is known of the replicas, by one that the controller tells."""
    found: dict[str, Any] = http.get(f"{L}/brokers/broker-a/replicas").json()
    return found


def port_of_master(http: httpx.Client) -> int:
    found = replicas(http)
    (address,) = (each["address"] for each in found["replicas"] if each["broker_id"] == found["master_id"])
    return int(address.rpartition(":")[2])


def pid_of(gantry: Gantry, port: int) -> int:
    """Return the process of a replica, a child of the supervisor."""
    supervisor = gantry.process.pid
    children = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text("ascii").split()
    command = f"--broker-port\0{port}\0"
    (found,) = (pid for pid in children if command in Path(f"/proc/{pid}/cmdline").read_text())
    return int(found)


def kill_master(gantry: Gantry, http: httpx.Client) -> str:
    """Kill the master, wait until there is another, and return the name of the killed."""
    port = port_of_master(http)
    os.kill(pid_of(gantry, port), signal.SIGKILL)
    wait_until(lambda: replicas(http)["master_id"] is not None and port_of_master(http) != port)
    return f"replica-{(port - gantry.broker_port) // 10 + 1}"


@pytest.mark.parametrize("access", ["off", "on"])
def test_sends_and_receives_go_on_at_the_next_master_and_nothing_is_lost_or_doubled(place: Place, access: str) -> None:
    settings = {"GANTRY_REPLICAS": "3", "GANTRY_ACL": access}
    with place.started(**settings) as gantry, gantry.client() as http:
        assert http.post(f"{L}/topics", json={"name": "orders"}).status_code == 201
        said = next(line for line in gantry.lines if line.startswith("  replicas "))
        assert "master)" in said
        ports = {each["broker_id"]: each["address"].rpartition(":")[2] for each in replicas(http)["replicas"]}
        assert all(f"{port} (id {number}" in said for number, port in ports.items())
        wait_until(lambda: len(replicas(http)["failover"]["in_sync"]) == 3)

        # When the master is killed under load
        received: set[int] = set()
        with sending(gantry) as sender:
            wait_until(lambda: len(sender.stored) > SOME)
            wait_until(lambda: len(take(http, received)) > SOME)
            killed = kill_master(gantry, http)
            # Then what is sent from now on is stored, and received
            later = sender.tried
            wait_until(lambda: sum(number > later for number in sender.stored) > SOME)
            wait_until(lambda: max(take(http, received)) > later)
        # And the killed one comes back as a slave, and joins the in-sync set
        wait_until(lambda: len(replicas(http)["failover"]["in_sync"]) == 3)
        found = receive_all(http, "auditors")
        assert sorted(found) == sorted(set(found)), "stored twice"
        assert set(sender.stored) <= set(found) <= set(range(sender.tried))
    assert f"{killed} was killed by signal 9: started again" in gantry.output
    assert "did not stop within" not in gantry.output
    assert gantry.process.returncode == 0, gantry.output

    # And all of it is there when all of them start again
    with place.started(**settings) as gantry, gantry.client() as http:
        assert set(receive_all(http, "readers")) >= set(sender.stored)
    with pytest.raises(RuntimeError, match=r"replica-3 has messages of a replica that GANTRY_REPLICAS=1 would not"):
        place.started().__enter__()
