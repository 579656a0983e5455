"""Files as sides."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from broker_core.spark.comparing import tables
from broker_core.spark.comparing.sides import Side
from broker_core.spark.comparing.tables import csv_side, parquet_side
from broker_core.spark.counting import RowCounter
from broker_core.spark.errors import BadRequest
from tests.support.wait import wait_until

AT = datetime(2026, 5, 1, 8, tzinfo=UTC)
AT_MS = int(AT.timestamp() * 1000)


def rows(side: Side, *columns: str) -> list[dict[str, Any]]:
    """Return all rows of a side, with their times."""
    batches = [batch for number in range(len(side.parts)) for batch in side.read(number, columns)]
    return [
        {name: value for name, value in row.items() if name in columns or name == "_time"}
        for batch in batches
        for row in batch.to_pylist()
    ]


def parquet(path: Path, name: str = "a.parquet", **columns: Any) -> tuple[Path, str]:
    pyarrow.parquet.write_table(pa.table(columns), path / name, row_group_size=2)
    return path / name, name


def test_a_row_group_is_a_part_and_places_name_file_and_row(tmp_path: Path) -> None:
    files = [parquet(tmp_path, number, n=[1, 2, 3]) for number in ("a.parquet", "b.parquet")]
    side = parquet_side("left", files, None)
    assert (len(side.parts), side.known_rows) == (4, 6)
    assert [row["n"] for row in rows(side, "n")] == [1, 2, 3, 1, 2, 3]
    assert side.place_of(3, 0).text == "row 3 of b.parquet"


def test_the_bytes_of_the_columns_that_are_read_are_counted(tmp_path: Path) -> None:
    file = parquet(tmp_path, small=[1, 2, 3], large=["a" * 1000, "b" * 2000, "c" * 3000])

    def counted(*columns: str) -> int:
        counter = RowCounter()
        rows(parquet_side("left", [file], None, counter.start()), *columns)
        wait_until(lambda: counter.rows() == 3)
        counter.close()
        return counter.bytes_read().table

    assert 0 < counted("small") < 1000 < counted("small", "large")


def test_columns_have_the_types_of_spark(tmp_path: Path) -> None:
    naive = pa.array([AT.replace(tzinfo=None)], pa.timestamp("ns"))
    file = parquet(
        tmp_path, text=pa.array(["a"], pa.large_string()), word=pa.array(["b"]).dictionary_encode(),
        big=pa.array([2**63], pa.uint64()), small=pa.array([7], pa.uint8()), at=naive,
        price=pa.array([Decimal("1.50")], pa.decimal128(9, 2)), none=pa.nulls(1), tags=pa.array([["x"]]),
    )  # fmt: skip
    side = parquet_side("left", [file], "at")
    (row,) = rows(side, "text", "word", "big", "small", "at", "price", "tags")
    assert row == {"text": "a", "word": "b", "big": Decimal(2**63), "small": 7, "at": AT, "price": Decimal("1.50"),
                   "tags": ["x"], "_time": AT_MS}  # fmt: skip
    assert "none" not in side.names()
    with pytest.raises(BadRequest, match="no column 'none' that can be compared"):
        side.fields(["none"])


@pytest.mark.parametrize(
    "values",
    [
        pa.array([AT_MS]), pa.array([AT], pa.timestamp("ms", tz="Europe/Berlin")), pa.array(["2026-05-01T08:00:00Z"]),
        pa.array(["2026-05-01 08:00:00"]),
    ],
)  # fmt: skip
def test_a_time_is_a_number_a_timestamp_or_a_text(tmp_path: Path, values: Any) -> None:
    assert rows(parquet_side("left", [parquet(tmp_path, at=values)], "at"), "at")[0]["_time"] == AT_MS


def test_a_date_is_its_beginning_and_a_missing_time_none(tmp_path: Path) -> None:
    side = parquet_side("left", [parquet(tmp_path, at=pa.array([date(2026, 5, 1), None]))], "at")
    assert [row["_time"] for row in rows(side)] == [AT_MS - 8 * 3600 * 1000, None]


@pytest.mark.parametrize("values", [["yesterday"], [1.5]])
def test_what_is_no_time_is_said(tmp_path: Path, values: list[Any]) -> None:
    side = parquet_side("left", [parquet(tmp_path, at=values)], "at")
    with pytest.raises(BadRequest, match=r"left\.time: column 'at' has no times"):
        rows(side)


def test_files_that_make_no_table_are_refused_with_their_name(tmp_path: Path) -> None:
    broken = tmp_path / "broken.parquet"
    broken.write_text("no")
    with pytest.raises(BadRequest, match=r"right\.path: broken\.parquet cannot be read as Parquet"):
        parquet_side("right", [(broken, "broken.parquet")], None)
    files = [parquet(tmp_path, "a.parquet", n=[1]), parquet(tmp_path, "b.parquet", m=[1])]
    with pytest.raises(BadRequest, match=r"b\.parquet .* a\.parquet: it lacks 'n' and has also 'm'"):
        parquet_side("right", files, None)
    with pytest.raises(BadRequest, match="there is no column 'at'; there are: n"):
        parquet_side("right", files[:1], "at")


def test_files_of_a_folder_have_columns_of_the_same_names_and_types_in_any_order(tmp_path: Path) -> None:
    word = pa.array(["b"]).dictionary_encode()
    files = [parquet(tmp_path, "a.parquet", n=[1], v=["a"]), parquet(tmp_path, "b.parquet", v=word, n=[2])]
    side = parquet_side("left", files, None)
    assert [(row["n"], row["v"]) for row in rows(side, "n", "v")] == [(1, "a"), (2, "b")]
    files.append(parquet(tmp_path, "c.parquet", n=pa.array([3], pa.int32()), v=["c"]))
    with pytest.raises(BadRequest, match=r"c\.parquet .* a\.parquet: it has the column 'n' as int32 instead of int64"):
        parquet_side("left", files, None)


def test_csv_files_of_a_folder_are_read_by_the_names_of_their_columns(tmp_path: Path) -> None:
    side = from_csv(tmp_path, "id,v\n1,a\n", "v,id\nb,2\n")
    assert [(row["id"], row["v"]) for row in rows(side, "id", "v")] == [("1", "a"), ("2", "b")]
    with pytest.raises(BadRequest, match=r"1\.csv has other columns than 0\.csv: it has also 'w'"):
        from_csv(tmp_path, "id,v\n1,a\n", "id,v,w\n2,b,c\n")


def test_a_file_that_changes_in_the_meantime_is_not_compared(tmp_path: Path) -> None:
    side = parquet_side("left", [parquet(tmp_path, n=[1])], None)
    parquet(tmp_path, n=[1, 2])
    with pytest.raises(BadRequest, match=r"a\.parquet was changed while it was compared"):
        rows(side, "n")


def from_csv(folder: Path, *texts: str, time: str | None = None, columns: tuple[str, ...] = ("id", "v")) -> Side:
    files = []
    for number, text in enumerate(texts):
        path = folder / f"{number}.csv"
        path.write_bytes(text.encode())
        files.append((path, path.name))
    copies = folder / "copies"
    copies.mkdir(exist_ok=True)
    return csv_side("left", files, time, copies, lambda _names: columns, lambda _rows: None)


def test_values_of_csv_are_texts_and_an_empty_one_is_null_unless_it_is_quoted(tmp_path: Path) -> None:
    side = from_csv(tmp_path, '\ufeffid,v,w\r\n01,,x\r\n2,"",x\r\n3,"a\nb, ""c""",x\r\n', "id,v,w\n4,NULL,x\n")
    assert [(row["id"], row["v"]) for row in rows(side, "id", "v")] == [
        ("01", None), ("2", ""), ("3", 'a\nb, "c"'), ("4", "NULL"),
    ]  # fmt: skip
    assert side.place_of(1, 0).text == "row 1 of 1.csv"


