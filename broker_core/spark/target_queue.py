"""The target queues of a lane: sends to them, and determines which copies arrived.

A batch is stored completely or not at all, and only one is in flight. The end of a queue therefore shows whether a
send without an answer arrived, and where an earlier run was killed (spark/README.md#checkpoints-and-exact-counts).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Final

from broker_core.client.admin import NotSettled
from broker_core.client.blocking import BlockingSession
from broker_core.client.config import ProducerConfig
from broker_core.client.consumer.pull import PullConsumer
from broker_core.client.errors import ClientError, MessageRefused, SendUncertain
from broker_core.client.retry import backoff
from broker_core.client.selection import queue_for_key
from broker_core.client.sending import SendResult
from broker_core.protocol.batch import encode_entries
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.errors import MalformedProperties
from broker_core.protocol.message import Message
from broker_core.protocol.properties import UNIQ_KEY, mark_of, parse_properties
from broker_core.spark.copies import Copier, Copy
from broker_core.spark.outcomes import NotKnown, until_known
from broker_core.spark.replay_plan import Lane, Start
from broker_core.spark.send_errors import PASSING, is_refusal

MOST_MESSAGES: Final = 256
MOST_BYTES: Final = 1 << 20
"""Of a batch."""
_GIVE_UP_AFTER_S: Final = 60.0
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 5.0
_SEND_TIMEOUT_MS: Final = 10_000
_UNIQUE_ID: Final = mark_of(UNIQ_KEY)

Pair = tuple[int, Copy]
"""A copy and the queue offset of its original."""


class _Ended(Exception):
    """The lane does not go on."""

    def __init__(self, reason: str = "", *, unknown: int = 0) -> None:
        super().__init__(reason)
        self.unknown = unknown
        """How many copies were sent of which it is not known whether they are stored."""


class LaneFailed(_Ended):
    """The lane cannot continue now; its copies so far are confirmed."""


class Stopped(_Ended):
    """The driver has stopped the lane."""


class TargetQueue:
    """Sends to one queue, and determines which copies arrived."""

    def __init__(self, session: BlockingSession, queue: MessageQueue, copier: Copier, end: int) -> None:
        """`end` is an offset of the queue; no copy of this lane is known at or after it."""
        self._session, self._queue, self._copier = session, queue, copier
        self._producer = session.producer(config=ProducerConfig(compress_from_bytes=1 << 30))
        self.end = end
        self._waited_s = 0.0
        """For the outcomes of sends: it is not counted against the patience for sends."""

    def send(self, pairs: Sequence[Pair], is_wanted: Callable[[], bool]) -> None:
        """Store all copies in order; retry for a minute while the broker is busy or unreachable.

        Nothing is sent again before it is known whether it is stored. Raises MessageRefused if nothing was stored and
        never will be, LaneFailed after a minute, and Stopped if the driver stops the lane during a pause.
        """
        failure: ClientError | None = None
        for pause_s in backoff(
            first_s=_FIRST_PAUSE_S, longest_s=_LONGEST_PAUSE_S, within_s=_GIVE_UP_AFTER_S, clock=self._clock
        ):
            if failure is not None:
                time.sleep(pause_s)
                if not is_wanted():
                    raise Stopped from failure
            try:
                return self._send_once(pairs)
            except SendUncertain as error:
                pairs = self._not_arrived(pairs, is_wanted)
                if not pairs:
                    return None
                failure = error
            except PASSING as error:
                failure = error
            except ClientError as error:
                kind = MessageRefused if is_refusal(error) else LaneFailed
                raise kind(str(error)) from error
        raise LaneFailed(f"{len(pairs):,} messages were not stored: {failure}") from failure

    def _clock(self) -> float:
        return time.monotonic() - self._waited_s

    def _send_once(self, pairs: Sequence[Pair]) -> None:
        new_ids = self._producer.make_ids(len(pairs))
        ids = [copy.unique_id or new for (_, copy), new in zip(pairs, new_ids, strict=True)]
        entries = [
            (copy.flag, copy.body, f"{copy.properties}{_UNIQUE_ID}{unique_id}")
            for (_, copy), unique_id in zip(pairs, ids, strict=True)
        ]
        result = self._session.run(self._deliver(entries, ids, pairs[0][1].born_at))
        self.end = result.queue_offset + len(pairs)

    async def _deliver(
        self, entries: list[tuple[int, bytes, str]], ids: Sequence[str], born_at: int | None
    ) -> SendResult:
        topic, timeout_ms = self._queue.topic, _SEND_TIMEOUT_MS
        if len(entries) == 1:
            # Alone, so that what no broker accepts in a batch may still be accepted.
            [(flag, body, text)] = entries
            message = Message(topic, body, parse_properties(text), flag)
            return await self._producer.send(
                message, queue=self._queue, timeout_ms=timeout_ms, is_repeatable=False, born_at=born_at
            )
        try:
            encoded = encode_entries(entries)
        except MalformedProperties as error:
            raise MessageRefused(str(error)) from error
        sent = self._producer.submit_encoded(
            topic, encoded, ids, queue=self._queue, timeout_ms=timeout_ms, is_repeatable=False, born_at=born_at
        )
        return await sent

    def _not_arrived(self, pairs: Sequence[Pair], is_wanted: Callable[[], bool]) -> Sequence[Pair]:
        """Return those that are not stored, when that is known; raise LaneFailed or Stopped if it is not."""
        began = time.monotonic()
        try:
            arrived = self.wait_for_arrived(is_wanted, unknown=len(pairs))
        finally:
            self._waited_s += time.monotonic() - began
        return [pair for pair in pairs if pair[0] not in arrived]

    def wait_for_arrived(self, is_wanted: Callable[[], bool], *, unknown: int = 0) -> set[int]:
        """Return what `find_arrived` does as soon as it can; raise LaneFailed after a minute, or Stopped."""
        try:
            return until_known(self.find_arrived, is_wanted)
        except NotKnown as error:
            kind = LaneFailed if is_wanted() else Stopped
            raise kind(f"it is not known which copies are stored: {error}", unknown=unknown) from error

    def find_arrived(self) -> set[int]:
        """Return the source offsets whose copies are in the queue from `end` on, and advance `end` past them.

        Raises NotSettled while the master may have copies that it does not show, or other errors of the client; `end`
        stays then.
        """
        consumer = PullConsumer(self._session.session)
        queue_end = self._session.run(self._shown_end())
        found: set[int] = set()
        at = known = self.end
        while at < queue_end:
            answer = self._session.run(consumer.pull(self._queue, at))
            for message in answer.messages:
                offset = self._copier.source_offset(message.properties)
                if offset is not None:
                    found.add(offset)
                    known = message.queue_offset + 1
            if answer.next_offset <= at:
                raise NotSettled(f"queue {self._queue.queue_id} is not shown from offset {at} to its end {queue_end}")
            at = answer.next_offset
        self.end = known
        return found

    async def _shown_end(self) -> int:
        """Return the end of the queue when its master shows all that it has."""
        admin, queue = self._session.admin, self._queue
        masters = await admin.settled.masters(queue.topic, broker_name=queue.broker_name)
        end = int(await admin.offsets.max(queue))
        await admin.settled.check(masters, queue.topic, broker_name=queue.broker_name)
        return end

    def catch_up(self) -> None:
        """Advance `end` to the end of the queue; nothing of this lane may be on its way."""
        self.end = max(self.end, int(self._session.run(self._session.admin.offsets.max(self._queue))))


class Targets:
    """The queues to which a lane sends: one, or with order by key all of the target."""

    def __init__(self, session: BlockingSession, lane: Lane, copier: Copier, start: Start) -> None:
        """Begin where the copies that are known end."""
        self._names = lane.key_queues
        self._own = lane.target
        ends = dict(zip(lane.key_queues, start.targets_from, strict=True)) or {lane.target: start.target_from}
        self._queues = {queue: TargetQueue(session, queue, copier, end) for queue, end in ends.items()}

    @property
    def count(self) -> int:
        """How many queues they are."""
        return len(self._queues)

    @property
    def end(self) -> int:
        """The end of the lane's own queue, as in `Checkpoint.target`."""
        return self._queues[self._own].end

    @property
    def ends(self) -> list[int]:
        """The ends of all queues, as in `Checkpoint.targets`."""
        return [self._queues[name].end for name in self._names]

    def find_arrived(self) -> set[int]:
        """Return the source offsets whose copies an earlier run sent and did not report."""
        return set().union(*(queue.find_arrived() for queue in self._queues.values()))

    def wait_for_arrived(self, is_wanted: Callable[[], bool]) -> set[int]:
        """Return the same as soon as it is known; raise LaneFailed after a minute for each queue, or Stopped."""
        return set().union(*(queue.wait_for_arrived(is_wanted) for queue in self._queues.values()))

    def catch_up(self) -> None:
        """Note the ends of the queues, also of those that got nothing: a later search begins there."""
        for queue in self._queues.values() if self._names else ():
            queue.catch_up()

    def send(self, pairs: Sequence[Pair], is_wanted: Callable[[], bool]) -> dict[int, str]:
        """Store copies, those of each queue in order; return why, for those by source offset that no broker accepts.

        Raises LaneFailed or Stopped; some of the copies may be stored then, and `find_arrived` tells which.
        """
        refused: dict[int, str] = {}
        for queue, part in self._parts(pairs):
            try:
                queue.send(part, is_wanted)
            except MessageRefused as error:
                if len(part) == 1:
                    refused[part[0][0]] = str(error)
                    continue
                # Find the message that no broker accepts; send the others.
                for pair in part:
                    refused |= self.send([pair], is_wanted)
        return refused

    def _parts(self, pairs: Sequence[Pair]) -> Iterator[tuple[TargetQueue, list[Pair]]]:
        """Yield what fits into one batch: of one queue, and born at one time, which a batch has only once."""
        by_queue: dict[MessageQueue, list[Pair]] = {}
        for pair in pairs:
            by_queue.setdefault(self._queue_of(pair[1]), []).append(pair)
        for name, of_queue in by_queue.items():
            for _, run in groupby(of_queue, key=lambda pair: pair[1].born_at):
                for part in _batches(run):
                    yield self._queues[name], part

    def _queue_of(self, copy: Copy) -> MessageQueue:
        key = copy.key if self._names else ""
        return queue_for_key(self._names, key) if key else self._own


def _batches(pairs: Iterator[Pair]) -> Iterator[list[Pair]]:
    batch: list[Pair] = []
    size = 0
    for pair in pairs:
        if batch and (len(batch) >= MOST_MESSAGES or size + pair[1].size > MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(pair)
        size += pair[1].size
    yield batch
