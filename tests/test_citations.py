"""Every page that code, tests or docs cite exists, and has the section that the citation names.

A citation is the path of a page from the root of the repository, from broker_core/ or from the file that cites it, with
the anchor that a heading gets on a code host: ``store/README.md#consume-queue``.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
_READ = {".py", ".c", ".h", ".ts", ".tsx", ".css", ".java", ".md", ".toml", ".yml", ".in", ".sh"}
_NOT_OURS = {
    ".git",
    ".venv",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    "node_modules",
    "dist",
    "__pycache__",
}
_CITATION = re.compile(r"(?<![\w./:-])([\w./-]*[\w-]\.md)(?:#([\w-]+))?")
_HEADING = re.compile(r"^#+\s+(.*)", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def anchors(page: str) -> set[str]:
    """Return the anchors of a page's headings."""
    met: Counter[str] = Counter()
    found = set()
    for heading in _HEADING.findall(_FENCED.sub("", page)):
        anchor = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        found.add(f"{anchor}-{met[anchor]}" if met[anchor] else anchor)
        met[anchor] += 1
    return found


@cache
def _anchors_of(page: Path) -> set[str]:
    return anchors(page.read_text())


def unopened(place: Path, text: str) -> Iterator[str]:
    """Yield each citation in `text` that does not open from `place`."""
    for page, anchor in _CITATION.findall(text):
        places = ((at / page).resolve() for at in (place.parent, ROOT, ROOT / "broker_core"))
        found = next((each for each in places if each.is_file() and each.is_relative_to(ROOT)), None)
        if found is None:
            yield f"{place.relative_to(ROOT)} cites {page}, which does not exist"
        elif anchor and anchor not in _anchors_of(found):
            yield f"{place.relative_to(ROOT)} cites {page}#{anchor}, but the page has no such section"


def _files() -> Iterator[Path]:
    for folder, names, files in os.walk(ROOT):
        mine = Path(folder)
        names[:] = [
            name
            for name in names
            if name not in _NOT_OURS and not name.startswith(".") and mine / name != ROOT / "data"
        ]
        for path in (Path(folder) / name for name in files):
            if path.suffix in _READ and path != Path(__file__):
                yield path


def test_every_citation_opens() -> None:
    files = list(_files())
    assert ROOT / "gateway" / "data" / "receive.py" in files  # not what `make up` keeps in data
    missing = [line for path in files for line in unopened(path, path.read_text())]
    assert missing == []


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("see (store/README.md#consume-queue)", 0),
        ("see docs/operations.md", 0),
        ("see store/README.md#no-such-section", 1),
        ("see store-format.md 3.2", 1),
        ("see https://example.org/page.md", 0),
    ],
)
def test_a_citation_that_does_not_open_is_found(text: str, missing: int) -> None:
    assert len(list(unopened(ROOT / "broker_core" / "errors.py", text))) == missing


def test_headings_become_the_anchors_that_links_use() -> None:
    page = "# A `name`, twice\n## Twice\n```\n# no heading\n```\n## Twice\n"
    assert anchors(page) == {"a-name-twice", "twice", "twice-1"}
