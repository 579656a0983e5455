"""SQL expressions over the rows of a topic: which messages a job takes, and what their copies become.

Rows stay as many and in their order: a condition becomes a column, so that whoever gets the rows can still tell how far
in the queue they are (spark/README.md#expressions).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that all of Spark's documentation uses
from pyspark.sql.types import ArrayType, BinaryType, BooleanType, DataType, MapType, StructType

from broker_core.protocol import properties as names
from broker_core.protocol.applications import separator_fault, tag_fault
from broker_core.protocol.errors import MalformedProperties
from broker_core.spark.errors import BadRequest
from broker_core.spark.failed_values import Expression
from broker_core.spark.schema import COLUMNS, spark_schema
from broker_core.spark.understood import understood
from broker_core.sql_text import sql_fault

JSON: Final = "json"
"""The body as a variant; null if it is not JSON."""
WANTED: Final = "_wanted"
_BODY: Final = "_body"
_TAG: Final = "_tag"
_KEYS: Final = "_keys"
_LEAST: Final = ("_error",)
_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class ValueRefused(Exception):
    """The values of the expressions make no message that can be sent; the text says why."""


def words_in(text: str) -> set[str]:
    """Return the words of an expression, in lower case."""
    return {word.lower() for word in _WORD.findall(text)}


def named_columns(texts: Iterable[str], columns: Iterable[str]) -> tuple[str, ...]:
    """Return which of the columns the expressions name, the body also as `json`."""
    texts = [text.lower() for text in texts]
    words = {word for text in texts for word in words_in(text)}
    columns = tuple(columns)
    body = {"body"} if JSON in words and JSON not in columns else set()
    return tuple(
        name for name in columns
        if name.lower() in words | body or any(f"`{name.lower()}`" in text for text in texts)
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class RowSql:
    """The expressions of a request: its condition, and its transformation by field."""

    where: str | None = None
    body: str | None = None
    tag: str | None = None
    keys: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether Spark has nothing to compute."""
        return not list(self._named())

    @property
    def changes_messages(self) -> bool:
        """Whether there is more than a condition."""
        return any(column != WANTED for _, column, _ in self._named())

    def _named(self) -> Iterator[tuple[str, str, str]]:
        """Yield for each expression the field of the request, the column of its value, and its text."""
        given = [("source.where", WANTED, self.where), ("target.transform.body", _BODY, self.body)]
        given += [("target.transform.tag", _TAG, self.tag), ("target.transform.keys", _KEYS, self.keys)]
        for number, (name, text) in enumerate(self.properties.items()):
            given.append((f"target.transform.properties.{name}", _property(number), text))
        yield from ((part, column, text) for part, column, text in given if text is not None)

    def columns(self, kept: Sequence[str]) -> tuple[str, ...]:
        """Return the columns to read: those that are kept, and those that the expressions name."""
        texts = [text for _, _, text in self._named()]
        return (*kept, *(name for name in named_columns(texts, COLUMNS) if name not in kept))

    def expressions(self, rows_of: Callable[[tuple[str, ...]], DataFrame]) -> list[Expression]:
        """Return the expressions, so that the one that fails on a value can be found; `rows_of` reads columns."""
        found = []
        for part, column, text in self._named():
            # The others are computed for what is wanted; the condition comes first and has failed by then.
            only = RowSql(
                self.where,
                self.body if column == _BODY else None,
                self.tag if column == _TAG else None,
                self.keys if column == _KEYS else None,
                {
                    name: text
                    for number, (name, text) in enumerate(self.properties.items())
                    if _property(number) == column
                },
            )
            found.append(Expression(part, text, partial(only._alone, rows_of)))
        return found

    def _alone(self, rows_of: Callable[[tuple[str, ...]], DataFrame]) -> DataFrame:
        return self.apply(rows_of(self.columns(_LEAST)), _LEAST)

    def check(self, session: SparkSession, kept: Sequence[str]) -> None:
        """Raise BadRequest for an expression that reaches beyond the row, or that Spark does not understand."""
        # All columns, so that Spark can suggest the one that was meant.
        self.apply(session.createDataFrame([], spark_schema(COLUMNS)), kept)

    def apply(self, rows: DataFrame, kept: Sequence[str]) -> DataFrame:
        """Return the rows with the columns that are kept, and a column for each expression.

        Raises BadRequest for an expression that reaches beyond the row, or that Spark does not understand.
        """
        given = {column: (part, text) for part, column, text in self._named()}
        for part, text in given.values():
            fault = sql_fault(text, (*COLUMNS, JSON))
            if fault is not None:
                raise BadRequest(f"{part}: {fault}")
        if any(JSON in words_in(text) for _, text in given.values()):
            rows = rows.withColumn(JSON, F.try_parse_json(F.col("body").cast("string")))
        is_sound = F.col("_error").isNull()
        wanted = is_sound
        if self.where is not None:
            # What a damaged message would be is not known; it is reported as damaged.
            wanted = is_sound & _value(rows, *given.pop(WANTED), _condition)
        rows = understood("source.where", lambda: rows.withColumn(WANTED, F.coalesce(wanted, F.lit(False))))
        values = []
        for column, (part, text) in given.items():
            made = {_BODY: _binary, _KEYS: _texts}.get(column, _text)
            values.append(F.when(F.col(WANTED), _value(rows, part, text, made)).alias(column))
        # Bodies that nobody needs do not travel.
        is_replaced = self.body is not None
        body = F.lit(None).cast("binary") if is_replaced else F.when(F.col(WANTED), F.col("body"))
        plain = [body.alias(name) if name == "body" else F.col(name) for name in kept]
        return rows.select(*plain, WANTED, *values)

    def values(self, rows: Any) -> Iterator[Values]:
        """Yield the values of the expressions for each row of an Arrow batch of `apply`."""
        lists = {name: rows.column(name).to_pylist() for name in rows.schema.names if name in self._columns()}
        for number in range(rows.num_rows):
            yield Values(self, {name: values[number] for name, values in lists.items()})

    def _columns(self) -> set[str]:
        return {WANTED, *(column for _, column, _ in self._named())}


