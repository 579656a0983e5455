"""Two brokers under one name server, as `GANTRY_BROKERS=2` starts them: the whole story, a death, and a third."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.gantry import Gantry, Place
from tests.support.ports import free_ports
from tests.support.story import Story
from tests.support.wait import wait_until

pytestmark = [pytest.mark.scenario, pytest.mark.spark, pytest.mark.timeout(900)]

MESSAGES = 1_000
SENT_BESIDE = 60
L = "/clusters/local"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("several") / "data", free_ports(), free_ports(), free_ports(24) + 2)


def overview(http: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = http.get(f"{L}/overview").json()
    return found


def broker_in(http: httpx.Client, name: str) -> dict[str, Any]:
    return next(each for each in overview(http)["brokers"] if each["name"] == name)


def stored_by_broker(http: httpx.Client, topic: str) -> dict[str, int | None]:
    counts: dict[str, int | None] = {}
    for queue in http.get(f"{L}/topics/{topic}/queues").json()["items"]:
        before, count = counts.get(queue["broker"], 0), queue["count"]
        counts[queue["broker"]] = None if before is None or count is None else before + count
    return counts


def pid_of(gantry: Gantry, broker: str) -> int:
    """Return the process of a broker, a child of the supervisor."""
    supervisor = gantry.process.pid
    children = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text("ascii").split()
    command = f"--broker-name\0{broker}\0"
    (found,) = (pid for pid in children if command in Path(f"/proc/{pid}/cmdline").read_text())
    return int(found)


def send(http: httpx.Client, topic: str, number: int) -> None:
    """Send a message until it is stored; of one that a silent broker got nobody knows whether it was."""
    body = {"keys": [f"{topic}-{number}"], "body": {"encoding": "json", "data": number}}

    def is_stored() -> bool:
        answer = http.post(f"{L}/topics/{topic}/messages", json=body)
        assert answer.status_code == 201 or answer.json()["code"] == "SEND_UNCERTAIN", answer.text
        return answer.status_code == 201

    wait_until(is_stored)


def send_until_each_has_some(http: httpx.Client, topic: str) -> int:
    """Send messages until each broker has some; return how many."""
    sent = 0

    def have_all_some() -> bool:
        nonlocal sent
        send(http, topic, sent)
        sent += 1
        return all(stored_by_broker(http, topic).values())

    wait_until(have_all_some)
    return sent


def test_the_main_job_runs_over_both_brokers_and_while_one_is_away_the_other_takes_all(place: Place) -> None:
    """One instance for both: each start of all processes takes longer than what follows it."""
    with place.started(GANTRY_BROKERS="2") as gantry, gantry.client() as http:
        the_main_job_runs_over_both(gantry, http)
        while_one_is_away_the_other_takes_all_and_nothing_is_lost(gantry, http)
    assert "broker-b was killed by signal 9: started again" in gantry.output
    assert gantry.process.returncode == 0, gantry.output


def the_main_job_runs_over_both(gantry: Gantry, http: httpx.Client) -> None:
    story = Story(http, gantry.live_url, "orders", messages=MESSAGES)
    story.run()
    # A loaded machine may have kept all sends away from one of them for a while
    more = send_until_each_has_some(http, "orders")
    stored = stored_by_broker(http, "orders")
    assert set(stored) == {"broker-a", "broker-b"}
    assert story.tiles()["rows_left"] == sum(count or 0 for count in stored.values())
    wait_until(lambda: story.lag(story.group) == 3 + more)  # those that the story sent at its end


def while_one_is_away_the_other_takes_all_and_nothing_is_lost(gantry: Gantry, http: httpx.Client) -> None:
    assert http.post(f"{L}/topics", json={"name": "bills"}).status_code == 201
    sent = send_until_each_has_some(http, "bills")
    before = stored_by_broker(http, "bills")
    wait_until(lambda: http.get(f"{L}/topics/bills").json()["messages"] == sent)

    # When one neither answers nor ends
    pid = pid_of(gantry, "broker-b")
    os.kill(pid, signal.SIGSTOP)
    # Then it is shown as unknown, and sends go to the other
    wait_until(lambda: not broker_in(http, "broker-b")["reachable"])
    assert broker_in(http, "broker-b")["reason"]
    assert broker_in(http, "broker-a")["reachable"]
    for number in range(SENT_BESIDE):
        send(http, "bills", sent + number)
    wait_until(lambda: http.get(f"{L}/topics/bills").json()["missing"])
    assert stored_by_broker(http, "bills")["broker-b"] is None

    # When it is killed
    os.kill(pid, signal.SIGKILL)
    # Then it comes back with all that it had acknowledged
    wait_until(lambda: broker_in(http, "broker-b")["reachable"])
    wait_until(lambda: sum(count or 0 for count in stored_by_broker(http, "bills").values()) >= sent + SENT_BESIDE)
    after = stored_by_broker(http, "bills")
    assert after["broker-b"] is not None
    assert after["broker-b"] >= (before["broker-b"] or 0)
    found = http.get(f"{L}/messages:search", params={"topic": "bills", "key": "bills-0"}).json()
    assert (found["complete"], found["verdict"]) == (True, "match")


def test_a_third_one_takes_over_the_topics_and_none_with_messages_is_left_out(place: Place) -> None:
    with place.started(GANTRY_BROKERS="3") as gantry, gantry.client() as http:
        assert set(stored_by_broker(http, "bills")) == {"broker-a", "broker-b", "broker-c"}
        send_until_each_has_some(http, "bills")
    refusal = "broker-c has messages of a broker that GANTRY_BROKERS=2 would not start"
    with pytest.raises(RuntimeError, match=refusal), place.started(GANTRY_BROKERS="2"):
        pass
    with place.started(GANTRY_BROKERS="2", GANTRY_BROKERS_LEFT_OUT="broker-c") as gantry, gantry.client() as http:
        # Its messages are not gone, so how many there are is unknown, until it is removed from what is remembered
        wait_until(lambda: stored_by_broker(http, "bills")["broker-b"])
        assert stored_by_broker(http, "bills")["broker-c"] is None
        send(http, "bills", 0)
