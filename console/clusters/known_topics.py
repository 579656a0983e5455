"""The topics of a cluster: as its brokers report them now, or as remembered for brokers that do not answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from broker_core.client.admin import Admin
from broker_core.client.admin.topics import Topic, kind_of, own_names
from broker_core.client.answers import Answers, ask_all
from broker_core.client.errors import TopicNotFound, Unreachable
from broker_core.protocol.bodies import TopicConfig
from console.clusters.connections import ask
from console.clusters.memory import QueueCounts, RememberedBroker, remembered, remembered_names
from console.clusters.single_flight import SingleFlight


@dataclass(frozen=True, slots=True)
class _Listed:
    """The topics of the brokers that answered, and the version of each broker's settings by address."""

    versions: Mapping[str, str | None]
    tables: Mapping[str, Mapping[str, TopicConfig]]
    answering: frozenset[str]
    topics: Mapping[str, Topic]


# The names of thousands of topics are a large answer: concurrent callers share one question, and what did not change
# since is not asked for again.
_single_flight: SingleFlight[_Listed] = SingleFlight()
_last: Final[dict[str, _Listed]] = {}


def known_topics(cluster: str, *, fresh: bool = False) -> Mapping[str, Topic]:
    """Return all known topics, sorted by name; raise if no broker answers and nothing is remembered.

    A fresh answer was asked for by this call: another one may be from before a change that has just been made.
    """
    names = remembered_names(cluster)

    async def question(admin: Admin) -> _Listed:
        return await _listed(admin, _last.get(cluster), may_be_silent=bool(names))

    try:
        listed = _last[cluster] = (
            ask(cluster, question) if fresh else _single_flight.join(cluster, lambda: ask(cluster, question))
        )
        found, answering = listed.topics, listed.answering
    except Unreachable:
        if not names:
            raise
        found, answering = {}, frozenset()
    if names <= answering:
        return found
    topics = dict(found)
    for broker in remembered(cluster).missing(answering):
        for name, counts in broker.topics.items():
            topics[name] = _with(topics.get(name), name, broker, counts)
    return {name: topics[name] for name in sorted(topics)}


async def _listed(admin: Admin, last: _Listed | None, *, may_be_silent: bool) -> _Listed:
    """Ask each broker for the version of its topics, and for these if it is another one than last time."""
    brokers = await admin.clusters.brokers()
    masters = {broker.addr: broker.name for broker in brokers if broker.is_master}
    versions = await ask_all(masters, admin.topics.version_on)
    kept = {
        addr: last.tables[addr]
        for addr, version in versions.found.items()
        if last is not None and version is not None and last.versions.get(addr) == version
    }
    read = await ask_all([addr for addr in versions.found if addr not in kept], admin.topics.on)
    answers = Answers({**kept, **read.found}, {**versions.failed, **read.failed})
    if not may_be_silent:
        answers.raise_if_none()
    answering = frozenset(masters[addr] for addr in answers.found)
    if last is not None and not read.found and last.answering == answering:
        return last
    configs: dict[str, dict[str, TopicConfig]] = {}
    for addr, table in answers.found.items():
        for name, config in table.items():
            configs.setdefault(name, {})[masters[addr]] = config
    own = own_names(brokers)
    topics = {name: Topic(name, kind_of(name, own), by_broker) for name, by_broker in sorted(configs.items())}
    known = {addr: versions.found[addr] for addr in answers.found}
    return _Listed(known, answers.found, answering, topics)


def known_topic(cluster: str, name: str) -> Topic:
    """Return one topic, including its queues on brokers that are no longer registered; raise TopicNotFound."""
    memory = remembered(cluster)
    try:
        topic: Topic | None = ask(cluster, lambda admin: admin.topics.described(name))
        refusal: TopicNotFound | Unreachable | None = None
    except (TopicNotFound, Unreachable) as error:
        topic, refusal = None, error
    configured = () if topic is None else topic.configs
    holders = [broker for broker in memory.brokers.values() if broker.holds(name) and broker.name not in configured]
    if holders and not isinstance(refusal, Unreachable):
        # A registered broker has reported its topics to the name servers: this topic was just deleted on it.
        there = ask(cluster, lambda admin: admin.clusters.brokers())
        holders = [broker for broker in holders if broker.name not in {each.name for each in there}]
    for broker in holders:
        topic = _with(topic, name, broker, broker.topics[name])
    if topic is None:
        assert refusal is not None
        raise refusal
    return topic


def _with(topic: Topic | None, name: str, broker: RememberedBroker, counts: QueueCounts) -> Topic:
    config = counts.config(name)
    if topic is None:
        return Topic(name, counts.kind, {broker.name: config})
    return replace(topic, configs={**topic.configs, broker.name: config})
