"""Storing messages: counted, announced, parked when delayed, refused when the disk is full."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from broker_core.broker.arrivals import Arrivals
from broker_core.broker.errors import DiskFull
from broker_core.broker.intake import Intake
from broker_core.broker.stats import Stats
from broker_core.protocol.batch import encode_batch
from broker_core.protocol.host import encode_host
from broker_core.protocol.message import Message
from broker_core.protocol.record import MessageOrigin
from broker_core.protocol.topics import SCHEDULE_TOPIC
from broker_core.store import AppendedBatch, Incoming, MessageStore
from tests.support.broker import small_store

HOST = ("127.0.0.1", 1)
ORIGIN = MessageOrigin(0, encode_host(*HOST), 1, encode_host(*HOST))


@dataclass
class Scene:
    """An intake with a real store, and the functions that it scheduled."""

    store: MessageStore
    stats: Stats = field(default_factory=lambda: Stats("local", 0))
    called: list[Callable[[], None]] = field(default_factory=list)

    def intake(self, *, levels: int = 18) -> Intake:
        arrivals = Arrivals(self.store, self.called.append)
        return Intake(self.store, arrivals, self.stats, store_host=HOST, delay_levels=levels)


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
