"""Sends the messages of one task: in batches, each to one queue and stored as a whole or not at all.

One request is in flight at a time, so a queue has the messages in the order of the task. What was sent and not
confirmed is looked up before it is sent again (spark/README.md#sends-without-an-answer). With an origin, the unique id
of a row is made from its content and its place: when a task runs again, it finds by them what it had sent.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

from broker_core.client.blocking import BlockingSession
from broker_core.client.config import ProducerConfig
from broker_core.client.errors import ClientError, SendUncertain, TopicNotFound
from broker_core.client.retry import backoff
from broker_core.client.selection import queue_for_key
from broker_core.protocol import properties as names
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.copies import COPIED_AT, COPIED_BY, JOB
from broker_core.protocol.message import Message
from broker_core.spark.errors import BadOption, NotSent, RowRefused
from broker_core.spark.outcomes import NotKnown
from broker_core.spark.send_errors import PASSING, is_refusal
from broker_core.spark.sink_ids import RowIds
from broker_core.spark.sink_looks import Looks
from broker_core.spark.sink_options import QueueSelector, SinkOptions
from broker_core.spark.sink_rows import Row, is_alone, row_name
from broker_core.spark.topic_routes import brokers_of

_MOST_MESSAGES: Final = 1024
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 5.0
_ORIGIN_BYTES: Final = 512
"""What the id and the origin add to a message at most, unless its replay has a very long name."""
_NEVER_COMPRESS: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the batches of a task come from: the same after a restart, if the rows are."""

    replay_id: str
    batch_id: str
    """Of a stream; empty for a batch write."""
    task: int


@dataclass(slots=True)
class Counts:
    """What became of the messages of a task."""

    sent: int = 0
    known: int = 0
    """Messages that were there already."""
    bytes: int = 0
    """Of their bodies."""


@dataclass(slots=True)
class _Waiting:
    rows: list[Row] = field(default_factory=list)
    size: int = 0


