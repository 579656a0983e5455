"""The sides of a comparison: where rows come from, and how a place in them is named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from broker_core.spark.options import SourceOptions
from broker_core.spark.reading import Partition, read_rows
from broker_core.spark.schema import COLUMNS, arrow_schema

Ranges = Sequence[tuple[int, int]]
"""Offsets within a part, from the first to before the last."""

PLACE_FIELDS: Final = (
    pa.field("_part", pa.int32()),
    pa.field("_offset", pa.int64()),
    pa.field("_time", pa.int64()),
    pa.field("_error", pa.string()),
    pa.field("_note", pa.string()),
)
"""Of each row: the number of its part, its offset in it, its time in ms, its damage, and why it does not count."""


@dataclass(frozen=True, slots=True)
class RowPlace:
    """Where a row is: its queue and offset, or for other sides a text."""

    broker: str | None = None
    queue_id: int | None = None
    queue_offset: int | None = None
    text: str | None = None


class Side(Protocol):
    """One side, planned: it is pickled and travels to the tasks."""

    @property
    def parts(self) -> Sequence[Any]:
        """What tasks read, one each."""

    @property
    def known_rows(self) -> int | None:
        """How many rows will be read; None if only reading tells."""

    def fields(self, columns: Sequence[str]) -> list[Any]:
        """Return the Arrow fields of columns; raise BadRequest for one that is not there."""

    def names(self) -> Sequence[str]:
        """Return the names of all columns."""

    def read(self, number: int, columns: Sequence[str], ranges: Ranges | None = None) -> Iterator[Any]:
        """Yield the rows of a part as Arrow batches with `PLACE_FIELDS` and these columns.

        `ranges` are the offsets that are needed; more may be returned.
        """

    def place_of(self, number: int, offset: int) -> RowPlace:
        """Return where a row is."""

    def again(self) -> Side:
        """Return this side for a second read, which is not counted as progress."""


def placed(number: int, offsets: Any, times: Any, errors: Any, notes: Any, columns: dict[str, Any]) -> Any:
    """Return a batch of a side; `errors` and `notes` may be None."""
    count = len(offsets)
    nothing = pa.nulls(count, pa.string())
    arrays = [
        pa.array(np.full(count, number, np.int32)), offsets, times,
        nothing if errors is None else errors, nothing if notes is None else notes, *columns.values(),
    ]  # fmt: skip
    fields = [*PLACE_FIELDS, *(pa.field(name, array.type) for name, array in columns.items())]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


@dataclass(frozen=True, slots=True)
class TopicSide:
    """A range of a topic."""

    options: SourceOptions
    parts: tuple[Partition, ...]

    @property
    def known_rows(self) -> int:
        """The number of messages in the planned ranges."""
        return sum(part.end - part.begin for part in self.parts)

    def names(self) -> Sequence[str]:
        """Return the columns of a topic."""
        return [name for name in COLUMNS if name != "_error"]

    def fields(self, columns: Sequence[str]) -> list[Any]:
        """Return the Arrow fields of columns."""
        return list(arrow_schema(columns))

    def read(self, number: int, columns: Sequence[str], ranges: Ranges | None = None) -> Iterator[Any]:
        """Yield the messages of a range of a queue."""
        part = self.parts[number]
        wanted = tuple(dict.fromkeys((*columns, "queue_offset", "store_timestamp", "_error")))
        for begin, end in [(0, part.end - part.begin)] if ranges is None else ranges:
            cut = replace(part, begin=part.begin + begin, end=part.begin + end)
            for batch in read_rows(cut, self.options, wanted):
                yield self._placed(number, batch, columns)

    def _placed(self, number: int, batch: Any, columns: Sequence[str]) -> Any:
        offsets = pc.subtract(batch.column("queue_offset"), self.parts[number].begin)
        times = pc.divide(batch.column("store_timestamp").cast(pa.int64()), 1000)
        return placed(number, offsets, times, batch.column("_error"), None, {n: batch.column(n) for n in columns})

    def place_of(self, number: int, offset: int) -> RowPlace:
        """Return queue and offset of a message."""
        part = self.parts[number]
        return RowPlace(part.broker, part.queue_id, part.begin + offset)

    def again(self) -> TopicSide:
        """Return this side, not counted."""
        return replace(self, options=replace(self.options, count_to=None))


def topic_side(options: SourceOptions, parts: Sequence[Partition]) -> TopicSide:
    """Return the side of planned ranges; equal times are ordered by broker, queue and offset."""
    return TopicSide(options, tuple(sorted(parts, key=lambda part: (part.broker, part.queue_id, part.begin))))
