"""What is known of a cluster now: the last answers of its brokers, and which known brokers do not answer.

A broker is asked at the address that a name server lists, or at its last known address if none lists it: brokers stay
visible while a name server is down or has just started. A known broker that does not answer is missing, with the
reason; its content is known from memory, and its figures are unknown.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final, Protocol

from django.db import DatabaseError

from broker_core.client.admin import Admin
from broker_core.client.admin.clusters import BrokerAddress, BrokerRuntime
from broker_core.client.admin.groups import Group, GroupConnections, joined_connections
from broker_core.client.admin.topics import Topic, TopicKind, kind_of, own_names
from broker_core.client.routes import MASTER_ID
from broker_core.errors import GantryError
from broker_core.protocol.bodies import MessageQueue, SubscriptionGroupConfig, TopicConfig
from broker_core.protocol.bodies.controller import NameState
from broker_core.protocol.topics import is_retry_topic
from console.clusters.memory import QueueCounts, Remembered, RememberedBroker, Sighting
from console.clusters.reasons import reason_of, replaced
from console.lag.broker_watch import BrokerWatch, Portions, Shown
from console.lag.facts import BrokerFacts
from console.lag.following import Changed
from console.lag.owners import OwnersWatch
from console.lag.shapes import LeaseConsumerState
from console.replicas.away import Place
from console.replicas.shapes import HeldReplica

# How long a step waits for answers; later answers count for the next step.
PATIENCE_SECONDS: Final = 0.7
# Before the first answers there is nothing to show, so it is worth waiting for them.
FIRST_PATIENCE_SECONDS: Final = 5.0
_RECALL_EVERY_MS: Final = 5_000
_WRITE_DOWN_EVERY_MS: Final = 60_000
NOTHING_SHOWN: Final = Shown()

_log = logging.getLogger(__name__)


class Memory(Protocol):
    """What was seen in the cluster, kept across restarts."""

    async def recall(self) -> Remembered:
        """Return it."""

    async def keep(self, sightings: Iterable[Sighting], at: datetime) -> None:
        """Store what was seen at `at`."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A known broker that does not answer, with its remembered content."""

    broker: str
    address: str
    reason: str
    since: int | None
    topics: Mapping[str, QueueCounts] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def holds_topic(self, topic: str) -> bool:
        """Return whether the topic may have queues there; also true if the broker's content was never known."""
        return not self.topics or topic in self.topics

    def holds_group(self, group: str, topics: Iterable[str]) -> bool:
        """Return whether the group may have messages to read there; also true if nobody knows what it reads."""
        read = [topic for topic in topics if not is_retry_topic(topic)]
        return not self.topics or group in self.groups or not read or any(topic in self.topics for topic in topics)


@dataclass(slots=True)
class LagReading:
    """What is known of a cluster at `at` (ms)."""

    at: int = 0
    brokers: list[BrokerAddress] = field(default_factory=list)
    """All known ones, listed now or remembered."""
    runtimes: dict[str, BrokerRuntime] = field(default_factory=dict)
    """Of the brokers that answer, by address."""
    reasons: dict[str, str] = field(default_factory=dict)
    """Why the others do not answer, by address."""
    facts: dict[str, BrokerFacts] = field(default_factory=dict)
    """What the answering masters said, by broker name."""
    missing: list[Missing] = field(default_factory=list)
    remembered: Mapping[str, RememberedBroker] = field(default_factory=dict)
    """All brokers that were seen and not forgotten, by name."""
    decided: Mapping[str, NameState] = field(default_factory=dict)
    """What controllers decided about broker names, as last told."""
    held: Mapping[Place, HeldReplica] = field(default_factory=dict)
    """Of the replicas that no name server lists, those that say themselves why they take no part."""
    topics: dict[str, Topic] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    owners: dict[str, dict[MessageQueue, str]] = field(default_factory=dict)
    disagreeing: Set[str] = frozenset()
    """The groups whose members were seen to subscribe to different things."""
    lease_consumers: Mapping[str, Sequence[LeaseConsumerState]] | None = None
    """Who receives over HTTP or WebSocket, by group; None when unknown."""
    name_server_reason: str | None = None
    """Why no name server answers; None when one did."""
    changed: Mapping[str, Changed] | None = None
    """What changed since the reading before, by broker name; None when anything may have."""

    @property
    def nothing_known(self) -> str | None:
        """Why no broker is known; None when one is."""
        if self.brokers:
            return None
        return self.name_server_reason or "the name server lists no broker"

    def members(self, group: str) -> GroupConnections | None:
        """Return the clients connected to the group; None if one of its brokers was not asked yet."""
        answers = [facts.members.get(group) for facts in self.facts.values() if group in facts.groups]
        found = [each for each in answers if each is not None]
        if len(answers) == 1:
            return answers[0]
        return joined_connections(found, {}) if found and len(found) == len(answers) else None


