"""Copies one lane of a replay inside a Spark task: read, ask the driver, send, and have each finished chunk recorded.

Only one batch is in flight, and it goes to one queue, so a target queue has the copies in the order of the source
queue. A batch is stored completely or not at all. The ends of the target queues therefore show whether a send
without an answer arrived, and where an earlier run was killed (spark/README.md#checkpoints-and-exact-counts).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, Final, Literal

from msgspec.structs import replace as replace_struct

from broker_core.spark.checkpoint import Checkpoint, Damage, LeftOut
from broker_core.spark.collector import Address, Reporter, SendPermit
from broker_core.spark.copies import COLUMNS, Copier, Damaged, NoCopy
from broker_core.spark.options import SourceOptions
from broker_core.spark.planned import without_end
from broker_core.spark.reading import read_rows
from broker_core.spark.replay_plan import Chunk, Lane, Start
from broker_core.spark.row_sql import RowSql
from broker_core.spark.target_queue import MOST_BYTES, MOST_MESSAGES, LaneFailed, Pair, Stopped, Targets
from broker_core.spark.wire import session_of
from broker_core.spark.wire_place import WirePlace

_MOST_QUEUES: Final = 8
"""With order by key: so many batches are filled at once."""
_MOST_UNTOLD: Final = 500
"""The driver is told of so many messages that were left out, also where nothing is to be sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayJob:
    """The common parameters of all lanes of a job; sent to the tasks."""

    job_id: str
    by: str
    cluster: str
    options: SourceOptions
    target: WirePlace
    address: Address
    stops_at_damage: bool = False
    sql: RowSql = field(default_factory=RowSql)
    keeps_unique_id: bool = False
    keeps_born_at: bool = False

    def name_of(self, lane: Lane) -> str:
        """Return how copies name the queue of a lane."""
        source = lane.source
        return f"{self.cluster}/{source.broker}/{source.topic}/{source.queue_id}"

    def copier(self, source: str = "") -> Copier:
        """Return what makes the copies of a lane, which `source` names."""
        return Copier(self.job_id, self.by, source, self.sql, self.keeps_unique_id, self.keeps_born_at)


@dataclass(frozen=True, slots=True)
class LaneResult:
    """The outcome of a lane: ``done``, ``stopped``, ``failed`` with a reason, or ``damaged`` if damage stopped it."""

    lane: int
    state: str
    reason: str = ""
    damage: Damage | None = None
    """Why it stopped."""
    unknown: int = 0
    """Copies that were sent, of which it is not known whether they are stored."""


class _DamageFound(Exception):
    """A message is damaged, and damage stops the job."""

    def __init__(self, damage: Damage) -> None:
        super().__init__(str(damage))
        self.damage = damage


def copy_lane(job: ReplayJob, lane: Lane, start: Start, rows: Iterator[Any] | None = None) -> LaneResult:
    """Copy the rest of a lane; every batch and every finished chunk is reported to the driver.

    `rows` are all its rows from there on in queue order, as Arrow batches; None: the lane reads them itself.
    """
    reporter = Reporter(job.address, lane.number)
    chunk_rows = ChunkRows(lane, job.options, job.copier().columns) if rows is None else GivenRows(rows)
    try:
        _LaneRun(job, lane, start, reporter, chunk_rows).run()
    except Stopped as error:
        return LaneResult(lane.number, "stopped", unknown=error.unknown)
    except LaneFailed as error:
        return LaneResult(lane.number, "failed", str(error), unknown=error.unknown)
    except _DamageFound as met:
        return LaneResult(lane.number, "damaged", str(met), met.damage)
    finally:
        reporter.close()
    return LaneResult(lane.number, "done")


def with_unreported(job: ReplayJob, lane: Lane, start: Start) -> Checkpoint | None:
    """Return the totals of a lane's first chunk with the copies that its task sent and, killed, did not report.

    None if there are none. What lies between these copies counts as filtered: only the next run would read it again.
    Raises NotSettled, or another error of the client, if nobody can say.
    """
    if not start.chunks:
        return None
    chunk = start.chunks[0]
    arrived = Targets(session_of(job.target), lane, job.copier(job.name_of(lane)), start).find_arrived()
    sent = [offset for offset in arrived if chunk.begin <= offset < chunk.end]
    if not sent:
        return None
    known = start.earlier or Checkpoint(chunk=chunk.id, lane=lane.number, next=chunk.begin, target=start.target_from)
    end = max(sent) + 1
    read, matched = known.read + lane.count(known.next, end), known.matched + len(sent)
    counters = {"read": read, "matched": matched, "written": known.written + len(sent)}
    return replace_struct(known, next=end, filtered=read - matched - known.damaged, **counters)


