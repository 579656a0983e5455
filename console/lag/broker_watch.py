"""Watches one broker: its last answers, their time, and why it does not answer.

Each broker is asked separately, and no question is repeated before it has ended: a slow broker does not delay others,
and is not asked more often for being slow. A Gantry broker tells in one answer what changed. From one of Apache
RocketMQ each round brings the lag of every group; questions per topic or per group are asked in portions, first for
those that change or are watched.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Any, Final

from broker_core.client.admin import Admin
from broker_core.client.admin.clusters import BrokerAddress
from broker_core.client.admin.groups import GroupStats
from broker_core.client.errors import NotSupported, TopicNotFound, Unreachable
from broker_core.clock import now_ms
from broker_core.errors import GantryError
from broker_core.protocol.bodies import MessageQueue
from broker_core.protocol.topics import is_dead_letter_topic
from console.clusters.reasons import reason_of
from console.lag.facts import BrokerFacts, Delay
from console.lag.following import Following
from console.lag.quiet_topics import SEARCH_ROUNDS, QuietTopics
from console.lag.turns import Turns

# A broker that does not report its own figures for this time counts as gone.
_PULSE_MS: Final = 4_000
# The lag of thousands of groups is a large answer.
_FIGURES_MS: Final = 15_000
# Lists of names rarely change and cost the most: they take at most this share of the time. Of a broker that does not
# tell whether they changed they are read this often.
_LISTS_EVERY_MS: Final = 5_000
_LISTS_SHARE: Final = 10
_MOVING_MS: Final = 60_000
_AT_ONCE: Final = 64
# No message is older than this: Apache RocketMQ uses -1 as the store time of a message it cannot find.
_FIRST_MOMENT_MS: Final = 24 * 3600 * 1000

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Portions:
    """How many questions of each kind a broker is asked in one round."""

    topics: int = 200
    delays: int = 50
    members: int = 50


@dataclass(frozen=True, slots=True)
class Shown:
    """The topics and groups that pages and sockets show now."""

    topics: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()


class BrokerWatch:
    """Asks one broker in rounds; a slave only for its own figures."""

    def __init__(self, admin: Admin, broker: BrokerAddress, portions: Portions) -> None:
        self.broker = broker
        self.facts = BrokerFacts()
        self.following: Following | None = Following(admin, broker, self.facts)
        """None for a broker that does not tell what changed."""
        self.lists_version = 0
        """Grows with each list of topics and groups that differs from the one before."""
        self.silent_since: int | None = None
        self._admin = admin
        self._portions = portions
        self._shown = Shown()
        self._failures: dict[str, GantryError | None] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._lists_due = 0
        self._versions = ("", "")
        self._unlisted: set[str] = set()
        self._topic_turns: Turns[str] = Turns()
        self._member_turns: Turns[str] = Turns()
        self._delay_turns: Turns[tuple[str, str]] = Turns()
        self._written: dict[tuple[str, str], int] = {}
        self._moved_at: dict[str, int] = {}
        self._quiet_topics = QuietTopics()

    @property
    def failure(self) -> GantryError | None:
        """Why the last question for the broker's own figures or its groups' lag failed; None if it did not."""
        return self._failures.get("pulse") or self._failures.get("figures")

    @property
    def answers(self) -> bool:
        """Whether it answered all last questions."""
        is_read = self.facts.runtime is not None and (bool(self.facts.at) or not self.broker.is_master)
        return is_read and self.failure is None

    def ask(self, now: int, shown: Shown) -> list[asyncio.Task[None]]:
        """Begin a round at `now` (ms) without the questions that are still running; return all running ones."""
        self._shown = shown
        self._begin("pulse", self._read_pulse)
        if self.broker.is_master:
            self._begin("figures", lambda: self._read_figures(now))
            self._begin("details", lambda: self._read_details(now))
        return list(self._tasks.values())

    def note(self, now: int) -> None:
        """Record since when the broker has not answered."""
        if self.answers:
            self.silent_since = None
        elif self.silent_since is None:
            self.silent_since = now

    def end(self) -> None:
        """Cancel the running questions."""
        for task in self._tasks.values():
            task.cancel()

    async def close(self) -> None:
        """Cancel the running questions and wait until they have ended."""
        self.end()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    def _begin(self, kind: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        task = self._tasks.get(kind)
        if task is None or task.done():
            self._tasks[kind] = asyncio.create_task(self._guarded(kind, work()), name=f"{kind} {self.broker.addr}")

    async def _guarded(self, kind: str, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except GantryError as error:
            if self._failures.get(kind) is None:
                reason = reason_of(error, {self.broker.addr: self.broker.name})
                _log.warning("broker=%s: %s could not be read: %s", self.broker.name, kind, reason)
            self._failures[kind] = error
        else:
            self._failures[kind] = None

    # Asked in each round

    async def _read_pulse(self) -> None:
        self.facts.runtime = await self._admin.clusters.runtime_of(self.broker.addr, timeout_ms=_PULSE_MS)

    async def _read_figures(self, now: int) -> None:
        if self.following is not None:
            try:
                await self._follow(self.following, now)
            except NotSupported:
                self.following = None
            else:
                return
        if now >= self._lists_due or self.failure is not None:
            await self._read_lists(now)
        facts, addr = self.facts, self.broker.addr
        facts.stats = await self._admin.groups.all_consume_stats_on(addr, facts.groups, timeout_ms=_FIGURES_MS)
        facts.at = now
        unlisted = facts.stats.keys() - facts.groups.keys()
        if unlisted - self._unlisted:
            self._lists_due = 0  # a group created since; once is enough for one that is never listed
        self._unlisted = unlisted
        written: dict[str, dict[MessageQueue, int]] = {}
        for stats in facts.stats.values():
            for queue, offset in stats.queues.items():
                written.setdefault(queue.topic, {})[queue] = offset.broker_offset
        for topic, ends in written.items():
            self._note_written(("groups", topic), sum(ends.values()), now)

    async def _follow(self, following: Following, now: int) -> None:
        """Take what changed; read the lists of settings again only when the broker says that they are others."""
        if await following.step(now):
            following.list_groups()
            self.lists_version += 1
        topics, groups = following.topics_version, following.groups_version
        if (topics, groups) != self._versions and now >= self._lists_due:
            begun = time.monotonic()
            addr, facts = self.broker.addr, self.facts
            if topics != self._versions[0]:
                facts.topics = await self._admin.topics.on(addr, timeout_ms=_FIGURES_MS)
            if groups != self._versions[1]:
                following.set_configs(await self._admin.groups.configs_on(addr, timeout_ms=_FIGURES_MS))
            self._versions = topics, groups
            facts.listed_at = now
            # Those who changed a setting look at it now: a state that does not know it would undo what they see.
            self._note_lists(now, begun, every_ms=0)
            self.lists_version += 1

    def _note_lists(self, now: int, begun: float, *, every_ms: int = _LISTS_EVERY_MS) -> None:
        """Let the next reading of the lists wait, the longer the longer this one took."""
        took_ms = int((time.monotonic() - begun) * 1000)
        self._lists_due = now + max(every_ms, _LISTS_SHARE * took_ms)

    async def _read_lists(self, now: int) -> None:
        begun = time.monotonic()
        addr = self.broker.addr
        topics, groups = await asyncio.gather(
            self._admin.topics.on(addr, timeout_ms=_FIGURES_MS),
            self._admin.groups.on(addr, self.broker.name, timeout_ms=_FIGURES_MS),
        )
        self._note_lists(now, begun)
        facts = self.facts
        if (topics, groups) != (facts.topics, facts.groups) or not self.lists_version:
            self.lists_version += 1
        facts.topics, facts.groups, facts.listed_at = topics, groups, now
        for gone in facts.ends.keys() - topics.keys():
            self._forget_topic(gone)
        for left in facts.members.keys() - groups.keys():
            del facts.members[left]

    # Asked in portions

    async def _read_details(self, now: int) -> None:
        await asyncio.wait([self._tasks["figures"]])
        if self.facts.at and self.following is None:
            await asyncio.gather(self._read_ends(now), self._read_delays(now), self._read_members(now))

    async def _read_ends(self, now: int) -> None:
        moving = {topic for topic, at in self._moved_at.items() if now - at < _MOVING_MS}
        # The number of all dead letters is unknown until each of their topics was read.
        dead = {topic for topic in self.facts.topics if is_dead_letter_topic(topic) and topic not in self.facts.ends}
        first = moving | dead | self._shown.topics
        size = self._portions.topics
        runtime = self.facts.runtime
        if self._quiet_topics.is_searching(now, None if runtime is None else runtime.stored_total):
            size += len(self.facts.topics) // SEARCH_ROUNDS
        topics = self._topic_turns.pick(self.facts.topics.keys(), size, now, first=first)
        await _each(topics, lambda topic: self._read_ends_of(topic, now))

    async def _read_ends_of(self, topic: str, now: int) -> None:
        try:
            table = await self._admin.topics.table_on(self.broker.addr, topic)
        except TopicNotFound:  # deleted since the list was read
            self._forget_topic(topic)
            return
        ends = dict(table.offset_table)
        self.facts.ends[topic], self.facts.ends_at[topic] = ends, now
        self.facts.kept_bytes[topic] = table.kept_bytes
        if any(now - end.last_update_timestamp < _MOVING_MS for end in ends.values()):
            self._moved_at[topic] = now
        self._note_written(("topic", topic), sum(end.max_offset for end in ends.values()), now)

    async def _read_members(self, now: int) -> None:
        visible = [name for name, group in self.facts.groups.items() if not group.is_built_in]
        names = self._member_turns.pick(visible, self._portions.members, now, first=self._shown.groups)
        await _each(names, self._read_members_of)

    async def _read_members_of(self, group: str) -> None:
        self.facts.members[group] = await self._admin.groups.connections_on(self.broker.addr, group)

    async def _read_delays(self, now: int) -> None:
        facts = self.facts
        waiting: set[tuple[str, str]] = set()
        kept: dict[tuple[str, MessageQueue], Delay] = {}
        for group, stats in facts.stats.items():
            for queue, offset in stats.queues.items():
                if offset.broker_offset <= offset.consumer_offset:
                    continue
                delay = facts.delays.get((group, queue))
                if delay is not None:
                    kept[group, queue] = delay
                if delay is None or delay.offset != offset.consumer_offset:
                    waiting.add((group, queue.topic))
        facts.delays = kept
        first = {pair for pair in waiting if pair[0] in self._shown.groups}
        pairs = self._delay_turns.pick(waiting, self._portions.delays, now, first=first)
        await _each(pairs, self._read_delays_of)

    async def _read_delays_of(self, pair: tuple[str, str]) -> None:
        group, topic = pair
        try:
            spans = await self._admin.groups.time_spans_on(self.broker.addr, group, topic)
        except TopicNotFound:  # deleted since its lag was read
            return
        now = now_ms()
        stats = self.facts.stats.get(group) or GroupStats()
        for span in spans:
            offset = stats.queues.get(span.message_queue)
            # No answer: the message has just arrived, or was already consumed. Ask again.
            if offset is not None and span.delay_time > 0:
                stored_at = now - span.delay_time
                known = stored_at if stored_at > _FIRST_MOMENT_MS else None
                self.facts.delays[group, span.message_queue] = Delay(offset.consumer_offset, known, now)

    def _note_written(self, source: tuple[str, str], written: int, now: int) -> None:
        """Record how many messages a topic has stored, from its groups' lag or from itself: both count separately."""
        growth = written - self._written.get(source, written)
        if growth:
            self._moved_at[source[1]] = now
        if source[0] == "topic":
            self._quiet_topics.count(max(0, growth))
        self._written[source] = written

    def _forget_topic(self, topic: str) -> None:
        self.facts.ends.pop(topic, None)
        self.facts.ends_at.pop(topic, None)
        self.facts.kept_bytes.pop(topic, None)
        self._written.pop(("groups", topic), None)
        self._written.pop(("topic", topic), None)
        self._moved_at.pop(topic, None)


async def _each(names: Iterable[Any], ask: Callable[[Any], Coroutine[Any, Any, None]]) -> None:
    """Ask for each, several at once; raise the first failure at the end. A refusal does not stop the others."""
    places = asyncio.Semaphore(_AT_ONCE)
    failures: list[GantryError] = []

    async def one(name: Any) -> None:
        async with places:
            if any(isinstance(failure, Unreachable) for failure in failures):
                return
            try:
                await ask(name)
            except GantryError as error:
                failures.append(error)

    await asyncio.gather(*(one(name) for name in names))
    if failures:
        raise failures[0]
