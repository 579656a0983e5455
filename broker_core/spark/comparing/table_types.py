"""Types of Parquet and of databases as Spark has them, and their times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

_INSTANT: Final = pa.timestamp("us", tz="UTC")
_DAY_MS: Final = 24 * 3600 * 1000
_LARGEST: Final = 38
_SIMPLE: Final = {
    pa.bool_(): pa.bool_(), pa.int8(): pa.int8(), pa.int16(): pa.int16(), pa.int32(): pa.int32(),
    pa.int64(): pa.int64(), pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0), pa.float16(): pa.float32(), pa.float32(): pa.float32(),
    pa.float64(): pa.float64(), pa.string(): pa.string(), pa.large_string(): pa.string(), pa.binary(): pa.binary(),
    pa.large_binary(): pa.binary(), pa.date32(): pa.date32(), pa.date64(): pa.date32(),
}  # fmt: skip


def spark_type(kind: Any) -> Any:
    """Return the type to which values are cast for Spark; None for one that it does not have.

    A time without a zone is taken to be in UTC.
    """
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if pa.types.is_timestamp(kind):
        return _INSTANT
    if pa.types.is_decimal(kind):
        return pa.decimal128(kind.precision, kind.scale) if kind.precision <= _LARGEST else None
    if pa.types.is_dictionary(kind):
        return spark_type(kind.value_type)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        inner = spark_type(kind.value_type)
        return None if inner is None else pa.list_(inner)
    if pa.types.is_fixed_size_binary(kind):
        return pa.binary()
    if pa.types.is_struct(kind):
        fields = [(kind.field(number).name, spark_type(kind.field(number).type)) for number in range(kind.num_fields)]
        return None if any(inner is None for _, inner in fields) else pa.struct(fields)
    return None


def times_in_ms(values: Any) -> Any:
    """Return times in ms since 1970: of a timestamp, a date, a number of ms, or a text as ISO 8601 has it.

    Raises ArrowInvalid or ArrowNotImplementedError for anything else.
    """
    kind = values.type
    if pa.types.is_dictionary(kind):
        values = values.cast(kind.value_type)
        kind = values.type
    if pa.types.is_integer(kind):
        return values.cast(pa.int64())
    if pa.types.is_date(kind):
        return pc.multiply(values.cast(pa.date32()).cast(pa.int32()).cast(pa.int64()), _DAY_MS)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        values = _instants(values)
    elif not pa.types.is_timestamp(kind):
        raise pa.ArrowNotImplementedError(f"its type is {kind}")
    return pc.divide(values.cast(_INSTANT, safe=False).cast(pa.int64()), 1000)


def _instants(texts: Any) -> Any:
    try:
        return texts.cast(_INSTANT)
    except pa.ArrowInvalid:
        # Without a zone.
        return texts.cast(pa.timestamp("us"))


Columns = Mapping[str, Any]
"""The Spark types of columns by their names."""


def columns_of(schema: Any) -> Columns:
    """Return the columns of a file; the type is None where Spark has none."""
    return {field.name: spark_type(field.type) for field in schema}


def difference_of(found: Columns, expected: Columns) -> str | None:
    """Return how the columns of a file differ from those of the first one, None if they do not; any order will do."""
    lacks, more = (_named(each) for each in (expected.keys() - found.keys(), found.keys() - expected.keys()))
    if lacks or more:
        return " and ".join([f"lacks {lacks}"] * bool(lacks) + [f"has also {more}"] * bool(more))
    other = [name for name, kind in found.items() if kind != expected[name]]
    return f"has the column {other[0]!r} as {found[other[0]]} instead of {expected[other[0]]}" if other else None


def _named(columns: Iterable[str]) -> str:
    return ", ".join(map(repr, sorted(columns)))