@dataclass(frozen=True, slots=True)
class ChunkRows:
    """The rows of a lane's chunks, read where they are asked for."""

    lane: Lane
    options: SourceOptions
    columns: Sequence[str] = COLUMNS

    def of(self, chunk: Chunk) -> Iterator[Any]:
        """Yield the rows of a chunk."""
        yield from read_rows(replace(self.lane.source, begin=chunk.begin, end=chunk.end), self.options, self.columns)


@dataclass(slots=True)
class GivenRows:
    """The rows of a lane that come from Spark, cut into its chunks, each with a row that marks its end."""

    rows: Iterator[Any]
    _rest: Any = None

    def of(self, chunk: Chunk) -> Iterator[Any]:
        """Yield the rows of the next chunk; raise LaneFailed if Spark ends before it has given all."""
        while True:
            batch, self._rest = self._rest, None
            batch = next(self.rows, None) if batch is None else batch
            if batch is None:
                raise LaneFailed(f"Spark ended before the message at queue offset {chunk.end - 1}")
            offsets = batch.column("queue_offset").to_numpy()
            inside = int(offsets.searchsorted(chunk.end))
            if inside < len(offsets):
                self._rest = batch.slice(inside)
            rows = batch.slice(0, inside)
            last = without_end(rows)
            yield rows if last is None else last
            if last is not None:
                return


