"""The SQL expressions of one side: a condition, the key, and compared fields."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

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
    TimestampNTZType,
    TimestampType,
)

from broker_core.spark.comparing.comparison import Comparison
from broker_core.spark.comparing.keys import KEY_COLUMN, field_column
from broker_core.spark.comparing.sides import PLACE_FIELDS
from broker_core.spark.errors import BadRequest
from broker_core.spark.row_sql import JSON, named_columns, words_in
from broker_core.spark.understood import understood
from broker_core.sql_moments import TIMES
from broker_core.sql_text import sql_fault

_BODY: Final = "body"
_TIMES: Final = (DateType, TimestampType, TimestampNTZType)


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

    names: tuple[str, ...] = ()
    """The names of the fields."""
    key_type: str | None = None
    """To which type the key is cast before it becomes a text, so that equal ones are one text."""

    @property
    def is_empty(self) -> bool:
        """Whether Spark has nothing to compute."""
        return not self._named()

    def _named(self) -> list[tuple[str, str]]:
        """Return the expressions, each with its field of the request."""
        given = [(f"{self.name}.where", self.where), (f"by.{self.name}", self.key)]
        given += [(f"compare.{name}.{self.name}", text) for name, text in zip(self.names, self.fields, strict=True)]
        return [(part, text) for part, text in given if text is not None]

    def each_alone(self) -> Iterator[tuple[str, str, SideSql]]:
        """Yield each expression with its field of the request, and with the condition but without the others."""
        condition = SideSql(self.name, where=self.where)
        for part, text in self._named():
            if part == f"{self.name}.where":
                yield part, text, condition
            elif part.startswith("by."):
                yield part, text, replace(condition, key=text)
            else:
                yield part, text, replace(condition, names=(part.split(".", 1)[1],), fields=(text,))

    def columns(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return which of the columns of the side the expressions name."""
        return named_columns([text for _, text in self._named()], names)

    def check(self, columns: Collection[str] | None = None, times: Collection[str] = TIMES) -> None:
        """Raise BadRequest for an expression that reaches beyond the row.

        `columns` are those of the side, and `times` those of them with dates and times.
        """
        for part, text in self._named():
            fault = sql_fault(text, columns, times)
            if fault is not None:
                raise BadRequest(f"{part}: {fault}")

    def select(self, rows: DataFrame) -> DataFrame:
        """Return the rows that the condition lets through, with the values of the expressions.

        Damaged rows stay: whether they fulfil it is not known. Raises BadRequest for an expression that is wrong.
        """
        times = [field.name for field in rows.schema.fields if isinstance(field.dataType, _TIMES)]
        self.check((*rows.columns, JSON), times)
        names_json = any(JSON in words_in(text) for _, text in self._named())
        if names_json and JSON not in rows.columns:
            rows = rows.withColumn(JSON, F.try_parse_json(F.col(_BODY).cast("string")))
        # What errors suggest are columns of the user.
        own = rows.drop(*(field.name for field in PLACE_FIELDS))
        if self.where is not None:
            rows = self._where(own, rows, self.where)
        computed = []
        if self.key is not None:
            computed.append(self._key(own).alias(KEY_COLUMN))
        for number, text in enumerate(self.fields):
            if text is not None:
                computed.append(self._field(own, number, text).alias(field_column(number)))
        kept = [field.name for field in PLACE_FIELDS]
        return understood(self.name, partial(rows.select, *kept, *self.kept, *computed))

    def _where(self, own: DataFrame, rows: DataFrame, text: str) -> DataFrame:
        part = f"{self.name}.where"
        # In a filter Spark finds columns that were left out, too.
        understood(part, lambda: own.select(F.expr(text)))
        return understood(part, lambda: rows.where(F.col("_error").isNotNull() | F.expr(text)))

    def _field(self, own: DataFrame, number: int, text: str) -> Any:
        part = f"compare.{self.names[number]}.{self.name}"
        understood(part, lambda: own.select(F.expr(text)))
        kind = self.types[number] if self.types else None
        column = F.expr(text) if kind is None else F.expr(text).cast(kind)
        understood(part, partial(own.select, column))
        return column

    def _key(self, rows: DataFrame) -> Any:
        text = self.key or ""
        kind = understood(f"by.{self.name}", lambda: rows.select(F.expr(text))).schema[0].dataType
        key = F.expr(text) if self.key_type is None else F.expr(text).cast(self.key_type)
        return key if kind.simpleString() in ("string", "array<string>") else key.cast("string")


def side_sql(name: str, comparison: Comparison, where: str | None, kept: Sequence[str]) -> SideSql:
    """Return the expressions of a side; raise BadRequest for one that reaches beyond the row."""
    fields = tuple(field.sql(name) for field in comparison.fields)
    names = tuple(field.name for field in comparison.fields)
    sql = SideSql(name, tuple(kept), where, comparison.key_sql(name), fields, names=names)
    sql.check()
    return sql


def common_type(field: str, left: DataType, right: DataType) -> str | None:
    """Return the type to which the values of both sides are cast; None if they are alike already.

    Raises BadRequest for types that cannot be compared: a cast in the expression says what is meant.
    """
    for kind in (left, right):
        if not isinstance(kind, _COMPARED):
            fault = (
                f"values of the type {kind.simpleString()} cannot be compared; make them a text, as to_json(...) does"
            )
            raise BadRequest(f"compare {field}: {fault}")
    return _common(f"compare {field}", left, right)


def common_key_type(left: DataType, right: DataType) -> str | None:
    """Return the type to which the keys of both sides are cast before they become texts; None if they are alike.

    A text stands for itself, and is compared with what the other side is written as. Raises BadRequest for other types
    that cannot be compared.
    """
    if any(isinstance(kind, (StringType, BinaryType, ArrayType)) for kind in (left, right)):
        return None
    return None if left == right else _common("by", left, right)


def check_tolerance(field: str, left: DataType, right: DataType) -> None:
    """Raise BadRequest unless both sides have numbers."""
    for side, kind in (("left", left), ("right", right)):
        if not isinstance(kind, NumericType):
            words = f"a tolerance is for numbers, and the {side} side is {kind.simpleString()}"
            raise BadRequest(f"compare {field}: {words}; cast it")


def _common(part: str, left: DataType, right: DataType) -> str | None:
    kinds = (left, right)
    if all(isinstance(kind, NumericType) for kind in kinds):
        return _common_number(kinds)
    if all(isinstance(kind, (DateType, TimestampType)) for kind in kinds):
        return None if left == right else "timestamp"
    if left != right:
        words = f"the left side is {left.simpleString()}, the right side {right.simpleString()}"
        raise BadRequest(f"{part}: {words}; cast one of them")
    return None


_COMPARED: Final = (NumericType, BooleanType, StringType, BinaryType, DateType, TimestampType, ArrayType)


def _common_number(kinds: Sequence[DataType]) -> str:
    if any(isinstance(kind, (FloatType, DoubleType)) for kind in kinds):
        return "double"
    if all(isinstance(kind, IntegralType) for kind in kinds):
        return "bigint"
    scale = max(kind.scale for kind in kinds if isinstance(kind, DecimalType))
    return f"decimal(38,{scale})"
