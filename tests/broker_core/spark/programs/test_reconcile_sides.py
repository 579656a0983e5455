"""A topic compared with files, a database and what a group consumed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg
import pyarrow as pa
import pyarrow.parquet
import pytest
from pyspark.sql import SparkSession

from broker_core.client.blocking import BlockingSession
from broker_core.client.consumer.pull import PullConsumer
from broker_core.client.errors import TopicNotFound
from broker_core.protocol.message import Message
from tests.support.cluster import RunningBroker
from tests.support.postgres import NOT_INSTALLED, find_programs, postgres_server
from tests.support.programs import Program
from tests.support.replays import fill_topic, make_topic, read_topic
from tests.support.stores import NOW
from tests.support.topics import orders, write_topic
from tests.support.wait import wait_until

pytestmark = pytest.mark.spark

COUNT = 2000
# What the tables have otherwise, by the number of the order.
LACKING = range(100, 110)
OTHER = range(500, 507)
TWICE = range(900, 903)
FAULTS = {"missing_right": 10, "different": 7, "duplicate_right": 3, "missing_left": 1}


def table() -> list[tuple[str, float, str, int]]:
    """Return the orders as a table has them: id, amount, state, time in ms."""
    rows = [
        (f"o-{n}", n + (0.02 if n in OTHER else 0.001), "paid", NOW + n)
        for n in range(COUNT)
        if n not in LACKING
        for _ in range(2 if n in TWICE else 1)
    ]
    return [*rows, ("o-more", 1.0, "paid", NOW)]


BY = {"left": "json:id::string", "right": "id"}
COMPARE = [
    {"name": "amount", "left": "json:amount::double", "right": "cast(amount as double)", "tolerance": 0.01},
    {"name": "state", "left": "tag", "right": "state"},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a topic of orders, and the orders as files."""
    made = tmp_path_factory.mktemp("sides")
    bodies = [json.dumps({"id": f"o-{n}", "amount": n}).encode() for n in range(COUNT)]
    write_topic(
        made / "store", [Message.create("orders", body, tag="paid") for body in bodies], queues=4, segment_bytes=1 << 20
    )
    files = made / "files"
    files.mkdir()
    ids, amounts, states, times = zip(*table(), strict=True)
    columns = {"id": ids, "amount": amounts, "state": states, "at": pa.array(times, pa.timestamp("ms", "UTC"))}
    pyarrow.parquet.write_table(pa.table(columns), files / "orders.parquet", row_group_size=700)
    lines = [f"{id_},{amount},{state},{at}" for id_, amount, state, at in table()]
    (files / "orders.csv").write_text("\n".join(["id,amount,state,at", *lines]))
    return made


@pytest.fixture(scope="module")
def databases(folder: Path) -> Iterator[Path]:
    """A service file with a connection to a PostgreSQL that has the orders."""
    if (programs := find_programs()) is None:
        pytest.skip(NOT_INSTALLED)
    with postgres_server(programs) as server:
        host = parse_qs(urlsplit(server.url).query)["host"][0]
        with psycopg.connect(host=host, user="gantry", dbname="postgres") as opened, opened.cursor() as cursor:
            cursor.execute("CREATE TABLE orders (id text, amount numeric(12,3), state text, at bigint)")
            cursor.executemany("INSERT INTO orders VALUES (%s, %s, %s, %s)", table())
        file = folder / "pg_service.conf"
        file.write_text(f"[shop]\nhost={host}\nuser=gantry\ndbname=postgres\npassword=hunter2\n")
        yield file


def program(folder: Path, job: Path, cache: Path, **more: Any) -> Program:
    place = {"store": str(folder / "store"), "broker": "broker-a", "name_servers": []}
    return Program(job, "reconcile", place, cache, more={"files_folder": str(folder / "files"), **more})


def found(running: Program, spark: SparkSession, right: dict[str, Any], **more: Any) -> dict[str, int]:
    """Return the classes that a comparison of the topic with this side finds, besides the keys that match."""
    request = {"left": {"topic": "orders"}, "right": right, "by": BY, "compare": COMPARE, **more}
    assert running.run_here(request, spark) == 0, running.log
    tiles = running.read("report.json")["tiles"]
    return {name: number for name, number in tiles.items() if number and not name.startswith(("rows", "matched"))}


