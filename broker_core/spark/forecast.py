"""What a job would read, without doing it: counts, bytes, times, and the first and last messages of each queue.

Where nothing is filtered but tags, the consume queues have the count and the size, and only the ends of each range are
decoded. Of a tag they have a hash: two tags may share one, so such a count is an upper bound, as a broker's filter is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from heapq import merge, nlargest, nsmallest
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

from broker_core.protocol.topics import SCHEDULE_TOPIC
from broker_core.spark.blocks import may_have_tag
from broker_core.spark.bytes_read import BytesRead
from broker_core.spark.comparing.texts import shown
from broker_core.spark.failed_values import failing_expressions
from broker_core.spark.options import SourceOptions
from broker_core.spark.partitions import FilePartition, chosen_offsets, count_of
from broker_core.spark.planned import planned_table
from broker_core.spark.reading import Partition, read_rows
from broker_core.spark.row_sql import WANTED, RowSql
from broker_core.spark.stores import open_store_with, record_sizes
from broker_core.spark.tasks import run_tasks_on
from broker_core.store.columns import UNIT, Ints

MOST_SAMPLES: Final = 10
COUNTED: Final = ("queue_offset", "store_timestamp", "record_size", "_error")
"""The columns that a forecast counts."""
_SHOWN: Final = ("message_id", "keys", "tag", "record_size", "body", "properties")
_PIECE: Final = 1000

CountedBy = Literal["queues", "tag_hashes", "reading"]
OnRows = Callable[[int], bool]
Refused = tuple[int, str]
"""The queue offset of a message of which no copy could be made, and why."""
Place = tuple[datetime, int]
"""Store time and queue offset."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Makes the copies that a job would make, to see which ones it cannot make; sent to the tasks."""

    columns: tuple[str, ...]
    """What it reads of each message."""
    refused: Callable[[Any], list[Refused]]
    """Returns those of an Arrow batch with these columns and the values of the expressions."""


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
    counted_by: CountedBy = "reading"
    first: list[Place] = field(default_factory=list)
    last: list[Place] = field(default_factory=list)
    refused: int = 0
    """How many pass the filter, and cannot be copied as they would be changed; they count nowhere else."""
    failures: list[Refused] = field(default_factory=list)
    """The first of these."""

    def add(self, rows: Any, trial: Trial | None = None) -> None:
        """Count an Arrow batch with the columns `COUNTED`, and those that are wanted if it says so."""
        if WANTED in rows.schema.names:
            rows = rows.filter(pc.or_(rows.column(WANTED), pc.is_valid(rows.column("_error"))))
        refused = [] if trial is None else trial.refused(rows)
        if refused:
            self.refused += len(refused)
            self.failures += refused[: MOST_SAMPLES - len(self.failures)]
            offsets = pa.array([offset for offset, _ in refused], rows.column("queue_offset").type)
            rows = rows.filter(pc.invert(pc.is_in(rows.column("queue_offset"), offsets)))
        sound = _places(rows)
        self.messages += len(sound)
        self.damaged = (self.damaged or 0) + rows.num_rows - rows.column("_error").null_count
        self.bytes = (self.bytes or 0) + sum(size for size in rows.column("record_size").to_pylist() if size)
        self.first = nsmallest(MOST_SAMPLES, (*self.first, *sound))
        self.last = nlargest(MOST_SAMPLES, (*self.last, *sound))


def forecast(
    by_queue: Iterable[Sequence[Partition]],
    options: SourceOptions,
    *,
    on_rows: OnRows,
    read: BytesRead | None = None,
) -> list[QueueForecast]:
    """Return what would be read of each queue; adds the bytes read to `read`.

    `on_rows` is told how many rows were read, and returns whether to go on; what was not counted then is missing.
    """
    read = read or BytesRead()
    found = []
    for parts in by_queue:
        queue = QueueForecast(parts)
        found.append(queue)
        if options.keys is None and (options.tags is None or all(map(_has_tag_hashes, parts))):
            _count_by_ends(queue, options, on_rows, read)
            continue
        for part in parts:
            for rows in read_rows(part, options, COUNTED, read):
                queue.add(rows)
                if not on_rows(rows.num_rows):
                    return found
    return found


