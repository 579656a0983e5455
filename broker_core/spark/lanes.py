"""Copies one lane of a replay inside a Spark task: read, ask the driver, send, and have each finished chunk recorded.

Only one batch is in flight, and it goes to one queue, so the target queue has the copies in the order of the source
queue. A batch is stored completely or not at all. The end of the target queue therefore shows whether a send
without an answer arrived, and where an earlier run was killed (spark/README.md#checkpoints-and-exact-counts).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from broker_core.client.blocking import BlockingSession
from broker_core.client.config import ProducerConfig
from broker_core.client.consumer.pull import PullConsumer, PullStatus
from broker_core.client.errors import (
    BrokerBusy,
    BrokerRefused,
    BrokerUnavailable,
    ClientError,
    MessageRefused,
    MessageTooLarge,
    SendUncertain,
    Unreachable,
)
from broker_core.client.retry import backoff
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.message import Message
from broker_core.spark.checkpoint import Checkpoint, Damage, Failure
from broker_core.spark.collector import Address, Reporter
from broker_core.spark.copies import COLUMNS, Copier, Damaged, size_in_batch
from broker_core.spark.options import SourceOptions
from broker_core.spark.reading import read_rows
from broker_core.spark.replay_plan import Chunk, Lane, Start
from broker_core.spark.wire import session_of

_MOST_MESSAGES: Final = 256
_MOST_BYTES: Final = 1 << 20
_GIVE_UP_AFTER_S: Final = 60.0
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 5.0
_SEND_TIMEOUT_MS: Final = 10_000
_MOST_FAILURES: Final = 20
MOST_DAMAGED: Final = 100
"""A chunk names at most this many damaged messages; all are counted."""

Pair = tuple[int, Message]
"""A copy and the queue offset of its original."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayJob:
    """The common parameters of all lanes of a job; sent to the tasks."""

    job_id: str
    by: str
    cluster: str
    options: SourceOptions
    target_servers: tuple[str, ...]
    address: Address
    stops_at_damage: bool = False


@dataclass(frozen=True, slots=True)
class LaneResult:
    """The outcome of a lane: ``done``, ``stopped``, ``failed`` with a reason, or ``damaged`` if damage stopped it."""

    lane: int
    state: str
    reason: str = ""
    damage: Damage | None = None
    """Why it stopped."""


class LaneFailed(Exception):
    """The lane cannot continue now; its copies so far are confirmed."""


class _Stopped(Exception):
    """The driver has stopped the lane."""


class _DamageFound(Exception):
    """A message is damaged, and damage stops the job."""

    def __init__(self, damage: Damage) -> None:
        super().__init__(str(damage))
        self.damage = damage


def copy_lane(job: ReplayJob, lane: Lane, start: Start) -> LaneResult:
    """Copy the rest of a lane; every batch and every finished chunk is reported to the driver."""
    reporter = Reporter(job.address, lane.number)
    try:
        _LaneRun(job, lane, start, reporter).run()
    except _Stopped:
        return LaneResult(lane.number, "stopped")
    except LaneFailed as error:
        return LaneResult(lane.number, "failed", str(error))
    except _DamageFound as met:
        return LaneResult(lane.number, "damaged", str(met), met.damage)
    finally:
        reporter.close()
    return LaneResult(lane.number, "done")


