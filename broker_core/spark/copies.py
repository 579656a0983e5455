"""Copies of messages: the properties that a copy keeps, and those that record its source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import repeat
from typing import Any, Final, NamedTuple

from broker_core.protocol.applications import body_fault
from broker_core.protocol.copies import COPIED_AT, COPIED_BY, JOB, SOURCE, SOURCE_ID, kept_pairs
from broker_core.protocol.properties import (
    KEYS,
    NAME_END,
    PAIR_END,
    UNIQ_KEY,
    mark_of,
    parse_properties,
    split_keys,
    value_after,
)
from broker_core.spark.row_sql import RowSql, ValueRefused, Values

COLUMNS: Final = ("queue_offset", "message_id", "flag", "body", "properties_text", "log_offset", "_error")
"""The columns that a copy needs, and the report of a damaged message."""
_BORN_AT: Final = "born_timestamp"
_UNIQUE_ID: Final = mark_of(UNIQ_KEY)
_KEYS: Final = mark_of(KEYS)
_MOST_BESIDE: Final = 100
"""Bytes of an entry of a batch beside body and properties: its fixed fields, and the unique id with its name."""


@dataclass(frozen=True, slots=True)
class Damaged:
    """A message that cannot be copied: its position and its damage."""

    queue_offset: int
    log_offset: int | None
    """None where it is not known."""
    reason: str


class Copy(NamedTuple):
    """A copy as it goes into a batch."""

    flag: int
    body: bytes
    properties: str
    """The property string, without the unique id."""
    unique_id: str | None = None
    """That of the original, if the copy keeps it."""
    born_at: int | None = None
    """When the original was born (ms since 1970), if the copy keeps it."""

    @property
    def key(self) -> str:
        """Its first key; empty without one."""
        return next(iter(split_keys(value_after(_KEYS, PAIR_END + self.properties))), "")

    @property
    def size(self) -> int:
        """An upper bound of the bytes that it takes in a batch, close to its size."""
        text = self.properties
        # A character has at most four bytes in UTF-8.
        return len(self.body) + (len(text) if text.isascii() else 4 * len(text)) + _MOST_BESIDE


@dataclass(frozen=True, slots=True)
class NoCopy:
    """Of this message no copy can be made."""

    reason: str


@dataclass(frozen=True, slots=True)
class Copier:
    """Creates copies for one lane of a job."""

    job_id: str
    by: str
    source: str
    """``cluster/broker/topic/queue`` of the lane."""
    sql: RowSql = field(default_factory=RowSql)
    """The expressions whose values the rows have."""
    keeps_unique_id: bool = False
    keeps_born_at: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it needs."""
        return (*COLUMNS, _BORN_AT) if self.keeps_born_at else COLUMNS

    def copies(self, rows: Any, now: datetime | None = None) -> Iterator[tuple[int, Copy | NoCopy]]:
        """Yield source queue offset and copy of each intact row of an Arrow batch with `columns` that is wanted."""
        at = (now or datetime.now(UTC)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        begin = f"{JOB}{NAME_END}{self.job_id}{PAIR_END}{SOURCE}{NAME_END}{self.source}/"
        middle = f"{PAIR_END}{SOURCE_ID}{NAME_END}"
        end = f"{PAIR_END}{COPIED_AT}{NAME_END}{at}{PAIR_END}{COPIED_BY}{NAME_END}{self.by}"
        made: Iterator[Values | None] = repeat(None) if self.sql.is_empty else self.sql.values(rows)
        born = _times(rows) if self.keeps_born_at else repeat(None)
        for (offset, message_id, flag, body, raw, _, error), values, born_at in zip(
            _rows(rows), made, born, strict=False
        ):
            if error is not None or (values is not None and not values.is_wanted):
                continue
            text = raw.decode(errors="replace")
            pairs = kept_pairs(text)
            if values is not None:
                try:
                    body, pairs = self._body(values, body), _pairs_of(values.properties(_properties_of(pairs)))
                except ValueRefused as refused:
                    yield offset, NoCopy(str(refused))
                    continue
            pairs.append(f"{begin}{offset}{middle}{message_id}{end}")
            kept_id = value_after(_UNIQUE_ID, PAIR_END + text) if self.keeps_unique_id else ""
            yield offset, Copy(flag, body, PAIR_END.join(pairs), kept_id or None, born_at)

    def _body(self, values: Values, original: bytes) -> bytes:
        body = values.body(original)
        fault = None if self.sql.body is None else body_fault(body)
        if fault is not None:
            raise ValueRefused(f"target.transform.body {fault}")
        return body

    def refused(self, rows: Any) -> list[tuple[int, str]]:
        """Return the source queue offset of each row of which no copy can be made, and why."""
        return [(offset, copy.reason) for offset, copy in self.copies(rows) if isinstance(copy, NoCopy)]

    @staticmethod
    def damaged(rows: Any) -> Iterator[Damaged]:
        """Yield the damaged rows of an Arrow batch with `COLUMNS`."""
        if rows.column("_error").null_count < rows.num_rows:
            yield from (Damaged(row[0], row[5], row[6]) for row in _rows(rows) if row[6] is not None)

    def source_offset(self, properties: Mapping[str, str]) -> int | None:
        """Return the source queue offset if these are the properties of a copy by this job from this lane."""
        source, _, offset = properties.get(SOURCE, "").rpartition("/")
        if properties.get(JOB) != self.job_id or source != self.source:
            return None
        return int(offset)


def _rows(rows: Any) -> Iterator[tuple[Any, ...]]:
    return zip(*(rows.column(name).to_pylist() for name in COLUMNS), strict=True)


def _times(rows: Any) -> Iterator[int | None]:
    """Yield when each message was born, in ms since 1970."""
    # Spark's times are microseconds.
    micros = rows.column(_BORN_AT).cast("int64").to_pylist()
    return (None if each is None else each // 1000 for each in micros)


def _properties_of(pairs: Iterable[str]) -> dict[str, str]:
    return parse_properties(PAIR_END.join(pairs))


def _pairs_of(properties: Mapping[str, str]) -> list[str]:
    return [f"{name}{NAME_END}{value}" for name, value in properties.items()]
