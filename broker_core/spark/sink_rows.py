"""Rows of a DataFrame as messages: which columns a sink takes, and what each row becomes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from broker_core.protocol import properties as names
from broker_core.protocol.copies import kept_properties
from broker_core.protocol.errors import MalformedProperties
from broker_core.protocol.message import Message
from broker_core.spark.errors import BadOption, RowRefused, UnknownOption
from broker_core.spark.sink_options import QueueSelector, SinkOptions

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

SINK_COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    "body": ("binary", "string"),
    "topic": ("string",),
    "key": ("string",),
    "keys": ("array<string>",),
    "tag": ("string",),
    "properties": ("map<string,string>",),
    "queue_id": ("int", "bigint"),
    "delay_level": ("int", "bigint"),
    "deliver_at": ("timestamp",),
}
"""The columns that can be written, with their types."""

_EPOCH: Final = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
_MILLISECOND: Final = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Row:
    """A message, the key that chooses its queue, and the queue that it asks for."""

    message: Message
    key: str | None = None
    queue_id: int | None = None


def check_columns(schema: StructType, options: SinkOptions) -> QueueSelector:
    """Return how queues are chosen; raises UnknownOption and BadOption for columns that cannot be written."""
    columns = {each.name: each.dataType.simpleString() for each in schema.fields}
    for name, kind in columns.items():
        if name not in SINK_COLUMNS:
            raise UnknownOption(name, SINK_COLUMNS, what="column to write")
        if kind not in SINK_COLUMNS[name]:
            raise BadOption(name, kind, f"the column must be {' or '.join(SINK_COLUMNS[name])}")
    if "body" not in columns:
        raise BadOption("body", "", "a message needs a column body")
    if options.topic is None and "topic" not in columns:
        raise BadOption("topic", "", "name the topic to write to, or give each row its own in a column topic")
    if {"key", "keys"} <= set(columns):
        raise BadOption("keys", "", "give a column key or a column keys, not both")
    selector = options.queue_selector
    if selector is None:
        return QueueSelector.SAME if "queue_id" in columns else QueueSelector.ROUND_ROBIN
    if (selector is QueueSelector.SAME) != ("queue_id" in columns):
        wanted = "needs a column queue_id" if selector is QueueSelector.SAME else "ignores the column queue_id; drop it"
        raise BadOption("queueSelector", selector.value, wanted)
    return selector


@dataclass(slots=True)
class RowReader:
    """Makes messages from the rows of one task."""

    topic: str | None
    task: int
    """For errors: the number of the partition."""
    count: int = field(default=0)
    """Rows read so far."""

    def rows(self, batch: Any) -> Iterator[Row]:
        """Yield the message of each row of an Arrow batch; raise RowRefused for one that cannot be sent."""
        columns = {name: batch.column(name).to_pylist() for name in batch.schema.names}
        for values in zip(*columns.values(), strict=True):
            fields = dict(zip(columns, values, strict=True))
            try:
                yield self._row(fields)
            except (MalformedProperties, ValueError) as error:
                raise RowRefused(f"row {self.count} of task {self.task}: {error}") from error
            self.count += 1

    def _row(self, fields: Mapping[str, Any]) -> Row:
        body, topic = fields["body"], fields.get("topic") or self.topic
        if body is None:
            raise ValueError("body is null")
        if topic is None:
            raise ValueError("it names no topic, and the option topic is not set")
        properties = kept_properties({name: text for name, text in fields.get("properties") or () if text})
        keys = _keys(fields)
        message = Message.create(
            topic,
            body.encode() if isinstance(body, str) else body,
            keys=keys,
            tag=fields.get("tag"),
            properties=properties | _delay(fields),
        )
        return Row(message, next(iter(message.keys), None), fields.get("queue_id"))


def _keys(fields: Mapping[str, Any]) -> list[str]:
    if fields.get("key") is not None:
        return [fields["key"]]
    return [key for key in fields.get("keys") or () if key is not None]


def _delay(fields: Mapping[str, Any]) -> dict[str, str]:
    level, at = fields.get("delay_level"), fields.get("deliver_at")
    if level and at is not None:
        raise ValueError("give delay_level or deliver_at, not both")
    if level:
        return {names.DELAY: str(level)}
    return {} if at is None else {names.TIMER_DELIVER_MS: str((at - _EPOCH) // _MILLISECOND)}


def is_alone(message: Message) -> bool:
    """Return whether brokers accept this message only in a request of its own."""
    return bool({names.DELAY, names.TIMER_DELIVER_MS} & message.properties.keys())
