"""A broker or the sampler is gone while the console is open: no page says that all is well, or shows a zero."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from playwright.sync_api import expect

from tests.browser.accessible import broken_rules
from tests.browser.data import order
from tests.browser.pages import Console, wait_for_number
from tests.browser.walk import pages, read
from tests.support.cluster import RunningBroker, started_broker
from tests.support.gantry import Gantry
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
_FORGET: Final = re.compile("^(?:Forget|移除)$")
# What the sampler measures second by second.
_SAMPLED: Final = ("/", "/topics", "/topics/orders", "/groups", "/groups/billing", "/broker", "/dead-letters")
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
        # A cluster that is gone before it was sampled once has no broker that could be remembered.
        wait_until(lambda: http.get(f"/clusters/{NORTH}").json()["reachable"])
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
        # Without the tabs: one whose broker is dead asks several times, for some seconds each.
        wrong = [
            each
            for path in pages(with_tabs=False, topic="orders", group="billing", key="orders-7")
            for each in _wrong(console, path)
        ]
        assert wrong == []
        # And whoever gives the broker up for good is asked in a dialog that everybody can use
        console.page.emulate_media(reduced_motion="reduce")
        console.open(f"/broker?cluster={NORTH}")
        console.page.get_by_role("button", name=_FORGET).click()
        expect(console.page.get_by_role("dialog")).to_be_visible()
        assert broken_rules(console.page, within="[role=dialog]") == []


def test_without_the_sampler_brokers_are_asked_and_what_nobody_measures_is_unknown(
    console: Console, gantry: Gantry, http: httpx.Client, north: RunningBroker
) -> None:
    with console.watch.looking_away(), _held(gantry, b"sampler"):
        wait_until(lambda: http.get("/clusters/local").json()["reachable"] is None)
        # A broker that lives is asked, and is not called silent for it
        console.open("/clusters?cluster=local")
        console.settled()
        local = console.main.get_by_role("row", name=re.compile("^local "))
        expect(local.get_by_role("img").first).to_have_accessible_name(re.compile("not sampled in the last seconds"))
        assert "does not answer" not in local.inner_text()
        console.open("/broker?cluster=local")
        expect(console.row("Answers")).to_be_visible()
        # What was sampled of one that is dead is not shown as if it held
        north.stop(kill=True)
        wrong = [each for path in _SAMPLED for each in _wrong(console, path)]
        assert wrong == []


def _wrong(console: Console, path: str) -> list[str]:
    """Open a page of the dead cluster; return the healthy words, in both languages, and the zeros that it shows."""
    wrong = [
        f"{language} {path}: {found[0]}"
        for language, words in read(console, path, NORTH).items()
        for found in HEALTHY[language].finditer(words)
        if not path.startswith("/clusters")
    ]
    if not _OWN.match(path):
        wrong += [f"{path}: {zero!r}" for zero in console.page.evaluate(_ZEROS)]
    return wrong


@contextmanager
def _held(gantry: Gantry, word: bytes) -> Iterator[None]:
    """Hold the child process of `make up` whose command has `word` until the block ends."""
    pid = gantry.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    (held,) = [int(each) for each in children if word in Path(f"/proc/{each}/cmdline").read_bytes()]
    os.kill(held, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(held, signal.SIGCONT)
