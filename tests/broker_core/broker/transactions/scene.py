"""Transactions on a real store, with a clock that the test sets and producers that only note what they are asked."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from broker_core.broker.access.permits import Permits
from broker_core.broker.arrivals import Arrivals
from broker_core.broker.clients import Clients
from broker_core.broker.config import BrokerConfig
from broker_core.broker.intake import Intake
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.members import Member
from broker_core.broker.offsets import ConsumerOffsets
from broker_core.broker.saving import JsonFile
from broker_core.broker.settings import Settings
from broker_core.broker.stats import Stats
from broker_core.broker.topics import Topics
from broker_core.broker.transactions.checks import Checks
from broker_core.broker.transactions.recovery import Found, finding
from broker_core.broker.transactions.settings import TransactionSettings
from broker_core.broker.transactions.table import Decision
from broker_core.broker.transactions.transactions import Transactions
from broker_core.protocol.bodies.topics import TopicConfig
from broker_core.protocol.command import Command
from broker_core.protocol.headers.transactions import CheckTransactionStateRequest
from broker_core.protocol.host import encode_host
from broker_core.protocol.message import LogOffset, Message, QueueOffset, StoredMessage
from broker_core.protocol.record import MessageOrigin, decode_one
from broker_core.remoting.connection import Connection
from broker_core.store import AppendedRecord, Incoming, MessageStore
from tests.support.admission import Admitting
from tests.support.broker import small_store

HOST = ("127.0.0.1", 1)
START = 1_700_000_000_000
GROUP = "payers"
TOPIC = "orders"


class Killed(BaseException):
    """The broker is gone."""


@dataclass(frozen=True)
class Question:
    """A check that a producer got."""

    message: StoredMessage
    queue_offset: int
    log_offset: int


@dataclass
class Producer:
    """Stands in for the connection of a producer; one that does not read has no room."""

    has_room: bool = True
    questions: list[Question] = field(default_factory=list)

    def send(self, request: Command) -> None:
        header = request.header(CheckTransactionStateRequest)
        message = decode_one(request.body)
        self.questions.append(Question(message, header.tran_state_table_offset, header.commit_log_offset))

    def __hash__(self) -> int:
        return id(self)


@dataclass
class Scene:
    """Prepares, decides, waits, and reads what arrived."""

    folder: Path
    now: int = START
    limits: BrokerLimits = field(default_factory=BrokerLimits)
    transactions_settings: TransactionSettings = field(default_factory=TransactionSettings)
    max_undispatched: int = 1_000
    replica: Admitting = field(default_factory=Admitting)

    def __post_init__(self) -> None:
        self.config = BrokerConfig(
            small_store(self.folder / "store", commit_log_file_size=256 * 1024, max_undispatched=self.max_undispatched),
            limits=self.limits,
            transactions=self.transactions_settings,
        )
        self.store = MessageStore.open(self.config.store, now=None)
        self.clients: Clients[Connection] = Clients()
        self.offsets = ConsumerOffsets(JsonFile(self.folder / "consumerOffset.json"))
        self.topics = Topics(
            JsonFile(self.folder / "topics.json"),
            identity=self.config.identity,
            defaults=self.config.topics,
            limits=self.limits,
        )
        self.topics.put(TopicConfig(TOPIC, 2, 2), now=START)
        self.start()

    def start(self) -> None:
        """Open the transactions on the store, as a broker does."""
        self.store.dispatch()
        arrivals = Arrivals(self.store, lambda _: None)
        self.intake = Intake(
            self.store, arrivals, Stats("local", self.now), store_host=HOST, delay_levels=18, replica=self.replica
        )
        found = found_by(finding(self.store, self.offsets))
        self.transactions = Transactions(
            store=self.store,
            intake=self.intake,
            arrivals=arrivals,
            topics=self.topics,
            limits=self.limits,
            clock=lambda: self.now,
        )
        self.transactions.take_up(found)
        self.settings = Settings.of(self.config)
        self.checks = Checks(
            self.transactions,
            clients=self.clients,
            permits=Permits(None),
            offsets=self.offsets,
            settings=self.settings,
        )

    @contextmanager
    def killed_after(self, puts: int, monkeypatch: Any) -> Iterator[None]:
        """Let the broker be killed when it wants to write one record more than `puts`."""
        written = iter(range(puts))
        put = self.store.put

        def count(incoming: Incoming) -> AppendedRecord:
            if next(written, None) is None:
                raise Killed
            return put(incoming)

        try:
            with monkeypatch.context() as patched:
                patched.setattr(self.store, "put", count)
                yield
        except Killed:
            self.start()

    def connect(self, producer: Producer, group: str = GROUP) -> None:
        channel = cast(Connection, producer)
        self.clients.producers.add(group, Member(channel, "client", 0, 0, self.now))

    def disconnect(self, producer: Producer) -> None:
        self.clients.leave(cast(Connection, producer))

    def prepare(
        self,
        body: bytes,
        *,
        queue_id: int = 0,
        topic: str = TOPIC,
        pairs: Mapping[str, str] | None = None,
        account: str = "",
    ) -> AppendedRecord:
        message = Message(
            topic, body, {"TRAN_MSG": "true", "PGROUP": GROUP, "UNIQ_KEY": f"ID-{body.decode()}", **(pairs or {})}
        )
        return self.transactions.prepare(message, queue_id, self.origin(), account=account)

    def origin(self) -> MessageOrigin:
        return MessageOrigin(self.now, encode_host(*HOST), self.now, encode_host(*HOST))

    def end(self, half: AppendedRecord | Question, decision: Decision, *, group: str = GROUP) -> int | None:
        return self.transactions.end(group, QueueOffset(half.queue_offset), LogOffset(half.log_offset), decision)

    def commit(self, half: AppendedRecord | Question) -> int | None:
        return self.end(half, Decision.COMMITTED)

    def roll_back(self, half: AppendedRecord | Question) -> int | None:
        return self.end(half, Decision.ROLLED_BACK)

    def wait(self, ms: int) -> None:
        """Let time pass, and the checks do their work."""
        self.now += ms
        asyncio.run(self.checks.step(self.now))

    def records(self, topic: str, queue_id: int = 0) -> list[StoredMessage]:
        self.store.dispatch()
        begin, end = self.store.min_offset(topic, queue_id), self.store.max_offset(topic, queue_id)
        found: list[StoredMessage] = []
        while (at := begin + len(found)) < end:
            got = self.store.get(topic, queue_id, at, max_messages=1_000, max_bytes=1 << 24)
            found += [decode_one(record, decompress=False) for record in got.records]
        return found

    def arrived(self, queue_id: int = 0) -> list[bytes]:
        """Return the bodies that consumers see, in their order."""
        return [stored.body for stored in self.records(TOPIC, queue_id)]


def with_settings(*, timeout_ms: int = 6_000, interval_ms: int = 60_000, max_checks: int = 15) -> TransactionSettings:
    return TransactionSettings(timeout_ms=timeout_ms, interval_ms=interval_ms, max_checks=max_checks)


def found_by(search: Generator[None, None, Found]) -> Found:
    """Return what a search finds, without a pause."""
    while True:
        try:
            next(search)
        except StopIteration as end:
            return cast(Found, end.value)
