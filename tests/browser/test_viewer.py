"""Whoever may only read is offered nothing that would be refused: controls of changes name the missing right."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import httpx
import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.data import Data
from tests.browser.pages import Console, signed_in, tab, window
from tests.browser.walk import pages
from tests.support.gantry import PASSWORD, Gantry
from tests.support.wait import wait_until

TOPIC, GROUP = "viewed", "viewing"
# How the names of controls begin that change something.
CHANGE: Final = re.compile(
    r"(Acknowledge|Add|Apply|Cancel|Change|Clone|Create|Delete|Deliver|Edit|End|Forget|Move|New|Pause|Purge|Recall|"
    r"Redrive|Remove|Reschedule|Resend|Reset|Resume|Retry|Revoke|Run|Send|Silence|Start|Stop|Test)\b",
)
# The own tokens, what is shown of a group, a chart that stands still, and the list of jobs of a type.
OWN: Final = {"Create token", "Pause the chart", "Pause", "Redrive", "Retry"}
_NAMES: Final = """(places) => places
  .filter((each) => each.matches(":enabled"))
  .map((each) => (each.getAttribute("aria-label") || each.innerText).trim())"""


@pytest.fixture
def viewer(browser: Browser, gantry: Gantry, http: httpx.Client) -> Iterator[Console]:
    """A tab in which a viewer is signed in."""
    made = http.post("/users", json={"username": "vera", "password": PASSWORD, "role": "viewer"})
    assert made.status_code == 201, made.text
    with window(browser, signed_in(browser, gantry, "vera")) as context, tab(context, gantry) as console:
        yield console


@pytest.fixture
def filled(http: httpx.Client, data: Data) -> None:
    """A topic, a group, a dead letter and a rule of alerts."""
    data.create_topic(TOPIC)
    data.send(TOPIC, *range(3))
    data.take(GROUP, TOPIC, most=1)
    data.give_up(GROUP, TOPIC, "db down", most=1)
    made = http.post("/alert-rules", json={"name": "viewed", "metric": "group_lag", "subject": GROUP, "limit": 0})
    assert made.status_code == 201, made.text
    wait_until(lambda: http.get(f"/clusters/local/dead-letters/{GROUP}").json()["messages"] == 1)


def offered(viewer: Console) -> set[str]:
    """Return the names of all buttons of a page that can be pressed, and of the entries of its menus."""
    names: set[str] = set(viewer.main.locator("button").evaluate_all(_NAMES))
    for menu in viewer.main.locator("button[aria-haspopup=menu]:enabled:visible").all():
        menu.click()
        entries = viewer.page.get_by_role("menuitem")
        expect(entries.first).to_be_visible()
        names |= set(entries.evaluate_all(_NAMES))
        _close(viewer, entries)
    return names


def _close(viewer: Console, entries: Locator) -> None:
    """Press Escape until no menu is open: one that has just opened does not hear it yet."""

    def is_closed() -> bool:
        viewer.page.keyboard.press("Escape")
        return entries.count() == 0

    wait_until(is_closed)


def test_a_viewer_is_offered_no_change_on_any_page(viewer: Console, filled: None) -> None:
    found = {}
    for path in pages(topic=TOPIC, group=GROUP, key=f"{TOPIC}-1"):
        viewer.open(path)
        expect(viewer.main.locator("[aria-busy=true]")).to_have_count(0)
        changes = {name for name in offered(viewer) if CHANGE.match(name)} - OWN
        if changes:
            found[path] = sorted(changes)[:5]
    assert found == {}
