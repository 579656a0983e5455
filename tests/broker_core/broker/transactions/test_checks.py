"""Producers are asked about transactions that they left open, as often as the settings say, and no answer is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.broker.transactions import checks
from broker_core.protocol.topics import HALF_TOPIC, OP_HALF_TOPIC, TRANSACTION_EXPIRED_TOPIC
from tests.broker_core.broker.transactions.scene import TOPIC, Producer, Scene, with_settings

MINUTE = 60_000
GROUP = "CID_RMQ_SYS_TRANS"


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(tmp_path)
    yield scene
    scene.store.close()


@pytest.fixture
def producer(scene: Scene) -> Producer:
    producer = Producer()
    scene.connect(producer)
    return producer


def bodies(producer: Producer) -> list[bytes]:
    return [question.message.body for question in producer.questions]


def test_a_producer_is_asked_after_six_seconds_and_then_every_minute(scene: Scene, producer: Producer) -> None:
    scene.prepare(b"a", queue_id=1)
    scene.wait(5_999)
    assert producer.questions == []
    scene.wait(1)
    (question,) = producer.questions
    assert (question.message.topic, question.message.queue_id, question.message.body) == (TOPIC, 1, b"a")
    scene.wait(MINUTE - 1)
    assert len(producer.questions) == 1
    scene.wait(1)
    assert [each.message.properties["TRANSACTION_CHECK_TIMES"] for each in producer.questions] == ["1", "2"]


def test_an_answer_to_any_check_decides(scene: Scene, producer: Producer) -> None:
    halves = [scene.prepare(b"%d" % number) for number in range(3)]
    scene.wait(6_000)
    scene.wait(MINUTE)
    # To the first check, to the last one, and by the producer itself after all
    scene.commit(producer.questions[0])
    scene.commit(producer.questions[4])
    scene.commit(halves[2])
    assert scene.arrived() == [b"0", b"1", b"2"]
    for half in halves:
        assert scene.commit(half) is None
    for question in producer.questions:
        assert scene.commit(question) is None

    scene.start()
    scene.wait(10 * MINUTE)

    assert scene.arrived() == [b"0", b"1", b"2"]
    assert len(producer.questions) == 6


def test_a_message_may_be_immune_to_checks_for_longer(scene: Scene, producer: Producer) -> None:
    scene.prepare(b"immune", pairs={"CHECK_IMMUNITY_TIME_IN_SECONDS": "100"})
    scene.prepare(b"odd", pairs={"CHECK_IMMUNITY_TIME_IN_SECONDS": "-1"})
    scene.wait(99_999)
    assert bodies(producer) == [b"odd"]
    scene.wait(1)
    assert bodies(producer) == [b"odd", b"immune"]


def test_a_message_is_not_immune_for_longer_than_the_log_keeps_it(scene: Scene) -> None:
    scene.prepare(b"immune", pairs={"CHECK_IMMUNITY_TIME_IN_SECONDS": "9999999"})
    scene.wait(scene.config.store.retention_ms - 1)
    assert len(scene.transactions.table) == 1
    scene.wait(1)
    assert len(scene.transactions.table) == 0
    assert [stored.body for stored in scene.records(TRANSACTION_EXPIRED_TOPIC)] == [b"immune"]


def test_nothing_is_asked_or_counted_while_no_producer_is_connected(scene: Scene) -> None:
    scene.prepare(b"a")
    for _ in range(30):
        scene.wait(MINUTE)
    assert len(scene.records(HALF_TOPIC)) == 1

    producer = Producer()
    scene.connect(producer)
    scene.wait(1_000)

    assert [each.message.properties["TRANSACTION_CHECK_TIMES"] for each in producer.questions] == ["1"]


def test_members_of_the_group_are_asked_in_turn_but_not_one_that_does_not_read(scene: Scene) -> None:
    producers = [Producer(), Producer(), Producer(has_room=False)]
    for producer in producers:
        scene.connect(producer)
    for number in range(8):
        scene.prepare(b"%d" % number)
    scene.wait(6_000)
    first, second, deaf = (len(producer.questions) for producer in producers)
    assert (first + second, deaf) == (8, 0)
    assert min(first, second) > 0


def test_a_check_waits_for_a_producer_that_reads(scene: Scene) -> None:
    producer = Producer(has_room=False)
    scene.connect(producer)
    scene.prepare(b"a")
    scene.wait(6_000)
    producer.has_room = True
    scene.wait(1_000)
    assert [each.message.properties["TRANSACTION_CHECK_TIMES"] for each in producer.questions] == ["1"]


def test_after_fifteen_checks_a_transaction_is_given_up_and_may_still_be_committed(
    scene: Scene, producer: Producer
) -> None:
    half = scene.prepare(b"a")
    for _ in range(20):
        scene.wait(MINUTE)
    assert len(producer.questions) == 15
    (kept,) = scene.records(TRANSACTION_EXPIRED_TOPIC)
    assert (kept.body, kept.properties["REAL_TOPIC"], kept.properties["TRANSACTION_CHECK_TIMES"]) == (b"a", TOPIC, "15")
    assert len(scene.transactions.table) == 0

    scene.start()
    assert scene.commit(half) is not None
    assert scene.commit(half) is None
    assert scene.arrived() == [b"a"]


def test_what_was_given_up_is_checked_again_when_its_operator_wants_that(scene: Scene, producer: Producer) -> None:
    scene.prepare(b"a")
    for _ in range(20):
        scene.wait(MINUTE)
    (kept,) = scene.records(TRANSACTION_EXPIRED_TOPIC)
    scene.transactions.resume(kept.log_offset)
    producer.questions.clear()
    scene.wait(MINUTE)

    assert [each.message.properties["TRANSACTION_CHECK_TIMES"] for each in producer.questions] == ["1"]
    scene.commit(producer.questions[0])
    assert scene.arrived() == [b"a"]


def test_a_transaction_that_is_older_than_the_log_keeps_is_given_up(scene: Scene) -> None:
    scene.prepare(b"a")
    scene.wait(scene.config.store.retention_ms - 1)
    assert scene.records(TRANSACTION_EXPIRED_TOPIC) == []
    scene.wait(1)
    assert len(scene.records(TRANSACTION_EXPIRED_TOPIC)) == 1


def test_the_settings_say_when(tmp_path: Path) -> None:
    settings = with_settings(timeout_ms=100, interval_ms=200, max_checks=2)
    scene = Scene(tmp_path, transactions_settings=settings)
    producer = Producer()
    scene.connect(producer)
    scene.prepare(b"a")
    asked = []
    for _ in range(6):
        scene.wait(100)
        asked.append(len(producer.questions))
    assert asked == [1, 1, 2, 2, 2, 2]
    assert len(scene.records(TRANSACTION_EXPIRED_TOPIC)) == 1
    scene.store.close()


def test_a_change_of_the_settings_moves_the_checks_that_are_planned(scene: Scene, producer: Producer) -> None:
    scene.prepare(b"a")
    scene.wait(6_000)
    scene.settings.update({"transactionCheckInterval": "2000"}, now=scene.now)
    scene.wait(2_000)
    assert len(producer.questions) == 2
    scene.settings.update({"transactionCheckInterval": "10000"}, now=scene.now)
    scene.wait(9_999)
    assert len(producer.questions) == 2
    scene.wait(1)
    assert len(producer.questions) == 3
    scene.prepare(b"b")
    scene.settings.update({"transactionTimeOut": "20000"}, now=scene.now)
    scene.wait(9_999)
    assert bodies(producer) == [b"a"] * 3
    scene.wait(10_001)
    assert bodies(producer) == [b"a"] * 4 + [b"b"]


def test_what_waits_for_a_producer_waits_on_when_the_settings_change(scene: Scene) -> None:
    scene.prepare(b"a")
    scene.wait(6_000)
    scene.settings.update({"transactionCheckInterval": "2000"}, now=scene.now)
    scene.wait(6_000)
    assert len(scene.records(HALF_TOPIC)) == 1
    producer = Producer()
    scene.connect(producer)
    scene.wait(1)
    assert bodies(producer) == [b"a"]


def test_a_restart_goes_on_with_the_checks(scene: Scene, producer: Producer) -> None:
    scene.prepare(b"a")
    scene.wait(6_000)
    scene.checks.save_progress()
    scene.start()
    scene.wait(MINUTE - 1)
    assert len(producer.questions) == 1
    scene.wait(1)
    assert [each.message.properties["TRANSACTION_CHECK_TIMES"] for each in producer.questions] == ["1", "2"]


def test_progress_moves_on_although_one_transaction_stays_open(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "PENDING_OPS", 20)
    oldest = scene.prepare(b"oldest")
    for number in range(50):
        scene.roll_back(scene.prepare(b"%d" % number))
    scene.wait(1_000)

    assert (scene.offsets.find(GROUP, HALF_TOPIC, 0), scene.offsets.find(GROUP, OP_HALF_TOPIC, 0)) == (51, 51)
    scene.start()
    assert len(scene.transactions.table) == 1
    scene.commit(oldest)
    assert scene.arrived() == [b"oldest"]
