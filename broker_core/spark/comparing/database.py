"""A table or a query of PostgreSQL as a side: copied in one snapshot, by COPY, which PostgreSQL sends fastest."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import psycopg
import pyarrow as pa
import pyarrow.csv
from psycopg import sql

from broker_core.job_folder import say
from broker_core.spark.comparing.tables import TableSide, csv_parsing, parquet_side, text_options, write_copy
from broker_core.spark.errors import BadRequest, Unreachable, first_line

_CONNECT_S: Final = 10
_STATEMENT_S: Final = 3600
# As libpq begins when it cannot connect, with address and port.
_BEFORE_REASON: Final = re.compile(r"^.*\bconnection to server .*? failed: ")
_SOCKET: Final = re.compile(r"/?\.s\.PGSQL\.\d+")
_SECRET: Final = ("host", "hostaddr", "port", "user", "password", "passfile", "sslkey", "sslcert", "sslrootcert")
_NUMERIC: Final = 1700
_BYTEA: Final = 17
_PRECISION: Final = 38
_UNBOUND_SCALE: Final = 18
_TYPES: Final[Mapping[int, Any]] = {
    16: pa.bool_(), 20: pa.int64(), 21: pa.int16(), 23: pa.int32(), 26: pa.int64(), 700: pa.float32(),
    701: pa.float64(), 1082: pa.date32(), 1114: pa.timestamp("us"), 1184: pa.timestamp("us", tz="UTC"),
}  # fmt: skip
"""Arrow types by the number that PostgreSQL gives a type; all others are read as texts."""


def database_side(
    name: str, connection: Mapping[str, str], asked: Mapping[str, Any], copies: Path,
    choose: Callable[[Sequence[str]], Sequence[str]], each_batch: Callable[[int], None], count_to: str | None = None,
) -> TableSide:  # fmt: skip
    """Return the side of a table or query, from a copy in a folder that is made in one read-only transaction.

    `choose` says which of its columns are needed; `each_batch` is called with the rows of each batch. Raises
    Unreachable if the database does not answer, BadRequest for what it refuses.
    """
    target, time = copies / f"{name}-0.parquet", asked.get("time")
    part = f"{name}.{'table' if asked.get('table') else 'query'}"
    try:
        with psycopg.connect(**{"connect_timeout": _CONNECT_S, **connection}) as opened:  # type: ignore[arg-type]
            _prepare(opened)
            rows = _Rows(opened, name, asked)
            wanted = list(dict.fromkeys((*choose(rows.names), *([time] if time else [])))) or rows.names[:1]
            if missing := [each for each in wanted if each not in rows.names]:
                raise BadRequest(f"{name}.time: there is no column {missing[0]!r}; there are: {', '.join(rows.names)}")
            batches, schema = rows.read(wanted)
            write_copy(target, schema, batches, each_batch)
    except psycopg.errors.QueryCanceled as error:
        limit = "the database ended it, after its statement_timeout or by hand"
        raise BadRequest(f"{part}: {limit}; an hour is allowed unless the connection sets another limit") from error
    except psycopg.OperationalError as error:
        raise Unreachable(f"{name}.connection: {asked['connection']}: {_without_place(error, connection)}") from error
    except psycopg.DataError as error:
        # Its text quotes the value.
        say(f"PostgreSQL says: {error}")
        what = f"{type(error).__name__} ({error.sqlstate})"
        raise BadRequest(f"{part}: {what}; the log has what PostgreSQL said") from error
    except psycopg.Error as error:
        raise BadRequest(f"{part}: {_without_place(error, connection)}") from error
    except pa.ArrowInvalid as error:
        say(f"Arrow says: {error}")
        raise BadRequest(f"{name}: a value has no place in its type, cast it in the query; the log has it") from error
    # Rows of a database have no number.
    return parquet_side(name, [(target, "")], time, count_to)


def _without_place(error: psycopg.Error, connection: Mapping[str, str]) -> str:
    """Return what the database says, without where it is and how one gets in: who sees the job may not know that."""
    text = _BEFORE_REASON.sub("", first_line(error))
    for secret in (connection.get(option) for option in _SECRET):
        if secret:
            text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", "…", text)
    # The name of a socket ends in the port, also in one that the connection does not set.
    return _SOCKET.sub("…", text)


def _prepare(opened: psycopg.Connection[Any]) -> None:
    opened.read_only = True
    # One snapshot for all statements.
    opened.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    opened.execute("SET LOCAL TIME ZONE 'UTC'")
    opened.execute("SET LOCAL DateStyle = 'ISO, YMD'")
    opened.execute("SET LOCAL extra_float_digits = 3")
    opened.execute("SET LOCAL bytea_output = 'hex'")
    # A limit of the role or of the connection's options stays.
    limit = opened.execute("SHOW statement_timeout").fetchone()
    if limit == ("0",):
        opened.execute(f"SET LOCAL statement_timeout = '{_STATEMENT_S}s'")


class _Rows:
    """The rows of a table or a query."""

    def __init__(self, opened: psycopg.Connection[Any], name: str, asked: Mapping[str, Any]) -> None:
        self._opened = opened
        self._from = _from(asked)
        # Prepared, it is refused if it is more than one statement.
        cursor = opened.execute(sql.SQL("SELECT * FROM {} LIMIT 0").format(self._from), prepare=True)
        self._columns = {each.name: each for each in cursor.description or ()}
        self.names = [each.name for each in cursor.description or ()]
        if len(self._columns) < len(self.names):
            raise BadRequest(f"{name}.query: two columns have the same name; give each its own")

    def read(self, names: Sequence[str]) -> tuple[Iterator[Any], Any]:
        """Return batches of these columns, and their schema."""
        kinds = {name: _type_of(self._columns[name]) for name in names}
        binary = [name for name in names if self._columns[name].type_code == _BYTEA]
        sent = pa.schema([(name, pa.string() if name in binary else kind) for name, kind in kinds.items()])
        return self._batches(sent, binary), pa.schema(list(kinds.items()))

    def _batches(self, sent: Any, binary: Sequence[str]) -> Iterator[Any]:
        columns = sql.SQL(", ").join(map(sql.Identifier, sent.names))
        statement = sql.SQL("COPY (SELECT {} FROM {}) TO STDOUT WITH (FORMAT csv, HEADER true)")
        with self._opened.cursor() as cursor, cursor.copy(statement.format(columns, self._from)) as copy:
            options = text_options(sent, true_values=["t"], false_values=["f"])
            parsing = csv_parsing(len(sent.names))
            file = io.BufferedReader(_CopyFile(copy), 1 << 20)
            with pyarrow.csv.open_csv(file, parse_options=parsing, convert_options=options) as reader:
                for batch in reader:
                    yield _with_bytes(batch, binary)


class _CopyFile(io.RawIOBase):
    """What COPY sends, as a file."""

    def __init__(self, copy: psycopg.Copy) -> None:
        self._copy = copy
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            self._rest = memoryview(self._copy.read())
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count


def _from(asked: Mapping[str, Any]) -> sql.Composable:
    if asked.get("table"):
        return sql.Identifier(*str(asked["table"]).split(".", 1))
    # Not ended by a comment of the query.
    return sql.SQL("(\n{}\n) AS rows_of_side").format(sql.SQL(str(asked["query"]).rstrip().rstrip(";")))


def _type_of(column: psycopg.Column) -> Any:
    if column.type_code == _NUMERIC:
        if column.precision is None or not 0 < column.precision <= _PRECISION:
            return pa.decimal128(_PRECISION, _UNBOUND_SCALE)
        return pa.decimal128(column.precision, column.scale or 0)
    return pa.binary() if column.type_code == _BYTEA else _TYPES.get(column.type_code, pa.string())


def _with_bytes(batch: Any, names: Sequence[str]) -> Any:
    for name in names:
        number = batch.schema.get_field_index(name)
        values = [None if text is None else bytes.fromhex(text[2:]) for text in batch.column(number).to_pylist()]
        batch = batch.set_column(number, pa.field(name, pa.binary()), pa.array(values, pa.binary()))
    return batch
