"""The export: one file in each format, in the order of the queues."""

from __future__ import annotations

import csv
import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from broker_core.protocol.message import Message
from broker_core.spark.changed_rows import COLUMNS as OF_COPIES
from tests.support.programs import Program
from tests.support.stores import NOW, overwrite
from tests.support.topics import order, orders, write_topic

pytestmark = pytest.mark.spark
COLUMNS = ["queue_id", "queue_offset", "store_timestamp", "keys", "tag", "body", "properties"]


@pytest.fixture
def program(tmp_path: Path, spark_cache: Path) -> Program:
    """An export of a store with eleven messages in two queues."""
    odd = Message.create("orders", b"\xff\x00", tag="=1+1", properties={"a": "1,\n2"}, keys=["'-5"])
    write_topic(tmp_path / "store", [*orders(10), odd])
    return Program(tmp_path / "job", "export", {"store": str(tmp_path / "store"), "broker": "broker-a"}, spark_cache)


def export(program: Program, spark: SparkSession, **asked: Any) -> int:
    request = {"source": {"topic": "orders"}, "format": "jsonl", "columns": COLUMNS, **asked}
    status = program.run_here(request, spark)
    assert status in (0, 3), program.log
    return status


def test_lines_have_all_messages_queue_by_queue(program: Program, spark: SparkSession) -> None:
    assert export(program, spark) == 0
    lines = [json.loads(line) for line in (program.folder / "messages.jsonl").read_text().splitlines()]
    assert [(line["queue_id"], line["queue_offset"]) for line in lines] == [
        *((0, offset) for offset in range(6)), *((1, offset) for offset in range(5))
    ]  # fmt: skip
    assert datetime.fromisoformat(lines[0]["store_timestamp"]).timestamp() * 1000 == NOW
    assert (lines[0]["keys"], lines[0]["body"], lines[0]["body_encoding"]) == (["k0", "all"], '{"n":0}', "text")
    assert (lines[5]["body"], lines[5]["body_encoding"], lines[5]["properties"]["a"]) == ("/wA=", "base64", "1,\n2")
    result = program.read("result.json")
    assert {each["name"] for each in result["artefacts"]} == {"report.json", "messages.jsonl"}
    assert (result["counters"]["read"], result["counters"]["written"]) == (11, 11)
    assert [queue["written"] for queue in program.read("report.json")["queues"]] == [6, 5]


def test_a_spreadsheet_runs_nothing_of_a_csv_file(program: Program, spark: SparkSession) -> None:
    export(program, spark, format="csv", source={"topic": "orders", "queues": [0]})
    with (program.folder / "messages.csv").open(newline="") as file:
        head, *rows = list(csv.reader(file))
    assert head == ["queue_id", "queue_offset", "store_timestamp", "keys", "tag", "body", "body_encoding", "properties"]
    assert rows[0][3:7] == ["k0 all", "A", '{"n":0}', "text"]
    assert (rows[5][3], rows[5][4], json.loads(rows[5][7])["a"]) == ("''-5", "'=1+1", "1,\n2")


def test_a_condition_chooses_and_parquet_keeps_types(program: Program, spark: SparkSession) -> None:
    export(program, spark, format="parquet", source={"topic": "orders", "where": "json:n::int > 6"})
    table = pq.read_table(program.folder / "messages.parquet")
    assert table.column_names == COLUMNS
    assert table.column("body").to_pylist() == [b'{"n":8}', b'{"n":7}', b'{"n":9}']
    assert program.read("result.json")["counters"] | {"bytes": 0} == {
        "planned": 11, "read": 11, "filtered": 8, "damaged": 0, "matched": 3, "written": 3, "failed": 0, "bytes": 0
    }  # fmt: skip


def test_one_of_several_tags_chooses_a_message(program: Program, spark: SparkSession) -> None:
    export(program, spark, columns=["tag"], source={"topic": "orders", "tag": " A || nobody "})
    lines = (program.folder / "messages.jsonl").read_text().splitlines()
    assert {json.loads(line)["tag"] for line in lines} == {"A"}


