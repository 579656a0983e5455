"""A browser loads at most 300 kB of JavaScript, compressed with gzip, before the console shows its first page."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

DIST = Path(__file__).parents[2] / "frontend" / "dist"
MOST_BYTES = 300_000
LANGUAGES = ("en", "zh")


def loaded(manifest: dict[str, dict[str, Any]], *names: str) -> set[str]:
    """Return the files of these modules and of all that they import at once."""
    waiting, found = list(names), set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(manifest[name].get("imports", ()))
    return {manifest[name]["file"] for name in found}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("page", ["overview", "login"])
def test_the_first_page_is_light(page: str, language: str) -> None:
    manifest = json.loads((DIST / ".vite" / "manifest.json").read_text())
    files = loaded(manifest, "index.html", f"src/app/routes/{page}.tsx", f"src/locales/{language}/first.ts")
    sizes = {file: len(gzip.compress((DIST / file).read_bytes(), mtime=0)) for file in files}
    assert sum(sizes.values()) <= MOST_BYTES, sorted(sizes.items(), key=lambda each: -each[1])
