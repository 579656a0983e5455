"""Texts in CSV files: harmless to a spreadsheet, and no two of them alike."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from broker_core.csv_text import guarded

PROMISE = (
    "a text that begins with `=`, `+`, `-`, `@`, a tab, a carriage return or an apostrophe has an apostrophe in front"
)


def original(cell: str) -> str:
    """Undo the guard, as docs/http-api.md tells a reader to."""
    return cell.removeprefix("'")


@given(st.from_regex(r"['=+\-@\t\r]{0,3}[a-z0-9]{0,2}", fullmatch=True))
def test_one_rule_leads_back_to_the_text(text: str) -> None:
    assert original(guarded(text)) == text
    assert guarded(text)[:1] not in set("=+-@\t\r")


def test_the_rule_is_told() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/http-api.md").read_text(encoding="utf-8")
    assert PROMISE in " ".join(page.split())
