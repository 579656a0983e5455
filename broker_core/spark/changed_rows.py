"""Rows of a topic with the values that expressions give them, for a file: what copies are for a topic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from broker_core.protocol.properties import KEYS, TAGS, split_keys
from broker_core.spark.row_sql import RowSql, ValueRefused
from broker_core.spark.schema import arrow_schema

COLUMNS: Final = (
    "topic", "broker", "queue_id", "queue_offset", "store_timestamp", "born_timestamp", "message_id", "key", "keys",
    "tag", "body", "properties",
)  # fmt: skip
"""Where each message came from, and what it has now."""

Refused = tuple[int, str]
"""The queue offset of a message that the expressions spoil, and why."""


TRIED: Final = ("queue_offset", "_error", "body", "properties")
"""What `refused_rows` reads."""


def refused_rows(rows: Any, sql: RowSql) -> list[Refused]:
    """Return which messages of an Arrow batch of `RowSql.apply` with `TRIED` a file would leave out."""
    sound = rows.filter(pc.is_null(rows.column("_error")))
    return changed(sound, sql, ("queue_offset",))[1]


def changed(rows: Any, sql: RowSql, columns: Sequence[str]) -> tuple[Any, list[Refused]]:
    """Return an Arrow batch of `RowSql.apply` as one with these columns, and which messages are left out."""
    made: list[dict[str, Any]] = []
    refused: list[Refused] = []
    for row, values in zip(rows.to_pylist(), sql.values(rows), strict=True):
        try:
            body, properties = values.body(row["body"]), values.properties(dict(row["properties"] or ()))
        except ValueRefused as error:
            refused.append((row["queue_offset"], str(error)))
            continue
        keys = split_keys(properties.get(KEYS))
        now = {"body": body, "properties": list(properties.items()), "keys": keys, "tag": properties.get(TAGS)}
        row |= {**now, "key": keys[0] if keys else None}
        made.append({name: row[name] for name in columns})
    return pa.RecordBatch.from_pylist(made, schema=arrow_schema(columns)), refused
