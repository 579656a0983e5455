"""A topic as a table: its columns, in order, with Spark's types.

All columns are nullable; spark/README.md#columns explains why.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from broker_core.spark.errors import BadOption, UnknownOption

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

COLUMNS: Final[dict[str, str]] = {
    "topic": "string",
    "broker": "string",
    "queue_id": "int",
    "queue_offset": "bigint",
    "log_offset": "bigint",
    "message_id": "string",
    "unique_id": "string",
    "key": "string",
    "keys": "array<string>",
    "tag": "string",
    "body": "binary",
    "properties": "map<string,string>",
    "born_timestamp": "timestamp",
    "store_timestamp": "timestamp",
    "born_host": "string",
    "flag": "int",
    "sys_flag": "int",
    "reconsume_times": "int",
    "body_size": "int",
    "record_size": "int",
    "prepared_offset": "bigint",
    "store_host": "string",
    "offset_id": "string",
    "properties_text": "binary",
    "crc_ok": "boolean",
    "_error": "string",
}
"""`message_id` is the producer's unique id, else the offset id; `key` is the first of `keys`; `body_size` and
`record_size` are in bytes as stored; `properties_text` is the stored text; `_error` says why a row is damaged."""

BY_REQUEST_ONLY: Final = frozenset({"store_host", "offset_id", "properties_text", "crc_ok"})
"""Expensive, rarely used columns: included only if `columns` or a schema names them."""

_OF_BODIES: Final = frozenset({"body", "crc_ok", "_error"})


def asks_for_bodies(columns: Iterable[str]) -> bool:
    """Return whether a read of these columns compares bodies with their checksums; other reads touch no body."""
    return not _OF_BODIES.isdisjoint(columns)


def choose_columns(columns: Sequence[str] | None, *, with_error: bool, with_properties: bool = True) -> tuple[str, ...]:
    """Return the requested columns, or the default ones; `_error` is included in permissive mode only.

    Raises UnknownOption for a name that is not a column, BadOption for a name that is listed twice.
    """
    if columns is None:
        left_out = BY_REQUEST_ONLY | ({"_error"} if not with_error else set())
        left_out |= {"properties"} if not with_properties else set()
        return tuple(name for name in COLUMNS if name not in left_out)
    for name in columns:
        if name not in COLUMNS:
            raise UnknownOption(name, COLUMNS, what="column")
    if len(set(columns)) != len(columns):
        raise BadOption("columns", ",".join(columns), "a column is listed twice")
    return tuple(columns)


def spark_schema(columns: Iterable[str]) -> StructType:
    """Return the Spark schema with these columns in this order."""
    from pyspark.sql import types

    of_word: dict[str, types.DataType] = {
        "string": types.StringType(),
        "int": types.IntegerType(),
        "bigint": types.LongType(),
        "boolean": types.BooleanType(),
        "binary": types.BinaryType(),
        "timestamp": types.TimestampType(),
        "array<string>": types.ArrayType(types.StringType()),
        "map<string,string>": types.MapType(types.StringType(), types.StringType()),
    }
    return types.StructType([types.StructField(name, of_word[COLUMNS[name]], nullable=True) for name in columns])


def arrow_schema(columns: Iterable[str]) -> Any:
    """Return the Arrow schema that Spark expects for these columns, in UTC whatever the session's zone."""
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(spark_schema(columns), timezone="UTC")


def columns_of(schema: StructType) -> tuple[str, ...]:
    """Return the columns of a schema given by the user.

    Raises UnknownOption for an unknown name and BadOption for a different type.
    """
    columns = choose_columns(schema.fieldNames(), with_error=True)
    for mine, given in zip(spark_schema(columns).fields, schema.fields, strict=True):
        if mine.dataType != given.dataType:
            raise BadOption("schema", given.simpleString(), f"column {mine.name} has the type {COLUMNS[mine.name]}")
    return columns
