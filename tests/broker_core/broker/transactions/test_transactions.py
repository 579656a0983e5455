"""A transactional message is seen when its producer commits it: once, over crashes, and never after a rollback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from broker_core.broker.errors import (
    LimitReached,
    MessageIllegal,
    NotTaken,
    TopicUnknown,
    TransactionDecided,
    TransactionUnknown,
)
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.replication.messages import Refusal
from broker_core.broker.transactions import records
from broker_core.broker.transactions.recovery import Found
from broker_core.broker.transactions.table import Decision
from broker_core.protocol.message import LogOffset, Message, QueueOffset
from broker_core.protocol.topics import HALF_TOPIC, OP_HALF_TOPIC
from broker_core.store import Incoming
from broker_core.store.errors import TooFarBehind
from tests.broker_core.broker.transactions.scene import GROUP, TOPIC, Producer, Scene


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(tmp_path)
    yield scene
    scene.store.close()


def test_a_message_is_seen_when_it_is_committed_and_not_before(scene: Scene) -> None:
    half = scene.prepare(b"a", queue_id=1, pairs={"TAGS": "t"})
    assert (scene.arrived(1), len(scene.transactions.table)) == ([], 1)

    scene.commit(half)

    (seen,) = scene.records(TOPIC, 1)
    assert (seen.body, seen.properties["TAGS"], seen.sys_flag & 0xC) == (b"a", "t", 8)
    assert seen.prepared_transaction_offset == half.log_offset
    assert len(scene.transactions.table) == 0


def test_the_records_are_those_of_apache(scene: Scene) -> None:
    first, second = scene.prepare(b"a", queue_id=1), scene.prepare(b"b")
    scene.roll_back(second)
    scene.commit(first)

    halves = scene.records(HALF_TOPIC)
    assert [(half.queue_offset, half.properties["REAL_TOPIC"], half.properties["REAL_QID"]) for half in halves] == [
        (0, TOPIC, "1"),
        (1, TOPIC, "0"),
    ]
    assert {half.sys_flag & 0xC for half in halves} == {0}
    assert [(op.body, op.properties) for op in scene.records(OP_HALF_TOPIC)] == [
        (b"1", {"TAGS": "d", "WAIT": "true"}),
        (b"0", {"TAGS": "d", "WAIT": "true"}),
    ]


def test_a_message_that_was_rolled_back_is_never_seen(scene: Scene) -> None:
    half = scene.prepare(b"a")
    scene.roll_back(half)
    assert scene.roll_back(half) is None
    for _ in range(2):
        with pytest.raises(TransactionDecided, match="was rolled back before"):
            scene.commit(half)
        scene.start()

    assert scene.arrived() == []


def test_a_message_that_is_committed_twice_is_seen_once(scene: Scene) -> None:
    half = scene.prepare(b"a")
    scene.commit(half)
    for _ in range(2):
        assert scene.commit(half) is None
        with pytest.raises(TransactionDecided, match="was committed before"):
            scene.roll_back(half)
        scene.start()

    assert scene.arrived() == [b"a"]


def test_only_its_producer_group_decides_and_only_with_its_places(scene: Scene) -> None:
    half, other = scene.prepare(b"a"), scene.prepare(b"b")
    scene.commit(other)
    (seen,) = scene.records(TOPIC)

    with pytest.raises(TransactionUnknown, match="The producer group wrong"):
        scene.end(half, Decision.COMMITTED, group="strangers")
    with pytest.raises(TransactionUnknown, match="The transaction state table offset wrong"):
        scene.transactions.end(GROUP, other.queue_offset, half.log_offset, Decision.COMMITTED)
    for log_offset in (seen.log_offset, LogOffset(1 << 40), LogOffset(half.log_offset + 1)):
        with pytest.raises(TransactionUnknown, match="Find prepared transaction message failed"):
            scene.transactions.end(GROUP, half.queue_offset, log_offset, Decision.COMMITTED)
    assert scene.arrived() == [b"b"]


def test_a_commit_to_a_topic_that_is_gone_leaves_the_transaction_open(scene: Scene) -> None:
    half = scene.prepare(b"a", topic="gone")
    with pytest.raises(TopicUnknown):
        scene.commit(half)
    assert len(scene.transactions.table) == 1
    assert scene.roll_back(half) is not None


@pytest.mark.parametrize(
    "pairs",
    [{"DELAY": "1"}, {"TIMER_DELAY_MS": "5"}, {"PGROUP": ""}, {"x": "y" * 32_650}],
    ids=lambda pairs: next(iter(pairs)),
)
def test_what_cannot_be_decided_later_is_refused_at_once(scene: Scene, pairs: dict[str, str]) -> None:
    with pytest.raises(MessageIllegal):
        scene.prepare(b"a", pairs=pairs)
    assert scene.records(HALF_TOPIC) == []


def test_there_is_a_limit_to_open_transactions(tmp_path: Path) -> None:
    scene = Scene(tmp_path, limits=BrokerLimits(open_transactions=2))
    half = scene.prepare(b"a")
    scene.prepare(b"b")
    with pytest.raises(LimitReached, match="limit open_transactions=2 reached"):
        scene.prepare(b"c")
    scene.roll_back(half)
    scene.prepare(b"c")
    scene.store.close()


def test_an_account_has_a_quarter_of_them_until_they_end_or_are_given_up(tmp_path: Path) -> None:
    scene = Scene(tmp_path, limits=BrokerLimits(open_transactions=8))
    producer = Producer()
    scene.connect(producer)
    first, second = (scene.prepare(body, account="alice") for body in (b"a", b"b"))
    scene.prepare(b"c", account="bob")
    scene.wait(6_000)  # a check stores what is open once more, for the same account
    with pytest.raises(LimitReached, match="limit open_transactions=8 reached: one account may have 1 / 4 of them"):
        scene.prepare(b"d", account="alice")
    scene.roll_back(first)
    scene.prepare(b"d", account="alice")
    scene.commit(second)
    scene.prepare(b"e", account="alice")
    scene.wait(scene.config.store.retention_ms)
    for body in (b"f", b"g"):
        scene.prepare(body, account="alice")
    scene.store.close()


def test_open_transactions_are_found_again(scene: Scene) -> None:
    halves = [scene.prepare(b"%d" % number) for number in range(6)]
    for number in (0, 1, 4):
        (scene.commit if number % 2 else scene.roll_back)(halves[number])
    scene.checks.save_progress()
    assert (
        scene.offsets.find("CID_RMQ_SYS_TRANS", HALF_TOPIC, 0),
        scene.offsets.find("CID_RMQ_SYS_TRANS", OP_HALF_TOPIC, 0),
    ) == (2, 2)
    scene.commit(halves[2])

    scene.start()

    assert [half.queue_offset for half in scene.transactions.table] == [3, 5]
    for number in (3, 5):
        scene.commit(halves[number])
    scene.checks.save_progress()
    assert (
        scene.offsets.find("CID_RMQ_SYS_TRANS", HALF_TOPIC, 0),
        scene.offsets.find("CID_RMQ_SYS_TRANS", OP_HALF_TOPIC, 0),
    ) == (6, 6)
    assert scene.arrived() == [b"1", b"2", b"3", b"5"]


@pytest.mark.parametrize("puts", range(4))
def test_a_kill_between_the_records_of_a_commit_neither_loses_nor_doubles_it(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, puts: int
) -> None:
    half = scene.prepare(b"a")
    with scene.killed_after(puts, monkeypatch):
        scene.commit(half)
    scene.commit(half)
    scene.start()
    scene.commit(half)

    assert scene.arrived() == [b"a"]
    assert len(scene.transactions.table) == 0


ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["prepare", "commit", "roll back", "wait", "restart"]), st.integers(0, 5), st.integers(0, 4)
    ),
    max_size=30,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(actions=ACTIONS)
def test_whatever_happens_each_committed_message_is_seen_once(
    actions: list[tuple[str, int, int]], tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A third number lets the broker be killed within the action, after so many records."""
    scene = Scene(tmp_path_factory.mktemp("any"))
    scene.connect(Producer())
    halves = []
    wanted: dict[int, str] = {}
    for number, (action, which, puts) in enumerate(actions):
        with scene.killed_after(puts, monkeypatch):
            if action == "prepare":
                halves.append(scene.prepare(b"%d" % number))
            elif action == "wait":
                scene.wait(30_000)
            elif action == "restart":
                scene.checks.save_progress()
                scene.start()
            elif which < len(halves) and wanted.setdefault(which, action) == action:
                (scene.commit if action == "commit" else scene.roll_back)(halves[which])
    for which, action in wanted.items():
        (scene.commit if action == "commit" else scene.roll_back)(halves[which])
    scene.start()

    def body_of(which: int) -> bytes:
        stored = scene.transactions.read(halves[which].log_offset)
        assert stored is not None
        return stored.body

    assert sorted(scene.arrived()) == sorted(body_of(which) for which, action in wanted.items() if action == "commit")
    scene.store.close()


