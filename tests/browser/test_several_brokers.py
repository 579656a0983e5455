"""Two brokers of one cluster: each page says what is where, and tells of both together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, expect

from tests.browser.data import LOCAL, Data
from tests.browser.pages import Console, signed_in, tab, wait_for_number, window
from tests.browser.shots import shoot
from tests.support.gantry import Gantry, Place
from tests.support.ports import free_ports

pytestmark = [pytest.mark.browser, pytest.mark.scenario]

TOPIC, GROUP = "orders", "billing"
BROKERS = ("broker-a", "broker-b")


@pytest.fixture(scope="module")
def two(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gantry]:
    """An installation with two brokers."""
    del browser  # there is none without it
    place = Place(tmp_path_factory.mktemp("two") / "data", free_ports(), free_ports(), free_ports(14) + 2)
    with place.started(GANTRY_BROKERS="2") as running:
        yield running


@pytest.fixture
def console(browser: Browser, two: Gantry) -> Iterator[Console]:
    """A tab in which the admin is signed in there."""
    with window(browser, signed_in(browser, two)) as context, tab(context, two) as opened:
        yield opened


def send_to_each_queue(http: httpx.Client, data: Data) -> int:
    """Send messages until each queue of both brokers has got one; return how many."""
    counts = {(queue["broker"], queue["queue_id"]): queue["count"] for queue in queues(http)}
    sent = 0
    while any(queue["count"] == counts[queue["broker"], queue["queue_id"]] for queue in queues(http)):
        data.send(TOPIC, sent, keys=["A17"])
        sent += 1
    return sent


def queues(http: httpx.Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = http.get(f"{LOCAL}/topics/{TOPIC}/queues").json()["items"]
    return found


def test_each_page_tells_of_both_brokers(console: Console, two: Gantry) -> None:
    with two.client() as http:
        data = Data(http)
        data.create_topic(TOPIC, queues=2)
        # Given messages with one key in each queue, all consumed, and some more
        sent = send_to_each_queue(http, data)
        while sent:
            sent -= data.take(GROUP, TOPIC)
        behind = send_to_each_queue(http, data)

        # Then the brokers are both listed
        console.open("/broker")
        for name in BROKERS:
            expect(console.row(name, "Brokers")).to_contain_text("Answers")

        # And the topic has the queues of both, and their sum
        console.open(f"/topics/{TOPIC}?tab=queues")
        for name in BROKERS:
            for queue_id in range(2):
                expect(console.row(f"{name}/{queue_id}", "Queues")).to_have_count(1)

        # And a lag is the sum of the queues of both
        console.open(f"/groups/{GROUP}")
        wait_for_number(console.figure("Lag"), lambda lag: lag == behind)
        for name in BROKERS:
            expect(console.row(name).first).to_be_visible()

        # And a search by key finds what each has, and says where
        console.open(f"/messages?topic={TOPIC}&key=A17")
        for name in BROKERS:
            expect(console.row(name, "Messages").first).to_be_visible()
        expect(console.main.get_by_role("columnheader", name="Broker")).to_be_visible()
        shoot(console.page, "search-two-brokers")

        # Also where all that is shown is of one
        data.send(TOPIC, 0, keys=["alone"])
        console.open(f"/messages?topic={TOPIC}&key=alone")
        expect(console.main.get_by_role("columnheader", name="Broker")).to_be_visible()

        # And the tail says of each message which broker stored it
        console.open(f"/live?topics={TOPIC}")
        expect(console.main).to_contain_text("No message yet")
        for number in range(8):
            data.send(TOPIC, number)
        rows = console.main.get_by_label("Messages as they are stored").get_by_role("row")
        expect(rows).to_have_count(1 + 8)
        for name in BROKERS:
            expect(rows.filter(has_text=name).first).to_be_visible()
