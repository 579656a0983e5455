"""The programs on a Spark cluster whose worker shares only the network with the driver."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from broker_core.client.blocking import BlockingSession
from tests.support.cluster import RunningBroker
from tests.support.programs import Program
from tests.support.replays import fill_topic, make_topic, read_topic
from tests.support.spark_cluster import connect_server, executor_settings, spark_cluster
from tests.support.topics import order, orders
from tests.support.wait import wait_until

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]
PATIENCE = 240.0


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory, spark_cache: Path) -> Iterator[str]:
    """A master with a worker."""
    with spark_cluster(tmp_path_factory.mktemp("cluster"), spark_cache) as address:
        yield address


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, spark_cache: Path) -> Iterator[str]:
    """A Spark Connect server of the same PySpark."""
    with connect_server(tmp_path_factory.mktemp("connect"), spark_cache) as address:
        yield address


@pytest.mark.parametrize("where", ["master", "server"])
def test_a_replay_and_a_reconciliation_run_on_a_cluster(
    tmp_path: Path,
    spark_cache: Path,
    where: str,
    shared_broker: RunningBroker,
    session: BlockingSession,
    request: pytest.FixtureRequest,
) -> None:
    # Given a topic, and the programs on a cluster that cannot see the store
    master = request.getfixturevalue(where)
    orders_of, copy = f"orders-{where}", f"copy-{where}"
    make_topic(session, orders_of)
    make_topic(session, copy)
    fill_topic(session, orders_of, orders(1000))
    place = {
        "store": str(shared_broker.data / "broker"),
        "broker": "broker-a",
        "name_servers": [shared_broker.name_server],
    }
    # When it is replayed
    conf_file = str(executor_settings(tmp_path))
    more = {"spark": {"master": master, "cache": str(spark_cache), "conf_file": conf_file}}
    replay = Program(tmp_path / "replay", "replay", place, spark_cache, more=more)
    asked: dict[str, Any] = {"source": {"topic": orders_of}, "target": {"topic": copy}}
    assert replay.run(asked) == 0, replay.log
    # Then every message is copied, and was counted in the meantime
    copies = [message.body for messages in read_topic(session, copy).values() for message in messages]
    assert sorted(copies) == sorted(message.body for message in orders(1000))
    assert replay.progress()["written"] == 1000
    # When the two are compared, with one more on the right
    fill_topic(session, copy, [order(5000)])
    reconcile = Program(tmp_path / "reconcile", "reconcile", place, spark_cache, more=more)
    sides: dict[str, Any] = {"left": {"topic": orders_of}, "right": {"topic": copy}, "by": "body"}
    assert reconcile.run(sides) == 0, reconcile.log
    # Then that message is found
    report = reconcile.read("report.json")
    assert (report["tiles"]["matched"], report["tiles"]["missing_left"]) == (1000, 1)
    assert [sample["class"] for sample in report["samples"]] == ["missing_left"]
    assert (reconcile.folder / "differences.csv").read_text().count("missing_left") == 1


def test_a_replay_on_a_server_that_is_cancelled_has_counted_what_it_wrote(
    tmp_path: Path, spark_cache: Path, server: str, shared_broker: RunningBroker, session: BlockingSession
) -> None:
    make_topic(session, "slow")
    make_topic(session, "slow-copy")
    fill_topic(session, "slow", orders(1000))
    place = {"store": None, "broker": "broker-a", "name_servers": [shared_broker.name_server]}
    replay = Program(tmp_path / "job", "replay", place, spark_cache, master=server)
    limits = {"messages_per_second": 50}
    child = replay.start({"source": {"topic": "slow"}, "target": {"topic": "slow-copy"}, "limits": limits})
    wait_until(lambda: replay.progress().get("written", 0) > 0 or child.poll(), within=PATIENCE)
    child.terminate()
    assert child.wait(60) == 130, replay.log
    written = replay.progress()["written"]
    assert 0 < written == sum(map(len, read_topic(session, "slow-copy").values())) < 1000


def test_a_master_that_cannot_run_the_programs_is_refused_in_words(tmp_path: Path, spark_cache: Path) -> None:
    place = {"store": None, "broker": "broker-a", "name_servers": ["127.0.0.1:1"]}
    program = Program(tmp_path / "job", "replay", place, spark_cache, master="mesos://127.0.0.1:5050")
    assert program.run({"source": {"topic": "orders"}, "target": {"topic": "copy"}}) == 2
    assert "cannot run these programs; name local[N], spark://" in program.read("result.json")["error"]
