"""A transaction that was given up has one decision, by whichever of its records it is asked about, over any stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from broker_core.broker.errors import TransactionDecided
from broker_core.broker.transactions.table import Decision
from broker_core.protocol.half_records import PROGRESS_GROUP
from broker_core.protocol.message import LogOffset, Message, StoredMessage
from broker_core.protocol.topics import HALF_TOPIC, OP_HALF_TOPIC, TRANSACTION_EXPIRED_TOPIC
from broker_core.store import Incoming
from tests.broker_core.broker.transactions.scene import GROUP, TOPIC, Producer, Scene, with_settings

COMMIT, ROLLBACK = Decision.COMMITTED, Decision.ROLLED_BACK
Stop = Callable[[Scene], None]


def goes_on(_: Scene) -> None:
    """Nothing happens to the broker."""


def is_killed(scene: Scene) -> None:
    """The broker reads both topics from their beginnings."""
    scene.start()


def is_restarted(scene: Scene) -> None:
    """The broker reads neither topic again, so that it remembers nothing."""
    scene.checks.save_progress()
    scene.start()


EVERY_STOP = pytest.mark.parametrize("stop", [goes_on, is_killed, is_restarted])


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(tmp_path, transactions_settings=with_settings(max_checks=3))
    scene.connect(Producer())
    yield scene
    scene.store.close()


def given_up(scene: Scene) -> StoredMessage:
    """Prepare a message about which the broker stops to ask; return how it is kept."""
    scene.prepare(b"a")
    while len(scene.transactions.table):
        scene.wait(60_000)
    return scene.records(TRANSACTION_EXPIRED_TOPIC)[-1]


def revived(scene: Scene) -> StoredMessage:
    """Return the newest half record of a message that was given up, and then checked again."""
    scene.transactions.resume(given_up(scene).log_offset)
    return scene.records(HALF_TOPIC)[-1]


def end(scene: Scene, half: StoredMessage, decision: Decision) -> int | None:
    return scene.transactions.end(GROUP, half.queue_offset, half.log_offset, decision)


@EVERY_STOP
@pytest.mark.parametrize("decision", [COMMIT, ROLLBACK])
def test_a_revived_transaction_ends_once_whichever_record_is_named(
    scene: Scene, decision: Decision, stop: Stop
) -> None:
    newest = revived(scene)
    stop(scene)
    end(scene, newest, decision)
    other = ROLLBACK if decision is COMMIT else COMMIT
    for half in scene.records(HALF_TOPIC):
        stop(scene)
        assert end(scene, half, decision) is None
        with pytest.raises(TransactionDecided, match=f"was {decision} before"):
            end(scene, half, other)
    assert scene.arrived() == [b"a"] * (decision is COMMIT)


@EVERY_STOP
@pytest.mark.parametrize("decision", [COMMIT, ROLLBACK])
def test_the_first_record_ends_what_was_revived_for_all_of_them(scene: Scene, decision: Decision, stop: Stop) -> None:
    revived(scene)
    first, *_, newest = scene.records(HALF_TOPIC)
    stop(scene)
    end(scene, first, decision)
    stop(scene)
    assert end(scene, newest, decision) is None
    assert len(scene.transactions.table) == 0
    assert scene.arrived() == [b"a"] * (decision is COMMIT)


@EVERY_STOP
@pytest.mark.parametrize("decision", [COMMIT, ROLLBACK])
def test_what_was_revived_and_ended_is_not_checked_again(scene: Scene, decision: Decision, stop: Stop) -> None:
    end(scene, revived(scene), decision)
    stop(scene)
    for kept in (*scene.records(HALF_TOPIC), *scene.records(TRANSACTION_EXPIRED_TOPIC)):
        with pytest.raises(TransactionDecided, match=f"was {decision} before"):
            scene.transactions.resume(kept.log_offset)
    assert len(scene.transactions.table) == 0


@EVERY_STOP
def test_what_was_given_up_and_rolled_back_is_never_seen_or_checked_again(scene: Scene, stop: Stop) -> None:
    kept = given_up(scene)
    halves = scene.records(HALF_TOPIC)
    assert end(scene, halves[0], ROLLBACK) is not None
    for half in halves:
        stop(scene)
        assert end(scene, half, ROLLBACK) is None
        with pytest.raises(TransactionDecided, match="was rolled back before"):
            end(scene, half, COMMIT)
        for record in (half, kept):
            with pytest.raises(TransactionDecided, match="was rolled back before"):
                scene.transactions.resume(record.log_offset)
    assert len(scene.transactions.table) == 0
    assert scene.arrived() == []


def test_a_rollback_of_what_was_given_up_does_not_hold_back_the_progress(scene: Scene) -> None:
    given_up(scene)
    end(scene, scene.records(HALF_TOPIC)[0], ROLLBACK)
    scene.checks.save_progress()
    ends = [len(scene.records(topic)) for topic in (HALF_TOPIC, OP_HALF_TOPIC)]
    assert ends == [4, 5]
    assert [scene.offsets.find(PROGRESS_GROUP, topic, 0) for topic in (HALF_TOPIC, OP_HALF_TOPIC)] == ends


@EVERY_STOP
def test_what_was_revived_and_given_up_again_can_be_committed_once(scene: Scene, stop: Stop) -> None:
    revived(scene)
    scene.wait(10_000)
    while len(scene.transactions.table):
        scene.wait(60_000)
    stop(scene)
    for half in scene.records(HALF_TOPIC):
        end(scene, half, COMMIT)
        stop(scene)
    assert scene.arrived() == [b"a"]


@EVERY_STOP
def test_what_is_checked_again_twice_stays_one_transaction(scene: Scene, stop: Stop) -> None:
    kept = given_up(scene)
    for _ in range(2):
        scene.transactions.resume(kept.log_offset)
        stop(scene)
    assert len(scene.transactions.table) == 1
    end(scene, scene.records(HALF_TOPIC)[0], COMMIT)
    assert len(scene.transactions.table) == 0
    assert scene.arrived() == [b"a"]


@pytest.mark.parametrize("decision", [COMMIT, ROLLBACK])
@pytest.mark.parametrize("puts", range(4))
def test_a_kill_within_the_end_of_a_revived_transaction_changes_nothing(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, puts: int, decision: Decision
) -> None:
    newest = revived(scene)
    first = scene.records(HALF_TOPIC)[0]
    with scene.killed_after(puts, monkeypatch):
        end(scene, newest, decision)
    for half in (first, newest):
        end(scene, half, decision)
        is_killed(scene)
    assert scene.arrived() == [b"a"] * (decision is COMMIT)


def test_a_kill_while_a_transaction_is_given_up_does_not_open_it_again(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = scene.prepare(b"a")
    while not scene.records(TRANSACTION_EXPIRED_TOPIC):
        # The copy and its op record of a check fit, and of what is given up only the message does
        with scene.killed_after(1 if len(scene.records(HALF_TOPIC)) == 4 else 2, monkeypatch):
            scene.wait(60_000)
    assert len(scene.transactions.table) == 0
    assert len(scene.records(OP_HALF_TOPIC)) == len(scene.records(HALF_TOPIC))
    scene.commit(half)
    assert scene.arrived() == [b"a"]


def test_what_is_older_than_the_log_keeps_is_asked_again_when_its_operator_wants_that(scene: Scene) -> None:
    scene.wait(0)
    half = scene.prepare(b"a")
    producer = Producer()
    scene.clients = type(scene.clients)()
    scene.start()
    scene.wait(scene.config.store.retention_ms)
    (kept,) = scene.records(TRANSACTION_EXPIRED_TOPIC)

    scene.transactions.resume(kept.log_offset)
    scene.connect(producer)
    scene.wait(6_000)

    assert [each.message.properties["TRANSACTION_CHECK_TIMES"] for each in producer.questions] == ["1"]
    (again,) = scene.transactions.table
    assert (again.began_at, again.since) == (
        half.store_timestamp,
        half.store_timestamp + scene.config.store.retention_ms,
    )
    is_restarted(scene)
    scene.wait(scene.config.store.retention_ms)
    assert len(scene.records(TRANSACTION_EXPIRED_TOPIC)) == 2


def test_a_producer_cannot_name_the_transaction_of_another(scene: Scene) -> None:
    scene.prepare(b"mine")
    forged = {"TRAN_FIRST_QUEUE_OFFSET": "0", "TRAN_FIRST_STORE_MS": "1", "TRAN_COPY_CHECKS": "0"}
    forged |= {"TRAN_CHECKED_SINCE_MS": "1", "TRAN_CHECKS_BEFORE": "9", "TRANSACTION_CHECK_TIMES": "0"}
    other = scene.prepare(b"other", pairs=forged)
    scene.start()
    assert [half.checks_before for half in scene.transactions.table] == [0, 0]
    scene.commit(other)
    assert scene.arrived() == [b"other"]
    assert [half.queue_offset for half in scene.transactions.table] == [0]


def test_what_apache_rocketmq_gave_up_is_revived_with_its_first_record(scene: Scene) -> None:
    half = scene.prepare(b"a")
    stored = scene.transactions.read(LogOffset(half.log_offset))
    assert stored is not None
    pairs = stored.properties | {"TRANSACTION_CHECK_TIMES": "15"}
    for topic in (HALF_TOPIC, TRANSACTION_EXPIRED_TOPIC):
        scene.store.put(Incoming.of(Message(topic, b"a", pairs), 0, scene.origin()))
    scene.start()
    assert len(scene.transactions.table) == 0

    (kept,) = scene.records(TRANSACTION_EXPIRED_TOPIC)
    scene.transactions.resume(kept.log_offset)
    (again,) = scene.transactions.table
    assert (again.first, again.began_at, again.checks_before) == (0, stored.store_timestamp, 15)
    scene.commit(half)
    assert scene.records(TOPIC)[0].body == b"a"
    assert len(scene.transactions.table) == 0
