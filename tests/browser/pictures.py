"""Makes the pictures of the README: ``python -m tests.browser.pictures docs/images``; takes some minutes."""

from __future__ import annotations

import itertools
import math
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from playwright.sync_api import Page, expect

from tests.browser.chromium import chromium
from tests.browser.data import Data
from tests.browser.pages import Console, signed_in, tab, window
from tests.support.gantry import Gantry, Place

SECONDS: Final = 165
# The share of a chart's width from which on there is something to see: the last minutes of fifteen.
_BEGIN, _END = 0.845, 0.995
_NEXT_SAMPLE_MS: Final = 2_500
_TOPICS: Final = {"orders": 60, "payments": 35, "shipments": 20, "stock-changes": 12}
# How many messages a second each group takes: one does not keep up.
_GROUPS: Final = {
    "billing": ("orders", 60),
    "warehouse": ("orders", 50),
    "risk-scoring": ("payments", 35),
    "ledger": ("payments", 34),
    "search-indexer": ("stock-changes", 12),
}
_PAGES: Final = {"overview": "/?range=15m", "group": "/groups/warehouse?range=15m"}
_LEASED_AT_ONCE: Final = 32


def main(folder: Path) -> None:
    """Run a Gantry for some minutes and write each page to `folder`, in English and (``-zh``) in Chinese."""
    with (
        tempfile.TemporaryDirectory() as place,
        Place.free(Path(place) / "data").started() as gantry,
        chromium() as browser,
        _lively(gantry),
        window(browser, signed_in(browser, gantry)) as context,
        tab(context, gantry) as console,
    ):
        time.sleep(SECONDS)
        console.open("/")
        for language, suffix in (("en", ""), ("zh", "-zh")):
            console.page.evaluate(f"""() => localStorage.setItem("gantry.language", '"{language}"')""")
            for name, path in _PAGES.items():
                _take(console, path, folder / f"{name}{suffix}.png")


@contextmanager
def _lively(gantry: Gantry) -> Iterator[None]:
    """Send to all topics and let all groups take, each second, until the block ends."""
    enough = threading.Event()
    traffic = threading.Thread(target=_send_and_take, args=(gantry, enough), name="traffic", daemon=True)
    traffic.start()
    try:
        yield
    finally:
        enough.set()
        traffic.join(30)


def _send_and_take(gantry: Gantry, enough: threading.Event) -> None:
    with gantry.client() as http:
        data, numbers = Data(http), itertools.count()
        for topic in _TOPICS:
            data.create_topic(topic)
        started = time.monotonic()
        age = 0.0
        while not enough.wait(max(0.0, 1 - (time.monotonic() - started - age))):
            age = time.monotonic() - started
            for topic, amount in _TOPICS.items():
                wave = 1 + 0.35 * math.sin(age / 9) + 0.15 * math.sin(age / 2.3)
                data.send(topic, *itertools.islice(numbers, round(amount * wave)))
            for group, (topic, amount) in _GROUPS.items():
                for taken in range(0, amount, _LEASED_AT_ONCE):
                    data.take(group, topic, most=min(_LEASED_AT_ONCE, amount - taken))


def _take(console: Console, path: str, file: Path) -> None:
    console.open(path)
    console.settled()
    expect(console.connection).to_have_attribute("data-state", "live")
    _zoom(console.page)
    console.page.screenshot(path=file, animations="disabled")


def _zoom(page: Page) -> None:
    plot = page.get_by_role("main").locator("canvas").first.bounding_box()
    assert plot is not None
    height = plot["y"] + plot["height"] / 2
    page.mouse.move(plot["x"] + plot["width"] * _BEGIN, height)
    page.mouse.down()
    page.mouse.move(plot["x"] + plot["width"] * _END, height, steps=8)
    page.mouse.up()
    page.mouse.move(0, 0)
    page.wait_for_timeout(_NEXT_SAMPLE_MS)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
