"""The main ways of an operator without a mouse."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Final

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.data import Data
from tests.browser.pages import Console
from tests.support.gantry import PASSWORD
from tests.support.wait import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.scenario]

TOPIC, GROUP = "keys-topic", "keys-reader"
# A page with more stops than this is not used with a keyboard.
_STOPS: Final = 150
# Where the ring is drawn: at the element itself, at the box that a bare field stands in, or at what is drawn for it.
_RING: Final = """() => {
  const focused = document.activeElement
  const near = [focused, focused.parentElement, focused.nextElementSibling, focused.parentElement?.parentElement]
  const ringed = near.filter(Boolean).find((each) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(each)
    const { width, height, bottom, right } = each.getBoundingClientRect()
    return outlineStyle !== "none" && parseFloat(outlineWidth) > 0 && Math.min(width, height, bottom, right) > 0
  })
  return focused === document.body || ringed ? "" : focused.outerHTML.slice(0, 200)
}"""


@pytest.fixture(scope="module")
def keys(data: Data) -> str:
    """A group that is behind in a topic."""
    data.create_topic(TOPIC)
    data.send(TOPIC, *range(30))
    data.take(GROUP, TOPIC, most=5)
    return GROUP


def press(console: Console, *keys: str) -> None:
    """Press keys one after the other."""
    for key in keys:
        console.page.keyboard.press(key)


def tab_to(console: Console, wanted: Locator) -> None:
    """Press Tab until `wanted` has the focus; raises AssertionError at a stop without a ring, or after too many."""
    expect(wanted).to_be_enabled()
    for _ in range(_STOPS):
        if wanted.evaluate("each => each === document.activeElement"):
            return
        press(console, "Tab")
        unseen = console.page.evaluate(_RING)
        assert not unseen, f"no ring at {unseen}"
    raise AssertionError(f"Tab did not lead to {wanted}")


def test_offsets_are_changed_and_changed_back_from_the_sign_in_on(stranger: Console, keys: str) -> None:
    page = stranger.page
    page.goto(f"{stranger.url}/login")
    expect(page.get_by_label("User name")).to_be_focused()
    page.keyboard.type("admin")
    press(stranger, "Tab")
    page.keyboard.type(PASSWORD)
    press(stranger, "Enter")
    expect(page).to_have_url(f"{stranger.url}/")
    expect(stranger.title).to_be_visible()
    # The palette leads to a group
    palette = page.get_by_role("dialog")

    def is_open() -> bool:
        press(stranger, "Control+k")
        with suppress(AssertionError):
            expect(palette).to_be_visible(timeout=5_000)
        return palette.is_visible()

    # The title of a first page may stand before its keys are heard.
    wait_until(is_open)
    expect(palette.get_by_role("textbox")).to_be_focused()
    page.keyboard.type(keys)
    expect(palette.get_by_text(keys, exact=True).first).to_be_visible()
    press(stranger, "Enter")
    expect(stranger.title).to_have_text(keys)
    # From there to the offsets: a plan, its result, and back
    tab_to(stranger, stranger.main.get_by_role("link", name="Change offsets"))
    press(stranger, "Enter")
    expect(stranger.title).to_have_text(f"Change offsets of {keys}")
    # Its only topic is chosen already
    expect(page.get_by_role("combobox", name="Topic")).to_have_value(TOPIC)
    tab_to(stranger, page.get_by_role("radio", name="Time"))
    press(stranger, "ArrowRight", "ArrowRight")
    expect(page.get_by_role("radio", name="Latest")).to_be_checked()
    tab_to(stranger, page.get_by_role("button", name="Preview"))
    press(stranger, "Enter")
    tab_to(stranger, page.get_by_role("button", name=re.compile("^Apply to ")))
    press(stranger, "Enter")
    tab_to(stranger, stranger.main.get_by_role("button", name="Undo").first)
    press(stranger, "Enter")
    back = page.get_by_role("button", name=re.compile("^Restore . queues?$"))
    expect(back).to_be_visible()
    tab_to(stranger, back)
    press(stranger, "Enter")
    expect(page.get_by_text(f"Group {keys} was moved").first).to_be_visible()


def test_rows_are_walked_and_opened_and_the_focus_comes_back(console: Console, keys: str) -> None:
    page = console.page
    console.open(f"/messages?mode=time&topic={TOPIC}")
    row = console.main.get_by_role("row").filter(has_text=f"{TOPIC}-").nth(1)
    expect(row).to_be_visible()
    tab_to(console, console.main.get_by_role("group", name="Messages", exact=True))
    press(console, "j", "j", "j", "k")
    expect(row).to_be_focused()
    press(console, "Enter")
    message = page.get_by_role("complementary", name="Message")
    expect(message).to_be_focused()
    press(console, "ArrowDown", "Escape")
    expect(message).to_have_count(0)
    expect(row).to_be_focused()
    # Jumps, the filter of a list, and the sheet of the keys
    press(console, "g", "g")
    expect(console.title).to_have_text("Groups")
    press(console, "/")
    expect(page.get_by_placeholder("Filter by name")).to_be_focused()
    page.keyboard.type(keys)
    press(console, "Tab", "?")
    sheet = page.get_by_role("dialog")
    expect(sheet).to_contain_text("Ctrl / ⌘ K")
    press(console, "Tab", "Tab", "Tab")
    expect(sheet.locator(":focus")).to_have_count(1)
    press(console, "Escape")
    expect(sheet).to_have_count(0)


@pytest.mark.parametrize("path", ["/", f"/groups/{GROUP}", f"/topics/{TOPIC}?tab=produce"])
def test_tab_passes_all_of_a_page_with_a_ring_at_each_stop(console: Console, keys: str, path: str) -> None:
    console.page.add_init_script("document.addEventListener('focusin', () => (window.stops = (window.stops ?? 0) + 1))")
    console.open(path)
    console.settled()
    press(console, "Tab")
    skip = console.page.get_by_role("link", name="Skip to the content")
    expect(skip).to_be_focused()
    press(console, "Enter")
    expect(console.main).to_be_focused()
    tab_to(console, skip)  # past the last stop the first one follows: nothing holds the focus
    assert console.page.evaluate("window.stops") > 5
