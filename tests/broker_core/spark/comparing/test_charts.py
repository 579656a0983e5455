"""The figures of a report's charts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from broker_core.spark.comparing.charts import MOST_BUCKETS, Tally, write_buckets
from broker_core.spark.comparing.evidence import DIFFERENCES

AT = datetime(2026, 5, 1, tzinfo=UTC)
MINUTE = int(AT.timestamp()) // 60


def tally(*rows: dict[str, Any]) -> Tally:
    found = Tally()
    list(found.through([pa.RecordBatch.from_pylist(list(rows), schema=DIFFERENCES)]))
    return found


def missing(minute: int | None, *, queue_id: int = 0, tag: str | None = None) -> dict[str, Any]:
    at = None if minute is None else AT + timedelta(minutes=minute)
    return {"class": "missing_right", "left_store_timestamp": at, "left_broker": "broker-a",
            "left_queue_id": queue_id, "tag": tag}  # fmt: skip


def test_classes_are_counted_over_time_with_the_keys_that_match(tmp_path: Path) -> None:
    found = tally(missing(0), missing(1), missing(1), missing(None))
    found.add_matched({MINUTE: 5, MINUTE + 1: 6, -1: 2})
    buckets = found.time_buckets()
    at = int(AT.timestamp()) * 1000
    assert (buckets.size_ms, buckets.times) == (60_000, [at, at + 60_000])
    assert buckets.classes == {"matched": [5, 6], "missing_right": [1, 2]}
    assert buckets.without_time == {"matched": 2, "missing_right": 1}
    write_buckets(buckets, tmp_path)
    rows = pyarrow.parquet.read_table(tmp_path / "buckets.parquet").to_pylist()
    assert [row["count"] for row in rows if row["class"] == "missing_right"] == [1, 2]


@pytest.mark.parametrize(("minutes", "size"), [(400, 1), (600, 5), (5000, 60), (60 * 24 * 300, 24 * 60)])
def test_there_are_never_more_buckets_than_a_chart_can_show(minutes: int, size: int) -> None:
    found = Tally()
    found.add_matched({MINUTE + minute: 1 for minute in range(0, minutes + 1, 7)})
    buckets = found.time_buckets()
    assert buckets.size_ms == size * 60_000
    assert len(buckets.times) <= MOST_BUCKETS


def test_queues_and_tags_have_their_classes() -> None:
    found = tally(missing(0, queue_id=1, tag="A"), missing(0, queue_id=1, tag="B"), missing(0, tag="A"))
    figures = found.queue_figures({("left", "broker-a", 1): 10, ("right", "broker-a", 0): 7})
    assert [(each.side, each.queue_id, each.rows, each.classes) for each in figures] == [
        ("left", 0, 0, {"missing_right": 1}), ("left", 1, 10, {"missing_right": 2}), ("right", 0, 7, {}),
    ]  # fmt: skip
    assert found.tag_figures() == {"A": {"missing_right": 2}, "B": {"missing_right": 1}}
