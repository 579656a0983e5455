"""The table of metrics in docs/operations.md and the board in docs/grafana name what is served."""

from __future__ import annotations

import json
import re
from itertools import combinations

import pytest

from tests.gateway.installation import ROOT, Installation

TABLE = (ROOT / "docs/operations.md").read_text(encoding="utf-8").partition("\n## Metrics\n")[2].partition("\n## ")[0]
BOARD = json.loads((ROOT / "docs/grafana/gantry.json").read_text(encoding="utf-8"))
_NAME = re.compile(r"\bgantry_[a-z_]+\b")


@pytest.fixture(scope="module")
def served(installation: Installation) -> dict[str, str]:
    """Name → kind of the metrics of Gantry's own."""
    with installation.client(None) as client:
        page = client.get("/metrics").text
    return dict(re.findall(r"^# TYPE (gantry_\w+) (\w+)$", page, re.MULTILINE))


def test_the_table_has_every_metric_and_no_other(served: dict[str, str]) -> None:
    assert sorted(re.findall(r"^\| `(gantry_\w+)`", TABLE, re.MULTILINE)) == sorted(served)


def test_the_board_draws_what_is_served(served: dict[str, str]) -> None:
    drawn = {name for panel in BOARD["panels"] for target in panel["targets"] for name in _NAME.findall(target["expr"])}
    series = set(served) | {f"{name}_bucket" for name, kind in served.items() if kind == "histogram"}
    assert drawn <= series
    assert len(drawn) >= 20


def test_the_panels_of_the_board_have_names_and_places_of_their_own() -> None:
    panels = BOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len({panel["title"] for panel in panels}) == len(panels)
    for one, other in combinations((panel["gridPos"] for panel in panels), 2):
        apart = [one[at] + one[size] <= other[at] or other[at] + other[size] <= one[at] for at, size in ("xw", "yh")]
        assert any(apart), (one, other)
