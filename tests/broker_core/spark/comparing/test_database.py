"""PostgreSQL as a side."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

from broker_core.spark.comparing.database import database_side
from broker_core.spark.comparing.sides import Side
from broker_core.spark.errors import BadRequest, Unreachable
from tests.broker_core.spark.comparing.test_tables import rows
from tests.support.postgres import NOT_INSTALLED, find_programs, postgres_server

AT = datetime(2026, 5, 1, 8, 0, 0, 250_000, tzinfo=UTC)


@pytest.fixture(scope="module")
def connection() -> Iterator[dict[str, Any]]:
    """A PostgreSQL with a table of every kind of value."""
    if (programs := find_programs()) is None:
        pytest.skip(NOT_INSTALLED)
    with postgres_server(programs) as server:
        folder = parse_qs(urlsplit(server.url).query)["host"][0]
        options: dict[str, Any] = {"host": folder, "user": "gantry", "dbname": "postgres"}
        with psycopg.connect(**options) as opened:
            opened.execute("CREATE SCHEMA shop")
            opened.execute(
                "CREATE TABLE shop.orders (id bigint, code text, amount numeric(12,2), paid boolean, at timestamptz, "
                "day date, rate double precision, raw bytea, local timestamp, free numeric)"
            )
            row = (
                1,
                'a,"b"\n',
                Decimal("9.90"),
                True,
                AT,
                date(2026, 5, 1),
                0.1,
                b"\0\xff",
                AT.replace(tzinfo=None),
                1,
            )
            opened.execute(f"INSERT INTO shop.orders VALUES ({', '.join(['%s'] * 10)})", row)
            opened.execute("INSERT INTO shop.orders (id, code) VALUES (2, '')")
        yield options


def side_of(folder: Path, connection: dict[str, Any], *columns: str, **asked: Any) -> Side:
    request = {"connection": "shop", **asked}
    return database_side("right", connection, request, folder, lambda _names: columns, lambda _rows: None)


ALL = ("id", "code", "amount", "paid", "at", "day", "rate", "raw", "local", "free")


def test_values_arrive_with_their_types_and_nulls(tmp_path: Path, connection: dict[str, Any]) -> None:
    side = side_of(tmp_path, connection, *ALL, table="shop.orders", time="at")
    first, second = sorted(rows(side, *ALL), key=lambda row: row["id"])
    assert first == {
        "id": 1, "code": 'a,"b"\n', "amount": Decimal("9.90"), "paid": True, "at": AT, "day": date(2026, 5, 1),
        "rate": 0.1, "raw": b"\0\xff", "local": AT, "free": Decimal(1),
        "_time": int(AT.timestamp() * 1000),
    }  # fmt: skip
    assert second == {**dict.fromkeys((*ALL, "_time")), "id": 2, "code": ""}


def test_only_the_columns_that_are_needed_are_copied(tmp_path: Path, connection: dict[str, Any]) -> None:
    side = side_of(tmp_path, connection, "code", query="select *, 1 as more from shop.orders -- all\n;")
    assert list(side.names()) == ["code"]


@pytest.mark.parametrize("values", [(None, "a", None), ("", "a\n\nb"), (None,), ()])
def test_nulls_of_a_single_column_are_rows(
    tmp_path: Path, connection: dict[str, Any], values: tuple[str | None, ...]
) -> None:
    with psycopg.connect(**connection) as opened:
        opened.execute("CREATE TABLE IF NOT EXISTS alone (code text)")
        opened.execute("TRUNCATE alone")
        opened.cursor().executemany("INSERT INTO alone VALUES (%s)", [(value,) for value in values])
    side = side_of(tmp_path, connection, "code", table="alone")
    assert [row["code"] for row in rows(side, "code")] == list(values)


@pytest.mark.parametrize(
    ("asked", "fault"),
    [
        ({"table": "shop.none"}, r'right\.table: relation "shop.none" does not exist'),
        ({"query": "select nonsense"}, r"right\.query: column \"nonsense\" does not exist"),
        (
            {"query": "select 1) as x; commit; delete from shop.orders; select * from (select 1"},
            r"right\.query: cannot insert multiple",
        ),
        ({"query": "delete from shop.orders returning id"}, r"right\.query: "),
        ({"query": "select 1 as a, 2 as a"}, "two columns have the same name"),
        ({"table": "shop.orders", "time": "when"}, "there is no column 'when'"),
        ({"query": "select 1::numeric / 3 as code"}, "cast it in the query; the log has it"),
        (
            {"query": "select code::int as code from shop.orders"},
            r"right\.query: InvalidTextRepresentation \(22P02\); the log",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_in_the_words_of_the_database(
    tmp_path: Path, connection: dict[str, Any], asked: dict[str, Any], fault: str
) -> None:
    columns = ["code"] if "numeric" in str(asked) else []
    with pytest.raises(BadRequest, match=fault):
        side_of(tmp_path, connection, *columns, **asked)
    assert len(rows(side_of(tmp_path, connection, "id", table="shop.orders"))) == 2


def test_a_statement_is_ended_after_its_time(tmp_path: Path, connection: dict[str, Any]) -> None:
    side = side_of(tmp_path, connection, "limit", query="select current_setting('statement_timeout') as limit")
    assert [row["limit"] for row in rows(side, "limit")] == ["1h"]
    hurried = {**connection, "options": "-c statement_timeout=50ms"}
    with pytest.raises(BadRequest, match=r"right\.query: the database ended it, after its statement_timeout"):
        side_of(tmp_path, hurried, "slow", query="select 1 as slow, pg_sleep(5)")


def test_nothing_can_be_written(tmp_path: Path, connection: dict[str, Any]) -> None:
    with psycopg.connect(**connection) as opened:
        opened.execute("CREATE FUNCTION empty() RETURNS int LANGUAGE sql AS 'delete from shop.orders; select 1'")
    with pytest.raises(BadRequest, match="read-only transaction"):
        side_of(tmp_path, connection, "empty", query="select empty() as empty")


def test_a_database_that_does_not_answer_is_named_without_its_secrets(tmp_path: Path) -> None:
    nowhere: dict[str, Any] = {"host": str(tmp_path), "user": "gantry", "password": "hunter2"}
    with pytest.raises(Unreachable, match=r"right\.connection: shop: ") as refused:
        side_of(tmp_path, nowhere, table="orders")
    for secret in ("hunter2", str(tmp_path), "5432"):
        assert secret not in str(refused.value)
