"""``df.write.format("rocketmq")`` and ``df.writeStream``: rows become messages, at least once.

Spark runs a task again from its beginning when it fails, and a batch of a stream again when the query is restarted
before its end was noted: what was sent stays sent. `sink_batches` says what recognises such batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamArrowWriter, WriterCommitMessage

from broker_core.spark.errors import NotSent, RowRefused
from broker_core.spark.sink_batches import BatchSender, Origin
from broker_core.spark.sink_options import QueueSelector, SinkOptions
from broker_core.spark.sink_rows import RowReader
from broker_core.spark.wire import session_of, translated

_QUERY_ID: Final = "sql.streaming.queryId"
_BATCH_ID: Final = "streaming.sql.batchId"


@dataclass
class Sent(WriterCommitMessage):
    """What a task sent."""

    sent: int
    known: int
    """Messages of earlier attempts, found in the topic and not sent again."""
    bytes: int


def _write(batches: Iterable[Any], options: SinkOptions, selector: QueueSelector, replay_id: str | None) -> Sent:
    context = TaskContext.get()
    task = context.partitionId() if context is not None else 0
    origin = None if replay_id is None else Origin(replay_id, _property(_BATCH_ID) or "", task)
    with translated():
        session = session_of(options.wire_place)
        sender = BatchSender(session, options, selector, task=task, origin=origin)
        reader = RowReader(options, task, cache(lambda: session.run(session.admin.timers.limits())))
        try:
            for batch in batches:
                for row in reader.rows(batch):
                    sender.put(row)
            counts = sender.finish()
        except (RowRefused, NotSent) as error:
            sent = sender.counts.sent + sender.counts.known
            raise type(error)(f"{error} ({sent:,} messages of this task are stored before it)") from None
    return Sent(counts.sent, counts.known, counts.bytes)


def _property(name: str) -> str | None:
    context = TaskContext.get()
    return None if context is None else context.getLocalProperty(name)


class RocketMQWriter(DataSourceArrowWriter):
    """Writes a DataFrame to topics."""

    def __init__(self, options: SinkOptions, selector: QueueSelector) -> None:
        """Write rows whose columns were checked (`sink_rows.check_columns`)."""
        self.sink_options, self.selector = options, selector

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        """Send the rows of a task; raises RowRefused or NotSent."""
        return _write(iterator, self.sink_options, self.selector, self.sink_options.replay_id)


class RocketMQStreamWriter(DataSourceStreamArrowWriter):
    """Writes the batches of a stream to topics."""

    def __init__(self, options: SinkOptions, selector: QueueSelector) -> None:
        """Write rows whose columns were checked (`sink_rows.check_columns`)."""
        self.sink_options, self.selector = options, selector

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        """Send the rows of a task of one batch; raises RowRefused or NotSent."""
        # A restart keeps the id of the query.
        replay_id = self.sink_options.replay_id or _property(_QUERY_ID)
        return _write(iterator, self.sink_options, self.selector, replay_id)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 - Spark's name
        """Do nothing: what the tasks sent is stored."""

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803 - Spark's name
        """Do nothing: what the tasks sent stays, and is recognised when the batch is repeated."""
