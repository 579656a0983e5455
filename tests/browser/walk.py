"""Every page of the console, as its router names them, so that a new one cannot be forgotten."""

from __future__ import annotations

import re
from typing import Final

from playwright.sync_api import expect

from tests.browser.pages import Console
from tests.support.gantry import ROOT

_ROUTE: Final = re.compile(r'path: "(/[^"]*)"')
# The tabs that read something of their own.
_TABS: Final = {
    "/topics/$topic": ("queues", "groups", "producers", "stats", "sample", "produce", "config", "note", "activity"),
    "/groups/$group": ("clients", "subscriptions", "dead-letters", "config", "activity"),
    "/live": ("events",),
}
_QUERIES: Final = {"/messages": ("topic={topic}&key={key}",)}
_LANGUAGE: Final = {"en": "Language", "zh": "语言"}
_NAMES: Final = {"en": "English", "zh": "中文"}
# Without the header in which the language is chosen.
_APART: Final = {"/login", "/live/wallboard"}


def pages(*, with_tabs: bool = True, **names: str) -> list[str]:
    """Return the address of every page whose parameters are among `names`: topic, group, key, id, job."""
    router = (ROOT / "frontend/src/app/router.tsx").read_text(encoding="utf-8")
    routes = [route for route in dict.fromkeys(_ROUTE.findall(router)) if route not in _APART]
    assert len(routes) > 20, routes
    found = []
    for route in routes:
        if set(re.findall(r"\$(\w+)", route)) - names.keys():
            continue
        path = re.sub(r"\$(\w+)", lambda name: names[name[1]], route)
        found += [path, *(f"{path}?tab={tab}" for tab in _TABS.get(route, ()) if with_tabs)]
        found += [f"{path}?{query.format_map(names)}" for query in _QUERIES.get(route, ())]
    return found


def read(console: Console, path: str, cluster: str) -> dict[str, str]:
    """Open a page of a cluster, wait until it has read what it shows, and return its words by language."""
    console.open(f"{path}{'&' if '?' in path else '?'}cluster={cluster}")
    expect(console.main.locator("[aria-busy=true]")).to_have_count(0)
    # Not loaded twice: what cannot be read is asked for several times.
    now = console.page.locator("html").get_attribute("lang") or ""
    first, second = ("en", "zh") if now.startswith("en") else ("zh", "en")
    words = {first: console.main.inner_text()}
    console.page.locator("header").get_by_role("button", name=_LANGUAGE[first]).click()
    console.page.get_by_role("menuitem", name=_NAMES[second]).click()
    expect(console.page.locator("html")).not_to_have_attribute("lang", now)
    words[second] = console.main.inner_text()
    assert all(each.strip() for each in words.values()), path
    return words