def test_a_topic_is_compared_with_parquet(folder: Path, tmp_path: Path, spark: SparkSession, spark_cache: Path) -> None:
    running = program(folder, tmp_path / "job", spark_cache)
    assert found(running, spark, {"kind": "parquet", "path": "orders.parquet", "time": "at"}) == FAULTS
    report = running.read("report.json")
    sample = next(each for each in report["samples"] if each["class"] == "different")
    assert sample["values"]["amount"] == {"left": "500.0", "right": "500.02"}
    assert sample["right"]["place"] == "row 491 of orders.parquet"
    assert sample["left"]["queue_offset"] == 125
    assert report["tiles"]["matched"] == COUNT - 20
    assert sum(report["buckets"]["classes"]["matched"]) == COUNT - 20


def test_a_topic_is_compared_with_csv_and_with_postgresql(
    folder: Path, databases: Path, tmp_path: Path, spark: SparkSession, spark_cache: Path
) -> None:
    running = program(folder, tmp_path / "csv", spark_cache)
    assert found(running, spark, {"kind": "csv", "path": "orders.csv"}) == FAULTS
    running = program(folder, tmp_path / "db", spark_cache, databases_file=str(databases))
    right = {"kind": "postgresql", "connection": "shop", "table": "orders", "time": "at"}
    assert found(running, spark, right) == FAULTS
    assert "hunter2" not in "".join(file.read_text() for file in running.folder.glob("*.js*")) + running.log


def test_a_condition_and_a_range_choose_the_rows_of_both_sides(
    folder: Path, tmp_path: Path, spark: SparkSession, spark_cache: Path
) -> None:
    running = program(folder, tmp_path / "job", spark_cache)
    end = f"2023-11-14T22:13:{20 + 1}.000Z"
    left = {"topic": "orders", "to": end, "where": "json:amount::int < 700"}
    right = {"kind": "parquet", "path": "orders.parquet", "time": "at", "to": end, "where": "amount < 700"}
    assert found(running, spark, right, left=left) == {"missing_right": 10, "different": 7, "missing_left": 1}


@pytest.mark.parametrize(
    ("right", "reason"),
    [
        ({"kind": "parquet", "path": "../store/x"}, "right.path: must be a path below the folder"),
        ({"kind": "postgresql", "connection": "till", "table": "x"}, "right.connection: this server lets jobs read no"),
        ({"kind": "excel", "path": "x"}, "kind='excel': one of topic, group, parquet"),
        ({"kind": "parquet", "path": "orders.parquet", "where": "none > 1"}, "right.where: [UNRESOLVED_COLUMN"),
        ({"kind": "group", "topic": "orders", "group": "g"}, "right.group: offsets are asked from the brokers"),
    ],
)
def test_a_side_that_cannot_be_read_ends_with_2_and_says_why(
    folder: Path, tmp_path: Path, spark: SparkSession, spark_cache: Path, right: dict[str, Any], reason: str
) -> None:
    running = program(folder, tmp_path / "job", spark_cache)
    request = {"left": {"topic": "orders"}, "right": right, "by": BY, "compare": COMPARE}
    assert running.run_here(request, spark) == 2, running.log
    assert running.read("result.json")["reason"].startswith(reason)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"right": {"where": "1 / 0 = 1"}}, "right.where: it cannot be computed for a message: DIVIDE_BY_ZERO"),
        (
            {"by": {"left": "json:id::string", "right": "format_string('%d', id::string)"}},
            "by.right: it cannot be comp",
        ),
        ({"compare": [{"name": "a", "left": "cast(tag as int)", "right": "1"}]}, "compare.a.left: it cannot be comp"),
        ({"compare": [{"name": "a", "left": "nothing", "right": "1"}]}, "compare.a.left: [UNRESOLVED_COLUMN"),
    ],
)
def test_an_expression_that_fails_on_a_value_is_named_by_its_field(
    folder: Path, tmp_path: Path, spark: SparkSession, spark_cache: Path, changed: dict[str, Any], reason: str
) -> None:
    running = program(folder, tmp_path / "job", spark_cache)
    right = {"kind": "parquet", "path": "orders.parquet", **changed.get("right", {})}
    request = {"left": {"topic": "orders"}, "by": BY, "compare": COMPARE, **changed, "right": right}
    assert running.run_here(request, spark) == 2, running.log
    assert running.read("result.json")["reason"].startswith(reason), running.read("result.json")["reason"]