@dataclass(slots=True)
class _LaneRun:
    job: ReplayJob
    lane: Lane
    start: Start
    reporter: Reporter
    rows: ChunkRows | GivenRows
    copier: Copier = field(init=False)
    target: Targets = field(init=False)
    totals: Checkpoint = field(init=False)
    """Counters of the current chunk."""
    damaged: list[Damaged] = field(default_factory=list)
    """Messages read beyond `next` and not counted yet."""
    left_out: list[LeftOut] = field(default_factory=list)
    """Counted, and not told to the driver yet."""

    def __post_init__(self) -> None:
        self.copier = self.job.copier(self.job.name_of(self.lane))
        self.target = Targets(session_of(self.job.target), self.lane, self.copier, self.start)

    def run(self) -> None:
        """Copy chunk after chunk."""
        arrived = self._arrived() if self.start.is_resumed and self.start.chunks else set()
        for number, chunk in enumerate(self.start.chunks):
            self.totals = self._begin(chunk, self.start.earlier if number == 0 else None)
            for batch in self._batches(chunk):
                self._copy(batch, arrived)
            self._pass(chunk.end)
            self.target.catch_up()
            self._note_ends()
            self.totals.state = "done"
            if self._ask(0).stop and number + 1 < len(self.start.chunks):
                raise Stopped

    def _arrived(self) -> set[int]:
        """Return the source offsets of what an earlier run sent and did not report."""
        self.totals = self._begin(self.start.chunks[0], self.start.earlier)
        return self.target.wait_for_arrived(self._is_wanted)

    def _begin(self, chunk: Chunk, earlier: Checkpoint | None) -> Checkpoint:
        end, ends = self.target.end, self.target.ends
        if earlier is not None:
            return earlier.resumed(target=end, targets=ends)
        return Checkpoint(chunk=chunk.id, lane=self.lane.number, next=chunk.begin, target=end, targets=ends)

    def _note_ends(self) -> None:
        self.totals.target, self.totals.targets = self.target.end, self.target.ends

    def _copy(self, batch: list[Pair], arrived: set[int]) -> None:
        """Send what an earlier run of this job did not, as many at a time as the driver permits."""
        while batch:
            piece = _alike(batch, arrived)
            if piece[0][0] in arrived:
                # That run was killed before it could report them; they count also if this one stops here.
                self._end(piece, {})
                self._ask(0, give_back=-len(piece))
            else:
                piece = self._send(piece)
            batch = batch[len(piece) :]

    def _send(self, fresh: Sequence[Pair]) -> Sequence[Pair]:
        """Send as many as the driver permits now; return them."""
        permit = self._ask(len(fresh))
        if permit.stop:
            raise Stopped
        if not permit.count:
            time.sleep(permit.wait_s)
            return []
        sent = fresh[: permit.count]
        try:
            refused = self.target.send(sent, self._is_wanted)
        except (LaneFailed, Stopped):
            self._ask(0, give_back=permit.count)
            raise
        self._end(sent, refused)
        return sent

    def _end(self, pairs: Sequence[Pair], refused: Mapping[int, str]) -> None:
        """Count copies that are stored, or by source offset refused."""
        self._note_ends()
        for offset, reason in refused.items():
            self._failed(offset, reason)
        stored = [copy for offset, copy in pairs if offset not in refused]
        self.totals.bytes += sum([len(copy.body) for copy in stored])
        self.totals.written += len(stored)
        self.totals.matched += len(stored)
        self._pass(pairs[-1][0] + 1)

    def _failed(self, queue_offset: int, reason: str) -> None:
        self.totals.failed += 1
        self.totals.matched += 1
        self._leave_out("failed", queue_offset, None, reason)

    def _leave_out(
        self, kind: Literal["failed", "damaged"], queue_offset: int, log_offset: int | None, reason: str
    ) -> None:
        source = self.lane.source
        self.left_out.append(
            LeftOut(
                kind=kind, broker=source.broker, topic=source.topic, queue_id=source.queue_id,
                queue_offset=queue_offset, log_offset=log_offset, reason=reason,
            )
        )  # fmt: skip

    def _pass(self, next_offset: int) -> None:
        totals = self.totals
        totals.read += self.lane.count(totals.next, next_offset)
        totals.next = next_offset
        passed = [each for each in self.damaged if each.queue_offset < next_offset]
        if passed:
            del self.damaged[: len(passed)]
            totals.damaged += len(passed)
            for each in passed:
                self._leave_out("damaged", each.queue_offset, each.log_offset, each.reason)
        # All messages that were read, are intact and were not selected.
        totals.filtered = totals.read - totals.matched - totals.damaged
        # Not before: only now the totals are those of all messages before `next`.
        if len(self.left_out) >= _MOST_UNTOLD:
            self._ask(0)

    def _damage(self, of: Damaged) -> Damage:
        source = self.lane.source
        return Damage(source.broker, source.topic, source.queue_id, of.queue_offset, of.log_offset, of.reason)

    def _record_damage(self, rows: Any) -> None:
        """Record the damaged rows; raise _DamageFound if damage stops the job."""
        met = list(self.copier.damaged(rows))
        if met and self.job.stops_at_damage:
            raise _DamageFound(self._damage(met[0]))
        self.damaged += met

    def _batches(self, chunk: Chunk) -> Iterator[list[Pair]]:
        """Yield the copies of a chunk in parts that fit into one batch, with order by key into several."""
        batches = min(self.target.count, _MOST_QUEUES)
        for rows in self.rows.of(chunk):
            self._record_damage(rows)
            batch: list[Pair] = []
            size = 0
            for offset, copy in self.copier.copies(rows):
                more = 0 if isinstance(copy, NoCopy) else copy.size
                is_full = len(batch) >= batches * MOST_MESSAGES or size + more > batches * MOST_BYTES
                if batch and (is_full or isinstance(copy, NoCopy)):
                    yield batch
                    batch, size = [], 0
                if isinstance(copy, NoCopy):
                    self._failed(offset, copy.reason)
                    self._pass(offset + 1)
                    continue
                batch.append((offset, copy))
                size += more
            if batch:
                yield batch

    def _is_wanted(self) -> bool:
        return not self._ask(0).stop

    def _ask(self, want: int, *, give_back: int = 0) -> SendPermit:
        told, self.left_out = self.left_out, []
        return self.reporter.ask(want, self.totals, give_back=give_back, left_out=told)


def _alike(batch: Sequence[Pair], arrived: set[int]) -> Sequence[Pair]:
    """Return the first pairs of a batch up to where it changes whether they have arrived."""
    is_there = batch[0][0] in arrived
    return list(takewhile(lambda pair: (pair[0] in arrived) is is_there, batch))