@pytest.mark.parametrize(
    ("done", "committed", "is_open"),
    [((), False, True), ((0,), False, False), ((1,), False, False), ((2,), False, False), ((), True, False)],
)
def test_copies_of_another_broker_are_one_transaction(
    scene: Scene, done: tuple[int, ...], committed: bool, is_open: bool
) -> None:
    """Apache RocketMQ writes no op record for what it copied: one for any of them is about the decision."""
    half = scene.prepare(b"a")
    stored = scene.transactions.read(LogOffset(half.log_offset))
    assert stored is not None
    for checks in ("1", "2"):
        pairs = stored.properties | {"TRANSACTION_CHECK_TIMES": checks}
        scene.store.put(Incoming.of(Message(HALF_TOPIC, b"a", pairs), 0, scene.origin()))
    if committed:  # and the op record was about a copy that is done with
        scene.store.put(Incoming.of(records.committed(stored)[0], 0, scene.origin()))
        scene.store.put(Incoming.of(Message(TOPIC, b"later", {}), 0, scene.origin()))
    for queue_offset in done:
        scene.store.put(Incoming.of(records.op_of(QueueOffset(queue_offset)), 0, scene.origin()))

    scene.start()

    assert len(scene.transactions.table) == is_open
    if is_open:
        scene.commit(half)
        assert scene.arrived() == [b"a"]
    scene.start()
    scene.checks.save_progress()
    assert len(scene.transactions.table) == 0
    assert scene.offsets.find("CID_RMQ_SYS_TRANS", HALF_TOPIC, 0) == 3