class Reader:
    """Follows one cluster, step by step."""

    def __init__(
        self,
        admin: Admin,
        memory: Memory,
        *,
        portions: Portions | None = None,
        patience: float = PATIENCE_SECONDS,
        first_patience: float = FIRST_PATIENCE_SECONDS,
    ) -> None:
        self._admin = admin
        self._memory = memory
        self._portions = portions or Portions()
        self._patience = patience
        self._first_patience = first_patience
        self._known: dict[str, RememberedBroker] = {}
        self._recalled_at: int | None = None
        self._listed: list[BrokerAddress] | None = None
        self._missing_since: dict[str, int | None] = {}
        self._name_server_failure: GantryError | None = None
        self._asking_route: asyncio.Task[None] | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._written_down: dict[str, tuple[int, int]] = {}
        self._watches: dict[BrokerAddress, BrokerWatch] = {}
        self._owners = OwnersWatch(admin)
        self._names: tuple[object, dict[str, Topic], dict[str, Group]] = (None, {}, {})

    async def step(self, now: int, shown: Shown = NOTHING_SHOWN) -> LagReading:
        """Return the reading at `now` (ms). Does not raise if the cluster does not answer: the reading says so."""
        is_first = self._recalled_at is None
        await self._recall(now)
        patience = self._first_patience if is_first else self._patience
        route = self._ask_route()
        if is_first:
            await asyncio.wait([route], timeout=patience)
        self._follow_brokers()
        asked = [task for watch in self._watches.values() for task in watch.ask(now, shown)]
        await asyncio.wait([route, *asked], timeout=patience)
        for watch in self._watches.values():
            watch.note(now)
        reading = self._compose(now)
        self._write_down(now, reading)
        online = {name for facts in reading.facts.values() for name, each in facts.members.items() if each.members}
        members = {name: each for name in online & reading.groups.keys() if (each := reading.members(name)) is not None}
        self._owners.ask(now, members, shown.groups)
        return reading

    async def close(self) -> None:
        """Cancel all running questions."""
        tasks = [task for task in (self._asking_route, self._keeping) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(self._owners.close(), *(watch.close() for watch in self._watches.values()))

    # The brokers

    async def _recall(self, now: int) -> None:
        """Read the memory from time to time: an operator may have removed a broker from it."""
        if self._recalled_at is not None and now - self._recalled_at < _RECALL_EVERY_MS:
            return
        try:
            remembered = await self._memory.recall()
        except DatabaseError as error:
            _log.warning("the memory of brokers could not be read: %s", error)
        else:
            listed = {broker.name for broker in self._listed or ()}
            kept = {name: known for name, known in self._known.items() if name in listed}
            self._known = {**kept, **remembered.brokers}
        self._recalled_at = now

    def _ask_route(self) -> asyncio.Task[None]:
        if self._asking_route is None or self._asking_route.done():
            self._asking_route = asyncio.create_task(self._read_route(), name="brokers of the cluster")
        return self._asking_route

    async def _read_route(self) -> None:
        try:
            self._listed = await self._admin.clusters.brokers()
            self._name_server_failure = None
        except GantryError as error:
            self._name_server_failure = error

    def _follow_brokers(self) -> None:
        """Watch the listed brokers, and remembered ones at their last address unless another broker is there now."""
        wanted = self._all_brokers()
        for gone in self._watches.keys() - wanted:
            self._watches.pop(gone).end()
        for broker in wanted - self._watches.keys():
            self._watches[broker] = BrokerWatch(self._admin, broker, self._portions)

    def _all_brokers(self) -> set[BrokerAddress]:
        listed = self._listed or []
        named = {(broker.name, broker.broker_id) for broker in listed}
        taken = {broker.addr for broker in listed}
        # Keep watching a broker that was just unlisted: its watch knows since when it has been silent.
        watched = {(broker.name, broker.addr): broker for broker in self._watches}
        return set(listed) | {
            watched.get((known.name, address)) or BrokerAddress("", known.name, number, address)
            for known in self._known.values()
            for number, address in known.addresses.items()
            if number == MASTER_ID and (known.name, number) not in named and address not in taken
        }

    # Their answers

    def _compose(self, now: int) -> LagReading:
        reading = LagReading(
            at=now,
            brokers=sorted(self._watches, key=lambda broker: (broker.name, broker.broker_id)),
            owners=self._owners.owners,
            disagreeing=self._owners.disagreeing,
            remembered=dict(self._known),
            name_server_reason=None if self._name_server_failure is None else reason_of(self._name_server_failure),
        )
        names = {broker.addr: broker.name for broker in self._watches}
        # While no name server answers, none says that the broker at an address is still the same.
        listed = {broker.name for broker in self._listed or ()} if self._name_server_failure is None else set()
        answering: dict[str, BrokerWatch] = {}
        for broker, watch in self._watches.items():
            reason = _reason(watch, names, None if broker.name in listed else self._known.get(broker.name))
            if reason is not None:
                reading.reasons[broker.addr] = reason
                continue
            assert watch.facts.runtime is not None
            reading.runtimes[broker.addr] = watch.facts.runtime
            if broker.is_master:
                answering[broker.name] = watch
                reading.facts[broker.name] = watch.facts
        reading.changed = self._changed(answering)
        reading.missing = self._missing(answering, reading.reasons)
        reading.topics, reading.groups = self._names_of(answering, reading)
        return reading

    def _changed(self, answering: Mapping[str, BrokerWatch]) -> dict[str, Changed] | None:
        """Return what changed, and whom it concerns that members answered; None if a broker does not tell it."""
        followed = {name: watch.following for name, watch in answering.items() if watch.following is not None}
        changed = {name: following.take_changed() for name, following in followed.items()}
        moved = self._owners.take_changed()
        for each in changed.values():
            each.groups |= moved
        return changed if len(changed) == len(answering) else None

    def _missing(self, answering: Mapping[str, BrokerWatch], reasons: Mapping[str, str]) -> list[Missing]:
        masters = {broker.name: watch for broker, watch in self._watches.items() if broker.is_master}
        names = self._known.keys() | {broker.name for broker in self._watches}
        found = [
            _missing(name, masters.get(name), self._known.get(name), reasons)
            for name in sorted(names - answering.keys())
        ]
        # One outage has one beginning, whatever it is called on the way.
        before = self._missing_since
        self._missing_since = {each.broker: before.get(each.broker) or each.since for each in found}
        return [replace(each, since=self._missing_since[each.broker]) for each in found]

    def _names_of(
        self, answering: Mapping[str, BrokerWatch], reading: LagReading
    ) -> tuple[dict[str, Topic], dict[str, Group]]:
        """Return all topics and groups; built again only after a list or the set of answering brokers changed."""
        version = (
            tuple((name, id(watch), watch.lists_version) for name, watch in sorted(answering.items())),
            tuple((each.broker, len(each.topics), len(each.groups)) for each in reading.missing),
        )
        if self._names[0] != version:
            self._names = (version, _topics(reading, self._system_topics()), _groups(reading))
        return self._names[1], self._names[2]

    def _system_topics(self) -> set[str]:
        """Return the brokers' own topics; some have the name of the cluster, which only name servers know."""
        known = self._known.values()
        remembered = {name for each in known for name, at in each.topics.items() if at.kind is TopicKind.SYSTEM}
        return remembered | own_names(self._watches) | {each.name for each in known}

    # What to remember

    def _write_down(self, now: int, reading: LagReading) -> None:
        if self._keeping is not None and not self._keeping.done():
            return
        at = datetime.fromtimestamp(now / 1000, UTC)
        listed = sorted({broker.name for broker in self._listed or ()})
        sightings = [each for name in listed if (each := self._sighting(name, now, reading)) is not None]
        for seen in sightings:
            self._known[seen.name] = _seen(self._known.get(seen.name), seen, at)
        if sightings:
            self._keeping = asyncio.create_task(self._keep(sightings, at), name="memory of brokers")

    def _knows(self, name: str, watch: BrokerWatch | None) -> bool:
        """Return whether the broker is remembered, with the identity that it tells now."""
        known, runtime = self._known.get(name), None if watch is None else watch.facts.runtime
        return known is not None and (runtime is None or known.store_id == (runtime.store_id or ""))

    def _sighting(self, name: str, now: int, reading: LagReading) -> Sighting | None:
        """Return what to store about a listed broker; None if nothing has changed."""
        watch = next((w for b, w in self._watches.items() if b.name == name and b.is_master), None)
        answers = watch is not None and name in reading.facts
        version = watch.lists_version if watch is not None and answers else 0
        before, written_at = self._written_down.get(name, (-1, 0))
        if (version == before or not answers) and self._knows(name, watch) and now - written_at < _WRITE_DOWN_EVERY_MS:
            return None
        self._written_down[name] = (version if answers else before, now)
        addresses = {broker.broker_id: broker.addr for broker in self._listed or () if broker.name == name}
        if watch is None or not answers:
            return Sighting(name, addresses)
        facts = watch.facts
        return Sighting(
            name,
            addresses,
            {topic: QueueCounts.of(config, reading.topics[topic].kind) for topic, config in facts.topics.items()},
            {group: each.topics for group, each in facts.groups.items() if not each.is_built_in},
            store_id=reading.runtimes[watch.broker.addr].store_id or "",
        )

    async def _keep(self, sightings: list[Sighting], at: datetime) -> None:
        try:
            await self._memory.keep(sightings, at)
        except DatabaseError as error:
            _log.warning("the memory of brokers could not be written: %s", error)
            for seen in sightings:
                self._written_down.pop(seen.name, None)


def _reason(watch: BrokerWatch, names: Mapping[str, str], unlisted: RememberedBroker | None) -> str | None:
    """Return why the broker does not answer, None if it does; `unlisted` is what is remembered of one that is not."""
    broker = watch.broker
    if watch.failure is not None:
        return reason_of(watch.failure, names)
    if not watch.answers:
        return f"{broker.name} at {broker.addr} has not answered yet"
    assert watch.facts.runtime is not None
    # At the address of an unlisted broker there may now be another one. Every broker has a topic with its own name, and
    # one of Gantry an identity.
    if unlisted is not None and broker.is_master:
        is_other = unlisted.is_other(watch.facts.runtime.store_id) or broker.name not in watch.facts.topics
        return replaced(broker.addr, broker.name) if is_other else None
    return None


def _missing(
    name: str, watch: BrokerWatch | None, known: RememberedBroker | None, reasons: Mapping[str, str]
) -> Missing:
    since = None if known is None else int(known.last_seen_at.timestamp() * 1000)
    topics = {} if known is None else known.topics
    groups = {} if known is None else known.groups
    if watch is None:
        address = "" if known is None else known.address
        return Missing(name, address, f"no name server lists a master of {name}", since, topics, groups)
    if watch.facts.at and watch.silent_since is not None:
        since = watch.silent_since
    return Missing(name, watch.broker.addr, reasons[watch.broker.addr], since, topics, groups)


def _topics(reading: LagReading, own: Collection[str]) -> dict[str, Topic]:
    configs: dict[str, dict[str, TopicConfig]] = {}
    for name, facts in reading.facts.items():
        for topic, config in facts.topics.items():
            configs.setdefault(topic, {})[name] = config
    for each in reading.missing:
        for topic, counts in each.topics.items():
            configs.setdefault(topic, {})[each.broker] = counts.config(topic)
    names = frozenset(own)
    return {topic: Topic(topic, kind_of(topic, names), by_broker) for topic, by_broker in sorted(configs.items())}


def _groups(reading: LagReading) -> dict[str, Group]:
    configs: dict[str, dict[str, SubscriptionGroupConfig]] = {}
    topics: dict[str, set[str]] = {}
    for facts in reading.facts.values():
        for name, group in facts.groups.items():
            configs.setdefault(name, {}).update(group.configs)
            topics.setdefault(name, set()).update(group.topics)
    for each in reading.missing:
        for name, read in each.groups.items():
            configs.setdefault(name, {})
            topics.setdefault(name, set()).update(read)
    return {name: Group(name, configs[name], tuple(sorted(topics[name]))) for name in sorted(configs)}


def _seen(known: RememberedBroker | None, seen: Sighting, at: datetime) -> RememberedBroker:
    return RememberedBroker(
        name=seen.name,
        addresses=seen.addresses,
        first_seen_at=at if known is None else known.first_seen_at,
        last_seen_at=at,
        topics=seen.topics if seen.topics is not None else {} if known is None else known.topics,
        groups=seen.groups if seen.groups is not None else {} if known is None else known.groups,
        store_id=seen.store_id if seen.store_id is not None else "" if known is None else known.store_id,
        processes=() if known is None else known.processes,
    )