@dataclass(slots=True)
class _LaneRun:
    job: ReplayJob
    lane: Lane
    start: Start
    reporter: Reporter
    copier: Copier = field(init=False)
    target: TargetQueue = field(init=False)
    totals: Checkpoint = field(init=False)
    """Counters of the current chunk."""
    damaged: list[Damaged] = field(default_factory=list)
    """Messages read beyond `next` and not counted yet."""

    def __post_init__(self) -> None:
        source = self.lane.source
        name = f"{self.job.cluster}/{source.broker}/{source.topic}/{source.queue_id}"
        self.copier = Copier(self.job.job_id, self.job.by, name, self.lane.target.topic)
        self.target = TargetQueue(session_of(self.job.target_servers), self.lane, self.copier, self.start.target_from)

    def run(self) -> None:
        """Copy chunk after chunk."""
        arrived = self.target.find_arrived() if self.start.is_resumed and self.start.chunks else None
        for number, chunk in enumerate(self.start.chunks):
            self.totals = self._begin(chunk, self.start.earlier if number == 0 else None)
            for batch in self._batches(chunk):
                self._copy(batch, arrived)
            self._pass(chunk.end)
            self.totals.state = "done"
            if self.reporter.ask(0, self.totals).stop and number + 1 < len(self.start.chunks):
                raise _Stopped

    def _begin(self, chunk: Chunk, earlier: Checkpoint | None) -> Checkpoint:
        if earlier is not None:
            return earlier.resumed(target=self.target.end)
        return Checkpoint(chunk=chunk.id, lane=self.lane.number, next=chunk.begin, target=self.target.end)

    def _copy(self, batch: list[Pair], arrived: int | None) -> None:
        fresh = [pair for pair in batch if arrived is None or pair[0] > arrived]
        if len(fresh) < len(batch):
            # An earlier run of this job wrote them and was killed before it could report them.
            self._written(batch[: len(batch) - len(fresh)])
            self.reporter.ask(0, self.totals, give_back=len(fresh) - len(batch))
        while fresh:
            permit = self.reporter.ask(len(fresh), self.totals)
            if permit.stop:
                raise _Stopped
            if not permit.count:
                time.sleep(permit.wait_s)
                continue
            try:
                self._send(fresh[: permit.count])
            except (LaneFailed, _Stopped):
                self.reporter.ask(0, self.totals, give_back=permit.count)
                raise
            fresh = fresh[permit.count :]

    def _send(self, pairs: list[Pair]) -> None:
        try:
            self.target.send(pairs, self._is_wanted)
        except (MessageTooLarge, MessageRefused) as error:
            if len(pairs) == 1:
                self._failed(pairs, str(error))
                return
            # Find the message that no broker accepts; send the others.
            for pair in pairs:
                self._send([pair])
        else:
            self.totals.target = self.target.end
            self._written(pairs)

    def _written(self, pairs: list[Pair]) -> None:
        self.totals.bytes += sum(len(message.body) for _, message in pairs)
        self.totals.written += len(pairs)
        self._matched(pairs)

    def _failed(self, pairs: list[Pair], reason: str) -> None:
        self.totals.failed += len(pairs)
        self._matched(pairs)
        if len(self.totals.failures) < _MOST_FAILURES:
            self.totals.failures.append(Failure(f"{self.copier.source}/{pairs[0][0]}", reason))

    def _matched(self, pairs: list[Pair]) -> None:
        self.totals.matched += len(pairs)
        self._pass(pairs[-1][0] + 1)

    def _pass(self, next_offset: int) -> None:
        totals = self.totals
        totals.read += self.lane.count(totals.next, next_offset)
        totals.next = next_offset
        passed = [each for each in self.damaged if each.queue_offset < next_offset]
        if passed:
            del self.damaged[: len(passed)]
            totals.damaged += len(passed)
            totals.damage += [self._damage(each) for each in passed[: MOST_DAMAGED - len(totals.damage)]]
        # All messages that were read, are intact and were not selected.
        totals.filtered = totals.read - totals.matched - totals.damaged

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
        """Yield the copies of a chunk in parts that fit into one send."""
        part = replace(self.lane.source, begin=chunk.begin, end=chunk.end)
        for rows in read_rows(part, self.job.options, COLUMNS):
            self._record_damage(rows)
            batch: list[Pair] = []
            size = 0
            for pair in self.copier.copies(rows):
                more = size_in_batch(pair[1])
                if batch and (len(batch) >= _MOST_MESSAGES or size + more > _MOST_BYTES):
                    yield batch
                    batch, size = [], 0
                batch.append(pair)
                size += more
            if batch:
                yield batch

    def _is_wanted(self) -> bool:
        return not self.reporter.ask(0, self.totals).stop


class TargetQueue:
    """Sends to one queue, and determines which copies arrived."""

    def __init__(self, session: BlockingSession, lane: Lane, copier: Copier, end: int) -> None:
        """`end` is a target queue offset; no copy of this lane is known at or after it."""
        self._session, self._queue, self._copier = session, lane.target, copier
        self._producer = session.producer(config=ProducerConfig(compress_from_bytes=1 << 30))
        self.end = end

    def send(self, pairs: Sequence[Pair], is_wanted: Callable[[], bool]) -> None:
        """Store all copies in order; retry for a minute while the broker is busy or unreachable.

        Raises MessageTooLarge or MessageRefused if nothing was stored, LaneFailed after a minute, and _Stopped if the
        driver stops the lane during a pause.
        """
        failure: ClientError | None = None
        for pause_s in backoff(first_s=_FIRST_PAUSE_S, longest_s=_LONGEST_PAUSE_S, within_s=_GIVE_UP_AFTER_S):
            if failure is not None:
                time.sleep(pause_s)
                if not is_wanted():
                    raise _Stopped from failure
                pairs = self._not_arrived(pairs) if isinstance(failure, SendUncertain) else pairs
            if not pairs:
                return
            try:
                self._send_once(pairs)
            except (BrokerBusy, BrokerUnavailable, Unreachable, SendUncertain) as error:
                failure = error
            except (MessageTooLarge, MessageRefused):
                raise
            except ClientError as error:
                if isinstance(error, BrokerRefused) and error.code == ResponseCode.MESSAGE_ILLEGAL:
                    raise MessageRefused(str(error)) from error
                raise LaneFailed(str(error)) from error
            else:
                return
        raise LaneFailed(str(failure)) from failure

    def _send_once(self, pairs: Sequence[Pair]) -> None:
        messages = [message for _, message in pairs]
        if len(messages) == 1:
            sending = self._producer.send(messages[0], queue=self._queue, timeout_ms=_SEND_TIMEOUT_MS)
        else:
            topic = self._queue.topic
            sending = self._producer.send_batch(topic, messages, queue=self._queue, timeout_ms=_SEND_TIMEOUT_MS)
        result = self._session.run(sending)
        self.end = result.queue_offset + len(messages)

    def _not_arrived(self, pairs: Sequence[Pair]) -> Sequence[Pair]:
        try:
            arrived = self.find_arrived()
        except ClientError:
            # No answer: the next attempt shows whether the problem persists.
            return pairs
        return [pair for pair in pairs if arrived is None or pair[0] > arrived]

    def find_arrived(self) -> int | None:
        """Return the last source offset whose copy is in the target queue from `end` on, and advance `end` past it."""
        consumer = PullConsumer(self._session.session)
        found, at = None, self.end
        while True:
            answer = self._session.run(consumer.pull(self._queue, at))
            for message in answer.messages:
                offset = self._copier.source_offset(message.properties)
                if offset is not None:
                    found, self.end = offset, message.queue_offset + 1
            if answer.status is PullStatus.NO_NEW or answer.next_offset == at:
                return found
            at = answer.next_offset
