"""Reconcile: compare two sides key by key, ``python -m broker_core.spark.programs.reconcile JOB_DIR``."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow.parquet
from pyspark.sql import DataFrame, SparkSession

from broker_core.job_folder import NOT_YET_KNOWN, say
from broker_core.spark.comparing.charts import Tally, write_buckets
from broker_core.spark.comparing.comparison import CLASSES, DAMAGED, SIDES, Comparison, parse_comparison
from broker_core.spark.comparing.differences import batches_of, write_differences
from broker_core.spark.comparing.evidence import find_differences
from broker_core.spark.comparing.groups import GroupSide
from broker_core.spark.comparing.judging import Judge
from broker_core.spark.comparing.lost import Lost
from broker_core.spark.comparing.pipeline import (
    ComparedSide,
    Found,
    compared_side,
    find_suspects,
    group_count,
    read_suspects,
    same_types,
)
from broker_core.spark.comparing.sides import Side, TopicSide
from broker_core.spark.counting import RowCounter
from broker_core.spark.failed_values import failing_expressions
from broker_core.spark.programs.program import CANCELLED, OK, PARTIAL, ProgramResult, Run, main
from broker_core.spark.programs.reconcile_sides import AskedRange, Sides, asked_range
from broker_core.spark.programs.store_check import check_store
from broker_core.spark.session import is_local

# From this number of rows on, Java's optimizing compiler pays off.
_SHORT_ROWS: Final = 500_000


def work(run: Run) -> ProgramResult:
    """Read both sides, compare, report."""
    asked = run.request.asked
    if asked.get("check"):
        return check_store(run)
    comparison = parse_comparison(asked)
    counter = RowCounter(run.host)
    count_to = counter.start()
    ranges = {name: asked_range(asked[name]) for name in SIDES}
    comparing = Comparing(run, comparison, ranges, Sides(run, comparison, count_to), counter)
    try:
        # Both sides are pinned here, at the same time; later messages are not part of this run.
        session = run.start_spark(comparing.plan, is_short=lambda: comparing.is_short, max_failures=4)
        return comparing.compare(session)
    finally:
        counter.close()


class PinnedQueue(msgspec.Struct, frozen=True, rename={"begin": "from", "end": "to"}):
    """The compared offsets of a queue."""

    broker: str
    queue_id: int
    begin: int
    end: int


@dataclass(slots=True)
class Comparing:
    """One run: both sides read, the keys that do not match read again, a report."""

    run: Run
    comparison: Comparison
    ranges: Mapping[str, AskedRange]
    planner: Sides
    counter: RowCounter
    sides: tuple[ComparedSide, ...] = ()
    pinned_at_ms: int = 0
    found: Found = field(default_factory=Found)
    tiles: dict[str, int] = field(default_factory=dict)
    """Known after everything is compared."""

    def plan(self) -> None:
        """Pin the ranges of both sides."""
        self.pinned_at_ms = time.time_ns() // 1_000_000
        self.sides = tuple(map(self._compared, SIDES, self.planner.plan()))
        for line in self.planner.cost.lines():
            say(line)
        self.write_progress("starting")

    @property
    def is_short(self) -> bool:
        """Whether Java has little to do: it computes expressions, and moves everything else as it is."""
        known = sum(side.side.known_rows or 0 for side in self.sides)
        return all(side.sql.is_empty for side in self.sides) or known < _SHORT_ROWS

    def _compared(self, name: str, side: Side) -> ComparedSide:
        is_original = self.comparison.by == "source" and name == SIDES[0]
        chosen, asked = self.ranges[name], self.run.request.asked[name]
        return compared_side(
            name,
            side,
            self.comparison,
            range_ms=(chosen.begin, chosen.end),
            where=asked.get("where"),
            copied_from=(asked.get("cluster") or self.run.request.cluster) if is_original else None,
        )

    def write_progress(self, phase: str, *, done: bool = False) -> None:
        """Write a progress line."""
        total = sum(side.side.known_rows or 0 for side in self.sides)
        if not self.tiles:
            read = min(self.counter.rows(), total)
            counters = {"planned": total, "read": read, "bytes": self.counter.bytes_read().total()}
            self.run.progress.write(counters, phase=phase, unknown=NOT_YET_KNOWN)
            return
        matched, damaged = (sum(self.tiles[f"{what}_{name}"] for name in SIDES) for what in ("rows", "damaged"))
        # Messages that another side's rows bring along, as retries of a group do, are in no plan.
        read = max(total, matched + damaged)
        counters = {
            "planned": total, "read": read, "filtered": read - matched - damaged, "damaged": damaged,
            "matched": matched, "bytes": self.counter.bytes_read().total(),
        }  # fmt: skip
        self.run.progress.write(counters, phase=phase, done=done)

    def compare(self, session: SparkSession) -> ProgramResult:
        """Compare and write the report; files get their final names when they are complete."""
        self.sides = same_types(session, self.sides)
        groups = group_count(self.sides)
        with self.run.timed("comparing"):
            verdicts = self._collected(session, find_suspects(session, self.sides, self.comparison))
        self.found = read_suspects(verdicts, groups)
        folder = self.run.folder.path / "tmp" / "differences"
        folder.mkdir(parents=True)
        with self.run.timed("reading what differs"):
            if not self.run.is_stopping:
                self._differences(session, folder)
        if self.run.is_stopping:
            return ProgramResult(CANCELLED, self.run.stop_reason)
        say(self.counter.bytes_read().text())
        with self.run.timed("reporting"):
            sentence = self._report(folder)
        self.write_progress("done", done=True)
        return ProgramResult(PARTIAL if any(self.tiles[name] for name in DAMAGED) else OK, sentence)

    def _collected(self, session: SparkSession, rows: DataFrame) -> Any:
        with failing_expressions(session, [each for side in self.sides for each in side.expressions(session)]):
            return self.run.wait_for(rows.toArrow, lambda: self._tick(session), at_each_look=self._look)

    def _look(self) -> None:
        # Its user waits for the first rows.
        if self.run.progress.first_after_s is None and self.counter.rows():
            self.write_progress("comparing")

    def _differences(self, session: SparkSession, folder: Path) -> None:
        """Let the tasks write the differences to a folder of this machine, as Parquet."""
        # Executors of a cluster write to their own disks.
        is_here = is_local(self.run.request.spark.master)
        left_end, right_end = map(self._complete_until, SIDES)
        judge = Judge(self.comparison, left_end, right_end)
        sides = [side.again() for side in self.sides]
        rows = find_differences(session, sides, self.found, judge, folder if is_here else None)
        if rows is not None:
            table = self._collected(session, rows)
            if not is_here:
                pyarrow.parquet.write_table(table, folder / "00000.parquet")

    def _complete_until(self, side: str) -> int:
        """Return until when a side has been read: to its end and what may be late behind that, if that time is over."""
        end = self.ranges[side].end
        return self.pinned_at_ms if end is None else min(end + self.comparison.lateness_ms, self.pinned_at_ms)

    def _report(self, parts: Path) -> str:
        folder, tally, lost = self.run.folder, Tally(), Lost()
        fields = [field.name for field in self.comparison.fields]
        samples, is_whole = write_differences(lost.through(tally.through(batches_of(parts))), folder.path, fields)
        # What the hashes took for different, and is equal within its tolerance.
        counts = self.found.counts
        self.tiles = {name: tally.classes[name] for name in CLASSES}
        self.tiles["matched"] = (
            self.found.matched + self.found.keys_judged - sum(tally.classes[name] for name in CLASSES)
        )
        for what in ("keyless", "damaged", "rows"):
            self.tiles |= {f"{what}_{name}": getattr(counts[name], what) for name in SIDES}
        tally.add_matched(self.found.minutes)
        buckets = tally.time_buckets()
        write_buckets(buckets, folder.path)
        sentence = tiles_sentence(self.tiles)
        asked = self.run.request.asked
        request = {name: asked[name] for name in SIDES} | {
            "by": self.comparison.by or asked["by"], "compare": fields, "order": self.comparison.ordered,
            "multiset": self.comparison.multiset, "lateness_ms": self.comparison.lateness_ms,
            "pinned": self._pinned(),
        }  # fmt: skip
        summary = {"summary": sentence, "tiles": self.tiles, "request": request, "phases": dict(self.run.phases),
                   "is_csv_whole": is_whole, "missing_messages": lost.write(folder.path)}  # fmt: skip
        folder.write_json("summary.json", msgspec.to_builtins(summary))
        folder.write_json("samples.json", msgspec.to_builtins(samples))
        content = {**summary, "samples": samples, "buckets": buckets, "queues": tally.queue_figures(self._queue_rows()),
                   "tags": tally.tag_figures(), "notes": dict(tally.notes)}  # fmt: skip
        if self.planner.retried is not None:
            content["retried"] = self.planner.retried
        folder.write_json("report.json", msgspec.to_builtins(content))
        return sentence

    def _pinned(self) -> dict[str, list[PinnedQueue]]:
        """Return the compared offsets of each queue, by side."""
        kinds = (TopicSide, GroupSide)
        return {side.name: _pinned_queues(side.side.parts) for side in self.sides if isinstance(side.side, kinds)}

    def _queue_rows(self) -> dict[tuple[str, str, int], int]:
        pinned = self._pinned()
        return {
            (name, queue.broker, queue.queue_id): queue.end - queue.begin
            for name, queues in pinned.items()
            for queue in queues
        }

    def _tick(self, session: SparkSession) -> None:
        self.write_progress("comparing")
        if self.run.is_stopping:
            session.interruptAll()


def _pinned_queues(parts: Sequence[Any]) -> list[PinnedQueue]:
    queues: dict[tuple[str, int], tuple[int, int]] = {}
    for part in parts:
        begin, end = queues.get((part.broker, part.queue_id), (part.begin, part.end))
        queues[part.broker, part.queue_id] = min(begin, part.begin), max(end, part.end)
    return [PinnedQueue(broker, queue_id, begin, end) for (broker, queue_id), (begin, end) in sorted(queues.items())]


_FATES: Final = (
    ("keyless", "have no key and were not compared"),
    ("damaged", "are damaged and were left out"),
)


def tiles_sentence(tiles: Mapping[str, int]) -> str:
    """Return the sentence that says what was found, and what could not be compared."""
    faults = sum(tiles[name] for name in CLASSES if name != "matched")
    rest = ""
    for what, fate in _FATES:
        left, right = (tiles[f"{what}_{name}"] for name in SIDES)
        if left or right:
            rest += f"; {left:,} messages on the left and {right:,} on the right {fate}"
    return f"{tiles['matched']:,} keys match, {faults:,} do not{rest}"


if __name__ == "__main__":
    main(work)
