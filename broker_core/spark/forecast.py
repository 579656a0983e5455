"""What a job would read, without doing it: counts, bytes, times, and the first and last messages of each queue.

Where nothing is filtered, the consume queues have the count and the size, and only the ends of each range are decoded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from heapq import merge, nlargest, nsmallest
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow.compute as pc
from pyspark.sql import SparkSession

from broker_core.spark.comparing.texts import shown
from broker_core.spark.options import SourceOptions
from broker_core.spark.partitions import FilePartition, chosen_offsets
from broker_core.spark.planned import planned_table
from broker_core.spark.reading import Partition, read_rows
from broker_core.spark.row_sql import WANTED, RowSql, failing_expressions
from broker_core.spark.stores import open_store, record_sizes
from broker_core.spark.tasks import run_tasks_on
from broker_core.store.columns import UNIT

MOST_SAMPLES: Final = 10
COUNTED: Final = ("queue_offset", "store_timestamp", "record_size", "_error")
"""The columns that a forecast counts."""
_SHOWN: Final = ("message_id", "keys", "tag", "record_size", "body", "properties")
_PIECE: Final = 1000

Place = tuple[datetime, int]
"""Store time and queue offset."""


@dataclass(slots=True)
class QueueForecast:
    """What would be read of one queue."""

    parts: Sequence[Partition]
    """The ranges of the queue, in order."""
    messages: int = 0
    bytes: int | None = 0
    """Of whole records, as stored; None if it is not known without reading them."""
    damaged: int | None = 0
    """None where the messages were not read."""
    first: list[Place] = field(default_factory=list)
    last: list[Place] = field(default_factory=list)

    def add(self, rows: Any) -> None:
        """Count an Arrow batch with the columns `COUNTED`, and those that are wanted if it says so."""
        if WANTED in rows.schema.names:
            rows = rows.filter(pc.or_(rows.column(WANTED), pc.is_valid(rows.column("_error"))))
        sound = _places(rows)
        self.messages += len(sound)
        self.damaged = (self.damaged or 0) + rows.num_rows - rows.column("_error").null_count
        self.bytes = (self.bytes or 0) + sum(size for size in rows.column("record_size").to_pylist() if size)
        self.first = nsmallest(MOST_SAMPLES, (*self.first, *sound))
        self.last = nlargest(MOST_SAMPLES, (*self.last, *sound))


def forecast(
    by_queue: Iterable[Sequence[Partition]], options: SourceOptions, *, on_rows: Callable[[int], bool]
) -> list[QueueForecast]:
    """Return what would be read of each queue.

    `on_rows` is told how many rows were read, and returns whether to go on; what was not counted then is missing.
    """
    found = []
    for parts in by_queue:
        queue = QueueForecast(parts)
        found.append(queue)
        if options.tags is None and options.keys is None:
            _count_by_ends(queue, options)
            continue
        for part in parts:
            for rows in read_rows(part, options, COUNTED):
                queue.add(rows)
                if not on_rows(rows.num_rows):
                    return found
    return found


def forecast_by_sql(
    session: SparkSession, by_queue: Sequence[Sequence[Partition]], options: SourceOptions, sql: RowSql
) -> list[QueueForecast]:
    """Return what would be read of each queue under the condition; raise BadRequest for a wrong expression."""

    def count(parts: Sequence[Partition], batches: Iterator[Any]) -> QueueForecast:
        queue = QueueForecast(parts)
        for rows in batches:
            queue.add(rows)
        return queue

    rows = planned_table(session, by_queue, options, sql.columns(COUNTED))
    with failing_expressions():
        return run_tasks_on(sql.apply(rows, COUNTED), by_queue, count)


def _count_by_ends(queue: QueueForecast, options: SourceOptions) -> None:
    """Count an unfiltered queue: its range is widened by the clock's skew, so its ends are looked at."""
    queue.damaged = None
    first = _sound_places(_pieces(queue.parts), options)
    if not first:
        return
    last = _sound_places(list(_pieces(queue.parts))[::-1], options)
    queue.first, queue.last = first[:MOST_SAMPLES], last[-MOST_SAMPLES:]
    begin = min(offset for _, offset in first)
    end = max(offset for _, offset in last) + 1
    inside = [replace(part, begin=max(part.begin, begin), end=min(part.end, end)) for part in queue.parts]
    inside = [part for part in inside if part.begin < part.end]
    queue.messages = sum(_count(part) for part in inside)
    sizes = [_stored_bytes(part) for part in inside]
    queue.bytes = None if None in sizes else sum(size for size in sizes if size is not None)


