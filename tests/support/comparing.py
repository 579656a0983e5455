"""A comparison of rows in memory: what the tasks of a reconciliation do, one after another, without Spark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from broker_core.spark.comparing.comparison import SIDES, Comparison
from broker_core.spark.comparing.evidence import Exact, Judging
from broker_core.spark.comparing.judging import Judge
from broker_core.spark.comparing.pipeline import (
    ComparedSide,
    Found,
    compared_side,
    read_suspects,
    verdict_batch,
    wanted_rows,
)
from broker_core.spark.comparing.sides import Ranges, RowPlace, placed
from broker_core.spark.schema import COLUMNS, arrow_schema

START_MS = 1_777_593_600_000
NAMES = tuple(name for name in COLUMNS if name != "_error")
Row = dict[str, Any]


def message(number: int, key: str | None, body: str | bytes | None, **changes: Any) -> Row:
    """Return a message with these keys, separated by spaces, and body; one per second, in one queue."""
    return {
        "topic": "orders", "broker": "broker-a", "queue_id": 0, "queue_offset": number,
        "keys": key.split() if key else [], "tag": None, "unique_id": f"U{key}",
        "body": body.encode() if isinstance(body, str) else body, "properties": [],
        "_time": START_MS + 1000 * number, "_error": None, "_note": None, **changes,
    }  # fmt: skip


def messages(rows: Sequence[tuple[str | None, str]], **changes: Any) -> list[Row]:
    """Return messages with these keys and bodies."""
    return [message(number, key, body, **changes) for number, (key, body) in enumerate(rows)]


@dataclass(frozen=True)
class MemorySide:
    """A side of rows in memory: one part."""

    rows: Sequence[Row]
    parts: tuple[int, ...] = (0,)

    @property
    def known_rows(self) -> int:
        return len(self.rows)

    def names(self) -> Sequence[str]:
        return NAMES

    def fields(self, columns: Sequence[str]) -> list[Any]:
        return list(arrow_schema(columns))

    def read(self, number: int, columns: Sequence[str], ranges: Ranges | None = None) -> Iterator[Any]:
        rows = [row for row in self.rows if ranges is None or any(a <= row["queue_offset"] < b for a, b in ranges)]
        arrays = {
            field.name: pa.array([row.get(field.name) for row in rows], field.type) for field in self.fields(columns)
        }
        errors, notes = (pa.array([row[name] for row in rows], pa.string()) for name in ("_error", "_note"))
        offsets, times = (pa.array([row[name] for row in rows], pa.int64()) for name in ("queue_offset", "_time"))
        yield placed(number, offsets, times, errors, notes, arrays)

    def place_of(self, number: int, offset: int) -> RowPlace:
        return RowPlace("broker-a", 0, offset)

    def again(self) -> MemorySide:
        return self


@dataclass
class Compared:
    """What was found."""

    found: Found
    rows: list[Row]

    @property
    def classes(self) -> dict[str | None, str]:
        """The class of each key that does not match."""
        return {row["key"]: row["class"] for row in self.rows}

    @property
    def matched(self) -> int:
        """How many keys match."""
        faults = sum(not row["class"].startswith("damaged") for row in self.rows)
        return self.found.matched + self.found.keys_judged - faults


def compare(
    left: Sequence[Row],
    right: Sequence[Row],
    comparison: Comparison | None = None,
    *,
    range_ms: tuple[int | None, int | None] = (None, None),
    copied_from: str | None = None,
) -> Compared:
    """Compare the rows of two sides."""
    how = comparison or Comparison()
    sides = []
    for name, rows in zip(SIDES, (left, right), strict=True):
        original = copied_from if name == "left" else None
        sides.append(compared_side(name, MemorySide(rows), how, range_ms=range_ms, copied_from=original))
    made = [side.prints.make(batch) for side in sides for batch in side.side.read(0, side.columns)]
    verdict = verdict_batch(0, np.concatenate([rows for rows, _ in made]), how)
    found = read_suspects(pa.Table.from_batches([verdict]), 1)
    for _, counts in made:
        found.counts[counts.side] += counts
    return Compared(found, _differences(sides, found, Judge(how, range_ms[1], range_ms[1])))


def _differences(sides: Sequence[ComparedSide], found: Found, judge: Judge) -> list[Row]:
    exact: list[Row] = []
    for number, side in enumerate(sides):
        wanted = wanted_rows(found, side.side, is_right=bool(number))
        columns = (*side.columns, *([] if "tag" in side.columns else ["tag"]))
        batches = (batch for part, ranges in wanted.work for batch in side.side.read(part, columns, ranges))
        exact += [row for batch in Exact(side, wanted, 1).make(batches) for row in batch.to_pylist()]
    judging = Judging(judge, tuple(side.side for side in sides), frozenset(found.reordered), found.left_out)
    return [row for batch in judging.batches(exact) for row in batch.to_pylist()]
