"""What happens in the cluster is told while one looks: a topic made over Gantry, a client that joins and leaves."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.data import Data, consuming
from tests.browser.pages import Console
from tests.browser.shots import PHONE, shoot
from tests.support.gantry import Gantry

pytestmark = [pytest.mark.browser, pytest.mark.scenario]


def test_events_appear_while_one_looks_and_wait_while_paused(console: Console, gantry: Gantry, data: Data) -> None:
    joined, left = (console.main.get_by_role("link", name=f"{what} watchers") for what in ("joined", "left"))
    console.open("/live?tab=events")
    data.create_topic("watched")
    expect(console.main.get_by_role("link", name="Topic watched was created")).to_be_visible()
    expect(console.main).to_contain_text("by admin")
    # A native client joins its group, and leaves it
    with consuming(gantry, "watchers", "watched"):
        expect(joined).to_be_visible()
        expect(console.main).to_contain_text("PYTHON")
        shoot(console.page, "events")
        shoot(console.page, "events-phone", size=PHONE)
        console.page.get_by_role("button", name="Pause").click()
    proceed = console.page.get_by_role("button", name="Resume (1 new)")
    expect(proceed).to_be_visible()
    expect(left).to_have_count(0)
    proceed.click()
    expect(left).to_be_visible()
    # Then the group's own page tells it, and the overview
    console.open("/groups/watchers?tab=activity")
    expect(left).to_be_visible()
    shoot(console.page, "group-activity")
    shoot(console.page, "group-activity-phone", size=PHONE)
    console.open("/")
    expect(left).to_be_visible()
    shoot(console.page, "overview-events")
    shoot(console.page, "overview-events-phone", size=PHONE)