class BatchSender:
    """Collects messages by queue and sends them."""

    def __init__(
        self,
        session: BlockingSession,
        options: SinkOptions,
        selector: QueueSelector,
        *,
        task: int,
        origin: Origin | None = None,
    ) -> None:
        self.counts = Counts()
        self._session, self._options, self._selector, self._origin = session, options, selector, origin
        config = ProducerConfig(compress_from_bytes=_NEVER_COMPRESS, timeout_ms=options.send_timeout_ms)
        self._producer = session.producer(config=config)
        self._looks = Looks(session)
        self._queues: dict[str, tuple[MessageQueue, ...]] = {}
        self._waiting: dict[tuple[str, MessageQueue | None], _Waiting] = {}
        self._task = self._turn = task
        self._row_ids: dict[tuple[str, MessageQueue | None, bool], RowIds] = {}
        self._free_at = time.monotonic()
        rate = options.messages_per_second
        self._per_batch = _MOST_MESSAGES if rate is None else max(1, min(_MOST_MESSAGES, rate // 10))

    def put(self, row: Row) -> None:
        """Take a message; send the batch that it completes. Raises BadOption, RowRefused or NotSent."""
        queue = self._queue(row)
        message = row.message
        if is_alone(message):
            self._send([row], queue)
            return
        size = _size_in_batch(message) + (_ORIGIN_BYTES if self._origin else 0)
        waiting = self._waiting.setdefault((message.topic, queue), _Waiting())
        if waiting.rows and waiting.size + size > self._options.batch_bytes:
            self._flush(message.topic, queue)
            waiting = self._waiting.setdefault((message.topic, queue), _Waiting())
        waiting.rows.append(row)
        waiting.size += size
        if len(waiting.rows) >= self._per_batch:
            self._flush(message.topic, queue)

    def finish(self) -> Counts:
        """Send what is left and return the counts."""
        for topic, queue in list(self._waiting):
            self._flush(topic, queue)
        return self.counts

    def _flush(self, topic: str, queue: MessageQueue | None) -> None:
        self._send(self._waiting.pop((topic, queue)).rows, queue)

    def _queue(self, row: Row) -> MessageQueue | None:
        """Return the queue of a message; None for any, which each batch chooses for itself."""
        queues = self._queues_of(row.message.topic)
        if self._selector is QueueSelector.SAME:
            found = next((queue for queue in queues if queue.queue_id == row.queue_id), None)
            if found is None:
                wanted = "null is no queue" if row.queue_id is None else f"there is no writable queue {row.queue_id}"
                place = row_name(row.number, self._task)
                raise RowRefused(f"{place}: column queue_id: {wanted} of topic {row.message.topic!r}")
            return found
        if self._selector is QueueSelector.KEY and row.key is not None:
            return queue_for_key(queues, row.key)
        return None

    def _queues_of(self, topic: str) -> tuple[MessageQueue, ...]:
        if topic not in self._queues:
            try:
                found = self._session.run(self._producer.queues(topic))
            except TopicNotFound as error:
                self._session.run(brokers_of(self._session.admin))
                raise BadOption("topic", topic, "does not exist; create it first") from error
            except ClientError as error:
                raise NotSent(str(error)) from error
            only = self._options.brokers
            found = tuple(queue for queue in found if not only or queue.broker_name in only)
            if not found:
                raise BadOption("broker", ",".join(only), f"has no writable queue of topic {topic!r}")
            self._queues[topic] = found
        return self._queues[topic]

    def _next_queue(self, topic: str) -> MessageQueue:
        queues = self._queues_of(topic)
        self._turn += 1
        return queues[self._turn % len(queues)]

    def _send(self, rows: Sequence[Row], queue: MessageQueue | None) -> None:
        """Store messages of one topic in one queue, but for those that an earlier attempt stored."""
        messages = [row.message for row in rows]
        if self._origin is None:
            self._store(messages, self._producer.make_ids(len(rows)), queue, rows[0].number)
            return
        row_ids = self._row_ids_of(messages[0], queue, self._origin)
        ids = row_ids.of(messages)
        known = row_ids.stored(ids, lambda unique_id: self._was_sent_before(messages, unique_id))
        self.counts.known += known
        if known < len(rows):
            self._store(messages[known:], ids[known:], queue, rows[known].number)

    def _store(self, messages: list[Message], ids: list[str], queue: MessageQueue | None, first: int) -> None:
        """Store messages of one topic in one queue; repeat while the broker is busy or away."""
        topic = messages[0].topic
        messages = [self._with_origin(*each) for each in zip(messages, ids, strict=True)]
        failure: ClientError | None = None
        for pause_s in backoff(first_s=_FIRST_PAUSE_S, longest_s=_LONGEST_PAUSE_S, attempts=self._options.retries + 1):
            time.sleep(pause_s)
            to = queue or self._next_queue(topic)
            self._pace(len(messages))
            try:
                self._send_once(topic, messages, to)
            except SendUncertain as error:
                if self._is_stored(messages, ids[0], to, error):
                    break
                failure = error
            except PASSING as error:
                failure = error
            except ClientError as error:
                raise self._refused(error, len(messages), first) from error
            else:
                break
        else:
            raise NotSent(f"{len(messages):,} messages to topic {topic!r}, {self._options.retries} retries: {failure}")
        self.counts.sent += len(messages)
        self.counts.bytes += sum(len(message.body) for message in messages)

    def _was_sent_before(self, messages: Sequence[Message], unique_id: str) -> bool:
        """Return whether an earlier attempt of the task stored a batch; raise NotSent if nobody can say."""
        topic = messages[0].topic
        try:
            return self._looks.was_sent_before(topic, unique_id)
        except NotKnown as error:
            unknown = f"it is not known whether an earlier attempt stored {len(messages):,} messages"
            raise NotSent(f"{unknown} in topic {topic!r}, so they were not sent: {error}") from error

    def _is_stored(
        self, messages: Sequence[Message], unique_id: str, queue: MessageQueue, failure: SendUncertain
    ) -> bool:
        """Return whether a batch is stored whose send was not confirmed; raise NotSent if nobody can say."""
        try:
            return self._looks.is_stored(messages[0], unique_id, queue.broker_name)
        except NotKnown as error:
            unknown = f"it is not known whether {len(messages):,} messages are stored"
            raise NotSent(f"{unknown}; nothing was sent again: {failure}; {error}") from error

    def _send_once(self, topic: str, messages: Sequence[Message], queue: MessageQueue) -> None:
        # What may be stored is not sent again here: the caller looks for it first.
        if len(messages) == 1:
            self._session.run(self._producer.send(messages[0], queue=queue, is_repeatable=False))
        else:
            self._session.run(self._producer.send_batch(topic, messages, queue=queue, is_repeatable=False))

    def _pace(self, count: int) -> None:
        """Wait until so many messages may be sent; what was not used is not saved up."""
        rate = self._options.messages_per_second
        if rate is None:
            return
        now = time.monotonic()
        self._free_at = max(self._free_at, now)
        time.sleep(self._free_at - now)
        self._free_at += count / rate

    def _row_ids_of(self, message: Message, queue: MessageQueue | None, origin: Origin) -> RowIds:
        """Return the ids of a row's place; what is sent alone overtakes rows that wait for their batch."""
        place = message.topic, queue, is_alone(message)
        found = self._row_ids.get(place)
        if found is None:
            at = () if queue is None else (queue.broker_name, queue.queue_id)
            found = RowIds(origin.replay_id, origin.batch_id, origin.task, message.topic, place[2], *at)
            self._row_ids[place] = found
        return found

    def _with_origin(self, message: Message, unique_id: str) -> Message:
        properties = message.properties | {names.UNIQ_KEY: unique_id}
        if self._options.provenance and self._origin is not None:
            properties |= {
                JOB: self._origin.replay_id,
                COPIED_AT: datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                COPIED_BY: "spark",
            }
        return Message(message.topic, message.body, properties, message.flag)

    def _refused(self, error: ClientError, count: int, first: int) -> Exception:
        if not is_refusal(error):
            return NotSent(str(error))
        others = f" and {count - 1:,} after it in one batch" if count > 1 else ""
        return RowRefused(f"{row_name(first, self._task)}{others}: {error}")


def _size_in_batch(message: Message) -> int:
    """Return an upper bound of the bytes that a message takes in a batch, close to its size."""
    pairs = message.properties
    # Not a loop in Python: this is called for every message.
    characters = sum(map(len, pairs)) + sum(map(len, pairs.values())) + 2 * len(names.PAIR_END) * len(pairs)
    # A character has at most four bytes in UTF-8; properties are mostly ASCII, so count twice.
    return len(message.body) + 2 * characters + 32
