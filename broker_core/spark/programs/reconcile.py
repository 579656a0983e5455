"""Reconcile: compare two topics key by key, ``python -m broker_core.spark.programs.reconcile JOB_DIR``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pyspark.sql import DataFrame, Observation, SparkSession

from broker_core.spark.counting import RowCounter
from broker_core.spark.differences import write_differences
from broker_core.spark.errors import BadRequest
from broker_core.spark.options import SourceOptions, parse_source_options
from broker_core.spark.programs.frame import CANCELLED, Outcome, Run, main
from broker_core.spark.reading import plan
from broker_core.spark.reconcile import (
    BY,
    CLASSES,
    COMPARE,
    POSITION_COLUMNS,
    SOURCE_COLUMNS,
    class_counts,
    classify,
    group,
    side,
    side_counts,
)

_SIDES: Final = ("left", "right")


def work(run: Run) -> Outcome:
    """Read both sides, compare, report."""
    asked = check(run.request["request"])
    counter = RowCounter()
    count_to = counter.start()
    options = {name: read_options(run.request, asked[name], asked["by"], count_to) for name in _SIDES}
    planned = sum(_rows(parse_source_options(each)) for each in options.values())
    comparing = Comparing(run, asked, options, counter, planned)
    comparing.tell("starting")
    session = run.start_spark(max_failures=4)
    try:
        return comparing.compare(session)
    finally:
        counter.close()


def check(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request with its defaults; raise BadRequest for a way of pairing or comparing that does not exist."""
    filled = {"by": "key", "compare": "body", **asked}
    if filled["by"] not in BY:
        raise BadRequest(f"by={filled['by']!r}: one of {', '.join(BY)}")
    if filled["compare"] not in COMPARE:
        raise BadRequest(f"compare={filled['compare']!r}: one of {', '.join(COMPARE)}")
    return filled


def read_options(request: Mapping[str, Any], asked: Mapping[str, Any], by: str, count_to: str) -> dict[str, str]:
    """Return the options of the source for one side."""
    options = {"topic": asked["topic"], "columns": ",".join((*POSITION_COLUMNS, *SOURCE_COLUMNS[by]))}
    place = request["source"]
    if place.get("store"):
        options |= {"store": place["store"], "broker": place["broker"]}
    else:
        options |= {"nameServer": ";".join(place["name_servers"])}
    times = {"startingTimestamp": asked.get("from"), "endingTimestamp": asked.get("to")}
    return options | {name: text for name, text in times.items() if text} | {"countTo": count_to}


def _rows(options: SourceOptions) -> int:
    return sum(partition.end - partition.begin for partition in plan(options))


@dataclass(slots=True)
class Comparing:
    """One run: two reads, one pass over their join, a report."""

    run: Run
    asked: Mapping[str, Any]
    options: Mapping[str, Mapping[str, str]]
    counter: RowCounter
    planned: int
    tiles: Mapping[str, int] | None = None
    """Known once the join is done."""

    def tell(self, phase: str, *, done: bool = False) -> None:
        """Write a progress line."""
        counters = {"planned": self.planned, "read": self.counter.rows()}
        if self.tiles is not None:
            counters |= {"read": self.planned, "matched": self.tiles["matched"]}
        self.run.progress.write(counters, phase=phase, done=done)

    def compare(self, session: SparkSession) -> Outcome:
        """Compare and write the report; `differences` takes its final name when it is whole."""
        rows = {name: self._side(session, name) for name in _SIDES}
        seen = {name: Observation(name) for name in (*_SIDES, "classes")}
        left, right = (group(rows[name].observe(seen[name], *side_counts(name))) for name in _SIDES)
        classified = classify(left, right).observe(seen["classes"], *class_counts())
        found = self.run.folder.path / "tmp" / "differences"
        differences = classified.where("class <> 'matched'").sortWithinPartitions("class", "key")
        writing = differences.write.mode("overwrite")
        self.run.wait_for(lambda: writing.parquet(str(found)), lambda: self._tick(session, "comparing"))
        if self.run.is_stopping:
            return Outcome(CANCELLED, self.run.stop_reason)
        self.tiles = tiles = self._tiles(seen)
        self.tell("reporting")
        self._report(found, tiles)
        self.tell("done", done=True)
        return Outcome(reason=_sentence(tiles))

    def _side(self, session: SparkSession, name: str) -> DataFrame:
        topic = session.read.format("rocketmq").options(**self.options[name]).load()
        by, compare = self.asked["by"], self.asked["compare"]
        copied_from = self.run.request["cluster"] if by == "source" and name == "left" else None
        return side(topic, by=by, compare=compare, copied_from=copied_from)

    def _tiles(self, seen: Mapping[str, Observation]) -> dict[str, int]:
        classes, counted = seen["classes"].get, {name: seen[name].get for name in _SIDES}
        tiles = {name: int(classes[name]) for name in CLASSES}
        return tiles | {
            f"{what}_{name}": int(counted[name][f"{what}_{name}"]) for what in ("keyless", "rows") for name in _SIDES
        }

    def _report(self, differences: Path, tiles: Mapping[str, int]) -> None:
        folder = self.run.folder
        samples = write_differences(differences, folder.path)
        asked = {name: self.asked[name] for name in ("left", "right", "by", "compare")}
        folder.write_json("report.json", {"tiles": tiles, "samples": samples, "request": asked})

    def _tick(self, session: SparkSession, phase: str) -> None:
        self.tell(phase)
        if self.run.is_stopping:
            session.sparkContext.cancelAllJobs()


def _sentence(tiles: Mapping[str, int]) -> str:
    faults = sum(tiles[name] for name in CLASSES if name != "matched")
    return f"{tiles['matched']} keys match, {faults} do not"


if __name__ == "__main__":
    main(work)
