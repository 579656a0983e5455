"""Topics, groups, offsets and levels of the master, kept by its slave (broker/README.md#metadata-of-the-master)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from broker_core.broker.delay import DelayQueues
from broker_core.broker.groups import Groups
from broker_core.broker.offsets import ConsumerOffsets
from broker_core.broker.registration import Registration
from broker_core.broker.replication.master_facts import ask, ask_facts
from broker_core.broker.replication.passed_on import PassedOn, QueueOfGroup
from broker_core.broker.settings import Settings
from broker_core.broker.topics import Topics
from broker_core.errors import GantryError
from broker_core.logs import get_logger
from broker_core.protocol import bodies
from broker_core.protocol.bodies.groups import (
    ConsumerOffsetSerializeWrapper,
    DelayOffsetSerializeWrapper,
    SubscriptionGroupWrapper,
)
from broker_core.protocol.bodies.topics import DataVersion, TopicConfigSerializeWrapper
from broker_core.protocol.headers.groups import GetAllSubscriptionGroupConfigRequest
from broker_core.protocol.headers.offsets import UpdateConsumerOffsetRequest
from broker_core.protocol.headers.replication import GetAllConsumerOffsetRequest, GetAllDelayOffsetRequest
from broker_core.protocol.headers.topics import GetAllTopicConfigRequest
from broker_core.remoting.client import RemotingClient

APACHE_MS: Final = 10_000
"""So often does a slave of RocketMQ ask."""

_LOOK_S: Final = 0.1
_SEPARATOR: Final = "@"

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Registers:
    """What is taken over from the master."""

    topics: Topics
    groups: Groups
    offsets: ConsumerOffsets
    delay: DelayQueues


class _Bodies(NamedTuple):
    """What a round was answered: most rounds bring the same as the one before."""

    topics: bytes = b""
    offsets: bytes = b""
    delays: bytes = b""
    groups: bytes = b""


_ASKED: Final = (
    GetAllTopicConfigRequest(),
    GetAllConsumerOffsetRequest(),
    GetAllDelayOffsetRequest(),
    GetAllSubscriptionGroupConfigRequest(),
)
"""In the order of `_Bodies`."""


class Metadata:
    """Asks the master again and again; `master` returns its main port, None while this broker has none."""

    def __init__(
        self,
        registers: Registers,
        *,
        master: Callable[[], str | None],
        passed_on: PassedOn,
        registration: Registration,
        remoting: RemotingClient,
        settings: Settings,
        clock: Callable[[], int],
    ) -> None:
        self._registers = registers
        self._master = master
        self._passed_on = passed_on
        self._registration = registration
        self._remoting = remoting
        self._settings = settings
        self._clock = clock
        self._is_gantry: dict[str, bool] = {}
        self._seen = _Bodies()
        self._topics_version = self._groups_version = DataVersion()
        self._said = ""
        self.synced_at: int | None = None
        """When the last round ended, in ms since 1970."""

    async def run(self) -> None:
        """Take over the master's state, round after round, until cancelled."""
        while True:
            address = self._master()
            if address is None:
                await asyncio.sleep(_LOOK_S)
                continue
            try:
                await self.round(address)
                self._said = ""
            except GantryError as error:
                self._say(address, str(error))
            await self._pause(address)

    async def finish(self) -> None:
        """Do nothing: no slave of this kind becomes a master by itself."""

    def _say(self, address: str, reason: str) -> None:
        if reason != self._said:
            self._said = reason
            _log.warning("master=%s: its topics, groups and offsets are not known: %s", address, reason)

    async def _pause(self, address: str) -> None:
        """Wait for the next round; another master, or a commit for it, is not waited for so long."""
        period_ms = self._settings.config.replication.sync_metadata_ms
        loop = asyncio.get_running_loop()
        began = loop.time()
        while self._master() == address:
            is_soon = self._is_gantry.get(address, True) or self._passed_on
            wait_ms = period_ms if is_soon else max(period_ms, APACHE_MS)
            left = began + wait_ms / 1000 - loop.time()
            if left <= 0:
                return
            await asyncio.sleep(min(left, _LOOK_S))

    async def round(self, address: str) -> None:
        """Ask for everything once, and pass on what was committed here; raises MasterUnclear and MalformedBody."""
        if address not in self._is_gantry:
            self._is_gantry = {address: (await ask_facts(self._remoting, address)).is_gantry}
            self._seen = _Bodies()
        news = _Bodies(*[await ask(self._remoting, address, header) for header in _ASKED])
        if self._master() != address:
            return  # the answers came for a role that is over
        self._take_registers(news)
        waiting = self._take_offsets(news.offsets)
        self._seen = news
        self.synced_at = self._clock()
        for queue, offset in waiting.items():
            await ask(self._remoting, address, UpdateConsumerOffsetRequest(*queue, offset))
            self._passed_on.done(queue, offset)

    def _take_registers(self, news: _Bodies) -> None:
        own, seen = self._registers, self._seen
        if news.topics != seen.topics or own.topics.version != self._topics_version:
            topics = bodies.decode(TopicConfigSerializeWrapper, news.topics)
            if own.topics.replace(topics, now=self._clock()):
                self._registration.want_all()
            self._topics_version = own.topics.version
        if news.groups != seen.groups or own.groups.version != self._groups_version:
            own.groups.replace(bodies.decode(SubscriptionGroupWrapper, news.groups))
            self._groups_version = own.groups.version
        own.delay.replace(bodies.decode(DelayOffsetSerializeWrapper, news.delays).offset_table)

    def _take_offsets(self, body: bytes) -> dict[QueueOfGroup, int]:
        """Put the master's offsets over the own ones; return the commits of clients here that it lacks."""
        if body == self._seen.offsets and not self._passed_on:
            return {}
        known = dict(_offsets(bodies.decode(ConsumerOffsetSerializeWrapper, body)))
        waiting = self._passed_on.above(known)
        for queue, offset in known.items():
            if queue not in waiting:
                self._registers.offsets.commit(*queue, offset)
        return waiting


def _offsets(wrapper: ConsumerOffsetSerializeWrapper) -> Iterator[tuple[QueueOfGroup, int]]:
    for key, queues in wrapper.offset_table.items():
        topic, _, group = key.partition(_SEPARATOR)
        for queue_id, offset in queues.items():
            yield QueueOfGroup(group, topic, queue_id), offset
