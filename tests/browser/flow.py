"""What somebody does in the console in one of its languages: it presses what has a text, and reads what is said."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

from playwright.sync_api import Error, Locator, expect

from tests.browser.pages import Console
from tests.browser.words import Words, words_in
from tests.support.wait import wait_until


@dataclass(frozen=True)
class Flow:
    """A console in one language, its words, and a topic that a group reads: of this language alone."""

    console: Console
    t: Words
    topic: str
    group: str

    def button(self, path: str, place: Locator | None = None, **values: object) -> Locator:
        """Return the button of a text."""
        return (place or self.console.page.locator("body")).get_by_role(
            "button", name=self.t(path, **values), exact=True
        )

    def drawer(self, path: str, **values: object) -> Locator:
        """Return the drawer of a text."""
        return self.console.page.get_by_role("complementary", name=self.t(path, **values), exact=True)

    def item(self, path: str, place: Locator | None = None, **values: object) -> Locator:
        """Return what a text alone stands on: a part of a switch, a sentence."""
        return (place or self.console.main).get_by_text(self.t(path, **values), exact=True)

    def menu_item(self, path: str) -> Locator:
        """Return the entry of the open menu."""
        return self.console.page.get_by_role("menuitem", name=self.t(path), exact=True)

    def choose(self, path: str) -> None:
        """Choose an entry of the menu with what else can be done here."""
        self.button("actions.more", self.console.main).first.click()
        self.menu_item(path).click()

    def confirm(self, path: str, typed: str | None = None, **values: object) -> None:
        """Press the button of the dialog, after typing what it asks for."""
        dialog = self.console.page.get_by_role("dialog")
        if typed is not None:
            expect(self.button(path, dialog, **values)).to_be_disabled()
            dialog.get_by_role("textbox").fill(typed)
        self.button(path, dialog, **values).click()

    def says(self, path: str, **values: object) -> None:
        """Wait until a text is on the page."""
        expect(self.console.page.get_by_text(self.t(path, **values)).first).to_be_visible()


def flow_in(console: Console, language: str, topic: str) -> Flow:
    """Let the next page that `console` opens speak `language`; the group of a flow is called after its topic."""
    console.page.add_init_script(f"localStorage.setItem('gantry.language', '\"{language}\"')")
    return Flow(console, words_in(language), topic, f"{topic}-reader")


def press(what: Locator, outcome: Locator) -> None:
    """Press until `outcome` shows: a form takes no press in the first moment after another one."""

    def is_there() -> bool:
        if outcome.count() == 0 and what.count() > 0:
            with suppress(Error):  # it went away with its form, or waits for an answer
                what.click(timeout=1_000)
        return outcome.count() > 0

    wait_until(is_there, within=60)
