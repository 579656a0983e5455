"""Follows a Gantry broker: takes what changed since the last answer, whatever the number of topics and groups.

A broker of Apache RocketMQ has no such question; `BrokerWatch` asks it in portions instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from broker_core.client.admin import Admin
from broker_core.client.admin.clusters import BrokerAddress
from broker_core.client.admin.groups import Group, GroupConnections, GroupStats, connections_of
from broker_core.protocol.bodies import MessageQueue, OffsetWrapper, SubscriptionGroupConfig, TopicOffset
from broker_core.protocol.bodies.progress import GroupOffsets, Progress
from broker_core.protocol.headers.progress import GetProgressRequest
from console.lag.facts import BrokerFacts, Delay

_ANSWER_MS: Final = 15_000
NOBODY: Final = GroupConnections()


@dataclass(slots=True)
class Changed:
    """The names whose figures changed since somebody looked."""

    topics: set[str] = field(default_factory=set)
    groups: set[str] = field(default_factory=set)


class Following:
    """Keeps the facts of one broker up to date."""

    def __init__(self, admin: Admin, broker: BrokerAddress, facts: BrokerFacts) -> None:
        self.changed = Changed()
        self.topics_version = ""
        self.groups_version = ""
        self._admin = admin
        self._broker = broker
        self._facts = facts
        self._session = ""
        self._version = 0
        self._topics_of: dict[str, tuple[str, ...]] = {}
        self._configs: dict[str, SubscriptionGroupConfig] = {}

    def take_changed(self) -> Changed:
        """Return what changed since this was called last."""
        changed, self.changed = self.changed, Changed()
        return changed

    async def step(self, now: int) -> bool:
        """Take over what changed until `now` (ms); return whether there are other groups, or groups of other topics.

        Raises NotSupported if the broker has no such question.
        """
        pages = await self._pages()
        if pages[0].session != self._session:
            self._begin()
        is_other = False
        for page in pages:
            is_other |= self._take(page, now)
        last = pages[-1]
        self._session, self._version = last.session, last.version
        self.topics_version, self.groups_version = last.topics_version, last.groups_version
        self._facts.at = self._facts.followed_at = now
        return is_other

    def set_configs(self, configs: dict[str, SubscriptionGroupConfig]) -> None:
        """Take over the settings of all groups."""
        self._configs = configs
        self.list_groups()

    def list_groups(self) -> None:
        """Make the list of groups: those with settings, and those with offsets alone."""
        name, topics = self._broker.name, self._topics_of
        known = self._facts.groups
        found: dict[str, Group] = {}
        for group in sorted(self._configs.keys() | topics.keys()):
            configs = {name: self._configs[group]} if group in self._configs else {}
            made = Group(group, configs, topics.get(group, ()))
            before = known.get(group)
            found[group] = before if before is not None and before == made else made
        self._facts.groups = found

    async def _pages(self) -> list[Progress]:
        first = GetProgressRequest(self._session, self._version)
        pages = [await self._ask(first)]
        while not pages[-1].is_last:
            last = pages[-1]
            page = await self._ask(GetProgressRequest(last.session, last.version, goes_on=True))
            # A broker that was started anew between two pages has not looked yet at what it has.
            pages = [*pages, page] if page.session == last.session else [await self._ask(first)]
        return pages

    async def _ask(self, wanted: GetProgressRequest) -> Progress:
        return await self._admin.progress.on(self._broker.addr, wanted, timeout_ms=_ANSWER_MS)

    def _begin(self) -> None:
        """Forget what an earlier run of the broker said."""
        facts = self._facts
        self.changed.topics |= facts.ends.keys()
        self.changed.groups |= facts.stats.keys()
        for kept in (facts.ends, facts.ends_at, facts.kept_bytes, facts.stats, facts.members, facts.delays):
            kept.clear()
        self._topics_of = {}

    def _take(self, page: Progress, now: int) -> bool:
        facts, changed = self._facts, self.changed
        changed.topics.update(page.topics, page.gone_topics)
        changed.groups.update(page.groups, page.gone_groups, page.members, page.left_groups)
        broker = self._broker.name
        for name, ranges in page.topics.items():
            facts.ends[name] = {
                MessageQueue(name, broker, number): TopicOffset(*row) for number, row in enumerate(ranges.queues)
            }
            facts.kept_bytes[name] = ranges.kept_bytes
        for name in page.gone_topics:
            facts.ends.pop(name, None)
            facts.kept_bytes.pop(name, None)
        is_other = bool(page.gone_groups)
        for name, offsets in page.groups.items():
            is_other |= self._take_group(name, offsets, now)
        for name in page.gone_groups:
            facts.stats.pop(name, None)
            self._topics_of.pop(name, None)
            self._drop_delays(name)
        facts.members.update((name, connections_of(answer)) for name, answer in page.members.items())
        facts.members.update(dict.fromkeys(page.left_groups, NOBODY))
        return is_other

    def _take_group(self, name: str, offsets: GroupOffsets, now: int) -> bool:
        queues: dict[MessageQueue, OffsetWrapper] = {}
        self._drop_delays(name)
        for topic in sorted(offsets.queues):
            for number, (end, consumed, last, held, unread_since) in enumerate(offsets.queues[topic]):
                queue = MessageQueue(topic, self._broker.name, number)
                queues[queue] = OffsetWrapper(end, consumed, last, None if held < 0 else consumed + held)
                if end > consumed:
                    self._facts.delays[name, queue] = Delay(consumed, unread_since or None, now)
        self._facts.stats[name] = GroupStats(queues)
        self._facts.members.setdefault(name, NOBODY)
        topics = tuple(sorted(offsets.topics))
        is_other = self._topics_of.get(name) != topics
        self._topics_of[name] = topics
        return is_other

    def _drop_delays(self, group: str) -> None:
        known = self._facts.stats.get(group)
        for queue in () if known is None else known.queues:
            self._facts.delays.pop((group, queue), None)
