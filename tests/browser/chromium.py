"""Debian's Chromium, driven by Playwright: no browser is downloaded."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from playwright.sync_api import Browser, expect, sync_playwright

EXECUTABLE: Final = shutil.which("chromium-headless-shell") or shutil.which("chromium")
MISSING: Final = "there is no Chromium on the PATH (Debian: apt-get install chromium-headless-shell fonts-noto-cjk)"

# Without the background flags Chromium asks for hosts of its maker at each start. A page of a test lives for seconds:
# what V8 optimises for it is never paid back.
_FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--js-flags=--no-opt --single-threaded",
)
# A loaded machine with two cores may need long to draw a page; a page that is wrong stays wrong.
_PATIENCE_MS: Final = 60_000


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run a headless Chromium until the block ends.

    Playwright keeps an event loop running in this thread meanwhile, so a block may not hold asynchronous tests.
    """
    with sync_playwright() as playwright:
        expect.set_options(timeout=_PATIENCE_MS)
        browser = playwright.chromium.launch(executable_path=EXECUTABLE, headless=True, args=_FLAGS)
        try:
            yield browser
        finally:
            browser.close()
