"""Storing messages: counted, announced, parked when delayed, refused when the disk is full."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from broker_core.broker.arrivals import Arrivals
from broker_core.broker.errors import DiskFull, NotTaken, Unconfirmed
from broker_core.broker.intake import Intake
from broker_core.broker.replication.messages import Refusal
from broker_core.broker.stats import Stats
from broker_core.protocol.batch import encode_batch
from broker_core.protocol.host import encode_host
from broker_core.protocol.message import Message
from broker_core.protocol.record import MessageOrigin
from broker_core.protocol.topics import SCHEDULE_TOPIC
from broker_core.store import AppendedBatch, Incoming, MessageStore
from broker_core.store.errors import TooFarBehind
from tests.support.admission import Admitting
from tests.support.broker import small_store

HOST = ("127.0.0.1", 1)
ORIGIN = MessageOrigin(0, encode_host(*HOST), 1, encode_host(*HOST))


@dataclass
class Scene:
    """An intake with a real store, and the functions that it scheduled."""

    store: MessageStore
    stats: Stats = field(default_factory=lambda: Stats("local", 0))
    called: list[Callable[[], None]] = field(default_factory=list)

    def intake(
        self, *, levels: int = 18, replica: Admitting | None = None, on_stored: Callable[[], None] | None = None
    ) -> Intake:
        arrivals = Arrivals(self.store, self.called.append)
        return Intake(
            self.store,
            arrivals,
            self.stats,
            store_host=HOST,
            delay_levels=levels,
            replica=replica,
            on_stored=on_stored,
        )


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(MessageStore.open(small_store(tmp_path), now=0))


def put(intake: Intake, *, level: int = 0) -> int:
    message = Message("orders", b"x")
    return intake.put_message(message, 3, ORIGIN, delay_level=level).queue_offset


def put_batch(intake: Intake, *, count: int) -> AppendedBatch:
    body = encode_batch([Message("orders", b"%d" % number, {"KEYS": f"k{number}"}) for number in range(count)])
    return intake.put_batch(Incoming("orders", 0, body, "CLUSTER\x01c", 0, 0, *ORIGIN))


def test_a_message_is_stored_counted_and_announced(scene: Scene) -> None:
    intake = scene.intake()
    put(intake)
    put(intake)

    assert len(scene.called) == 1
    scene.called[0]()
    assert scene.store.max_offset("orders", 3) == 2
    assert scene.stats.put.total == 2


def test_a_delayed_message_waits_in_the_queue_of_its_level(scene: Scene) -> None:
    intake = scene.intake(levels=4)
    put(intake, level=2)
    put(intake, level=99)
    scene.called[0]()

    assert scene.store.max_offset(SCHEDULE_TOPIC, 1) == 1
    assert scene.store.max_offset(SCHEDULE_TOPIC, 3) == 1
    assert scene.store.max_offset("orders", 3) == 0


def test_a_batch_is_stored_side_by_side(scene: Scene) -> None:
    series = put_batch(scene.intake(), count=3)

    assert (series.queue_offset, len(series.log_offsets)) == (0, 3)
    assert scene.stats.put.total == 3


def test_nothing_is_stored_on_a_full_disk(scene: Scene) -> None:
    intake = scene.intake()
    intake.refusal = "the disk is full"

    with pytest.raises(DiskFull):
        put(intake)
    with pytest.raises(DiskFull):
        put_batch(intake, count=1)
    assert scene.store.appended_log_offset == 0


@pytest.mark.parametrize(
    ("reason", "error"),
    [(Refusal.SET_TOO_SMALL, NotTaken), (Refusal.NO_LEASE, NotTaken), (Refusal.UNCONFIRMED, Unconfirmed)],
)
def test_what_the_in_sync_set_does_not_let_in_is_not_stored_not_even_of_the_broker_itself(
    scene: Scene, reason: Refusal, error: type[Exception]
) -> None:
    replica = Admitting(reason)
    intake = scene.intake(replica=replica)

    with pytest.raises(error):
        put(intake)
    with pytest.raises(error):
        intake.put_own(Incoming.of(Message("orders", b"x"), 0, ORIGIN))
    with pytest.raises(error):
        intake.check_room(1)
    assert (scene.store.appended_log_offset, replica.told) == (0, 0)


def test_a_record_of_the_broker_itself_is_stored_on_a_full_disk_and_told(scene: Scene) -> None:
    replica = Admitting()
    intake = scene.intake(replica=replica)
    intake.refusal = "the disk is full"

    intake.check_room(1)
    intake.put_own(Incoming.of(Message("orders", b"x"), 0, ORIGIN))

    assert (replica.told, len(scene.called), scene.stats.put.total) == (1, 1, 0)


def test_whom_senders_wait_for_is_told_of_each_message_before_any_round(scene: Scene) -> None:
    ends = list[int]()
    intake = scene.intake(on_stored=lambda: ends.append(scene.store.appended_log_offset))

    put(intake)
    first = scene.store.appended_log_offset
    put_batch(intake, count=2)

    assert ends == [first, scene.store.appended_log_offset]
    assert len(scene.called) == 1


def test_store_times_of_a_replica_do_not_fall(scene: Scene) -> None:
    put(scene.intake())
    intake = scene.intake(replica=Admitting())

    earlier = Incoming.of(Message("orders", b"x"), 0, ORIGIN._replace(store_timestamp=0))

    assert intake.put(earlier).store_timestamp == 1
    assert intake.put_own(earlier).store_timestamp == 1
    assert scene.store.newest_store_time == 1


def test_room_for_several_records_is_asked_for_before_the_first(tmp_path: Path) -> None:
    scene = Scene(MessageStore.open(small_store(tmp_path, max_undispatched=3), now=0))
    intake = scene.intake()
    scene.store.limit_dispatch(0)
    put(intake)
    put(intake)

    intake.check_room(1)
    with pytest.raises(TooFarBehind):
        intake.check_room(2)
