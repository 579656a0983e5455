"""The SQL expressions of one side: a condition, the key, and compared fields."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that all of Spark's documentation uses
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    NumericType,
    StringType,
    TimestampType,
)

from broker_core.spark.comparing.comparison import Comparison
from broker_core.spark.comparing.keys import KEY_COLUMN, field_column
from broker_core.spark.comparing.sides import PLACE_FIELDS
from broker_core.spark.errors import BadRequest, first_line
from broker_core.spark.row_sql import JSON, named_columns, words_in
from broker_core.sql_text import sql_fault

_BODY: Final = "body"


@dataclass(frozen=True, slots=True)
class SideSql:
    """The expressions of one side; `fields` has None for each field that is a word."""

    name: str
    kept: tuple[str, ...] = ()
    """The columns that the words need."""
    where: str | None = None
    key: str | None = None
    fields: tuple[str | None, ...] = ()
    types: tuple[str | None, ...] = ()
    """To which type the value of each expression is cast, so that both sides have the same."""

    @property
    def is_empty(self) -> bool:
        """Whether Spark has nothing to compute."""
        return not self._expressions()

    def _expressions(self) -> list[str]:
        return [text for text in (self.where, self.key, *self.fields) if text is not None]

    def columns(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return which of the columns of the side the expressions name."""
        return named_columns(self._expressions(), names)

    def select(self, rows: DataFrame) -> DataFrame:
        """Return the rows that the condition lets through, with the values of the expressions.

        Damaged rows stay: whether they fulfil it is not known. Raises BadRequest for an expression that is wrong.
        """
        for expression in self._expressions():
            fault = sql_fault(expression, (*rows.columns, JSON))
            if fault is not None:
                raise BadRequest(f"{self.name}: {fault}")
        names_json = any(JSON in words_in(text) for text in self._expressions())
        if names_json and JSON not in rows.columns:
            rows = rows.withColumn(JSON, F.try_parse_json(F.col(_BODY).cast("string")))
        if self.where is not None:
            rows = self._checked("where", lambda: rows.where(F.col("_error").isNotNull() | F.expr(self.where or "")))
        computed = []
        if self.key is not None:
            computed.append(self._key(rows).alias(KEY_COLUMN))
        for number, text in enumerate(self.fields):
            if text is not None:
                column = F.expr(text)
                kind = self.types[number] if self.types else None
                computed.append((column if kind is None else column.cast(kind)).alias(field_column(number)))
        kept = [field.name for field in PLACE_FIELDS]
        return self._checked("compare", lambda: rows.select(*kept, *self.kept, *computed))

    def _key(self, rows: DataFrame) -> Any:
        key = F.expr(self.key or "")
        kind = self._checked("by", lambda: rows.select(key)).schema[0].dataType
        return key if kind.simpleString() in ("string", "array<string>") else key.cast("string")

    def _checked(self, part: str, make: Callable[[], DataFrame]) -> DataFrame:
        try:
            made = make()
            _ = made.schema
        except PySparkException as error:
            raise BadRequest(f"{part} ({self.name}): {first_line(error)}") from error
        return made


def side_sql(name: str, comparison: Comparison, where: str | None, kept: Sequence[str]) -> SideSql:
    """Return the expressions of a side; raise BadRequest for one that reaches beyond the row."""
    fields = tuple(field.sql(name) for field in comparison.fields)
    key = comparison.key_sql(name)
    named = [(f"{name}.where", where), (f"by.{name}", key)]
    named += [(f"compare {field.name}", text) for field, text in zip(comparison.fields, fields, strict=True)]
    for part, text in named:
        fault = None if text is None else sql_fault(text)
        if fault is not None:
            raise BadRequest(f"{part}: {fault}")
    return SideSql(name, tuple(kept), where, key, fields)


def common_type(field: str, left: DataType, right: DataType) -> str | None:
    """Return the type to which the values of both sides are cast; None if they are alike already.

    Raises BadRequest for types that cannot be compared: a cast in the expression says what is meant.
    """
    kinds = (left, right)
    for kind in kinds:
        if not isinstance(kind, _COMPARED):
            fault = (
                f"values of the type {kind.simpleString()} cannot be compared; make them a text, as to_json(...) does"
            )
            raise BadRequest(f"compare {field}: {fault}")
    if all(isinstance(kind, NumericType) for kind in kinds):
        return _common_number(kinds)
    if all(isinstance(kind, (DateType, TimestampType)) for kind in kinds):
        return None if left == right else "timestamp"
    if left != right:
        words = f"the left side is {left.simpleString()}, the right side {right.simpleString()}"
        raise BadRequest(f"compare {field}: {words}; cast one of them")
    return None


_COMPARED: Final = (NumericType, BooleanType, StringType, BinaryType, DateType, TimestampType, ArrayType)


def _common_number(kinds: Sequence[DataType]) -> str:
    if any(isinstance(kind, (FloatType, DoubleType)) for kind in kinds):
        return "double"
    if all(isinstance(kind, IntegralType) for kind in kinds):
        return "bigint"
    scale = max(kind.scale for kind in kinds if isinstance(kind, DecimalType))
    return f"decimal(38,{scale})"
