"""The unmodified Java client and tools 5.3.3 against Gantry: consuming by lease, and what `mqadmin` 5.x asks for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compat.driver import Behaviour, Driver, PushConsumer, started_driver
from tests.compat.java_build import CLIENT5
from tests.compat.sending import numbers_of, send_numbers
from tests.compat.servers import started
from tests.support.cluster import RunningBroker
from tests.support.wait import wait_until

pytestmark = pytest.mark.compat


@pytest.fixture(scope="module")
def gantry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    with started("gantry", tmp_path_factory.mktemp("gantry"), {}) as running:
        assert isinstance(running, RunningBroker)
        yield running


@pytest.fixture(scope="module")
def jvm(_java_build: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    CLIENT5.build()
    with started_driver(tmp_path_factory.mktemp("driver5"), project=CLIENT5) as driver:
        yield driver


@pytest.fixture
def driver5(jvm: Driver) -> Iterator[Driver]:
    yield jvm
    jvm.shutdown_clients()


def popping(
    driver: Driver, gantry: RunningBroker, topic: str, group: str, behaviour: Behaviour | None = None
) -> PushConsumer:
    """Start a push consumer whose queues the broker shares out, of a group that is to pop."""
    driver.mqadmin("updateSubGroup", "-n", gantry.name_server, "-b", gantry.address, "-g", group)
    driver.mqadmin(
        "setConsumeMode",
        "-n",
        gantry.name_server,
        "-b",
        gantry.address,
        "-t",
        topic,
        "-g",
        group,
        "-m",
        "POP",
        "-q",
        "8",
    )
    return driver.push_consumer(gantry.name_server, group, {topic: "*"}, behaviour=behaviour, clientRebalance=False)


def lag_of(driver: Driver, gantry: RunningBroker, group: str) -> int:
    text = driver.mqadmin("consumerProgress", "-n", gantry.name_server, "-g", group)
    return int(text.rpartition("Consume Diff Total:")[2].split()[0])


def test_a_push_consumer_in_pop_mode_gets_each_message_once(driver5: Driver, gantry: RunningBroker) -> None:
    producer = driver5.producer(gantry.name_server)
    send_numbers(producer, "popped", range(40))

    members = [popping(driver5, gantry, "popped", "popping") for _ in range(2)]

    wait_until(lambda: sum(len(member.received) for member in members) >= 40)
    wait_until(lambda: lag_of(driver5, gantry, "popping") == 0)
    assert sorted(number for member in members for number in numbers_of(member.received)) == list(range(40))


def test_a_message_that_fails_in_pop_mode_comes_again(driver5: Driver, gantry: RunningBroker) -> None:
    producer = driver5.producer(gantry.name_server)
    send_numbers(producer, "failing", [1])
    consumer = popping(driver5, gantry, "failing", "failing-group", Behaviour("later", times=1))

    wait_until(lambda: len(consumer.received) >= 2)

    assert [message.reconsume_times for message in consumer.received] == [0, 1]


def test_the_tools_read_topics_groups_and_figures(driver5: Driver, gantry: RunningBroker, tmp_path: Path) -> None:
    send_numbers(driver5.producer(gantry.name_server), "looked-at", range(5))

    status = driver5.mqadmin("topicStatus", "-n", gantry.name_server, "-t", "looked-at")
    exported = driver5.mqadmin("exportMetrics", "-n", gantry.name_server, "-c", "test", "-f", str(tmp_path))

    assert "Topic Put TPS" in status
    assert "success" in exported
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert metrics["evaluateReport"]["broker-a"]["runtimeQuota"]["tps"]["normalOutTps"] >= 0


def test_one_queue_of_a_group_goes_back_alone(driver5: Driver, gantry: RunningBroker) -> None:
    where = ("-n", gantry.name_server, "-b", gantry.address)
    driver5.mqadmin("updateTopic", *where, "-t", "rewound", "-r", "4", "-w", "4")
    send_numbers(driver5.producer(gantry.name_server), "rewound", range(20))
    consumer = driver5.push_consumer(gantry.name_server, "rewinding", {"rewound": "*"})
    wait_until(lambda: len(consumer.received) == 20)
    wait_until(lambda: lag_of(driver5, gantry, "rewinding") == 0)
    consumer.shutdown()

    driver5.mqadmin("resetOffsetByTime", *where, "-g", "rewinding", "-t", "rewound", "-q", "0", "-o", "2", "-s", "now")

    in_queue = [message for message in consumer.received if message.queue.id == 0]
    assert lag_of(driver5, gantry, "rewinding") == len(in_queue) - 2