@pytest.mark.parametrize(
    "changed",
    [
        {"right": {"where": "_time > 1"}},
        {"right": {"where": "amunt > 1"}},
        {"by": {"left": "key", "right": "amunt"}},
        {"compare": [{"name": "a", "left": "1", "right": "_note"}]},
    ],
)
def test_only_columns_of_the_user_are_known_and_suggested(
    folder: Path, tmp_path: Path, spark: SparkSession, spark_cache: Path, changed: dict[str, Any]
) -> None:
    running = program(folder, tmp_path / "job", spark_cache)
    right = {"kind": "parquet", "path": "orders.parquet", **changed.get("right", {})}
    request = {"left": {"topic": "orders"}, "by": BY, "compare": COMPARE, **changed, "right": right}
    assert running.run_here(request, spark) == 2, running.log
    hint = running.read("result.json")["reason"].partition("Did you mean")[2]
    assert "`amount`" in hint
    assert not any(f"`{name}`" in hint for name in ("_part", "_offset", "_time", "_error", "_note"))


def test_both_sides_may_be_tables(folder: Path, tmp_path: Path, spark: SparkSession, spark_cache: Path) -> None:
    running = program(folder, tmp_path / "job", spark_cache)
    left = {"kind": "csv", "path": "orders.csv"}
    by, compare = {"left": "id", "right": "id"}, [{"name": "state", "left": "state", "right": "upper(state)"}]
    right = {"kind": "parquet", "path": "orders.parquet"}
    assert found(running, spark, right, left=left, by=by, compare=compare) == {"different": COUNT - 10 + 1}
    classes = Counter(sample["class"] for sample in running.read("samples.json"))
    assert classes == {"different": 100}


def test_what_was_produced_is_compared_with_what_a_group_consumed(
    tmp_path: Path, spark: SparkSession, spark_cache: Path, shared_broker: RunningBroker, session: BlockingSession
) -> None:
    # Given a topic of two queues, one of which the group has read to its end
    make_topic(session, "produced", queues=2)
    fill_topic(session, "produced", orders(20), per_batch=10)
    group = PullConsumer(session.session, "readers")
    queues = sorted(session.run(session.session.routes.refresh("produced")).read_queues, key=lambda each: each.queue_id)
    for queue, offset in zip(queues, (10, 6), strict=True):
        session.run(group.commit(queue, offset))
    first = read_topic(session, "produced")[0]
    # And of four messages that it sent back one is consumed by now, one not, one delayed, and one dead
    for number, (message, level) in enumerate(zip(first, (1, 1, 18, -1), strict=False)):
        assert session.run(group.send_back(message, "broker-a", delay_level=level))
        if level == 1:
            wait_until(partial(_has_retries, session, number + 1))
    retries = session.run(session.session.routes.refresh("%RETRY%readers")).read_queues
    session.run(group.commit(retries[0], 1))
    # When the two are compared
    place = {
        "store": str(shared_broker.data / "broker"), "broker": "broker-a", "name_servers": [shared_broker.name_server]
    }  # fmt: skip
    running = Program(tmp_path / "job", "reconcile", place, spark_cache)
    right = {"kind": "group", "group": "readers", "topic": "produced"}
    assert running.run_here({"left": {"topic": "produced"}, "right": right, "by": "unique_id"}, spark) == 0, running.log
    # Then what was not consumed is missing there, with the reason
    report = running.read("report.json")
    assert (report["tiles"]["matched"], report["tiles"]["missing_right"]) == (13, 7)
    assert report["notes"] == {"waiting": 4, "in retry": 2, "dead": 1}
    assert report["retried"] == 1
    samples = [sample for sample in report["samples"] if sample["left"]["queue_id"] == 0]
    notes = {sample["left"]["queue_offset"]: sample["note"] for sample in samples}
    assert notes == {1: "in retry", 2: "in retry", 3: "dead"}


def _has_retries(session: BlockingSession, count: int) -> bool:
    try:
        return sum(map(len, read_topic(session, "%RETRY%readers").values())) == count
    except TopicNotFound:
        return False
