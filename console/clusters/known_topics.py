"""The topics of a cluster: as its brokers report them now, or as remembered for brokers that do not answer."""

from __future__ import annotations

from dataclasses import replace

from broker_core.client.admin import Admin
from broker_core.client.admin.topics import Topic
from broker_core.client.errors import TopicNotFound, Unreachable
from broker_core.protocol.bodies import TopicConfig
from console.clusters.connections import ask
from console.clusters.memory import QueueCounts, RememberedBroker, remembered
from console.clusters.single_flight import SingleFlight

# The names of thousands of topics are a large answer: concurrent callers share one question.
_single_flight: SingleFlight[tuple[dict[str, Topic], set[str]]] = SingleFlight()


def known_topics(cluster: str) -> list[Topic]:
    """Return all known topics by name; raise if no broker answers and nothing is remembered."""
    memory = remembered(cluster)

    async def question(admin: Admin) -> tuple[dict[str, Topic], set[str]]:
        answers = await admin.topics.list()
        if not memory.brokers:
            answers.raise_if_none()
        masters = {broker.addr: broker.name for broker in await admin.clusters.brokers() if broker.is_master}
        return answers.found, {name for addr, name in masters.items() if addr not in answers.failed}

    try:
        found, answering = _single_flight.join(cluster, lambda: ask(cluster, question))
    except Unreachable:
        if not memory.brokers:
            raise
        found, answering = {}, set()
    topics = dict(found)
    for broker in memory.missing(answering):
        for name, counts in broker.topics.items():
            topics[name] = _with(topics.get(name), name, broker, counts)
    return [topics[name] for name in sorted(topics)]


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
    config = TopicConfig(name, counts.read, counts.write, counts.perm)
    if topic is None:
        return Topic(name, counts.kind, {broker.name: config})
    return replace(topic, configs={**topic.configs, broker.name: config})
