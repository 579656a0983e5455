"""What was once seen in a cluster: its brokers, and the topics and groups on each of them.

Name servers forget a broker two minutes after its last heartbeat, and a fresh name server knows none at all. So what
was seen is remembered here until an operator forgets it: a remembered broker that does not answer makes what it holds
unknown, and never gone. What a broker says of itself while it answers replaces what is remembered of it, so a topic
that was deleted on purpose is forgotten by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.db import close_old_connections, transaction

from broker_core.client.admin.topics import TopicKind
from console.clusters.models import Cluster, KnownBroker

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """How many queues of a topic a broker has, what may be done with them (PERM_READ, PERM_WRITE), and whose it is."""

    read: int
    write: int
    perm: int
    kind: TopicKind = TopicKind.NORMAL


@dataclass(frozen=True, slots=True)
class RememberedBroker:
    """A broker as it was seen last."""

    name: str
    addresses: Mapping[int, str]
    """Broker id → ``host:port``; id 0 is the master."""
    first_seen_at: datetime
    last_seen_at: datetime
    topics: Mapping[str, QueueCounts] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Consumer group → topics in which it has offsets here."""

    @property
    def address(self) -> str:
        """Where it was reached: its master, or whoever of it was seen."""
        return self.addresses.get(0) or next(iter(self.addresses.values()), "")

    def holds(self, topic: str) -> bool:
        """Return whether it has queues of the topic."""
        return topic in self.topics


@dataclass(frozen=True, slots=True)
class Remembered:
    """The brokers that are known of one cluster, by name."""

    brokers: Mapping[str, RememberedBroker] = field(default_factory=dict)

    def missing(self, answering: Iterable[str]) -> list[RememberedBroker]:
        """Return the known brokers that are not among those that answer."""
        there = set(answering)
        return [broker for name, broker in sorted(self.brokers.items()) if name not in there]


@dataclass(frozen=True, slots=True)
class Sighting:
    """A broker that a name server lists now. What it did not say (None) stays as it is remembered."""

    name: str
    addresses: Mapping[int, str]
    topics: Mapping[str, QueueCounts] | None = None
    groups: Mapping[str, tuple[str, ...]] | None = None


def remembered(cluster: str) -> Remembered:
    """Return what is remembered of a cluster; nothing of one that the console does not know."""
    rows = KnownBroker.objects.filter(cluster__name=cluster)
    return Remembered({row.name: _of(row) for row in rows})


async def aremembered(cluster: str) -> Remembered:
    """Do the same for code on a loop."""
    return await _apart(remembered, cluster)


def remember(cluster: str, sightings: Iterable[Sighting], at: datetime) -> None:
    """Write down what was seen at `at`; a cluster that the console no longer knows has no memory."""
    with transaction.atomic():
        owner = Cluster.objects.filter(name=cluster).first()
        if owner is None:
            return
        rows = {row.name: row for row in KnownBroker.objects.select_for_update().filter(cluster=owner)}
        for seen in sightings:
            row = rows.get(seen.name) or KnownBroker(cluster=owner, name=seen.name, first_seen_at=at)
            row.addresses = {str(number): address for number, address in seen.addresses.items()}
            if seen.topics is not None:
                row.topics = {name: [each.read, each.write, each.perm, each.kind] for name, each in seen.topics.items()}
            if seen.groups is not None:
                row.groups = {name: list(topics) for name, topics in seen.groups.items()}
            row.last_seen_at = at
            row.save()


def forget_topic(cluster: str, topic: str, brokers: Iterable[str]) -> None:
    """Forget that these brokers have the topic, which they just deleted."""
    _drop(cluster, brokers, lambda row: row.topics, topic)


def forget_group(cluster: str, group: str, brokers: Iterable[str]) -> None:
    """Forget that these brokers have the consumer group, which they just deleted."""
    _drop(cluster, brokers, lambda row: row.groups, group)


def _drop(cluster: str, brokers: Iterable[str], held: Callable[[KnownBroker], dict[str, object]], name: str) -> None:
    with transaction.atomic():
        for row in KnownBroker.objects.select_for_update().filter(cluster__name=cluster, name__in=list(brokers)):
            if held(row).pop(name, None) is not None:
                row.save(update_fields=["topics", "groups"])


async def aremember(cluster: str, sightings: Iterable[Sighting], at: datetime) -> None:
    """Do the same for code on a loop."""
    await _apart(remember, cluster, list(sightings), at)


class SavedMemory:
    """The memory of one cluster in the database, for who follows it."""

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster

    async def recall(self) -> Remembered:
        """Return what is remembered."""
        return await aremembered(self._cluster)

    async def keep(self, sightings: Iterable[Sighting], at: datetime) -> None:
        """Write down what was seen at `at`."""
        await aremember(self._cluster, sightings, at)


async def _apart(work: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """Do `work` in a thread of its own, which keeps no connection to the database that the other side has closed."""

    def fresh() -> T:
        close_old_connections()
        try:
            return work(*arguments, **options)
        finally:
            close_old_connections()

    # Not the thread that Django's own async look-ups use: a view asks from that very thread and waits for this.
    return await sync_to_async(fresh, thread_sensitive=False)()


def _of(row: KnownBroker) -> RememberedBroker:
    return RememberedBroker(
        name=row.name,
        addresses={int(number): address for number, address in row.addresses.items()},
        first_seen_at=row.first_seen_at.astimezone(UTC),
        last_seen_at=row.last_seen_at.astimezone(UTC),
        topics={name: QueueCounts(r, w, perm, TopicKind(kind)) for name, (r, w, perm, kind) in row.topics.items()},
        groups={name: tuple(topics) for name, topics in row.groups.items()},
    )
