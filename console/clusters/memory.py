"""What was seen in a cluster: its brokers, and the topics and groups on each of them.

Name servers forget a broker two minutes after its last heartbeat, and a new name server knows none. So Gantry remembers
what it has seen until an operator removes it: if a remembered broker does not answer, its content is unknown, not gone.
The answers of a broker replace what is remembered of it, so a topic that was deleted on purpose is forgotten
automatically.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, ParamSpec, TypeVar

from asgiref.sync import sync_to_async
from django.db import DatabaseError, close_old_connections, transaction

from broker_core.client.admin.topics import TopicKind
from broker_core.client.routes import MASTER_ID
from broker_core.logs import Repeated, get_logger
from broker_core.protocol.bodies import TopicConfig
from broker_core.protocol.bodies.routes import BrokerData, QueueData, TopicRouteData
from broker_core.protocol.topic_attributes import MESSAGE_TYPE, MessageType, message_type_of
from console.clusters.identities import IdentitiesUnknown, SeenAt
from console.clusters.models import Cluster, KnownBroker

_LONGEST_NAME: Final = 255
_repeated: Final = Repeated(get_logger(__name__))

P = ParamSpec("P")
T = TypeVar("T")


MOST_BROKERS: Final = 1_000
"""Names that are remembered of one cluster: Apache RocketMQ's name servers list whatever registers, under any name."""
MOST_GONE: Final = 100
"""Processes of one broker name that are remembered although no name server lists them: anybody may register one."""


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """How many queues of a topic a broker has, their permission (PERM_READ, PERM_WRITE), its kind and message type."""

    read: int
    write: int
    perm: int
    kind: TopicKind = TopicKind.NORMAL
    message_type: MessageType | None = None

    def config(self, topic: str) -> TopicConfig:
        """Return the settings of the topic, as far as they are remembered."""
        declared: dict[str, str] | None = None if self.message_type is None else {MESSAGE_TYPE: self.message_type}
        return TopicConfig(topic, self.read, self.write, self.perm, attributes=declared)

    @classmethod
    def of(cls, config: TopicConfig, kind: TopicKind) -> QueueCounts:
        """Return what to remember of a topic's settings."""
        declared = message_type_of(config.attributes)
        return cls(config.read_queue_nums, config.write_queue_nums, config.perm, kind, declared)

    def saved(self) -> list[object]:
        """Return it as it is stored; what is declared of no topic takes no place."""
        saved: list[object] = [self.read, self.write, self.perm, self.kind]
        return saved if self.message_type is None else [*saved, self.message_type]

    @classmethod
    def restored(
        cls, read: int, write: int, perm: int, kind: str, message_type: MessageType | None = None
    ) -> QueueCounts:
        """Return what was stored; an earlier release stored no message type."""
        return cls(read, write, perm, TopicKind(kind), message_type)


@dataclass(frozen=True, slots=True)
class RememberedProcess:
    """One process of a broker name as it was last listed."""

    broker_id: int
    address: str
    last_seen_at: datetime


