"""A group made like another one: the same settings, and the same offsets in all topics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from msgspec import Meta, Struct

from broker_core.client.admin import Admin
from broker_core.client.admin.groups import Group
from broker_core.client.answers import Answers
from broker_core.client.errors import GroupNotFound
from broker_core.errors import GantryError
from broker_core.protocol.bodies.groups import SubscriptionGroupConfig
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.topics import is_retry_topic
from console.audit.record import Actor, record
from console.clusters import operations
from console.clusters.connections import ask
from console.clusters.memory import remembered
from console.clusters.outcomes import BrokerOutcome, not_listed
from console.clusters.reasons import reason_of
from console.errors import Conflict
from console.offsets.shapes import UnknownQueues
from console.shapes import as_json

MOST_QUEUES: Final = 10_000
"""Offsets that one clone copies; each is a request to its broker."""
_ASK_SECONDS: Final = 60.0


class ClonedTopic(Struct, frozen=True, kw_only=True):
    """What became of the offsets in one topic."""

    topic: str
    queues: Annotated[int, Meta(description="Queues in which the other group has an offset.")]
    copied: Annotated[int, Meta(description="Queues in which the new group has the same offset now.")]
    reason: Annotated[str | None, Meta(description="Why the first of the others was not copied.")]


@dataclass(frozen=True, slots=True)
class Cloned:
    """A group that was made like another one."""

    brokers: Sequence[BrokerOutcome]
    topics: Sequence[ClonedTopic] = ()
    unknown: Sequence[UnknownQueues] = ()
    """Brokers that did not say which offsets the other group has."""
    topics_hidden: bool = False
    """Whether it has offsets in topics that were left out."""

    @property
    def is_whole(self) -> bool:
        """Whether every broker made the group, and every offset was copied."""
        copied = all(topic.copied == topic.queues for topic in self.topics)
        return copied and not self.unknown and all(broker.done for broker in self.brokers)


_Offsets = dict[MessageQueue, int]
Seen = Callable[[Iterable[str]], Sequence[str]]


def clone(by: Actor, cluster: str, source: str, name: str, *, with_offsets: bool, seen: Seen) -> Cloned:
    """Create the group `name` with the settings of `source` and, if wanted, at its offsets; retries are not copied.

    `seen` returns those of some topics that the caller may read; the offsets in the others are left out.

    Raises GroupNotFound, AlreadyExists, and Conflict if the settings to copy are unknown or differ between brokers.
    """
    found = operations.find_group(cluster, source)
    if found is None:
        code = ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST
        raise GroupNotFound(code, f"no consumer group is named {source!r}", cluster)
    # Read first: what cannot be copied must not leave half a clone.
    stored, unknown = _offsets_of(cluster, source) if with_offsets else ({}, ())
    shown = set(seen({queue.topic for queue in stored}))
    offsets = {queue: at for queue, at in stored.items() if queue.topic in shown}
    if len(offsets) > MOST_QUEUES:
        raise Conflict(
            f"Group {source!r} has offsets in {len(offsets):,} queues; a clone copies at most {MOST_QUEUES:,}."
        )
    brokers = operations.create_group(by, cluster, name, _settings_of(found))
    answers = ask(cluster, lambda admin: admin.offsets.set(name, offsets), seconds=_ASK_SECONDS)
    made = Cloned(brokers, _by_topic(offsets, answers), unknown, len(offsets) < len(stored))
    after = {"from": source, "topics": as_json(made.topics), "unknown": as_json(made.unknown)}
    record(by, "group.clone", f"{cluster}/groups/{name}", result="ok" if made.is_whole else "partial", after=after)
    return made


def _settings_of(group: Group) -> Mapping[str, int]:
    """Return the settings to copy; raise Conflict if brokers differ, or if none that answers has them."""
    if not group.configs:
        raise Conflict(f"The settings of group {group.name!r} are unknown: no broker that answers has any.")
    settings = [_copied(config) for config in group.configs.values()]
    if any(each != settings[0] for each in settings):
        names = ", ".join(sorted(group.configs))
        raise Conflict(f"The settings of group {group.name!r} differ between {names}; change them to the same first.")
    return settings[0]


def _copied(config: SubscriptionGroupConfig) -> dict[str, int]:
    return {
        "retry_max_times": config.retry_max_times,
        "retry_queue_nums": config.retry_queue_nums,
        "consume_enable": config.consume_enable,
        "consume_broadcast_enable": config.consume_broadcast_enable,
    }


def _offsets_of(cluster: str, group: str) -> tuple[_Offsets, list[UnknownQueues]]:
    """Return the offsets to copy, and the brokers that did not tell theirs; raise if none did."""

    async def question(admin: Admin) -> tuple[Answers[_Offsets], dict[str, str]]:
        stored = await admin.offsets.all_stored(group)
        return Answers({addr: dict(found) for addr, found in stored.found.items()}, stored.failed), dict(
            await admin.clusters.masters()
        )

    answers, masters = ask(cluster, question)
    answers.raise_if_none()
    asked = [masters.get(addr, addr) for addr in (*answers.found, *answers.failed)]
    offsets = {
        queue: at for found in answers.found.values() for queue, at in found.items() if not is_retry_topic(queue.topic)
    }
    unknown = [
        UnknownQueues(broker=masters.get(addr, addr), reason=reason_of(error, masters))
        for addr, error in answers.failed.items()
    ]
    unlisted = [
        UnknownQueues(broker=broker.name, reason=not_listed(broker))
        for broker in remembered(cluster).missing(asked)
        if group in broker.groups
    ]
    return offsets, [*unknown, *unlisted]


def _by_topic(offsets: Mapping[MessageQueue, int], answers: Answers[None]) -> list[ClonedTopic]:
    queues = Counter(queue.topic for queue in offsets)
    failed: dict[str, list[GantryError]] = {}
    for queue in offsets:
        error = answers.failed.get(f"{queue.topic}@{queue.broker_name}@{queue.queue_id}")
        if error is not None:
            failed.setdefault(queue.topic, []).append(error)
    return [
        ClonedTopic(
            topic=topic,
            queues=count,
            copied=count - len(failed.get(topic, ())),
            reason=reason_of(failed[topic][0]) if topic in failed else None,
        )
        for topic, count in sorted(queues.items())
    ]