def test_an_empty_line_is_a_null_of_a_single_column(tmp_path: Path) -> None:
    side = from_csv(tmp_path, 'id\nN3\n\n""\r\n\r\nN1', columns=("id",))
    assert [row["id"] for row in rows(side, "id")] == ["N3", None, "", None, "N1"]
    several = from_csv(tmp_path, "id,v\n1,a\n\n2,b\n\n")
    assert [row["id"] for row in rows(several, "id")] == ["1", "2"]


def test_both_steps_read_the_same_csv_whatever_becomes_of_it(tmp_path: Path) -> None:
    side = from_csv(tmp_path, "id,v\n1,a\n")
    (tmp_path / "0.csv").write_text("id,v\n2,b\n")
    assert [row["id"] for row in rows(side, "id")] == ["1"]


def test_a_csv_without_rows_has_none(tmp_path: Path) -> None:
    side = from_csv(tmp_path, "id,v\n")
    assert (side.known_rows, list(side.names())) == (0, ["id", "v"])


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "its first line is empty"),
        ('"id,v\n1,a\n', r"0\.csv ends inside quotes, in the names"),
        ("id,id\n", "names the column 'id' twice"), ("id,v\n1,2,3\n", "is no sound CSV"),
        ("id,v\n1," + '"' + "x\n" * (12 << 20), r"no sound CSV: a row has more than 8 MiB; quotes may"),
    ],
)  # fmt: skip
def test_a_csv_that_is_none_is_refused(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(BadRequest, match=fault):
        from_csv(tmp_path, text)


@pytest.mark.parametrize(
    "rows_of_file",
    ['1,"abc\n2,b\n', '1,"abc\n2,b', '1,"abc""', '1,"', '1,5" nail\n2,"abc\n', "1,a\n" * 300_000 + '2,"b\n'],
)
def test_a_csv_that_ends_inside_quotes_is_refused(tmp_path: Path, rows_of_file: str) -> None:
    with pytest.raises(BadRequest, match=r"left\.path: 0\.csv ends inside quotes"):
        from_csv(tmp_path, "id,v\n" + rows_of_file)


@pytest.mark.parametrize(
    ("rows_of_file", "value"),
    [
        ('1,5" nail', '5" nail'), ('1, "a', ' "a'), ('1,"a"b"', 'ab"'), ('1,"a"', "a"), ('1,""', ""),
        ('1,""""\r\n', '"'), ('1,"a\r\n"\r', "a\r\n"), ('1,"' + "a" * (4 << 20) + '"', "a" * (4 << 20)),
    ],
)  # fmt: skip
def test_quotes_that_are_closed_or_text_are_read(tmp_path: Path, rows_of_file: str, value: str) -> None:
    assert [row["v"] for row in rows(from_csv(tmp_path, "id,v\n" + rows_of_file), "v")] == [value]


def test_a_copy_is_divided_among_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_ROWS_OF_GROUP", 1)
    side = from_csv(tmp_path, "id,v\n" + "1,a\n" * 3)
    assert side.known_rows == 3
