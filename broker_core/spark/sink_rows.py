"""Rows of a DataFrame as messages: which columns a sink takes, and what each row becomes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from broker_core.client.admin.timers import TimerLimits
from broker_core.protocol import properties as names
from broker_core.protocol.copies import SOURCE
from broker_core.protocol.message import Message
from broker_core.spark.errors import BadOption, BadUse, RowRefused, UnknownOption
from broker_core.spark.sink_checks import (
    NotAMessage,
    check_room,
    check_tag,
    checked_body,
    checked_delay,
    checked_keys,
    checked_properties,
    checked_source,
    checked_topic,
    properties_of_copy,
)
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
    "source": ("string",),
}
"""The columns that can be written, with their types."""


@dataclass(frozen=True, slots=True)
class Row:
    """A message, its place in the task, the key that chooses its queue, and the queue that it asks for."""

    message: Message
    number: int = 0
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
        raise BadUse("a message needs a column body")
    if options.topic is None and "topic" not in columns:
        raise BadUse("name the topic to write to, or give each row its own in a column topic")
    if {"key", "keys"} <= set(columns):
        raise BadUse("give a column key or a column keys, not both")
    if options.copy_properties and "properties" not in columns:
        raise BadOption("copyProperties", "true", "needs a column properties")
    if "source" in columns and not options.provenance:
        raise BadUse("the column source is written with provenance=true only; drop it")
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

    options: SinkOptions
    task: int
    """For errors: the number of the partition."""
    limits: Callable[[], TimerLimits]
    """What the cluster's brokers serve; asked for with the first row that has a delivery time."""
    count: int = field(default=0)
    """Rows read so far."""

    def rows(self, batch: Any) -> Iterator[Row]:
        """Yield the message of each row of an Arrow batch; raise RowRefused for one that cannot be sent."""
        columns = {name: self._values(batch, name) for name in batch.schema.names}
        for values in zip(*columns.values(), strict=True):
            fields = dict(zip(columns, values, strict=True))
            try:
                yield self._row(fields)
            except NotAMessage as fault:
                raise RowRefused(f"{row_name(self.count, self.task)}: {fault}") from None
            self.count += 1

    def _values(self, batch: Any, name: str) -> list[Any]:
        try:
            values: list[Any] = batch.column(name).to_pylist()
        except UnicodeDecodeError:
            rows = f"rows {self.count} to {self.count + batch.num_rows - 1} of task {self.task}"
            raise RowRefused(f"{rows}: column {name}: a text is not UTF-8; bytes fit in a binary body alone") from None
        return values

    def _row(self, fields: Mapping[str, Any]) -> Row:
        topic = fields.get("topic")
        topic = checked_topic(self.options.topic if topic is None else topic)
        body = checked_body(fields["body"])
        if self.options.copy_properties:
            properties = properties_of_copy(fields.get("properties"))
        else:
            properties = checked_properties(fields.get("properties"))
        keys = checked_keys(*_keys(fields))
        if keys:
            properties[names.KEYS] = " ".join(keys)
        tag = fields.get("tag")
        if tag is not None:
            properties[names.TAGS] = tag
        check_tag(properties.get(names.TAGS))
        source = fields.get("source")
        if source is not None:
            properties[SOURCE] = checked_source(source)
        check_room(properties)
        properties |= checked_delay(fields.get("delay_level"), fields.get("deliver_at"), self.limits)
        message = Message(topic, body, properties)
        return Row(message, self.count, next(iter(message.keys), None), fields.get("queue_id"))


def row_name(number: int, task: int) -> str:
    """Return how errors name a row: by its place in its task, and never by its values."""
    return f"row {number} of task {task}"


def _keys(fields: Mapping[str, Any]) -> tuple[str, list[str]]:
    if "key" in fields:
        return "key", [] if fields["key"] is None else [fields["key"]]
    return "keys", [key for key in fields.get("keys") or () if key is not None]


def is_alone(message: Message) -> bool:
    """Return whether brokers accept this message only in a request of its own."""
    return bool({names.DELAY, names.TIMER_DELIVER_MS} & message.properties.keys())
