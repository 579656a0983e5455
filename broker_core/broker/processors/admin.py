"""Requests that belong nowhere else: figures of the running broker, statistics, housekeeping."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from broker_core.broker.delay import DelayQueues
from broker_core.broker.errors import StatisticUnknown
from broker_core.broker.housekeeping import in_parts
from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.stats import Stats, Window
from broker_core.broker.topics import Topics
from broker_core.protocol import bodies
from broker_core.protocol.bodies.clusters import BrokerStatsData, BrokerStatsItem
from broker_core.protocol.bodies.groups import DelayOffsetSerializeWrapper
from broker_core.protocol.bodies.routes import KVTable
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers import admin as headers
from broker_core.remoting.connection import Connection
from broker_core.store import MessageStore


class AdminProcessor:
    """Answers 28, 45, 306, 315, 316 and 329."""

    def __init__(
        self,
        *,
        store: MessageStore,
        topics: Topics,
        delay: DelayQueues,
        stats: Stats,
        figures: Callable[[], Iterable[tuple[str, str]]],
        clock: Callable[[], int],
    ) -> None:
        self._store = store
        self._topics = topics
        self._delay = delay
        self._stats = stats
        self._figures = figures
        self._clock = clock

    def handlers(self) -> Handlers:
        return {
            RequestCode.GET_BROKER_RUNTIME_INFO: self.runtime_info,
            RequestCode.GET_ALL_DELAY_OFFSET: self.delay_offsets,
            RequestCode.VIEW_BROKER_STATS_DATA: self.stats,
            RequestCode.DELETE_EXPIRED_COMMITLOG: self.drop_expired,
            RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE: self.drop_expired,
            RequestCode.CLEAN_UNUSED_TOPIC: self.drop_unused_topics,
        }

    def runtime_info(self, _request: Command, _: Connection) -> Command:
        """Return the figures that dashboards show."""
        table = dict(self._figures())
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(KVTable(table)))

    def delay_offsets(self, _request: Command, _: Connection) -> Command:
        """Return the progress of each delay level."""
        table = {level: offset for level, offset, _end in self._delay.progress()}
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(DelayOffsetSerializeWrapper(table)))

    def stats(self, request: Command, _: Connection) -> Command:
        """Return one statistic over the last minute, hour and day."""
        header = request.header(headers.ViewBrokerStatsDataRequest)
        windows = self._stats.find(header.stats_name, header.stats_key)
        if windows is None:
            raise StatisticUnknown(f"The stats <{header.stats_name}> <{header.stats_key}> not exist")
        body = BrokerStatsData(*map(_item, windows))
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(body))

    def drop_expired(self, _request: Command, _: Connection) -> Command:
        """Drop expired segments now."""
        self._store.drop_expired(self._clock(), at_any_hour=True)
        return Command.response(ResponseCode.SUCCESS)

    async def drop_unused_topics(self, _request: Command, _: Connection) -> Command:
        """Drop the queues of topics that no longer exist."""
        for topic in {topic for topic, _queue in self._store.queues()}:
            if self._topics.find(topic) is None:
                await in_parts(self._store.detach_topic(topic)[1])
        return Command.response(ResponseCode.SUCCESS)


def _item(window: Window) -> BrokerStatsItem:
    return BrokerStatsItem(window.sum, window.tps, window.avgpt)
