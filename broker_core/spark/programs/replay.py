"""Replay: copy a range of a topic into a topic, ``python -m broker_core.spark.programs.replay JOB_DIR``."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

import msgspec
from pyspark.sql import SparkSession

from broker_core.client.admin.groups import is_system_group
from broker_core.client.blocking import BlockingSession
from broker_core.client.errors import TopicNotFound
from broker_core.job_folder import NOT_YET_KNOWN, say
from broker_core.spark import changed_rows
from broker_core.spark.bytes_read import PlanCost
from broker_core.spark.checkpoint import Checkpoint, Damage, LeftOut, left_out_of, sum_counters
from broker_core.spark.collector import Budget, Collector
from broker_core.spark.copies import COLUMNS, Copier
from broker_core.spark.counting import RowCounter
from broker_core.spark.errors import BadRequest
from broker_core.spark.failed_values import failing_expressions
from broker_core.spark.forecast import Trial
from broker_core.spark.lanes import LaneResult, ReplayJob, copy_lane
from broker_core.spark.planned import planned_table
from broker_core.spark.programs.dry_run import dry_run
from broker_core.spark.programs.export import export
from broker_core.spark.programs.left_out import LeftOutFile
from broker_core.spark.programs.program import DAMAGED, OK, PARTIAL, UNREACHABLE, ProgramResult, Run, main
from broker_core.spark.programs.replay_report import named_in, queue_report, totals_sentence
from broker_core.spark.programs.requests import STOP, ProgramRequest, on_damage, place_of
from broker_core.spark.programs.selection import Selection, select
from broker_core.spark.programs.unreported import Unreported
from broker_core.spark.replay_plan import Lane, Start, find_start, from_json, make_plan, to_json
from broker_core.spark.row_sql import RowSql
from broker_core.spark.session import run_tasks
from broker_core.spark.tasks import run_tasks_on
from broker_core.spark.topic_routes import brokers_of
from broker_core.spark.wire import session_of
from broker_core.spark.wire_place import WirePlace

_UNFINISHED: Final = ("failed", "stopped")
_SOFT_STOP_S: Final = 10.0
_LAST_REPORTS_S: Final = 3.0
"""Spark ends the other tasks of a failed job within two seconds."""
_LOOK_S: Final = 0.05


def work(run: Run) -> ProgramResult:
    """Make or load the plan, copy, report."""
    on_damage(run.request)  # before a broker is asked, which may not answer
    selection = select(run.request, run.folder)
    sql = _sql(selection, run.request.asked["target"])
    if run.request.asked.get("dry_run"):
        return dry_run(run, selection, sql, verb="copied", trial=_trial(run.request, sql))
    if run.request.asked["target"].get("kind") == "parquet":
        return export(run, selection, sql, "parquet", changed_rows.COLUMNS)
    limits = run.request.asked.get("limits") or {}
    # A plan is written before anything is sent, so without one the target has no copies of this job.
    is_resumed = run.folder.find_json("plan.json") is not None
    with run.timed("planning"):
        replaying = Replaying(run, selection, _lanes(run, selection), limits, is_resumed)
    if replaying.has_work and not run.is_stopping:
        # Messages pass through Java only for expressions.
        session = run.start_spark(lambda: replaying.write_progress("starting"), is_short=lambda: sql.is_empty)
        if not sql.is_empty:
            sql.check(session, COLUMNS)
        results = replaying.copy(session, sql)
    else:
        results = []
    return replaying.report(results)


def _sql(selection: Selection, target: Mapping[str, Any]) -> RowSql:
    transform = target.get("transform") or {}
    return RowSql(
        where=selection.where,
        body=transform.get("body"),
        tag=transform.get("tag"),
        keys=transform.get("keys"),
        properties=transform.get("properties") or {},
    )


def _trial(request: ProgramRequest, sql: RowSql) -> Trial | None:
    if not sql.changes_messages:
        return None
    if request.asked["target"].get("kind") == "parquet":
        return Trial(changed_rows.TRIED, partial(changed_rows.refused_rows, sql=sql))
    copier = Copier(request.job_id, request.created_by, "", sql)
    return Trial(copier.columns, copier.refused)


def _lanes(run: Run, selection: Selection) -> list[Lane]:
    kept = run.folder.find_json("plan.json")
    if kept is not None:
        return from_json(kept, run.request.request_hash)
    target = run.request.asked["target"]
    session, topic = session_of(_target_place(run.request)), target["topic"]
    if not run.request.asked.get("allow_live_target"):
        _refuse_live(session, topic)
    cost = PlanCost()
    by_key = target.get("order") == "key"
    lanes = make_plan(selection.options, session, topic, selection.positions, cost, by_key=by_key)
    for line in cost.lines():
        say(line)
    run.folder.write_json("plan.json", to_json(lanes, run.request.request_hash))
    return lanes


def _refuse_live(session: BlockingSession, topic: str) -> None:
    """Raise BadRequest if groups read the topic: they may have come after the request, as that of a schedule."""
    try:
        answers = session.run(session.admin.topics.groups(topic))
    except TopicNotFound as error:
        session.run(brokers_of(session.admin))
        raise BadRequest(f"target {error}") from error
    for failure in answers.failed.values():
        raise failure
    groups = {name for names in answers.found.values() for name in names if not is_system_group(name)}
    if groups:
        # Not their names: whoever sees the job may not see them.
        raise BadRequest(f"{len(groups)} group(s) read topic {topic!r}; only allow_live_target gives them copies")


def _target_place(request: ProgramRequest) -> WirePlace:
    place = place_of(request, request.asked["target"].get("cluster"))
    if not place.name_servers:
        raise BadRequest("the request names no name server to send to")
    return place.wire_place


@dataclass(slots=True)
class Replaying:
    """The driver's state of one run: checkpoints on disk, running chunks, limits."""

    run: Run
    selection: Selection
    lanes: list[Lane]
    limits: Mapping[str, Any]
    is_resumed: bool
    checkpoints: dict[int, Checkpoint] = field(init=False)
    """The last checkpoint on disk of each chunk."""
    collector: Collector = field(init=False)
    left_out: LeftOutFile = field(init=False)
    stop_seen_at: float | None = None
    damage_found: list[Damage] = field(default_factory=list)
    """Errors that ended lanes of this run."""
    unreported: Unreported = field(default_factory=Unreported)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        """Read the checkpoints of earlier runs."""
        kept = self.run.folder.lines("checkpoint.jsonl", Checkpoint)
        self.checkpoints = {checkpoint.chunk: checkpoint for checkpoint in kept}
        most, done = self.limits.get("max_messages"), sum_counters(self.checkpoints.values())
        left = None if most is None else max(0, most - done["written"])
        self.left_out = LeftOutFile(self.run.folder, self._is_passed)
        budget = Budget(per_second=self._rate(), total=left)
        self.collector = Collector(budget, self._write_down, self.left_out.add, self.run.host)

    def _rate(self) -> int | None:
        """Return the messages a second that are allowed now; None is no limit."""
        changed = self.run.control.messages_per_second
        asked: int | None = self.limits.get("messages_per_second")
        return asked if isinstance(changed, msgspec.UnsetType) else changed

    @property
    def has_work(self) -> bool:
        """Whether any chunk is left."""
        return any(self._start(lane).chunks for lane in self.lanes)

    def copy(self, session: SparkSession, sql: RowSql) -> list[LaneResult]:
        """Copy all lanes and return the outcome of each; raise BadRequest for an expression that fails on a message."""
        request, counter = self.run.request, RowCounter(self.run.host)
        kept = request.asked["target"].get("preserve") or ()
        job = ReplayJob(
            job_id=request.job_id,
            by=request.created_by,
            cluster=request.cluster,
            options=replace(self.selection.options, count_to=counter.start()),
            target=_target_place(request),
            address=self.collector.start(),
            stops_at_damage=on_damage(request) == STOP,
            sql=sql,
            keeps_unique_id="unique_id" in kept,
            keeps_born_at="born_at" in kept,
        )
        started = [(lane, self._start(lane)) for lane in self.lanes]
        left = [(lane, start) for lane, start in started if start.chunks]
        try:
            with self.run.timed("copying"):
                results = self.run.wait_for(
                    lambda: copy_lanes(session, job, left), lambda: self._tick(session), at_each_look=self._look
                )
            self._count_unreported(job, {each.lane: each.unknown for each in results if each.state in _UNFINISHED})
            return results
        except Exception:
            self._count_all_unreported(job)
            # Spark has read messages, and no task tells how many.
            is_told = self._totals()["read"] > 0
            self.write_progress("ended", unknown=() if is_told else ("read", *NOT_YET_KNOWN))
            raise
        finally:
            self._flush_running()
            self.collector.close()
            counter.close()
            say(counter.bytes_read().text())

    def _count_all_unreported(self, job: ReplayJob) -> None:
        """Count what tasks that were killed with the failed one had sent."""
        self.collector.stop = True
        waits_until = time.monotonic() + _LAST_REPORTS_S
        while self.collector.connected and time.monotonic() < waits_until:
            time.sleep(_LOOK_S)
        self._count_unreported(job, {lane.number: 0 for lane in self.lanes})

    def _count_unreported(self, job: ReplayJob, of_lanes: Mapping[int, int]) -> None:
        """Count what lanes sent and did not report; of each it is said how many have an unknown outcome."""
        self._flush_running()
        chosen = [lane for lane in self.lanes if lane.number in of_lanes]
        self.unreported.look(job, [(lane, self._start(lane), of_lanes[lane.number]) for lane in chosen])

    def write_progress(self, phase: str, *, done: bool = False, unknown: Sequence[str] = ()) -> None:
        """Write a progress line; `unknown` names counters."""
        totals = self._totals()
        total = len([chunk for lane in self.lanes for chunk in lane.chunks])
        finished = sum(checkpoint.is_done for checkpoint in self.checkpoints.values())
        most = self.limits.get("max_messages")
        left = None if most is None else most - totals["written"]
        self.run.progress.write(
            totals, phase=phase, unknown=unknown, done=done, chunks=(finished, total), most_left=left
        )

    def report(self, results: list[LaneResult]) -> ProgramResult:
        """Write the report and return the outcome of the run."""
        self.damage_found = [result.damage for result in results if result.damage is not None]
        self.write_progress("done", done=True)
        self.left_out.add([left_out_of(each) for each in self.damage_found])
        self.left_out.flush()
        result = self._result(results)
        content = {
            "summary": result.reason,
            **self.selection.told,
            "queues": [
                queue_report(lane, self._done(lane, self.checkpoints), self.damage_found) for lane in self.lanes
            ],
            **named_in(self.left_out, self._totals(), self.run.request.cluster),
        }
        self.run.folder.write_json("report.json", msgspec.to_builtins(content))
        return result

    def _result(self, results: list[LaneResult]) -> ProgramResult:
        totals = self._totals()
        by_state = {state: [each.reason for each in results if each.state == state] for state in ("failed", "damaged")}
        if self.run.is_stopping:
            written = f"{totals['written']} messages were written and remain{self.unreported.words()}"
            return ProgramResult(self.run.stop_code, f"{self.run.stop_reason}; {written}")
        if by_state["damaged"]:
            reason = f"{by_state['damaged'][0]}; on_damage=skip skips such messages"
            return ProgramResult(DAMAGED, reason, "damaged_record")
        if by_state["failed"]:
            reason = by_state["failed"][0] + self.unreported.words()
            return ProgramResult(PARTIAL if totals["written"] else UNREACHABLE, reason, "not_sent")
        state = PARTIAL if totals["failed"] or totals["damaged"] else OK
        return ProgramResult(state, totals_sentence(totals, self.left_out.count))

    def _start(self, lane: Lane) -> Start:
        return find_start(lane, self.checkpoints, is_resumed=self.is_resumed)

    def _is_passed(self, message: LeftOut) -> bool:
        """Return whether a checkpoint counts the message, so that this run does not read it again."""
        lane = next(lane for lane in self.lanes if lane.source.queue_id == message.queue_id
                    and lane.source.broker == message.broker)  # fmt: skip
        chunks = self._start(lane).chunks
        return not chunks or message.queue_offset < chunks[0].begin

    def _totals(self) -> dict[str, int]:
        current = dict(self.checkpoints)
        for checkpoint in list(self.collector.running.values()):
            current[checkpoint.chunk] = checkpoint
        current |= self.unreported.chunks
        totals = sum_counters(current.values())
        for name in ("read", "damaged"):
            totals[name] += len(self.damage_found)
        return totals | {"planned": self._planned, "unknown": self.unreported.unknown}

    @property
    def _planned(self) -> int:
        """How many messages the job reads, the same in all its life; of a filter nobody knows when it has enough."""
        planned, most = sum(lane.planned for lane in self.lanes), self.limits.get("max_messages")
        return planned if most is None or self.selection.is_filtered else min(planned, most)

    @staticmethod
    def _done(lane: Lane, checkpoints: Mapping[int, Checkpoint]) -> dict[str, int]:
        return sum_counters(checkpoints[chunk.id] for chunk in lane.chunks if chunk.id in checkpoints)

    def _write_down(self, checkpoint: Checkpoint) -> None:
        """Save a checkpoint to disk; called by the thread of the lane that waits for it."""
        with self._lock:
            known = self.checkpoints.get(checkpoint.chunk)
            # A checkpoint of a running chunk may arrive late: never replace a later one on disk.
            if known is None or known.is_behind(checkpoint):
                self.left_out.flush()
                self.run.folder.append_line("checkpoint.jsonl", checkpoint)
                self.checkpoints[checkpoint.chunk] = checkpoint

    def _flush_running(self) -> None:
        """Save the progress of the running chunks, so that a kill loses only what follows."""
        for checkpoint in list(self.collector.running.values()):
            self._write_down(checkpoint)

    def _look(self) -> None:
        self.collector.budget.set_rate(self._rate())
        # Its user waits for the first messages.
        if self.run.progress.first_after_s is None and self.collector.has_moved:
            self.write_progress("running")

    def _tick(self, session: SparkSession) -> None:
        self._flush_running()
        self.write_progress("running")
        if not self.run.is_stopping:
            return
        self.collector.stop = True
        self.stop_seen_at = self.stop_seen_at or time.monotonic()
        # Lanes end on their own after their current batch; one that hangs is cancelled.
        if time.monotonic() - self.stop_seen_at > _SOFT_STOP_S:
            session.interruptAll()


def copy_lanes(session: SparkSession, job: ReplayJob, work: Sequence[tuple[Lane, Start]]) -> list[LaneResult]:
    """Copy all lanes, as many at a time as there are cores, and return the outcome of each.

    Each lane is a task that reads and sends on its own. Only for expressions do its messages pass through Java, in one
    stage and in their order (spark/README.md#replay-lanes).
    """
    if job.sql.is_empty:
        return run_tasks(session, work, lambda each: copy_lane(job, *each))
    needed = job.copier().columns
    columns = job.sql.columns(needed)
    parts = [[replace(lane.source, begin=chunk.begin, end=chunk.end) for chunk in start.chunks] for lane, start in work]
    rows = job.sql.apply(planned_table(session, parts, job.options, columns, marks_ends=True), needed)
    uncounted = replace(job.options, count_to=None)
    with failing_expressions(
        session, job.sql.expressions(lambda names: planned_table(session, parts, uncounted, names))
    ):
        return run_tasks_on(rows, work, lambda each, batches: copy_lane(job, *each, batches))


if __name__ == "__main__":
    main(work)