@dataclass(frozen=True, slots=True)
class RememberedBroker:
    """A broker as it was last seen."""

    name: str
    addresses: Mapping[int, str]
    """Broker id → ``host:port``; id 0 is the master."""
    first_seen_at: datetime
    last_seen_at: datetime
    topics: Mapping[str, QueueCounts] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Consumer group → topics in which it has offsets here."""
    store_id: str = ""
    """The identity of its data folder; empty if it never told one."""
    processes: Sequence[RememberedProcess] = ()
    """Every process that was listed and not forgotten, by broker id: `addresses` has those of the last time only."""

    @property
    def address(self) -> str:
        """The address of its master, or else of a slave that was seen."""
        return self.addresses.get(0) or next(iter(self.addresses.values()), "")

    def holds(self, topic: str) -> bool:
        return topic in self.topics

    def may_hold(self, topic: str, queue_id: int | None = None) -> bool:
        """Return whether it may have the topic, or this queue of it: also if its content was never known."""
        counts = self.topics.get(topic)
        return not self.topics or (counts is not None and (queue_id is None or queue_id < counts.read))

    def is_other(self, store_id: str | None) -> bool:
        """Return whether a broker that tells this identity, or none, is another one."""
        return bool(self.store_id) and self.store_id != store_id


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
    """A broker that a name server lists now. For fields that are None the remembered values stay."""

    name: str
    addresses: Mapping[int, str]
    topics: Mapping[str, QueueCounts] | None = None
    groups: Mapping[str, tuple[str, ...]] | None = None
    store_id: str | None = None


def remembered(cluster: str) -> Remembered:
    """Return what is remembered of a cluster; empty for an unknown cluster."""
    rows = KnownBroker.objects.filter(cluster__name=cluster)
    return Remembered({row.name: _of(row) for row in rows})


def remembered_names(cluster: str) -> set[str]:
    """Return the names of the remembered brokers, without what they hold."""
    return set(KnownBroker.objects.filter(cluster__name=cluster).values_list("name", flat=True))


async def aremembered(cluster: str) -> Remembered:
    """Call `remembered` from a coroutine."""
    return await _apart(remembered, cluster)


async def recall_route(cluster: str, topic: str) -> TopicRouteData | None:
    """Return where a topic was when its brokers were listed last; None if none of them had it."""
    brokers = [each for each in (await aremembered(cluster)).brokers.values() if each.holds(topic)]
    if not brokers:
        return None
    counts = {each.name: each.topics[topic] for each in brokers}
    return TopicRouteData(
        [BrokerData(each.name, broker_addrs=dict(each.addresses)) for each in brokers],
        [QueueData(name, each.read, each.write, each.perm) for name, each in sorted(counts.items())],
    )


async def store_ids(cluster: str) -> SeenAt:
    """Return the data folders that were seen at each master's address, with their names; raise IdentitiesUnknown."""
    try:
        return await _apart(_store_ids, cluster)
    except DatabaseError as error:
        raise IdentitiesUnknown(cluster) from error


def _store_ids(cluster: str) -> dict[str, dict[str, str]]:
    rows = KnownBroker.objects.filter(cluster__name=cluster).exclude(store_id="")
    found: dict[str, dict[str, str]] = {}
    for name, addresses, store_id in rows.values_list("name", "addresses", "store_id"):
        found.setdefault(addresses.get(str(MASTER_ID), ""), {})[store_id] = name
    return found


def remember(cluster: str, sightings: Iterable[Sighting], at: datetime) -> None:
    """Store what was seen at `at`; do nothing for a cluster that the console no longer knows."""
    with transaction.atomic():
        owner = Cluster.objects.filter(name=cluster).first()
        if owner is None:
            return
        rows = {row.name: row for row in KnownBroker.objects.select_for_update().filter(cluster=owner)}
        for seen in sightings:
            row = rows.get(seen.name)
            if row is None:
                if len(rows) >= MOST_BROKERS or not _fits(seen.name):
                    text = "cluster=%s: broker %.100r is not remembered: its name is odd, or there are %d already"
                    _repeated.warning(cluster, text, cluster, seen.name, len(rows))
                    continue
                row = rows[seen.name] = KnownBroker(cluster=owner, name=seen.name, first_seen_at=at)
            row.addresses = {str(number): address for number, address in seen.addresses.items()}
            row.processes = _processes(row.processes, row.addresses, at)
            if seen.topics is not None:
                row.topics = {name: each.saved() for name, each in seen.topics.items()}
            if seen.groups is not None:
                row.groups = {name: list(topics) for name, topics in seen.groups.items()}
            if seen.store_id is not None:
                row.store_id = seen.store_id
            row.last_seen_at = at
            row.save()


def _fits(name: str) -> bool:
    """Return whether the database takes a name: one that it refuses would keep all others from being stored."""
    return len(name) <= _LONGEST_NAME and "\0" not in name and not any("\ud800" <= each <= "\udfff" for each in name)


