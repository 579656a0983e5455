"""The console as somebody uses it: opening pages, signing in, reading the numbers on them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from playwright.sync_api import Browser, BrowserContext, Locator, Page, StorageState, expect

from tests.browser.shots import DESK
from tests.browser.watch import Watch
from tests.support.gantry import PASSWORD, Gantry
from tests.support.wait import wait_until

# Away from the sign-in page a tab loads everything again, as after a session that has ended.
_FOLLOW: Final = """async (href) => {
  const router = window.__TSR_ROUTER__
  if (!router || document.querySelector("main h1") === null || location.pathname.endsWith("/login")) return false
  await router.navigate({ href })
  while (router.state.status !== "idle" || router.state.resolvedLocation?.href !== router.state.location.href)
    await new Promise(requestAnimationFrame)
  return true
}"""


class Console:
    """One tab of the console, and what went wrong in it."""

    def __init__(self, page: Page, watch: Watch, url: str) -> None:
        self.page = page
        self.watch = watch
        self.url = url

    def open(self, path: str) -> None:
        """Open `path` and wait for the title of the page: by its address at first, later on as a link does.

        Every load runs the whole code of the console again, which takes longer than what most tests look at.
        """
        if not self.page.evaluate(_FOLLOW, path):
            self.page.goto(self.url + path)
        expect(self.title).to_be_visible()

    def reload(self) -> None:
        """Load the page again, as F5 does."""
        self.page.reload()
        expect(self.title).to_be_visible()

    def settled(self) -> None:
        """Wait until the page has read all it shows; raises AssertionError when it shows a failure."""
        expect(self.title).to_be_visible()
        expect(self.main.locator("[aria-busy=true]")).to_have_count(0)
        expect(self.main.get_by_role("alert")).to_have_count(0)

    def sign_in(self, password: str = PASSWORD, *, name: str = "admin") -> None:
        """Fill in the form of the sign-in page and send it."""
        self.page.get_by_label("User name").fill(name)
        self.page.get_by_label("Password", exact=True).fill(password)
        self.page.get_by_role("button", name="Sign in").click()

    def choose(self, label: str, option: str) -> None:
        """Choose an option of a searchable select."""
        self.page.get_by_role("combobox", name=label, exact=True).fill(option)
        self.page.get_by_role("option", name=option, exact=True).click()

    @property
    def title(self) -> Locator:
        """The title of the page."""
        return self.page.get_by_role("main").get_by_role("heading", level=1)

    @property
    def main(self) -> Locator:
        """What stands between the bars."""
        return self.page.get_by_role("main")

    @property
    def sidebar(self) -> Locator:
        """The list of pages; its name changes with the language."""
        return self.page.get_by_role("navigation").first

    @property
    def connection(self) -> Locator:
        """The badge that says whether numbers arrive by themselves."""
        return self.page.locator("header button[data-state]")

    def figure(self, label: str) -> Locator:
        """Return the value below a label in the strip of key numbers."""
        return self.main.locator(f"xpath=.//div[normalize-space()='{label}']/following-sibling::div[1]").first

    def row(self, name: str, table: str | None = None) -> Locator:
        """Return the table row that holds `name` as the whole text of a cell."""
        place = self.main if table is None else self.main.get_by_label(table, exact=True)
        return place.get_by_role("row").filter(has=self.page.get_by_role("cell", name=name, exact=True))


def number_in(value: Locator) -> int | None:
    """Return the number that is shown, without its unit; None where it is not known."""
    digits = re.match(r"[\d,]+", value.inner_text().strip())
    return int(digits[0].replace(",", "")) if digits else None


def wait_for_number(value: Locator, holds: Callable[[int], bool], *, within: float = 30.0) -> int:
    """Wait, without touching the page, until the number shown is one that `holds`; return it."""
    seen: list[int | None] = []

    def is_there() -> bool:
        number = number_in(value)
        if number not in seen[-1:]:
            seen.append(number)
        return number is not None and holds(number)

    try:
        wait_until(is_there, within=within)
    except TimeoutError as error:
        raise AssertionError(f"the page showed only {seen}") from error
    number = seen[-1]
    assert number is not None
    return number


# A tab has a session storage of its own, which is empty at its first page only.
_FORGET_ONCE: Final = """
if (!sessionStorage.getItem("tests.begun")) {
  localStorage.clear()
  sessionStorage.setItem("tests.begun", "true")
}
"""


@contextmanager
def window(browser: Browser, state: StorageState | None = None) -> Iterator[BrowserContext]:
    """Open a window with nothing remembered but the cookies of `state`; its tabs share what the browser caches."""
    context = browser.new_context(
        viewport=DESK,
        storage_state=state,
        locale="en-GB",
        timezone_id="UTC",
        color_scheme="light",
        reduced_motion="reduce",
    )
    try:
        yield context
    finally:
        context.close()


@contextmanager
def tab(context: BrowserContext, gantry: Gantry) -> Iterator[Console]:
    """Open a tab without the choices made in earlier ones; raises AssertionError at its end if anything went wrong."""
    page = context.new_page()
    page.add_init_script(_FORGET_ONCE)
    try:
        watch = Watch(page)
        yield Console(page, watch, gantry.url)
        assert not watch.faults, str(watch)
    finally:
        page.close()


def signed_in(browser: Browser, gantry: Gantry, name: str = "admin") -> StorageState:
    """Return what a browser remembers after signing in."""
    with window(browser) as context, tab(context, gantry) as console:
        console.page.goto(f"{gantry.url}/login")
        console.sign_in(name=name)
        expect(console.page).to_have_url(f"{gantry.url}/")
        return context.storage_state()
