"""Copies of messages: the properties that a copy keeps, and those that record its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import repeat
from typing import Any, Final

from broker_core.protocol.copies import COPIED_AT, COPIED_BY, JOB, SOURCE, SOURCE_ID, kept_properties
from broker_core.protocol.message import Message
from broker_core.protocol.properties import PAIR_END, UNIQ_KEY, parse_properties
from broker_core.spark.row_sql import RowSql, ValueRefused, Values

COLUMNS: Final = ("queue_offset", "message_id", "flag", "body", "properties_text", "log_offset", "_error")
"""The columns that a copy needs, and the report of a damaged message."""


@dataclass(frozen=True, slots=True)
class Damaged:
    """A message that cannot be copied: its position and its damage."""

    queue_offset: int
    log_offset: int | None
    """None where it is not known."""
    reason: str


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
    topic: str
    sql: RowSql = field(default_factory=RowSql)
    """The expressions whose values the rows have."""
    keeps_unique_id: bool = False

    def copies(self, rows: Any, now: datetime | None = None) -> Iterator[tuple[int, Message | NoCopy]]:
        """Yield source queue offset and copy of each intact row of an Arrow batch with `COLUMNS` that is wanted."""
        at = (now or datetime.now(UTC)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        made: Iterator[Values | None] = repeat(None) if self.sql.is_empty else self.sql.values(rows)
        for (offset, message_id, flag, body, text, _, error), values in zip(_rows(rows), made, strict=False):
            if error is not None or (values is not None and not values.is_wanted):
                continue
            original = parse_properties(text.decode(errors="replace"))
            properties = kept_properties(original)
            if values is not None:
                try:
                    body, properties = values.body(body), values.properties(properties)
                except ValueRefused as refused:
                    yield offset, NoCopy(str(refused))
                    continue
            if self.keeps_unique_id and UNIQ_KEY in original:
                properties[UNIQ_KEY] = original[UNIQ_KEY]
            properties |= {
                JOB: self.job_id,
                SOURCE: f"{self.source}/{offset}",
                SOURCE_ID: message_id,
                COPIED_AT: at,
                COPIED_BY: self.by,
            }
            yield offset, Message(self.topic, body, properties, flag)

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


def size_in_batch(message: Message) -> int:
    """Return an upper bound of the bytes that a message takes in a batch, close to its size."""
    pairs = message.properties
    # Not a loop in Python: this is called for every copy.
    characters = sum(map(len, pairs)) + sum(map(len, pairs.values())) + 2 * len(PAIR_END) * len(pairs)
    # A character has at most four bytes in UTF-8; properties are mostly ASCII, so count twice.
    return len(message.body) + 2 * characters + 32
