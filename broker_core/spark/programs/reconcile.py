"""Reconcile: compare two topics key by key, ``python -m broker_core.spark.programs.reconcile JOB_DIR``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow.parquet
from pyspark.sql import DataFrame, Observation, SparkSession

from broker_core.spark.counting import RowCounter
from broker_core.spark.differences import write_differences
from broker_core.spark.errors import BadRequest
from broker_core.spark.options import Mode, SourceOptions, parse_time
from broker_core.spark.planned import planned_table
from broker_core.spark.programs.program import CANCELLED, OK, PARTIAL, ProgramResult, Run, main
from broker_core.spark.programs.requests import STOP, ProgramRequest, on_damage, whole_topic
from broker_core.spark.reading import Partition, plan_together
from broker_core.spark.reconcile import BY, CLASSES, DAMAGED, FIELDS, SIDES, Comparison, class_counts, classify, prepare
from broker_core.spark.reconcile import side_counts as counts_of_side
from broker_core.spark.samples import add_values
from broker_core.spark.session import is_local

_NOTHING: Final = "none"
# From this number of messages on, Java's optimizing compiler pays off.
_SHORT_MESSAGES: Final = 500_000


def work(run: Run) -> ProgramResult:
    """Read both sides, compare, report."""
    asked = run.request.asked
    comparison = check(asked)
    counter = RowCounter(run.host)
    count_to = counter.start()
    options = {name: source_options(run.request, asked[name], count_to) for name in SIDES}
    comparing = Comparing(run, comparison, options, counter)
    try:
        # Both sides are pinned here, at the same time; later messages are not part of this run.
        session = run.start_spark(comparing.plan, is_short=lambda: comparing.is_short, max_failures=4)
        return comparing.compare(session)
    finally:
        counter.close()


def check(asked: Mapping[str, Any]) -> Comparison:
    """Return the comparison; raise BadRequest for an unknown way of pairing or an unknown field."""
    by, compare = asked.get("by") or "key", asked.get("compare") or "body"
    words = compare.split(",") if isinstance(compare, str) else compare
    fields = tuple(word.strip() for word in words if word.strip() != _NOTHING)
    if by not in BY:
        raise BadRequest(f"by={by!r}: one of {', '.join(BY)}")
    for name in fields:
        if name not in FIELDS:
            raise BadRequest(f"compare={name!r}: some of {', '.join(FIELDS)}, or {_NOTHING}")
    # Messages paired by their bodies have equal bodies.
    fields = tuple(name for name in FIELDS if name in fields and (name, by) != ("body", "body"))
    return Comparison(by, fields, bool(asked.get("order")))


def source_options(request: ProgramRequest, asked: Mapping[str, Any], count_to: str) -> SourceOptions:
    """Return what to read on one side."""
    times = {name: asked.get(name) for name in ("from", "to")}
    begin, end = (None if text is None else parse_time(name, text) for name, text in times.items())
    return replace(
        whole_topic(request, asked["topic"]),
        starting_timestamp=begin,
        ending_timestamp=end,
        mode=Mode.FAIL_FAST if on_damage(request) == STOP else Mode.PERMISSIVE,
        count_to=count_to,
    )


class PinnedQueue(msgspec.Struct, frozen=True, rename={"begin": "from", "end": "to"}):
    """The compared offsets of a queue."""

    broker: str
    queue_id: int
    begin: int
    end: int


@dataclass(slots=True)
class Comparing:
    """One run: two reads, one pass over the topics that both have, a report."""

    run: Run
    comparison: Comparison
    options: Mapping[str, SourceOptions]
    counter: RowCounter
    partitions: Mapping[str, Sequence[Partition]] | None = None
    tiles: Mapping[str, int] | None = None
    """Known after everything is compared."""

    @property
    def is_short(self) -> bool:
        """Whether it is known that there is little to compare."""
        return self.partitions is not None and self._total() < _SHORT_MESSAGES

    def _total(self) -> int:
        ranges = [each for parts in (self.partitions or {}).values() for each in parts]
        return sum(each.end - each.begin for each in ranges)

    def plan(self) -> None:
        """Pin the ranges of both sides."""
        found = plan_together([self.options[name] for name in SIDES])
        self.partitions = dict(zip(SIDES, found, strict=True))
        self.write_progress("starting")

    def write_progress(self, phase: str, *, done: bool = False) -> None:
        """Write a progress line."""
        total = self._total()
        counters = {"planned": total, "read": self.counter.rows()}
        if self.tiles is not None:
            sound, damaged = (sum(self.tiles[f"{what}_{name}"] for name in SIDES) for what in ("rows", "damaged"))
            filtered = total - sound - damaged
            counters = {"planned": sound + damaged, "read": total, "filtered": filtered, "damaged": damaged}
            counters["matched"] = self.tiles["matched"]
        self.run.progress.write(counters, phase=phase, done=done)

    def compare(self, session: SparkSession) -> ProgramResult:
        """Compare and write the report; `differences` gets its final name when it is complete."""
        seen = {name: Observation(name) for name in (*SIDES, "classes")}
        sides = [self._side(session, name).observe(seen[name], *counts_of_side(name)) for name in SIDES]
        classified = classify(sides[0], sides[1], self.comparison).observe(seen["classes"], *class_counts())
        found = self.run.folder.path / "tmp" / "differences"
        differences = classified.where("class <> 'matched'").sortWithinPartitions("class", "key")
        with self.run.timed("comparing"):
            self.run.wait_for(lambda: self._write(differences, found), lambda: self._tick(session))
        if self.run.is_stopping:
            return ProgramResult(CANCELLED, self.run.stop_reason)
        self.tiles = tiles = self._tiles(seen)
        self.write_progress("reporting")
        sentence = tiles_sentence(tiles)
        with self.run.timed("reporting"):
            self._report(found, tiles, sentence)
        self.write_progress("done", done=True)
        return ProgramResult(PARTIAL if any(tiles[name] for name in DAMAGED) else OK, sentence)

    def _write(self, differences: DataFrame, folder: Path) -> None:
        """Write the differences to a folder of this machine, as Parquet."""
        if is_local(self.run.request.spark.master):
            differences.write.mode("overwrite").parquet(str(folder))
            return
        # Executors of a cluster write to their own disks.
        folder.mkdir(parents=True, exist_ok=True)
        pyarrow.parquet.write_table(differences.toArrow(), folder / "part-0.parquet")

    def _side(self, session: SparkSession, name: str) -> DataFrame:
        if self.partitions is None:
            raise AssertionError("nothing is planned")
        rows = planned_table(session, self.partitions[name], self.options[name], self.comparison.columns)
        is_left = name == "left"
        copied_from = self.run.request.cluster if self.comparison.by == "source" and is_left else None
        return prepare(rows, self.comparison, is_left=is_left, copied_from=copied_from)

    def _tiles(self, seen: Mapping[str, Observation]) -> dict[str, int]:
        classes, counted = seen["classes"].get, {name: seen[name].get for name in SIDES}
        tiles = {name: int(classes[name]) for name in CLASSES}
        return tiles | {
            f"{what}_{name}": int(counted[name][f"{what}_{name}"])
            for what in ("keyless", "damaged", "rows")
            for name in SIDES
        }

    def _report(self, differences: Path, tiles: Mapping[str, int], sentence: str) -> None:
        folder = self.run.folder
        samples = write_differences(differences, folder.path)
        add_values(samples, {name: replace(each, count_to=None) for name, each in self.options.items()})
        asked = self.run.request.asked
        request = {name: asked[name] for name in SIDES} | {
            "by": self.comparison.by, "compare": list(self.comparison.fields), "order": self.comparison.ordered,
            "pinned": self._pinned(),
        }  # fmt: skip
        content = {"summary": sentence, "tiles": tiles, "samples": samples, "request": request}
        folder.write_json("report.json", msgspec.to_builtins(content))

    def _pinned(self) -> dict[str, list[PinnedQueue]]:
        """Return the compared offsets of each queue, by side."""
        ranges: dict[str, list[PinnedQueue]] = {}
        for name, parts in (self.partitions or {}).items():
            queues: dict[tuple[str, int], tuple[int, int]] = {}
            for part in parts:
                begin, end = queues.get((part.broker, part.queue_id), (part.begin, part.end))
                queues[part.broker, part.queue_id] = min(begin, part.begin), max(end, part.end)
            ranges[name] = [
                PinnedQueue(broker, queue_id, begin, end) for (broker, queue_id), (begin, end) in sorted(queues.items())
            ]
        return ranges

    def _tick(self, session: SparkSession) -> None:
        self.write_progress("comparing")
        if self.run.is_stopping:
            session.interruptAll()


def tiles_sentence(tiles: Mapping[str, int]) -> str:
    """Return the sentence that says what was found, and what could not be compared."""
    faults = sum(tiles[name] for name in CLASSES if name != "matched")
    rest = ""
    for what, fate in (
        ("keyless", "have no key and were not compared"),
        ("damaged", "are damaged and were left out"),
    ):
        left, right = (tiles[f"{what}_{name}"] for name in SIDES)
        if left or right:
            rest += f"; {left:,} messages on the left and {right:,} on the right {fate}"
    return f"{tiles['matched']:,} keys match, {faults:,} do not{rest}"


if __name__ == "__main__":
    main(work)
