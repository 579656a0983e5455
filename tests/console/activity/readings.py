"""Readings of a cluster, second by second, with what a test lets its brokers say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from broker_core.client.admin.clusters import BrokerAddress, BrokerRuntime
from broker_core.client.admin.groups import Group, GroupConnections
from broker_core.client.admin.topics import Topic, TopicKind
from broker_core.protocol.bodies import MessageQueue, SubscriptionGroupConfig, TopicConfig
from broker_core.protocol.bodies.groups import Connection
from console.lag.facts import BrokerFacts
from console.lag.reading import LagReading, Missing

T = 1_700_000_000_000
V4_9_8 = 409


def connection(client: str) -> Connection:
    """Return a client of RocketMQ's Java library."""
    return Connection(client, "10.0.0.7:50211", "JAVA", V4_9_8)


def members(*clients: str) -> GroupConnections:
    """Return the members of a group."""
    return GroupConnections({client: connection(client) for client in clients})


@dataclass
class Scene:
    """A cluster whose brokers tell everything, as Gantry's do."""

    now: int = T
    facts: dict[str, BrokerFacts] = field(default_factory=dict)
    booted: dict[str, int] = field(default_factory=dict)
    silent: dict[str, str] = field(default_factory=dict)
    """Brokers that do not answer, with the reason."""
    owners: dict[str, dict[MessageQueue, str]] = field(default_factory=dict)
    name_server_reason: str | None = None
    ports: dict[str, int] = field(default_factory=dict)
    """Of the masters; the usual one unless it is here."""

    def __post_init__(self) -> None:
        self.add("broker-a")

    def add(self, broker: str, *, tells_all: bool = True) -> BrokerFacts:
        """Add a broker with one topic."""
        made = BrokerFacts(at=self.now, listed_at=self.now, followed_at=self.now if tells_all else 0)
        self.facts[broker], self.booted[broker] = made, T - 1_000_000
        self.list_topics(broker, orders=4)
        return made

    def list_topics(self, broker: str, **queues: int) -> None:
        self.facts[broker].topics = {name: TopicConfig(name, count, count) for name, count in queues.items()}

    def list_groups(self, broker: str, **is_enabled: bool) -> None:
        self.facts[broker].groups = {
            name: Group(name, {broker: SubscriptionGroupConfig(name, consume_enable=flag)})
            for name, flag in is_enabled.items()
        }

    def connect(self, broker: str, group: str, *clients: str) -> None:
        """Let the broker name these members of a group."""
        self.facts[broker].members[group] = members(*clients)

    def restart(self, broker: str) -> None:
        """Let it forget its clients, as it does when it starts."""
        self.booted[broker] = self.now
        self.facts[broker].members.clear()

    def after(self, seconds: float) -> LagReading:
        """Return the reading so much later."""
        self.now += int(seconds * 1000)
        answering = {name: facts for name, facts in self.facts.items() if name not in self.silent}
        for facts in answering.values():
            facts.at = self.now
        addresses = {name: f"{name}:{self.ports.get(name, 10911)}" for name in sorted(self.facts)}
        brokers = [BrokerAddress("c", name, 0, addr) for name, addr in addresses.items()]
        return LagReading(
            at=self.now,
            brokers=brokers,
            runtimes={addresses[name]: BrokerRuntime({"bootTimestamp": str(self.booted[name])}) for name in answering},
            facts=answering,
            missing=[Missing(name, f"{name}:10911", reason, self.now) for name, reason in self.silent.items()],
            topics=_topics(self.facts),
            groups={name: group for facts in self.facts.values() for name, group in facts.groups.items()},
            owners=self.owners,
            name_server_reason=self.name_server_reason,
        )


def _topics(facts: Mapping[str, BrokerFacts]) -> dict[str, Topic]:
    names: Sequence[str] = [name for each in facts.values() for name in each.topics]
    return {name: Topic(name, TopicKind.NORMAL, {}) for name in names}
