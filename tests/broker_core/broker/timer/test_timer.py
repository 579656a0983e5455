"""Messages come at their time: once, in order, over crashes, and not after they were recalled."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.broker.errors import AlreadyDelivered, DiskFull, LimitReached, NothingFound, NotTaken, Unconfirmed
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.replication.messages import Refusal
from broker_core.broker.replication.standing import Standing
from broker_core.broker.timer.following import Follower
from broker_core.broker.timer.index import TimerIndex
from broker_core.broker.timer.reads import TimerReads
from broker_core.store.errors import StoreFull
from tests.broker_core.broker.timer.scene import START, Scene
from tests.support.standing import Cut

DAY = 24 * 3_600_000


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(tmp_path)
    yield scene
    scene.timer.close()
    scene.store.close()


@pytest.mark.parametrize("due_in", [1_234, 3 * DAY])
def test_a_message_comes_at_its_time_and_not_before(scene: Scene, due_in: int) -> None:
    scene.park(b"a", due_in=due_in)

    scene.wait(due_in - 1)
    assert scene.arrived() == []
    scene.wait(1)
    assert scene.arrived() == [b"a"]
    scene.wait(DAY)
    assert scene.arrived() == [b"a"]
    assert len(scene.timer) == 0


def test_messages_come_by_time_and_at_equal_times_as_they_were_sent(scene: Scene) -> None:
    for body, due_in in ((b"late", 500), (b"1", 100), (b"2", 100), (b"3", 100), (b"first", 50)):
        scene.park(body, due_in=due_in)
    scene.wait(1_000)

    assert scene.arrived() == [b"first", b"1", b"2", b"3", b"late"]


def test_a_message_whose_topic_is_gone_is_dropped_and_is_not_counted_as_delivered(scene: Scene) -> None:
    for topic in ("orders", "gone", "gone"):
        scene.park(b"a", due_in=100, topic=topic)
    scene.gone = frozenset({"gone"})
    scene.wait(5_000)

    assert (scene.arrived(), len(scene.timer)) == ([b"a"], 0)
    with ThreadPoolExecutor(1) as executor:
        reads = TimerReads(scene.timer.index.path, executor)
        day = asyncio.run(reads.summary(START, START + 60_000, 60_000, scene.now)).last_day
    assert (day.delivered, day.late, day.recalled) == (1, 1, 0)


def test_what_is_due_and_not_delivered_yet_is_late(scene: Scene) -> None:
    scene.park(b"a", due_in=100)
    scene.wait(1)
    scene.now += 3_099
    assert (scene.timer.late_seconds(), scene.timer.unread()) == (3, 0)

    scene.wait(0)
    assert (scene.timer.late_seconds(), scene.arrived()) == (0, [b"a"])


def test_a_burst_is_delivered_as_a_whole(scene: Scene) -> None:
    for number in range(500):
        scene.park(b"%d" % number, due_in=100)
    scene.wait(100)

    assert scene.arrived() == [b"%d" % number for number in range(500)]


def test_a_recalled_message_never_comes_and_recalling_twice_is_no_failure(scene: Scene) -> None:
    scene.park(b"a", due_in=1_000)
    assert scene.timer.recall("orders", "ID-a") is not None
    assert scene.timer.recall("orders", "ID-a") is None
    scene.lose_index()
    assert scene.timer.recall("orders", "ID-a") is None
    scene.wait(DAY)

    assert scene.arrived() == []


def test_what_was_delivered_or_never_sent_cannot_be_recalled_or_rescheduled(scene: Scene) -> None:
    scene.park(b"a", due_in=1_000)
    scene.wait(1_000)

    for late in (scene.timer.recall, lambda topic, unique_id: scene.timer.reschedule(topic, unique_id, scene.now)):
        with pytest.raises(AlreadyDelivered):
            late("orders", "ID-a")
        with pytest.raises(NothingFound):
            late("orders", "ID-b")
        with pytest.raises(NothingFound):
            late("another", "ID-a")


def test_a_rescheduled_message_comes_at_its_new_time_only(scene: Scene) -> None:
    scene.park(b"later", due_in=1_000)
    scene.park(b"sooner", due_in=9_000)
    scene.timer.reschedule("orders", "ID-later", START + 5_000)
    scene.timer.reschedule("orders", "ID-sooner", START + 2_000)

    scene.wait(1_000)
    assert scene.arrived() == []
    scene.lose_index()
    scene.wait(1_000)
    assert scene.arrived() == [b"sooner"]
    scene.wait(DAY)
    assert scene.arrived() == [b"sooner", b"later"]


def test_a_clock_that_steps_moves_nothing_but_the_moment(scene: Scene) -> None:
    scene.park(b"a", due_in=1_000)
    scene.wait(-DAY)
    assert scene.arrived() == []
    scene.park(b"b", due_in=10)
    scene.wait(10)
    assert scene.arrived() == [b"b"]
    scene.wait(2 * DAY)
    scene.wait(-DAY)
    assert scene.arrived() == [b"b", b"a"]


@pytest.mark.parametrize("restart", ["crash", "lose_index"])
def test_what_was_delivered_before_a_crash_is_not_delivered_again(
    scene: Scene, restart: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for body in (b"a", b"b"):
        scene.park(body, due_in=100)
    scene.park(b"c", due_in=DAY)
    monkeypatch.setattr(scene.timer.index, "remove", _killed)
    with pytest.raises(KeyboardInterrupt):
        scene.wait(100)
    assert scene.arrived() == [b"a", b"b"]

    getattr(scene, restart)()
    scene.wait(DAY)

    assert scene.arrived() == [b"a", b"b", b"c"]


def _killed(_: object) -> int:
    raise KeyboardInterrupt


def test_an_index_that_cannot_be_written_delivers_nothing_twice(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.park(b"a", due_in=100)
    scene.wait(0)
    with monkeypatch.context() as patched:
        patched.setattr(scene.timer.index, "remove", _no_room)
        for _ in range(3):
            scene.wait(100)
    scene.wait(100)

    assert scene.arrived() == [b"a"]
    assert len(scene.timer) == 0


def _no_room(_: object) -> int:
    raise sqlite3.OperationalError("database or disk is full")


@pytest.mark.parametrize("failure", [StoreFull(Path(), 100), DiskFull(), NotTaken(), Unconfirmed()])
def test_what_cannot_be_stored_now_is_delivered_later(scene: Scene, failure: Exception) -> None:
    scene.park(b"a", due_in=100)
    scene.failure = failure
    scene.wait(100)
    scene.failure = None
    scene.wait(100)

    assert scene.arrived() == [b"a"]


def test_what_waits_for_the_store_is_told_once_for_each_reason(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    scene.park(b"a", due_in=100)
    scene.park(b"b", due_in=1_000)
    for failure in (NotTaken("too few"), NotTaken("too few"), DiskFull(), None, DiskFull()):
        scene.failure = failure
        scene.wait(500)
    told = [each.getMessage() for each in caplog.records if "cannot be delivered yet" in each.getMessage()]
    assert [str(NotTaken("too few")) in each for each in told] == [True, False]
    assert scene.arrived() == [b"a", b"b"]


def test_a_log_that_lost_its_end_is_followed_anew(scene: Scene) -> None:
    scene.park(b"a", due_in=100)
    scene.timer.tidy(scene.now)
    scene.timer.index.commit(scene.store.appended_log_offset + 1)

    scene.crash()
    scene.wait(100)

    assert scene.arrived() == [b"a"]


def test_a_damaged_index_is_built_anew(scene: Scene, tmp_path: Path) -> None:
    scene.park(b"a", due_in=100)
    scene.timer.close()
    for path in tmp_path.glob("pending.db*"):
        path.write_bytes(b"no database" * 1_000)
    scene.start()
    scene.wait(100)

    assert scene.arrived() == [b"a"]


def test_retention_keeps_what_waits_and_moves_it_on(scene: Scene) -> None:
    scene.park(b"waits", due_in=10 * DAY)
    for number in range(400):
        scene.park(b"%d" % number + b"x" * 400, due_in=1, topic="other")
    scene.wait(1)
    begin = scene.store.begin_log_offset
    later = 1 << 42  # the age of a segment is that of its file
    assert scene.store.drop_expired(later).segments == 0

    assert scene.timer.roll(later) == 1
    assert scene.store.drop_expired(later).segments > 0
    assert scene.store.begin_log_offset > begin
    scene.lose_index()
    assert scene.arrived() == []
    scene.wait(10 * DAY)

    assert scene.arrived() == [b"waits"]


def test_the_limit_of_waiting_messages_is_named(tmp_path: Path) -> None:
    scene = Scene(tmp_path, limits=BrokerLimits(timer_messages=1))
    scene.park(b"a", due_in=100)
    scene.wait(0)
    with pytest.raises(LimitReached, match="timer_messages=1"):
        scene.park(b"b", due_in=100)
    scene.store.close()


NUMBERS = st.integers(0, 9)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("park"), st.integers(1, 50), NUMBERS),
        st.tuples(st.just("wait"), st.integers(-20, 60), NUMBERS),
        st.tuples(st.sampled_from(["recall", "reschedule"]), st.integers(1, 50), NUMBERS),
        st.tuples(st.sampled_from(["crash", "lose_index"]), st.just(0), NUMBERS),
    ),
    max_size=16,
)


@settings(max_examples=12, deadline=None)
@given(steps=STEPS)
def test_whatever_happens_each_message_comes_once_or_was_recalled(
    steps: list[tuple[str, int, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    scene = Scene(tmp_path_factory.mktemp("timer"))
    due: dict[bytes, int] = {}
    expected: set[bytes] = set()
    sent = 0
    for what, ms, number in steps:
        body = b"%d" % number
        if what == "park":
            due[b"%d" % sent] = scene.now + ms
            scene.park(b"%d" % sent, due_in=ms)
            sent += 1
        elif what == "wait":
            scene.wait(ms)
            expected |= {body for body, at in due.items() if at <= scene.now}
            due = {body: at for body, at in due.items() if body not in expected}
        elif what == "recall" and body in due:
            scene.timer.recall("orders", f"ID-{number}")
            del due[body]
        elif what == "reschedule" and body in due:
            due[body] = scene.now + ms
            scene.timer.reschedule("orders", f"ID-{number}", due[body])
        elif what in {"crash", "lose_index"}:
            getattr(scene, what)()
        arrived = scene.arrived()
        assert len(arrived) == len(set(arrived))
        assert set(arrived) == expected
    scene.timer.close()
    scene.store.close()


def test_while_the_in_sync_set_takes_nothing_the_timer_rests_and_loses_nothing(scene: Scene) -> None:
    scene.park(b"a", due_in=100)
    scene.wait(100)
    scene.park(b"b", due_in=100)
    scene.replica.reason = Refusal.SET_TOO_SMALL
    scene.wait(100)
    scene.wait(70_000)  # the note of what was delivered is due too
    with pytest.raises(NotTaken):
        scene.timer.recall("orders", "ID-b")

    scene.replica.reason = None
    scene.wait(1)

    assert scene.arrived() == [b"a", b"b"]


@pytest.mark.parametrize("takes_over", [False, True])
def test_what_is_confirmed_after_its_time_is_delivered_though_a_mark_lies_behind_it(
    scene: Scene, takes_over: bool
) -> None:
    scene.park(b"a", due_in=100)
    scene.park(b"late", due_in=70_000)
    scene.park(b"far", due_in=DAY)
    scene.wait(100)  # noted at once; the next delivery is noted when a minute has passed
    # The in-sync set confirms nothing for that minute, in which "b" becomes due
    scene.hold()
    scene.park(b"b", due_in=100)
    scene.wait(70_000)
    assert scene.arrived() == [b"a"]

    scene.confirm()
    if takes_over:
        scene.lose_index()
    scene.wait(1)

    assert scene.arrived() == [b"a", b"late", b"b"]


def test_what_is_recalled_or_moved_is_not_delivered_before_that_is_confirmed(scene: Scene) -> None:
    for body in (b"recalled", b"moved", b"other"):
        scene.park(body, due_in=100)
    scene.wait(1)
    scene.store.limit_dispatch(scene.store.appended_log_offset)
    scene.timer.recall("orders", "ID-recalled")
    scene.timer.reschedule("orders", "ID-moved", START + 5_000)
    scene.wait(200)

    scene.store.limit_dispatch(None)
    scene.wait(1)
    assert scene.arrived() == [b"other"]
    scene.wait(10_000)
    assert scene.arrived() == [b"other", b"moved"]


def test_what_was_delivered_in_a_part_of_the_log_that_was_cut_is_delivered_again(scene: Scene) -> None:
    scene.park(b"a", due_in=100)
    before = scene.store.appended_log_offset
    scene.wait(100)
    assert scene.arrived() == [b"a"]
    scene.store.cut(before)
    # The log of the next master went on further than this index ever knew.
    for _ in range(10):
        scene.park(b"later", due_in=1_000_000)

    scene.standing = Standing(Cut(before))
    scene.crash()
    scene.wait(1)

    assert scene.arrived() == [b"a"]


@pytest.mark.parametrize(("epoch", "delivered", "is_whole"), [(1, 2, True), (2, 1, False)])
def test_figures_begin_anew_where_another_broker_was_the_master_in_between(
    scene: Scene, epoch: int, delivered: int, is_whole: bool
) -> None:
    scene.park(b"a", due_in=100)
    scene.wait(100)
    scene.park(b"b", due_in=100)
    scene.standing = Standing(Cut(scene.store.appended_log_offset, epoch))
    scene.crash()
    scene.wait(100)

    with ThreadPoolExecutor(1) as executor:
        reads = TimerReads(scene.timer.index.path, executor)
        day = asyncio.run(reads.summary(START, START + 60_000, 60_000, scene.now)).last_day
    assert (day.delivered, day.since) == (delivered, START if is_whole else START + 100)


def test_what_a_master_with_a_clock_ahead_delivered_does_not_come_again(scene: Scene) -> None:
    scene.park(b"a", due_in=100)
    scene.park(b"ahead", due_in=5_000)
    scene.park(b"far", due_in=DAY)
    scene.wait(100)  # noted; what comes within the next minute is not
    scene.wait(4_900)
    scene.now -= 3_000  # the clock of the next master, which has the log as it is
    scene.crash()
    scene.park(b"b", due_in=100)
    scene.wait(100)

    scene.lose_index()
    scene.wait(DAY)

    assert scene.arrived() == [b"a", b"ahead", b"b", b"far"]


def test_a_timer_that_another_broker_serves_follows_and_delivers_nothing(scene: Scene) -> None:
    scene.timer.let_go()
    scene.park(b"a", due_in=100)
    scene.store.dispatch()
    asyncio.run(scene.timer.follow_along(scene.now))
    assert scene.timer.index.count == 1

    scene.wait(100)
    assert scene.arrived() == []
    with pytest.raises(NotTaken):
        scene.timer.recall("orders", "ID-a")

    scene.timer.take_up(scene.now, at_once=False)
    with pytest.raises(NotTaken):
        scene.timer.recall("orders", "ID-a")
    scene.wait(1)
    assert scene.arrived() == [b"a"]


@pytest.mark.parametrize("has_epochs", [True, False])
def test_who_takes_over_finds_what_was_delivered_since_the_last_mark(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_epochs: bool
) -> None:
    monkeypatch.setattr("broker_core.broker.timer.following._WALK_RECORDS", 1)
    scene.standing = Standing(Cut(1 << 40) if has_epochs else None)
    scene.crash()
    scene.park(b"0", due_in=0)
    scene.wait(0)
    for number, due_in in ((1, 10), (2, 20), (3, 1_000)):
        scene.park(b"%d" % number, due_in=due_in)
    scene.wait(20)
    assert scene.arrived() == [b"0", b"1", b"2"]
    index = TimerIndex.open(tmp_path / "other", is_suspect=True, now=scene.now)
    other = Follower(scene.store, index, scene.standing)
    assert len(list(other.recovering(scene.now))) > 2
    assert [row.due for row in index.due(1 << 60, 9)] == [scene.now - 20 + 1_000]
    index.close()


def test_a_role_that_ends_while_the_log_is_read_ends_the_reading(scene: Scene) -> None:
    for number in range(600):
        scene.park(b"%d" % number, due_in=1)
    scene.timer.let_go()

    async def change() -> None:
        scene.timer.take_up(scene.now, at_once=False)
        step = asyncio.create_task(scene.timer.step(scene.now + 1))
        await asyncio.sleep(0)
        scene.timer.let_go()
        scene.timer.take_up(scene.now, at_once=False)
        await step

    asyncio.run(change())
    assert scene.arrived() == []
    scene.wait(1)
    assert len(scene.arrived()) == 600
