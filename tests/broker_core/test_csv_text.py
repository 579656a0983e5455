"""Texts in CSV files: harmless to a spreadsheet, and no two of them alike."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from broker_core.csv_text import guarded

PROMISES = (
    "a text that begins with `=`, `+`, `-`, `@`, a tab, a carriage return or an apostrophe has an apostrophe in front",
    "A text with U+0000, at which many readers would cut it, is a string of JSON behind an apostrophe",
)


def original(cell: str) -> str:
    """Undo the guard, as docs/http-api.md tells a reader to."""
    text = cell.removeprefix("'")
    return str(json.loads(text)) if cell.startswith("'\"") else text


@given(st.from_regex(r"['=+\-@\t\r\"\\\\\x00]{0,4}[a-zé0\x00]{0,2}", fullmatch=True))
def test_one_rule_leads_back_to_the_text(text: str) -> None:
    assert original(guarded(text)) == text
    assert guarded(text)[:1] not in set("=+-@\t\r")
    assert "\0" not in guarded(text)


def test_the_rule_is_told() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/http-api.md").read_text(encoding="utf-8")
    assert all(promise in " ".join(page.split()) for promise in PROMISES)
