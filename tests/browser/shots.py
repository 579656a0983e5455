"""Pictures of the pages that the tests come past, for eyes: ``GANTRY_SHOTS=folder make test TESTS=tests/browser``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, Literal

from playwright.sync_api import Page, ViewportSize

Scheme = Literal["light", "dark"]

DESK: Final[ViewportSize] = {"width": 1440, "height": 900}
PHONE: Final[ViewportSize] = {"width": 390, "height": 844}

_FOLDER: Final = os.environ.get("GANTRY_SHOTS")
_SCHEMES: Final[tuple[Scheme, ...]] = ("light", "dark")


def shoot(page: Page, name: str, *, size: ViewportSize = DESK, schemes: tuple[Scheme, ...] = _SCHEMES) -> None:
    """Write `page` as ``name-light.png`` and ``name-dark.png``; does nothing unless GANTRY_SHOTS names a folder."""
    if not _FOLDER:
        return
    before = page.viewport_size
    page.set_viewport_size(size)
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        _until_drawn(page)
        page.screenshot(path=Path(_FOLDER) / f"{name}-{scheme}.png", animations="disabled")
    page.emulate_media(color_scheme="light")
    if before is not None:
        page.set_viewport_size(before)


def _until_drawn(page: Page) -> None:
    """Wait for fonts, and for two frames after them: charts draw in the frame after a change."""
    page.evaluate("""async () => {
        await document.fonts.ready
        for (let frame = 0; frame < 2; frame += 1) await new Promise(requestAnimationFrame)
    }""")
