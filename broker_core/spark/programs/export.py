"""Export: messages of a topic as one file, ``python -m broker_core.spark.programs.export JOB_DIR``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import msgspec
import pyarrow.compute as pc
from pyspark.sql import SparkSession

from broker_core.job_folder import NOT_YET_KNOWN, JobFolder, say
from broker_core.spark.bytes_read import PlanCost
from broker_core.spark.changed_rows import Refused, changed
from broker_core.spark.checkpoint import Damage, LeftOut, left_out_of
from broker_core.spark.counting import RowCounter
from broker_core.spark.export_files import file_name, join_pieces, write_piece
from broker_core.spark.failed_values import failing_expressions
from broker_core.spark.options import SourceOptions
from broker_core.spark.partitions import count_of
from broker_core.spark.planned import planned_table
from broker_core.spark.programs.dry_run import dry_run
from broker_core.spark.programs.left_out import MOST, LeftOutFile
from broker_core.spark.programs.program import DAMAGED, OK, PARTIAL, ProgramResult, Run, main
from broker_core.spark.programs.replay_report import named_in, names_them
from broker_core.spark.programs.requests import STOP, on_damage
from broker_core.spark.programs.selection import Selection, select
from broker_core.spark.reading import Partition, read_rows
from broker_core.spark.replay_plan import plan_by_queue
from broker_core.spark.row_sql import WANTED, RowSql
from broker_core.spark.session import run_tasks
from broker_core.spark.tasks import run_tasks_on

_OF_DAMAGE: Final = ("queue_offset", "log_offset", "_error")


def work(run: Run) -> ProgramResult:
    """Plan, write the pieces, join them, report."""
    selection = select(run.request, run.folder)
    sql = RowSql(where=selection.where)
    if run.request.asked.get("dry_run"):
        return dry_run(run, selection, sql, verb="exported")
    asked = run.request.asked
    return export(run, selection, sql, asked["format"], tuple(asked["columns"]))


def export(run: Run, selection: Selection, sql: RowSql, kind: str, columns: tuple[str, ...]) -> ProgramResult:
    """Write what is selected into one file of the job; a transformation needs body and properties among the columns."""
    cost = PlanCost()
    with run.timed("planning"):
        by_queue = plan_by_queue(selection.options, selection.positions, cost)
    for line in cost.lines():
        say(line)
    parts = [part for key in sorted(by_queue) for part in by_queue[key]]
    return Exporting(run, kind, columns, selection, sql).run_all(parts)


@dataclass(frozen=True, slots=True)
class PieceResult:
    """What became of one range."""

    written: int
    damaged: int
    failed: int
    first_damage: Damage | None


@dataclass(slots=True)
class Exporting:
    """One run of an export."""

    run: Run
    kind: str
    columns: tuple[str, ...]
    selection: Selection
    sql: RowSql

    def run_all(self, parts: Sequence[Partition]) -> ProgramResult:
        """Write all ranges, in their order, into one file."""
        counter = RowCounter(self.run.host)
        options = replace(self.selection.options, count_to=counter.start())
        planned = sum(map(count_of, parts))

        def write_progress(phase: str) -> None:
            read = min(counter.rows(), planned)
            self.run.progress.write({"planned": planned, "read": read}, phase=phase, unknown=NOT_YET_KNOWN)

        results: list[PieceResult] = []
        try:
            if parts:
                session = self.run.start_spark(lambda: write_progress("starting"), is_short=lambda: self.sql.is_empty)
                with self.run.timed("exporting"):
                    results = self.run.wait_for(
                        lambda: self._pieces(session, parts, options), lambda: self._tick(session, write_progress)
                    )
        finally:
            counter.close()
        say(counter.bytes_read().text())
        if self.run.is_stopping:
            return ProgramResult(self.run.stop_code, f"{self.run.stop_reason}; an export begins anew when it goes on")
        with self.run.timed("joining"):
            pieces = [self._piece(number) for number in range(len(parts))]
            join_pieces(pieces, self.run.folder.path / file_name(self.kind), self.kind, self.columns)
        return self._report(planned, parts, results)

    def _tick(self, session: SparkSession, write_progress: Any) -> None:
        write_progress("running")
        if self.run.is_stopping:
            session.interruptAll()

    def _pieces(self, session: SparkSession, parts: Sequence[Partition], options: SourceOptions) -> list[PieceResult]:
        kind, columns, sql = self.kind, self.columns, self.sql
        needed = tuple(dict.fromkeys((*columns, *_OF_DAMAGE)))
        work = [(part, self._piece(number)) for number, part in enumerate(parts)]
        if sql.is_empty:
            return run_tasks(
                session, work, lambda each: _write(each, read_rows(each[0], options, needed), kind, columns, sql)
            )
        sql.check(session, needed)
        rows = sql.apply(planned_table(session, [[part] for part in parts], options, sql.columns(needed)), needed)
        uncounted, single = replace(options, count_to=None), [[part] for part in parts]
        with failing_expressions(
            session, sql.expressions(lambda names: planned_table(session, single, uncounted, names))
        ):
            return run_tasks_on(rows, work, lambda each, batches: _write(each, batches, kind, columns, sql))

    def _piece(self, number: int) -> Path:
        return self.run.folder.path / "tmp" / "pieces" / f"{number:06}"

    def _report(self, read: int, parts: Sequence[Partition], results: Sequence[PieceResult]) -> ProgramResult:
        written, failed = sum(each.written for each in results), sum(each.failed for each in results)
        damaged = sum(each.damaged for each in results)
        left_out = self._join_left_out(len(parts))
        name = file_name(self.kind)
        matched = written + failed
        counters = {
            "planned": read, "read": read, "filtered": read - matched - damaged, "damaged": damaged,
            "matched": matched, "written": written, "failed": failed,
            "bytes": (self.run.folder.path / name).stat().st_size,
        }  # fmt: skip
        self.run.progress.write(counters, phase="done", done=True)
        sentence = f"{written:,} messages exported to {name}"
        others = {"damaged": damaged, "spoilt by the expressions": failed}
        sentence += "".join(f", {count:,} {what} and left out" for what, count in others.items() if count)
        sentence += names_them(left_out.count, damaged + failed)
        queues: dict[tuple[str, int], dict[str, Any]] = {}
        for part, each in zip(parts, results, strict=True):
            place = {"broker": part.broker, "queue_id": part.queue_id, "from": part.begin, "written": 0}
            queue = queues.setdefault((part.broker, part.queue_id), place)
            queue |= {"to": part.end, "written": queue["written"] + each.written}
        content = {
            "summary": sentence, **self.selection.told, "columns": self.columns, "queues": list(queues.values()),
            **named_in(left_out, {"failed": failed, "damaged": damaged}, self.run.request.cluster),
        }  # fmt: skip
        self.run.folder.write_json("report.json", msgspec.to_builtins(content))
        if damaged and on_damage(self.run.request) == STOP:
            first = next(each.first_damage for each in results if each.first_damage is not None)
            reason = f"{first}; on_damage=skip leaves such messages out"
            return ProgramResult(DAMAGED, reason, "damaged_record")
        return ProgramResult(PARTIAL if damaged or failed else OK, sentence)

    def _join_left_out(self, pieces: int) -> LeftOutFile:
        # An export begins anew: what an earlier run named is read again.
        joined = LeftOutFile(self.run.folder, lambda _: False)
        for piece in map(self._piece, range(pieces)):
            joined.add(list(JobFolder(piece.parent).lines(_left_out_name(piece), LeftOut)))
        joined.flush()
        return joined


@dataclass(slots=True)
class _Piece:
    """Counts what is left out of one range, and names it in a file beside the piece."""

    path: Path
    part: Partition
    columns: tuple[str, ...]
    sql: RowSql
    damaged: int = 0
    failed: int = 0
    first_damage: Damage | None = None
    _named: int = 0

    def kept(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield batches of what goes into the file."""
        for rows in batches:
            is_sound = pc.is_null(rows.column("_error"))
            self._note_damage(rows.filter(pc.invert(is_sound)))
            wanted = pc.and_(is_sound, rows.column(WANTED)) if WANTED in rows.schema.names else is_sound
            found = rows.filter(wanted)
            if self.sql.changes_messages:
                found, refused = changed(found, self.sql, self.columns)
                self._note_failures(refused)
            yield found.select(list(self.columns))

    def _note_damage(self, rows: Any) -> None:
        part = self.part
        self.damaged += rows.num_rows
        found = [
            Damage(part.broker, part.topic, part.queue_id, *row.values()) for row in rows.select(_OF_DAMAGE).to_pylist()
        ]
        self.first_damage = self.first_damage or next(iter(found), None)
        self._name([left_out_of(each) for each in found])

    def _note_failures(self, refused: Sequence[Refused]) -> None:
        part = self.part
        self.failed += len(refused)
        self._name([
            LeftOut(
                kind="failed", broker=part.broker, topic=part.topic, queue_id=part.queue_id,
                queue_offset=offset, reason=reason,
            )
            for offset, reason in refused
        ])  # fmt: skip

    def _name(self, messages: list[LeftOut]) -> None:
        room = MOST - self._named
        if messages and room > 0:
            JobFolder(self.path.parent).append_lines(_left_out_name(self.path), messages[:room])
            self._named += len(messages[:room])


def _write(
    work: tuple[Partition, Path], batches: Iterator[Any], kind: str, columns: tuple[str, ...], sql: RowSql
) -> PieceResult:
    part, path = work
    piece = _Piece(path, part, columns, sql)
    path.with_name(_left_out_name(path)).unlink(missing_ok=True)
    written = write_piece(path, kind, columns, piece.kept(batches))
    return PieceResult(written, piece.damaged, piece.failed, piece.first_damage)


def _left_out_name(piece: Path) -> str:
    return f"{piece.name}.left_out"


if __name__ == "__main__":
    main(work)