def test_an_empty_selection_is_an_empty_file(program: Program, spark: SparkSession) -> None:
    export(program, spark, format="csv", columns=["key"], source={"topic": "orders", "keys": ["nobody"]})
    assert (program.folder / "messages.csv").read_text() == "key\n"


def test_an_export_of_keys_counts_what_it_looked_at(program: Program, spark: SparkSession) -> None:
    export(program, spark, source={"topic": "orders", "keys": ["k0", "k8"]})
    counters = program.read("result.json")["counters"]
    assert (counters["matched"], counters["written"]) == (2, 2)
    # Beside them at most the ends of each queue, of which no index tells
    assert counters["planned"] == counters["read"] == 2 + counters["filtered"] <= 2 + 4


def test_a_damaged_message_is_left_out_and_named(program: Program, spark: SparkSession, tmp_path: Path) -> None:
    write_topic(tmp_path / "broken", [order(n) for n in range(3)], queues=1)
    [file] = list((tmp_path / "broken" / "commitlog").iterdir())
    overwrite(file, file.read_bytes().index(b'{"n":1}'), b"broken!")
    program.source = {"store": str(tmp_path / "broken"), "broker": "broker-a"}
    assert export(program, spark, columns=["queue_offset"]) == 3
    assert (program.folder / "messages.jsonl").read_text() == '{"queue_offset": 0}\n{"queue_offset": 2}\n'
    assert program.read("report.json")["damage"][0]["queue_offset"] == 1


def test_a_dry_run_of_an_export_writes_no_file(program: Program, spark: SparkSession) -> None:
    assert export(program, spark, dry_run=True) == 0
    assert program.read("report.json")["messages"] == 11
    assert not (program.folder / "messages.jsonl").exists()


def test_a_replay_into_parquet_has_messages_as_copies_would_be(program: Program, spark: SparkSession) -> None:
    program.type = "replay"
    transform = {"body": "to_json(named_struct('id', json:n::int))", "tag": "null", "properties": {"was": "tag"}}
    request = {
        "source": {"topic": "orders", "where": "queue_offset < 2 or json is null"},
        "target": {"kind": "parquet", "transform": {**transform, "keys": "array(key)"}},
    }
    assert program.run_here(request, spark) == 0, program.log
    table = pq.read_table(program.folder / "messages.parquet")
    assert tuple(table.column_names) == OF_COPIES
    rows = table.to_pylist()
    assert [row["body"] for row in rows] == [b'{"id":0}', b'{"id":2}', b"{}", b'{"id":1}', b'{"id":3}']
    assert [row["keys"] for row in rows[:2]] == [["k0"], ["k2"]]
    assert [(row["tag"], dict(row["properties"])["was"], row["queue_offset"]) for row in rows[:2]] == [
        (None, "A", 0), (None, "A", 1)
    ]  # fmt: skip


def test_a_message_that_an_expression_spoils_is_left_out_of_a_file_and_named(
    program: Program, spark: SparkSession
) -> None:
    program.type = "replay"
    request = {
        "source": {"topic": "orders"}, "target": {"kind": "parquet", "transform": {"body": "cast(json as string)"}}
    }  # fmt: skip
    assert program.run_here(request, spark) == 3, program.log
    counters = program.read("result.json")["counters"]
    assert (counters["matched"], counters["written"], counters["failed"]) == (11, 10, 1)
    [failure] = program.read("report.json")["failures"]
    assert failure == {
        "source": "local/broker-a/orders/0/5", "reason": "target.transform.body is null for this message",
    }  # fmt: skip
    [line] = (program.folder / "failures.jsonl").read_text().splitlines()
    assert json.loads(line)["queue_offset"] == 5
    assert program.read("result.json")["reason"].endswith("failures.jsonl names them")