def _processes(
    known: Mapping[str, tuple[str, str]], listed: Mapping[str, str], at: datetime
) -> dict[str, tuple[str, str]]:
    """Keep those that are not listed now, the newest of them, but for one at whose address there is another now."""
    taken = set(listed.values())
    gone = [number for number, (address, _) in known.items() if address not in taken and number not in listed]
    newest = sorted(gone, key=lambda number: known[number][1], reverse=True)[:MOST_GONE]
    kept = {number: known[number] for number in newest}
    return kept | {number: (address, at.isoformat()) for number, address in listed.items()}


def drop_process(cluster: str, name: str, broker_id: int) -> None:
    """Forget one process of a broker name."""
    with transaction.atomic():
        for row in KnownBroker.objects.select_for_update().filter(cluster__name=cluster, name=name):
            row.processes.pop(str(broker_id), None)
            row.addresses.pop(str(broker_id), None)
            row.save(update_fields=["processes", "addresses"])


def note_topic(cluster: str, topic: str, brokers: Iterable[str], counts: QueueCounts) -> None:
    """Remember the topic on these brokers, which have just created it: one may be silent before anybody has asked it.

    A broker of which no topic is known stays so: it may have any.
    """
    with transaction.atomic():
        for row in KnownBroker.objects.select_for_update().filter(cluster__name=cluster, name__in=list(brokers)):
            if row.topics:
                row.topics.setdefault(topic, counts.saved())
                row.save(update_fields=["topics"])


def forget_topic(cluster: str, topic: str, brokers: Iterable[str]) -> None:
    """Forget the topic on these brokers, which have just deleted it."""
    _drop(cluster, brokers, lambda row: row.topics, topic)


def forget_group(cluster: str, group: str, brokers: Iterable[str]) -> None:
    """Forget the consumer group on these brokers, which have just deleted it."""
    _drop(cluster, brokers, lambda row: row.groups, group)


def _drop(cluster: str, brokers: Iterable[str], held: Callable[[KnownBroker], dict[str, object]], name: str) -> None:
    with transaction.atomic():
        for row in KnownBroker.objects.select_for_update().filter(cluster__name=cluster, name__in=list(brokers)):
            if held(row).pop(name, None) is not None:
                row.save(update_fields=["topics", "groups"])


async def aremember(cluster: str, sightings: Iterable[Sighting], at: datetime) -> None:
    """Call `remember` from a coroutine."""
    await _apart(remember, cluster, list(sightings), at)


class SavedMemory:
    """The memory of one cluster in the database, as the reader of the cluster uses it."""

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster

    async def recall(self) -> Remembered:
        """Return what is remembered."""
        return await aremembered(self._cluster)

    async def keep(self, sightings: Iterable[Sighting], at: datetime) -> None:
        """Store what was seen at `at`."""
        await aremember(self._cluster, sightings, at)


async def _apart(work: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> T:
    """Do `work` in a separate thread, and close database connections there that the server has closed."""

    def fresh() -> T:
        close_old_connections()
        try:
            return work(*arguments, **options)
        finally:
            close_old_connections()

    # Not in the thread of Django's async look-ups: a view waits in that thread for this result.
    return await sync_to_async(fresh, thread_sensitive=False)()


def _of(row: KnownBroker) -> RememberedBroker:
    return RememberedBroker(
        name=row.name,
        addresses={int(number): address for number, address in row.addresses.items()},
        first_seen_at=row.first_seen_at.astimezone(UTC),
        last_seen_at=row.last_seen_at.astimezone(UTC),
        topics={name: QueueCounts.restored(*saved) for name, saved in row.topics.items()},
        groups={name: tuple(topics) for name, topics in row.groups.items()},
        store_id=row.store_id,
        processes=[
            RememberedProcess(int(number), address, datetime.fromisoformat(at))
            for number, (address, at) in sorted(row.processes.items(), key=lambda each: int(each[0]))
        ],
    )
