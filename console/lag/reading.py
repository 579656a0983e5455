"""What the sampler asks a cluster each second, and in which portions.

The lag of every group and the figures of every broker come each second. What costs one question per topic or group is
asked in portions of fixed size, round and round, so that a cluster of thousands costs no more a second than one of ten.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from broker_core.client.admin import Admin
from broker_core.client.admin.clusters import BrokerAddress, BrokerRuntime
from broker_core.client.admin.groups import Group, GroupConnections, GroupStats
from broker_core.client.admin.topics import Topic, TopicStats
from broker_core.client.answers import Answers
from broker_core.errors import GantryError
from broker_core.protocol.bodies import MessageQueue

TOPICS_A_STEP: Final = 200
GROUPS_A_STEP: Final = 50
# Lists of names change rarely and cost most of all.
LISTS_EVERY_MS: Final = 5_000
# Asking members who reads what makes each of them answer with all it is doing.
OWNERS_EVERY_MS: Final = 10_000


@dataclass(slots=True)
class Reading:
    """What is known of a cluster at `at` (ms); parts that were not asked for this time are those of an earlier one."""

    at: int = 0
    brokers: list[BrokerAddress] = field(default_factory=list)
    runtimes: Answers[BrokerRuntime] = field(default_factory=Answers)
    topics: dict[str, Topic] = field(default_factory=dict)
    topic_stats: dict[str, TopicStats] = field(default_factory=dict)
    fresh_topics: list[str] = field(default_factory=list)
    """Topics whose figures were asked for this time."""
    groups: dict[str, Group] = field(default_factory=dict)
    group_stats: Answers[GroupStats] = field(default_factory=Answers)
    members: dict[str, GroupConnections] = field(default_factory=dict)
    owners: dict[str, dict[MessageQueue, str]] = field(default_factory=dict)
    delays: dict[str, dict[MessageQueue, int]] = field(default_factory=dict)
    """Group → queue → age (ms) of the oldest message it has not consumed, for groups that lag."""
    silent_because: str | None = None
    """Why nothing of the cluster could be asked; None when at least a name server answered."""


class Reader:
    """Asks one cluster, step by step; keeps what changes rarely."""

    def __init__(self, admin: Admin) -> None:
        self._admin = admin
        self._known = Reading()
        self._lists_at = 0
        self._owners_at: dict[str, int] = {}
        self._topic_turn = 0
        self._group_turn = 0

    async def step(self, now: int) -> Reading:
        """Return the reading at `now` (ms). Never raises for a cluster that does not answer: the reading says so."""
        known = self._known
        known.at = now
        try:
            known.brokers = await self._admin.clusters.brokers()
            if now - self._lists_at >= LISTS_EVERY_MS:
                await self._read_lists(now)
            known.silent_because = None
        except GantryError as error:
            known.silent_because = str(error)
            return known
        known.runtimes, known.group_stats = await asyncio.gather(
            self._admin.clusters.runtime(), self._admin.groups.all_consume_stats()
        )
        await asyncio.gather(self._read_topics(), self._read_members(now), self._read_delays())
        return known

    async def _read_lists(self, now: int) -> None:
        topics, groups = await asyncio.gather(self._admin.topics.list(), self._admin.groups.list())
        known = self._known
        # A broker that does not answer takes no topic and no group away.
        known.topics = topics.found if topics.complete else {**known.topics, **topics.found}
        known.groups = groups.found if groups.complete else {**known.groups, **groups.found}
        for gone in known.topic_stats.keys() - known.topics.keys():
            del known.topic_stats[gone]
        for gone in known.members.keys() - known.groups.keys():
            known.members.pop(gone)
            known.owners.pop(gone, None)
        self._lists_at = now

    async def _read_topics(self) -> None:
        names, self._topic_turn = _portion(self._known.topics, TOPICS_A_STEP, self._topic_turn)
        found = (await self._admin.topics.stats_of(names)).found
        self._known.topic_stats.update(found)
        self._known.fresh_topics = list(found)  # and those alone: a rate needs to know when its total was read

    async def _read_members(self, now: int) -> None:
        visible = [name for name, group in self._known.groups.items() if not group.is_built_in]
        names, self._group_turn = _portion(visible, GROUPS_A_STEP, self._group_turn)
        await asyncio.gather(*(self._read_members_of(name, now) for name in names))

    async def _read_members_of(self, name: str, now: int) -> None:
        members = self._known.members[name] = await self._admin.groups.connections(name)
        if not members.members:
            self._known.owners.pop(name, None)
        elif now - self._owners_at.get(name, 0) >= OWNERS_EVERY_MS:
            self._owners_at[name] = now
            self._known.owners[name] = await self._admin.groups.owners(name)

    async def _read_delays(self) -> None:
        behind = [name for name, stats in self._known.group_stats.found.items() if stats.lag > 0][:GROUPS_A_STEP]
        self._known.delays = {
            name: delays
            for name, delays in zip(behind, await asyncio.gather(*map(self._delays_of, behind)), strict=True)
            if delays
        }

    async def _delays_of(self, group: str) -> dict[MessageQueue, int]:
        stats = self._known.group_stats.found[group]
        topics = {
            queue.topic for queue, offset in stats.queues.items() if offset.broker_offset > offset.consumer_offset
        }
        delays: dict[MessageQueue, int] = {}
        for topic in topics:
            try:
                answers = await self._admin.groups.time_spans(group, topic)
            except GantryError:  # a topic that was deleted meanwhile has no delay to show
                continue
            for spans in answers.found.values():
                delays.update({span.message_queue: span.delay_time for span in spans})
        return delays


def _portion(names: Iterable[str], size: int, turn: int) -> tuple[list[str], int]:
    """Return the next `size` names, and the turn of the portion after."""
    every = list(names)
    if len(every) <= size:
        return every, 0
    begin = turn % len(every)
    return (every + every)[begin : begin + size], (begin + size) % len(every)
