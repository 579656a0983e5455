"""Taking messages from a real store: their order, and what happens when the store fails or drops messages."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from broker_core.broker.config import Identity, TopicDefaults
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.offsets import ConsumerOffsets
from broker_core.broker.pop.leases import Leases
from broker_core.broker.pop.popper import Popped, Popper, PopRequest
from broker_core.broker.saving import JsonFile
from broker_core.broker.topics import Topics
from broker_core.protocol.message import Message
from broker_core.protocol.record import decode_one
from broker_core.store import MessageStore
from broker_core.store.errors import StoreFull
from broker_core.store.fetch import Accept
from tests.support.broker import small_store
from tests.support.stores import incoming

HOST = ("127.0.0.1", 1)
REQUEST = PopRequest("billing", "orders", -1, 32, 100)


@dataclass
class Scene:
    """A store with one topic, a popper, and a clock."""

    store: MessageStore
    leases: Leases
    popper: Popper
    now: int = 1_000
    dead: list[bytes] = field(default_factory=list)
    causes: list[tuple[int, str | None]] = field(default_factory=list)
    is_full: bool = False

    def put(self, *messages: bytes, tag: str = "", size: int = 0) -> None:
        for body in messages:
            properties = {"TAGS": tag} if tag else {}
            self.store.put(
                incoming(
                    Message("orders", body + b" " * size, properties),
                    queue_id=0,
                    born_timestamp=0,
                    born_host=HOST,
                    store_host=HOST,
                    now=self.now,
                )
            )
        self.store.dispatch()

    def take(self, wanted: PopRequest = REQUEST, *, max_deliveries: int = 17) -> list[bytes]:
        popped: Popped = self.popper.take(wanted, max_deliveries=max_deliveries, now=self.now)
        return [decode_one(record).body.strip() for portion in popped.portions for record in portion.records]

    def after(self, ms: int) -> None:
        self.now += ms
        self.leases.end_due(self.now)

    def bury(self, _group: str, record: bytes, deliveries: int, reason: str | None) -> None:
        if self.is_full:
            raise StoreFull(Path(), 1)
        self.dead.append(decode_one(record).body)
        self.causes.append((deliveries, reason))


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    store = MessageStore.open(small_store(tmp_path / "store", commit_log_file_size=64 * 1024, retention_ms=0), now=0)
    leases = Leases(lambda change: None)
    topics = Topics(
        JsonFile(tmp_path / "topics.json"), identity=Identity(), defaults=TopicDefaults(), limits=BrokerLimits()
    )
    topics.get_or_create("orders", queues=1, now=0)
    scene: Scene
    popper = Popper(
        store=store,
        topics=topics,
        leases=leases,
        offsets=ConsumerOffsets(JsonFile(tmp_path / "offsets.json")),
        limits=BrokerLimits(),
        dead_letter=lambda *letter: scene.bury(*letter),
    )
    scene = Scene(store, leases, popper)
    return scene


def test_an_ordered_queue_goes_back_to_a_lease_that_ended_before_its_timer_ran(scene: Scene) -> None:
    scene.put(b"a", b"b")
    ordered = replace(REQUEST, count=1, is_ordered=True)
    assert scene.take(ordered) == [b"a"]
    scene.now += 101
    assert scene.take(ordered) == [b"a"]


def test_what_is_due_again_comes_before_what_is_new(scene: Scene) -> None:
    scene.put(b"a", b"b")
    scene.take()
    scene.put(b"c")
    scene.after(100)

    assert scene.take() == [b"a", b"b", b"c"]


def test_a_dead_letter_that_cannot_be_stored_is_due_as_before(scene: Scene) -> None:
    scene.put(b"a")
    scene.take()
    scene.after(100)
    scene.is_full = True
    with pytest.raises(StoreFull):
        scene.take(max_deliveries=1)

    scene.is_full = False
    assert scene.take(max_deliveries=1) == []
    assert scene.dead == [b"a"]


def test_a_dead_letter_has_its_deliveries_and_the_last_reason_that_was_given(scene: Scene) -> None:
    scene.put(b"a")
    queue = None
    for reason in ("db down", None, "", "db slow", ""):
        assert scene.take(max_deliveries=5) == [b"a"]
        queue = scene.leases.find("billing", "orders", 0)
        assert queue is not None
        lease = queue.find(0)
        assert lease is not None
        if reason is not None:
            scene.leases.extend(queue, 0, pop_time=lease.pop_time, now=scene.now, invisible_ms=50, failure=reason)
        scene.after(100)
    assert scene.take(max_deliveries=5) == []
    assert scene.causes == [(5, "db slow")]
    assert queue is not None
    assert queue.reason_of(0) is None, "what is done needs no reason"


def test_a_dead_letter_moves_the_committed_offset(scene: Scene) -> None:
    scene.put(b"a")
    scene.take()
    scene.after(100)

    assert scene.take(max_deliveries=1) == []
    assert scene.popper._offsets.find("billing", "orders", 0) == 1
    assert scene.take(max_deliveries=1) == []
    assert scene.dead == [b"a"]


def test_what_another_filter_does_not_want_stays_due_for_others(scene: Scene) -> None:
    scene.put(b"a", tag="a")
    scene.take()
    scene.after(100)
    choosy = PopRequest("billing", "orders", -1, 32, 100, accept=Accept(lambda code: False))

    assert scene.take(choosy) == []
    assert scene.take() == [b"a"]


def test_a_message_that_has_left_the_log_is_done(scene: Scene) -> None:
    scene.put(b"old", size=40_000)
    scene.take()
    scene.put(b"new", size=40_000)  # a second segment; the first may go
    scene.put(b"newest", size=10_000)
    assert scene.store.drop_expired(2**60, at_any_hour=True).segments == 1
    scene.after(100)

    assert scene.take() == [b"new", b"newest"]
    queue = scene.leases.find("billing", "orders", 0)
    assert queue is not None
    assert queue.committed == 1


def test_an_answer_has_a_limited_size_and_at_least_one_message(scene: Scene) -> None:
    scene.put(*(b"%d" % number for number in range(8)), size=60_000)

    assert scene.take() == [b"0", b"1", b"2", b"3"]
