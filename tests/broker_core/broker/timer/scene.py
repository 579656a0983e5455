"""A timer on a real store and a clock that the test sets."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from broker_core.broker.arrivals import Arrivals
from broker_core.broker.intake import Intake
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.replication.standing import Standing
from broker_core.broker.stats import Stats
from broker_core.broker.timer.following import Follower
from broker_core.broker.timer.index import TimerIndex
from broker_core.broker.timer.timer import Timer
from broker_core.protocol.host import encode_host
from broker_core.protocol.message import Message, StoredMessage
from broker_core.protocol.record import MessageOrigin, decode_many
from broker_core.store import MessageStore
from tests.support.admission import Admitting
from tests.support.broker import small_store

HOST = ("127.0.0.1", 1)
START = 1_700_000_000_000


@dataclass
class Scene:
    """Parks, waits, and reads what came; `is_full` makes the store refuse deliveries, `gone` topics get none."""

    folder: Path
    now: int = START
    limits: BrokerLimits = field(default_factory=BrokerLimits)
    failure: Exception | None = None
    standing: Standing = field(default_factory=Standing)
    replica: Admitting = field(default_factory=Admitting)
    gone: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        config = small_store(self.folder / "store", commit_log_file_size=64 * 1024)
        self.store = MessageStore.open(config, now=None)
        self.start()

    def start(self, *, is_suspect: bool = True) -> None:
        """Open the timer on the store, as a broker does."""
        self.store.dispatch()
        arrivals = Arrivals(self.store, lambda _: None)
        self.intake = Intake(
            self.store, arrivals, Stats("local", self.now), store_host=HOST, delay_levels=18, replica=self.replica
        )
        follower = Follower(
            self.store, TimerIndex.open(self.folder, is_suspect=is_suspect, now=self.now), self.standing
        )
        for _ in follower.recovering(self.now):
            pass
        self.timer = Timer(
            follower,
            store=self.store,
            intake=self.intake,
            arrivals=arrivals,
            deliver=self._deliver,
            limits=self.limits,
            clock=lambda: self.now,
        )

    def crash(self) -> None:
        """End the timer as a killed process does, and start it again."""
        self.timer.close()
        self.start()

    def lose_index(self) -> None:
        """The same, and the index is lost."""
        self.timer.close()
        for path in self.folder.glob("pending.db*"):
            path.unlink()
        self.start()

    def park(self, body: bytes, *, due_in: int, unique_id: str = "", key: str = "", topic: str = "orders") -> None:
        pairs = {"UNIQ_KEY": unique_id or f"ID-{body.decode()}", "KEYS": key}
        origin = MessageOrigin(self.now, encode_host(*HOST), self.now, encode_host(*HOST))
        self.timer.park(Message(topic, body, pairs), 0, origin, self.now + due_in)

    def hold(self) -> None:
        """Let the in-sync set confirm nothing of what comes."""
        self.store.limit_dispatch(self.store.appended_log_offset)

    def confirm(self) -> None:
        """Let it confirm all, from now on."""
        self.store.limit_dispatch(None)
        self.store.dispatch()

    def wait(self, ms: int) -> None:
        """Let time pass, and the timer do its work."""
        self.now += ms
        asyncio.run(self.timer.step(self.now))

    def roll(self) -> None:
        """Park everything again, as if the segments of all records were about to go."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(self.store, "held_back", lambda _: self.store.appended_log_offset)
            self.timer.roll(self.now)

    def arrived(self, topic: str = "orders") -> list[bytes]:
        """Return the bodies that were delivered, in their order."""
        return [body for body, _ in self.arrived_at(topic)]

    def arrived_at(self, topic: str = "orders") -> list[tuple[bytes, int]]:
        """Return the same, and when each was stored (ms)."""
        self.store.dispatch()
        came: list[tuple[bytes, int]] = []
        while (found := self.store.get(topic, 0, len(came), max_messages=1_000, max_bytes=1 << 24)).records:
            came += [(message.body, message.store_timestamp) for message in decode_many(b"".join(found.records))]
        return came

    def _deliver(self, message: Message, queue_id: int, parked: StoredMessage) -> bool:
        if message.topic in self.gone:
            return False
        if self.failure is not None:
            raise self.failure
        origin = self.intake.origin_of_copy(parked, now=self.now, reconsume_times=0)
        self.intake.put_message(message, queue_id, origin)
        return True