def forecast_by_sql(
    session: SparkSession,
    by_queue: Sequence[Sequence[Partition]],
    options: SourceOptions,
    sql: RowSql,
    trial: Trial | None = None,
) -> list[QueueForecast]:
    """Return what would be read of each queue under the condition; raise BadRequest for a wrong expression.

    With `trial` what the copies would become is computed, too.
    """
    needed = COUNTED if trial is None else tuple(dict.fromkeys((*COUNTED, *trial.columns)))

    def count(parts: Sequence[Partition], batches: Iterator[Any]) -> QueueForecast:
        queue = QueueForecast(parts)
        for rows in batches:
            queue.add(rows, trial)
        return queue

    rows = planned_table(session, by_queue, options, sql.columns(needed))
    with failing_expressions(session, sql.expressions(lambda names: planned_table(session, by_queue, options, names))):
        return run_tasks_on(sql.apply(rows, needed), by_queue, count)


def _has_tag_hashes(part: Partition) -> bool:
    """Return whether the hashes of the tags of a range can be read here; delayed messages have times in their place."""
    return isinstance(part, FilePartition) and part.topic != SCHEDULE_TOPIC


def _count_by_ends(queue: QueueForecast, options: SourceOptions, on_rows: OnRows, read: BytesRead) -> None:
    """Count what the queue alone tells; its range is widened by the clock's skew, so its ends are looked at."""
    queue.damaged = None
    queue.counted_by = "queues" if options.tags is None else "tag_hashes"
    first = _sound_places(_pieces(queue.parts, options, read), options, on_rows, read)
    if not first:
        return
    last = _sound_places(_pieces(queue.parts, options, read, backwards=True), options, on_rows, read)
    queue.first, queue.last = first[:MOST_SAMPLES], last[-MOST_SAMPLES:]
    begin = min(offset for _, offset in first)
    end = max(offset for _, offset in last) + 1
    for part in queue.parts:
        if part.begin < end and begin < part.end:
            inside = replace(part, begin=max(part.begin, begin), end=min(part.end, end))
            offsets, sizes = _candidates(inside, options, read)
            queue.messages += len(offsets)
            queue.bytes = None if sizes is None or queue.bytes is None else queue.bytes + int(sizes.sum())


def _candidates(part: Partition, options: SourceOptions, read: BytesRead) -> tuple[Ints | range, Ints | None]:
    """Return the offsets that would be read of a range, and the bytes of their records; None without its files."""
    chosen = chosen_offsets(part, part.begin, part.end)
    if not isinstance(part, FilePartition):
        # A range over the wire is a whole queue, which is too long for an array.
        return range(part.begin, part.end) if chosen is None else chosen, None
    offsets = np.arange(part.begin, part.end) if chosen is None else chosen
    store = open_store_with(Path(part.store), part.topic, part.queue_id, part.end)
    begin = max(part.begin, store.range(part.topic, part.queue_id)[0])
    units = np.frombuffer(b"".join(store.units(part.topic, part.queue_id, begin, part.end)), UNIT)
    read.queue += units.nbytes
    offsets = offsets[(offsets >= begin) & (offsets < begin + len(units))]
    units = units[offsets - begin]
    wanted = may_have_tag(units, part.topic, options)
    return offsets[wanted], record_sizes(store, units[wanted])


def _pieces(
    parts: Sequence[Partition], options: SourceOptions, read: BytesRead, *, backwards: bool = False
) -> Iterator[Partition]:
    """Yield what would be read from one end on in pieces, the first ones small."""
    size = MOST_SAMPLES
    for part in reversed(parts) if backwards else parts:
        offsets, _ = _candidates(part, options, read)
        while len(offsets):
            kept = max(0, len(offsets) - size) if backwards else size
            some, offsets = (offsets[kept:], offsets[:kept]) if backwards else (offsets[:kept], offsets[kept:])
            only = None if isinstance(some, range) else some.tolist()
            yield replace(part, begin=int(some[0]), end=int(some[-1]) + 1, only=only)
            size = min(2 * size, _PIECE)


def _sound_places(pieces: Iterable[Partition], options: SourceOptions, on_rows: OnRows, read: BytesRead) -> list[Place]:
    """Return the places of the messages of the first pieces that have at least `MOST_SAMPLES`, by time and offset."""
    found: list[Place] = []
    for piece in pieces:
        for rows in read_rows(piece, options, COUNTED, read):
            found += _places(rows)
        if len(found) >= MOST_SAMPLES or not on_rows(count_of(piece)):
            break
    return sorted(found)


def _places(rows: Any) -> list[Place]:
    """Return the places of the intact rows of an Arrow batch."""
    pairs = zip(rows.column("store_timestamp").to_pylist(), rows.column("queue_offset").to_pylist(), strict=True)
    return [(at, offset) for at, offset in pairs if at is not None]


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