@dataclass(frozen=True, slots=True)
class Values:
    """What the expressions make of one message."""

    sql: RowSql
    found: Mapping[str, Any]

    @property
    def is_wanted(self) -> bool:
        """Whether the message fulfils the condition."""
        return bool(self.found[WANTED])

    def body(self, original: bytes) -> bytes:
        """Return the body of the copy; raise ValueRefused for a null."""
        if self.sql.body is None:
            return original
        body: bytes | None = self.found[_BODY]
        if body is None:
            raise ValueRefused("target.transform.body is null for this message")
        return body

    def properties(self, original: dict[str, str]) -> dict[str, str]:
        """Return the properties of the copy, without those that are null now; raise ValueRefused."""
        changed: dict[str, str | None] = {}
        try:
            if self.sql.tag is not None:
                changed[names.TAGS] = _tag(self.found[_TAG])
            if self.sql.keys is not None:
                changed[names.KEYS] = _joined(self.found[_KEYS] or ())
            for number, name in enumerate(self.sql.properties):
                changed[name] = _separated(f"properties.{name}", self.found[_property(number)])
            kept = {name: text for name, text in original.items() if name not in changed}
            set_now = {name: text for name, text in changed.items() if text}
            names.check_properties(set_now)
        except MalformedProperties as error:
            raise ValueRefused(f"target.transform: {error}") from error
        return kept | set_now


def _joined(keys: Iterable[str]) -> str:
    kept = [key for key in keys if key]
    if any(" " in key for key in kept):
        # Not which: the report is shown to those who may not see what stands in messages.
        raise ValueRefused("target.transform.keys: a key holds a space, which separates keys")
    return names.join_keys([_separated("keys", key) for key in kept])


def _tag(tag: str | None) -> str | None:
    # An empty one takes the tag away.
    fault = tag_fault(tag) if tag else None
    if fault is not None:
        raise ValueRefused(f"target.transform.tag: {fault}")
    return _separated("tag", tag)


T = TypeVar("T", str, str | None)


def _separated(part: str, text: T) -> T:
    fault = separator_fault(text) if text else None
    if fault is not None:
        raise ValueRefused(f"target.transform.{part}: {fault}")
    return text


def _property(number: int) -> str:
    return f"_property_{number}"


def _value(rows: DataFrame, part: str, text: str, make: Callable[[Column, DataType], Column]) -> Column:
    """Return an expression as a column of the type that is needed; raise BadRequest."""
    # Beside another column, so that what is no value of a row is refused.
    kinds = [each.dataType for each in understood(part, lambda: rows.select("_error", F.expr(text))).schema.fields[1:]]
    if len(kinds) != 1:
        raise BadRequest(f"{part}: it has {len(kinds)} values; one is needed")
    column = make(F.expr(text), kinds[0])
    # Within a condition Spark allows no function that makes several rows of one.
    understood(part, lambda: rows.select("_error", F.when(F.lit(True), column)))
    return column


def _condition(column: Column, kind: DataType) -> Column:
    if not isinstance(kind, BooleanType):
        raise BadRequest(f"source.where: it is {kind.simpleString()}; a condition is true or false")
    return column


def _binary(column: Column, kind: DataType) -> Column:
    return column if isinstance(kind, BinaryType) else column.cast("string").cast("binary")


def _texts(column: Column, kind: DataType) -> Column:
    return column.cast("array<string>") if isinstance(kind, ArrayType) else F.split(column.cast("string"), " ")


def _text(column: Column, kind: DataType) -> Column:
    if isinstance(kind, (ArrayType, MapType, StructType)):
        raise BadRequest(f"target.transform: a value is {kind.simpleString()}; make it a text, as to_json(...) does")
    return column.cast("string")
