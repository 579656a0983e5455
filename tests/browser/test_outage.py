"""A broker is gone while the console is open: no page says that all is well, or shows a zero."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser.data import order
from tests.browser.pages import Console, wait_for_number
from tests.browser.walk import pages, read
from tests.support.cluster import RunningBroker, started_broker
from tests.support.wait import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.scenario]

NORTH: Final = "north"
API: Final = f"/clusters/{NORTH}"
# What the pages say of a cluster that does well, in both languages.
HEALTHY: Final = {
    "en": re.compile(
        r"\b(?:Answers|Idle|Consuming|Caught up|No group is behind|none in any group|No message was given up"
        r"|No client is connected|Nothing waits here|nothing waits|complete)\b"
    ),
    "zh": re.compile(
        r"(?m:^有应答)|空闲|消费中|无堆积|没有落后的消费组|没有消费组产生死信|没有被放弃的消息|没有已连接的客户端|(?<!不)完整"
    ),
}
# These show what the console itself keeps, or other clusters.
_OWN: Final = re.compile(
    r"/(?:live|alerts|jobs|schedules|clusters|audit|access|api-reference|settings|groups/\w+/offsets)"
)
_ZEROS: Final = r"""() => {
    const zero = /^0(?:[.,]0+)?\s*(?:\+|\/s|ms|s|%|k?B)?$/
    return [...document.querySelectorAll("main td:not(:first-child), main [class*=value], main dd")]
        .filter((element) => !element.querySelector("[role=img]") && zero.test(element.innerText.trim()))
        .map((element) => element.parentElement.innerText)
}"""


@pytest.fixture(scope="module")
def north(http: httpx.Client, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """Another cluster, with a backlog, leases, dead letters and a message that waits."""
    with started_broker(tmp_path_factory.mktemp(NORTH), broker_name="north-a", cluster=NORTH) as running:
        _post(http, "/clusters", {"name": NORTH, "name_servers": [running.name_server]})
        _post(http, f"{API}/topics", {"name": "orders"})
        _post(http, f"{API}/topics/orders/messages", {"messages": [order("orders", number) for number in range(60)]})
        _post(http, f"{API}/topics/orders/messages", {**order("orders", 60), "delay_ms": 36_000_000})
        path = f"{API}/groups/billing/topics/orders"
        for how in ({"dead_letter": True, "reason": "db down"}, None):
            got = _post(http, f"{path}:receive", {"max_messages": 2, "wait_ms": 5_000, "lease_ms": 600_000})
            if how:
                _post(http, f"{path}:nack", {"receipts": [each["receipt"] for each in got["messages"]], **how})
        for figure in ("total_lag", "dead_letters"):
            wait_until(lambda figure=figure: (http.get(f"{API}/overview").json()[figure] or 0) > 0)  # type: ignore[misc]
        yield running


def _post(http: httpx.Client, path: str, body: Any) -> Any:
    answer = http.post(path, json=body)
    assert answer.is_success, f"{path}: {answer.text}"
    return answer.json()


def test_no_page_calls_a_dead_broker_healthy_or_shows_a_zero_that_nobody_measured(
    console: Console, north: RunningBroker
) -> None:
    # Given the overview, open while the broker is killed
    lag = console.figure("Total lag")
    console.open(f"/?cluster={NORTH}")
    wait_for_number(lag, lambda now: now > 0)
    with console.watch.looking_away():
        north.stop(kill=True)
        # Then it says by itself that the lag is not known, and what it was
        expect(lag.get_by_role("img")).to_be_visible()
        # And so does every page, in both languages
        wrong = []
        # Without the tabs: one whose broker is dead asks several times, for some seconds each.
        for path in pages(with_tabs=False, topic="orders", group="billing", key="orders-7"):
            for language, words in read(console, path, NORTH).items():
                if not path.startswith("/clusters"):
                    wrong += [f"{language} {path}: {found[0]}" for found in HEALTHY[language].finditer(words)]
            if not _OWN.match(path):
                wrong += [f"{path}: {zero!r}" for zero in console.page.evaluate(_ZEROS)]
        assert wrong == []
