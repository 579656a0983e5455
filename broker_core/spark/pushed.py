"""Reading with pushed filters, for a DataFrame that is used with one filter only.

Spark keeps the plan of a filtered scan for other scans of the same ``load()``, which then miss rows: so this is the
reader only where the option ``filterPushdown`` asks for it, and after a second filter of a ``load()`` it narrows
nothing (spark/README.md#what-pyspark-does). Of a scan without a filter Spark tells nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    InputPartition,
    LessThan,
    LessThanOrEqual,
)

from broker_core.spark.options import SourceOptions
from broker_core.spark.partitions import FilePartition, WirePartition
from broker_core.spark.source import RocketMQReader

_EPOCH: Final = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
_MILLISECOND: Final = timedelta(milliseconds=1)
_NAMES: Final = ("topic", "broker", "queue_id")
_KEYS: Final = ("key", "unique_id")
_MOST_LOADS: Final = 1000
# Spark plans in one process, unless its workers are not reused.
_pushed: dict[str, frozenset[frozenset[str]]] = {}
"""The filters of each ``load()`` that was planned here, the last ones at the end."""


@dataclass(slots=True)
class Narrowing:
    """What filters say about the rows that are wanted: never less than what passes them."""

    options: SourceOptions
    names: dict[str, set[Any]]
    """Wanted topics, brokers and queue ids; a missing name: all."""
    begin: int = 0
    end: int | None = None
    """Queue offsets."""

    @classmethod
    def of(cls, options: SourceOptions, filters: Iterable[Filter]) -> Narrowing:
        """Return what the filters, all of which rows must pass, leave of a read."""
        narrowing = cls(options, {})
        for each in filters:
            column: tuple[str, ...] = getattr(each, "attribute", ())
            if len(column) == 1:
                narrowing._take(column[0], each)
        return narrowing

    @property
    def is_empty(self) -> bool:
        """Whether no row can pass."""
        start, end = self.options.starting_timestamp, self.options.ending_timestamp
        return self.options.tags == frozenset() or (start is not None and end is not None and start >= end)

    def cut(self, partitions: Sequence[InputPartition]) -> Iterator[InputPartition]:
        """Yield what is left of planned ranges."""
        for part in partitions:
            assert isinstance(part, FilePartition | WirePartition)
            if all(getattr(part, name) in wanted for name, wanted in self.names.items()):
                begin = max(part.begin, self.begin)
                end = part.end if self.end is None else min(part.end, self.end)
                if begin < end:
                    yield replace(part, begin=begin, end=end)

    def _take(self, column: str, each: Filter) -> None:
        values = _values(each)
        if column in _NAMES and values is not None:
            self.names[column] = self.names.get(column, values) & values
        elif column == "tag" and values is not None:
            tags = self.options.tags
            self.options = replace(self.options, tags=frozenset(values if tags is None else tags & values))
        elif column in _KEYS and values and self.options.keys is None:
            # Only once: a message may have one key and pass a filter for another.
            self.options = replace(self.options, keys=frozenset(values))
        elif column == "queue_offset":
            self._take_offsets(each)
        elif column == "store_timestamp":
            self._take_times(each)

    def _take_offsets(self, each: Filter) -> None:
        low, high = _bounds(each)
        self.begin = max(self.begin, low or 0)
        if high is not None:
            self.end = high + 1 if self.end is None else min(self.end, high + 1)

    def _take_times(self, each: Filter) -> None:
        low, high = _bounds(each)
        if low is not None:
            start = (low - _EPOCH) // _MILLISECOND
            self.options = replace(
                self.options, starting_timestamp=max(start, self.options.starting_timestamp or start)
            )
        if high is not None:
            end = (high - _EPOCH) // _MILLISECOND + 1
            self.options = replace(self.options, ending_timestamp=min(end, self.options.ending_timestamp or end))


def _values(each: Filter) -> set[Any] | None:
    """Return the only values that pass, None if they are not listed."""
    if isinstance(each, EqualTo | EqualNullSafe):
        return None if each.value is None else {each.value}
    return {value for value in each.value if value is not None} if isinstance(each, In) else None


def _bounds(each: Filter) -> tuple[Any, Any]:
    """Return the least and the greatest value that may pass, None where there is no bound."""
    if isinstance(each, EqualTo | EqualNullSafe):
        return each.value, each.value
    if isinstance(each, GreaterThan | GreaterThanOrEqual):
        return each.value, None
    if isinstance(each, LessThan | LessThanOrEqual):
        return None, each.value
    return None, None


def is_only_filter(load_id: str, filters: Iterable[Filter]) -> bool:
    """Return whether no others were pushed for this ``load()``: what is planned last is read by all of them."""
    known = _pushed.pop(load_id, frozenset()) | {frozenset(map(repr, filters))}
    _pushed[load_id] = known
    if len(_pushed) > _MOST_LOADS:
        del _pushed[next(iter(_pushed))]
    return len(known) == 1


class PushingReader(RocketMQReader):
    """Reads less where filters allow it; Spark applies all of them again."""

    def __init__(self, options: SourceOptions, columns: Sequence[str], load_id: str) -> None:
        """`load_id` is that of the ``load()``."""
        super().__init__(options, columns)
        self.filters: Sequence[Filter] = ()
        self._load_id = load_id

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802 - Spark's name
        """Take note of the filters, and leave all of them to Spark as well."""
        self.filters = tuple(filters) if is_only_filter(self._load_id, filters) else ()
        return filters

    def partitions(self) -> Sequence[InputPartition]:
        """Return what the filters leave of the ranges."""
        narrowing = Narrowing.of(self.options_read, self.filters)
        if narrowing.is_empty:
            return []
        self.options_read = narrowing.options
        return list(narrowing.cut(super().partitions()))
