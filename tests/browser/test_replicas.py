"""The replicas of a broker name: a master and a slave, then the master alone; and those that controllers lead."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import ViewportSize, expect

from broker_core.client.blocking import LoopThread
from tests.browser.accessible import broken_rules
from tests.browser.pages import Console
from tests.browser.shots import DESK, PHONE, shoot
from tests.support.cluster import RunningBroker, started_broker
from tests.support.replica_group import replica_group
from tests.support.wait import wait_until

pytestmark = pytest.mark.browser

NAME, CLUSTER = "harbour-a", "harbour"
TABLET: ViewportSize = {"width": 768, "height": 1024}
LAPTOP: ViewportSize = {"width": 1280, "height": 800}


@pytest.fixture
def pair(http: httpx.Client, tmp_path: Path) -> Iterator[tuple[RunningBroker, RunningBroker]]:
    """A master and a slave; their cluster is in the console while a test runs."""
    with ExitStack() as stack:
        master = stack.enter_context(started_broker(tmp_path / "master", broker_name=NAME))
        name_server = master.name_server
        slave = stack.enter_context(
            started_broker(
                tmp_path / "slave",
                broker_name=NAME,
                name_servers=name_server,
                arguments=["--role", "slave", "--broker-id", "1"],
            )
        )
        added = http.post("/clusters", json={"name": CLUSTER, "name_servers": name_server.split(";")})
        assert added.status_code == 201, added.text
        yield master, slave
        http.delete(f"/clusters/{CLUSTER}", headers={"If-Match": "*"})


def test_master_and_slave_are_told_apart_and_a_silent_one_is_unknown(
    console: Console, pair: tuple[RunningBroker, RunningBroker]
) -> None:
    console.open(f"/broker?cluster={CLUSTER}")
    brokers = console.main.get_by_role("table").first
    expect(brokers.get_by_text("Slave 1")).to_be_visible()
    brokers.get_by_role("link", name=NAME).first.click()
    expect(console.title).to_have_text(NAME)
    replicas = console.main.get_by_role("table", name="").first
    expect(replicas.get_by_role("row")).to_have_count(3)
    expect(replicas.get_by_text("Master", exact=True)).to_be_visible()
    expect(console.main.get_by_text("2 of 2 replicas answer")).to_be_visible()
    for name, size in (("phone", PHONE), ("tablet", TABLET), ("laptop", LAPTOP), ("desk", DESK)):
        shoot(console.page, f"replicas-{name}", size=size)

    silent = pair[1].process
    assert silent is not None
    silent.send_signal(signal.SIGSTOP)
    try:
        expect(replicas.get_by_text("did not answer").first).to_be_visible()
        expect(replicas.get_by_label(re.compile("^Not known: .*did not answer")).first).to_be_visible()
        expect(console.main.get_by_text("not known of each replica")).to_be_visible()
        shoot(console.page, "replicas-silent")
    finally:
        silent.send_signal(signal.SIGCONT)


@pytest.fixture
def grow(http: httpx.Client, tmp_path: Path) -> Iterator[Callable[[], None]]:
    """Start one more replica of `b`, of which controllers lead two, in a cluster that the console knows."""
    thread, stack = LoopThread("replicas"), AsyncExitStack()
    try:
        group = thread.run(stack.enter_async_context(replica_group(tmp_path)), timeout_s=60)
        added = http.post("/clusters", json={"name": CLUSTER, "name_servers": [group.name_server]})
        assert added.status_code == 201, added.text
        # Nobody has listed the broker names of a cluster that was just added.
        history = f"/clusters/{CLUSTER}/brokers/b/replicas/history"
        wait_until(lambda: http.get(history).status_code == 200)

        def start_third() -> None:
            thread.run(group.start(3), timeout_s=60)

        yield start_third
        http.delete(f"/clusters/{CLUSTER}", headers={"If-Match": "*"})
    finally:
        thread.run(stack.aclose(), timeout_s=60)


def test_one_more_replica_is_previewed_with_its_file_and_greeted_when_it_has_come(
    grow: Callable[[], None], console: Console
) -> None:
    # The page is closed before its cluster goes, which it asks for every two seconds.
    console.open(f"/broker/b?cluster={CLUSTER}")
    expect(console.main.get_by_text("2 of 2 replicas answer")).to_be_visible()
    for name, size in (("led-phone", PHONE), ("led-desk", DESK)):
        shoot(console.page, name, size=size)
    console.main.get_by_role("button", name="Add a replica…").click()
    form = console.page.get_by_role("complementary", name="Add a replica to b")
    form.get_by_label("Address of its machine").fill("10.0.0.14")
    expect(form.get_by_text("brokerIP1=10.0.0.14")).to_be_visible()
    expect(form.get_by_text("systemctl enable --now gantry-broker@b")).to_be_visible()
    assert broken_rules(console.page) == []
    for name, size in (("add-phone", PHONE), ("add-desk", DESK)):
        shoot(console.page, name, size=size)

    grow()

    expect(form.get_by_role("status")).to_contain_text("Replica 3 has come")
    expect(form.get_by_role("status")).to_contain_text("is in the in-sync set")
    expect(console.main.get_by_text("in sync 1, 2, 3").first).to_be_visible()
    shoot(console.page, "add-came")
