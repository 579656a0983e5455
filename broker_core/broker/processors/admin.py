"""What has no better room: figures of the running broker, statistics, housekeeping (remoting-protocol.md 2.10, 3.8)."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from broker_core.broker.errors import StatisticUnknown
from broker_core.broker.parts import Parts
from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.stats import Window
from broker_core.protocol import bodies
from broker_core.protocol.bodies.clusters import BrokerStatsData, BrokerStatsItem
from broker_core.protocol.bodies.groups import DelayOffsetSerializeWrapper
from broker_core.protocol.bodies.routes import KVTable
from broker_core.protocol.codes import VERSION, VERSION_DESC, RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers import admin as headers
from broker_core.remoting.connection import Connection

_GIB: Final = 1024**3
_IDLE_POOLS: Final = ("send", "pull", "query")
"""The reference has a queue before each pool of threads; here a request is worked off when it is read."""


class AdminProcessor:
    """Answers 28, 45, 306, 315, 316 and 329."""

    def __init__(self, parts: Parts, counts: Mapping[str, Callable[[], int]]) -> None:
        """`counts` are figures of other processors, by the names under which they are told."""
        self._parts = parts
        self._counts = counts

    def handlers(self) -> Handlers:
        """Return which code is answered by which method."""
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
        """Return how far each delay level is delivered."""
        table = {level: offset for level, offset, _end in self._parts.delay.progress()}
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(DelayOffsetSerializeWrapper(table)))

    def stats(self, request: Command, _: Connection) -> Command:
        """Return one statistic over the last minute, hour and day."""
        header = request.header(headers.ViewBrokerStatsDataRequest)
        windows = self._parts.stats.find(header.stats_name, header.stats_key)
        if windows is None:
            raise StatisticUnknown(f"The stats <{header.stats_name}> <{header.stats_key}> not exist")
        body = BrokerStatsData(*map(_item, windows))
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode(body))

    def drop_expired(self, _request: Command, _: Connection) -> Command:
        """Drop now what the retention allows to drop."""
        self._parts.store.drop_expired(self._parts.clock(), at_any_hour=True)
        return Command.response(ResponseCode.SUCCESS)

    def drop_unused_topics(self, _request: Command, _: Connection) -> Command:
        """Drop the queues of topics that no longer exist."""
        for topic in {topic for topic, _queue in self._parts.store.queues()}:
            if self._parts.topics.find(topic) is None:
                self._parts.store.delete_topic(topic)
        return Command.response(ResponseCode.SUCCESS)

    # -- figures

    def _figures(self) -> Iterator[tuple[str, str]]:
        yield from self._identity()
        yield from self._throughput()
        yield from self._store_figures()
        for name in _IDLE_POOLS:
            yield f"{name}ThreadPoolQueueSize", "0"
            yield f"{name}ThreadPoolQueueCapacity", "10000"
            yield f"{name}ThreadPoolQueueHeadWaitTimeMills", "0"
        yield "EndTransactionQueueSize", "0"
        yield "EndTransactionThreadPoolQueueCapacity", "100000"
        for level, offset, end in self._parts.delay.progress():
            yield f"scheduleMessageOffset_{level}", f"{offset},{end}"

    def _identity(self) -> Iterator[tuple[str, str]]:
        seconds = (self._parts.clock() - self._parts.started_at) // 1000
        days, hours, minutes = seconds // 86_400, seconds // 3600 % 24, seconds // 60 % 60
        yield "brokerVersionDesc", VERSION_DESC
        yield "brokerVersion", str(VERSION)
        yield "bootTimestamp", str(self._parts.started_at)
        yield "runtime", f"[ {days} days, {hours} hours, {minutes} minutes, {seconds % 60} seconds ]"
        yield "startAcceptSendRequestTimeStamp", "0"
        for name, count in self._counts.items():
            yield name, str(count())

    def _throughput(self) -> Iterator[tuple[str, str]]:
        stats = self._parts.stats
        rates = (
            ("putTps", stats.put),
            ("getTransferedTps", stats.got),
            ("getTransferredTps", stats.got),  # 5.x
            ("getFoundTps", stats.got_found),
            ("getMissTps", stats.got_missed),
        )
        for name, rate in rates:
            yield name, _spaced(rate.per_second())
        polls = zip(stats.got_found.per_second(), stats.got_missed.per_second(), strict=True)
        yield "getTotalTps", _spaced(tuple(found + missed for found, missed in polls))
        for name, rate in (("Put", stats.put), ("Get", stats.got)):
            yield f"msg{name}TotalYesterdayMorning", str(rate.yesterday_morning)
            yield f"msg{name}TotalTodayMorning", str(rate.today_morning)
            yield f"msg{name}TotalTodayNow", str(rate.total)
        yield "putMessageTimesTotal", str(max(stats.put.total, 1))
        yield "putMessageSizeTotal", str(stats.put_bytes)
        yield "putMessageAverageSize", str(stats.put_bytes / max(stats.put.total, 1))
        for name in ("putMessageFailedTimes", "putMessageEntireTimeMax", "getMessageEntireTimeMax"):
            yield name, "0"

    def _store_figures(self) -> Iterator[tuple[str, str]]:
        figures = self._parts.store.stats()
        folder = self._parts.config.store.folder
        disk = shutil.disk_usage(folder)
        ratio = str(_used(disk.used, disk.free))
        yield "commitLogMinOffset", str(figures.log_begin)
        yield "commitLogMaxOffset", str(figures.log_end)
        yield "commitLogDiskRatio", ratio
        yield f"commitLogDiskRatio_{folder / 'commitlog'}", ratio
        yield "consumeQueueDiskRatio", ratio
        yield "commitLogDirCapacity", f"Total : {disk.total / _GIB:.1f} GiB, Free : {disk.free / _GIB:.1f} GiB."
        yield "earliestMessageTimeStamp", str(-1 if figures.oldest_store_time is None else figures.oldest_store_time)
        yield "dispatchBehindBytes", str(figures.undispatched_bytes)
        yield "dispatchMaxBuffer", "0"
        yield "pageCacheLockTimeMills", "0"
        yield "remainTransientStoreBufferNumbs", "0"
        yield "remainHowManyDataToFlush", f"{figures.unflushed_bytes} B"


def _used(used: int, usable: int) -> float:
    """Return the share of a disk that is in use, in whole percent rounded up, as RocketMQ reckons it."""
    return math.ceil(used * 100 / (used + usable)) / 100


def _spaced(rates: tuple[float, ...]) -> str:
    return " ".join(f"{rate:.3f}" for rate in rates)


def _item(window: Window) -> BrokerStatsItem:
    return BrokerStatsItem(window.sum, window.tps, window.avgpt)