def _sound_places(pieces: Iterable[Partition], options: SourceOptions) -> list[Place]:
    """Return the places of the messages of the first pieces that have at least `MOST_SAMPLES`, by time and offset."""
    found: list[Place] = []
    for piece in pieces:
        for rows in read_rows(piece, options, COUNTED):
            pairs = zip(
                rows.column("store_timestamp").to_pylist(), rows.column("queue_offset").to_pylist(), strict=True
            )
            found += [pair for pair in pairs if pair[0] is not None]
        if len(found) >= MOST_SAMPLES:
            break
    return sorted(found)


def _places(rows: Any) -> list[Place]:
    """Return the places of the intact rows of an Arrow batch."""
    pairs = zip(rows.column("store_timestamp").to_pylist(), rows.column("queue_offset").to_pylist(), strict=True)
    return [(at, offset) for at, offset in pairs if at is not None]


def _pieces(parts: Iterable[Partition]) -> Iterator[Partition]:
    for part in parts:
        for begin in range(part.begin, part.end, _PIECE):
            yield replace(part, begin=begin, end=min(begin + _PIECE, part.end))


def _count(part: Partition) -> int:
    chosen = chosen_offsets(part, part.begin, part.end)
    return part.end - part.begin if chosen is None else len(chosen)


def _stored_bytes(part: Partition) -> int | None:
    """Return the bytes of the records of a range by its consume queue; None without its files."""
    if not isinstance(part, FilePartition):
        return None
    store = open_store(Path(part.store))
    units = b"".join(store.units(part.topic, part.queue_id, part.begin, part.end))
    sizes = record_sizes(store, np.frombuffer(units, UNIT))
    chosen = chosen_offsets(part, part.begin, part.end)
    return int((sizes if chosen is None else sizes[chosen - part.begin]).sum())


def samples_of(queues: Sequence[QueueForecast], options: SourceOptions) -> dict[str, list[dict[str, Any]]]:
    """Return the `first` and `last` messages of all queues, each oldest first, with bodies and properties as text."""
    first = merge(*([(at, offset, queue) for at, offset in sorted(queue.first)] for queue in queues), key=_by_time)
    last = [(at, offset, queue) for queue in queues for at, offset in queue.last]
    newest = sorted(last, key=_by_time)[-MOST_SAMPLES:]
    return {
        "first": [_sample(*place, options) for place in list(first)[:MOST_SAMPLES]],
        "last": [_sample(*place, options) for place in newest],
    }


def _by_time(place: tuple[datetime, int, QueueForecast]) -> tuple[Any, ...]:
    at, offset, queue = place
    return at, queue.parts[0].broker, queue.parts[0].queue_id, offset


def _sample(at: datetime, offset: int, queue: QueueForecast, options: SourceOptions) -> dict[str, Any]:
    part = replace(queue.parts[0], begin=offset, end=offset + 1, only=None)
    row = next(row for rows in read_rows(part, options, _SHOWN) for row in rows.to_pylist())
    return {
        "stored_at": moment(at),
        "broker": part.broker,
        "queue_id": part.queue_id,
        "queue_offset": offset,
        "message_id": row["message_id"],
        "keys": row["keys"],
        "tag": row["tag"],
        "size_bytes": row["record_size"],
        "body": shown(row["body"]),
        "properties": dict(row["properties"] or ()),
    }


def moment(at: datetime | None) -> str | None:
    """Return a time as the API writes it."""
    return None if at is None else at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
