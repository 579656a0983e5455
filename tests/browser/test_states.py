"""What a page says while it waits for its data, and when they cannot be had."""

from __future__ import annotations

from typing import Final

import pytest
from playwright.sync_api import Route, expect

from tests.browser.pages import Console
from tests.browser.walk import pages

pytestmark = [pytest.mark.browser, pytest.mark.scenario]

REQUEST: Final = "0f1e2d3c-lost"
PROBLEM: Final = {
    "type": "urn:gantry:problem:lost",
    "title": "Lost",
    "status": 500,
    "detail": "The answer was lost on the way.",
    "code": "LOST",
    "request_id": REQUEST,
    "retryable": False,
}
# Who is signed in, and which names the broker takes: without them there is no console at all.
_NEEDED: Final = ("/api/v1/me", "/api/v1/naming")
# These read names to choose from, which may be typed as well, or what the bars around the page have read already, or
# what comes over the live connection, which is not held here.
_FORMS: Final = (
    "/live",
    "/live?tab=events",
    "/messages",
    "/jobs/new/replay",
    "/jobs/new/reconcile",
    "/jobs/new/export",
    "/jobs/new/redrive",
    "/clusters",
    "/settings",
)


def test_every_page_that_reads_something_says_that_it_waits_and_then_what_failed(console: Console) -> None:
    # Given a page that reads nothing of its own
    console.open("/no-such-page")
    held: list[Route] = []
    fails = False

    def answer(route: Route) -> None:
        if any(needed in route.request.url for needed in _NEEDED):
            route.continue_()
        elif fails or route.request.method != "GET":
            route.fulfill(status=500, json=PROBLEM, content_type="application/problem+json")
        else:
            held.append(route)

    console.page.route("**/api/v1/**", answer)
    wrong = []
    with console.watch.looking_away():
        for path in pages(topic="t", group="g", key="k", id="7F00000000000000000000000000000A?topic=t", job="j"):
            # When another one is opened, whose data do not come
            fails = False
            console.page.evaluate("href => window.__TSR_ROUTER__.navigate({ href })", path)
            # The overview of a nearly empty install has no title before it knows that.
            expect(console.title.or_(console.main.locator("[aria-busy=true]")).first).to_be_visible()
            lost = console.main.get_by_role("alert").filter(has_text=REQUEST)
            asked, is_honest = len(held), console.main.locator("[aria-busy=true]").or_(lost).count() > 0
            # Then it says so; and once it is known that they cannot be had, with the id to ask somebody about it
            fails = True
            for route in held:
                route.fulfill(status=500, json=PROBLEM, content_type="application/problem+json")
            held.clear()
            if not asked or path in _FORMS:
                continue
            if not is_honest:
                wrong.append(f"{path}: does not say that it waits")
            expect(console.main.locator("[aria-busy=true]")).to_have_count(0)
            if lost.count() == 0:
                wrong.append(f"{path}: does not say what failed: {console.main.inner_text()[:300]!r}")
            elif lost.filter(has_not=console.page.get_by_role("button", name="Try again")).count():
                wrong.append(f"{path}: offers no other try")
    assert not wrong, "\n".join(wrong)