@pytest.mark.parametrize("decision", [Decision.COMMITTED, Decision.ROLLED_BACK])
def test_a_decision_that_the_in_sync_set_does_not_let_in_changes_nothing(scene: Scene, decision: Decision) -> None:
    half = scene.prepare(b"a")
    scene.replica.reason = Refusal.SET_TOO_SMALL
    end = scene.store.appended_log_offset

    with pytest.raises(NotTaken):
        scene.end(half, decision)
    assert (scene.store.appended_log_offset, len(scene.transactions.table)) == (end, 1)

    scene.replica.reason = None
    scene.end(half, decision)
    assert scene.arrived() == ([b"a"] if decision is Decision.COMMITTED else [])


def test_a_message_and_its_op_record_have_room_or_neither_is_stored(tmp_path: Path) -> None:
    scene = Scene(tmp_path, max_undispatched=2)
    half = scene.prepare(b"a")
    scene.store.dispatch()
    scene.store.limit_dispatch(scene.store.appended_log_offset)
    scene.prepare(b"b")

    with pytest.raises(TooFarBehind):
        scene.commit(half)

    scene.store.limit_dispatch(None)
    scene.commit(half)
    assert scene.arrived() == [b"a"]
    scene.store.close()


def test_op_records_that_a_take_over_cannot_write_are_written_later(scene: Scene) -> None:
    half = scene.prepare(b"a")
    found = Found(done=[QueueOffset(half.queue_offset)])
    scene.replica.reason = Refusal.NO_LEASE
    scene.transactions.take_up(found)
    assert scene.records(OP_HALF_TOPIC) == []

    scene.replica.reason = None
    scene.wait(1)

    assert [op.body for op in scene.records(OP_HALF_TOPIC)] == [b"0"]
