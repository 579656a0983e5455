"""docs/spark.md names every option and column that there is, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from broker_core.spark.options import OPTIONS
from broker_core.spark.schema import COLUMNS
from broker_core.spark.sink_options import SINK_OPTIONS
from broker_core.spark.sink_rows import SINK_COLUMNS

PAGE = (Path(__file__).resolve().parents[3] / "docs/spark.md").read_text(encoding="utf-8")


def named(section: str, heading: str) -> set[str]:
    """Return the names in the first column of a table, found by section and first heading."""
    text = re.search(rf"^## {section}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert text is not None
    tables = [table for table in re.split(r"\n\n+", text[1].strip()) if table.startswith(f"| {heading} |")]
    assert len(tables) == 1
    rows = tables[0].splitlines()[2:]
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])}


@pytest.mark.parametrize(
    ("section", "heading", "names"),
    [
        ("Options for reading", "option", {each.name for each in OPTIONS} - {"countTo"}),
        ("Columns", "column", set(COLUMNS)),
        ("Writing", "column", set(SINK_COLUMNS)),
        ("Writing", "option", {each.name for each in SINK_OPTIONS}),
    ],
)
def test_the_tables_of_the_page_are_those_of_the_code(section: str, heading: str, names: set[str]) -> None:
    assert named(section, heading) == names


def test_the_types_of_the_page_are_those_of_the_code() -> None:
    for row in re.findall(r"^\| (`.*?) \| (`.*?) \|", PAGE, re.MULTILINE):
        names, types = (re.findall(r"`([^`]+)`", cell) for cell in row)
        if set(names) <= set(COLUMNS) and len(names) == len(types):
            assert [COLUMNS[name] for name in names] == types
        elif set(names) <= set(COLUMNS) and len(types) == 1:
            assert {COLUMNS[name] for name in names} == set(types)
