"""The figures of a running broker that dashboards show, under RocketMQ's names."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from broker_core.broker.delay import DelayQueues
from broker_core.broker.limits import REACHED
from broker_core.broker.stats import Stats
from broker_core.protocol.codes import ABILITIES_KEY, NEWEST_KEY, RESETS_QUEUES, STORE_ID_KEY, VERSION, VERSION_DESC
from broker_core.store import MessageStore

_GIB: Final = 1024**3
_QUANTILES: Final = (("50", 0.5), ("99", 0.99), ("999", 0.999))
_IDLE_POOLS: Final = ("send", "pull", "query", "ack")
"""RocketMQ has a queue before each thread pool; here a request is handled as soon as it is read."""


Figures = dict[str, Callable[[], int | str | None]]
"""Reads a figure, by name."""


class RuntimeInfo:
    """Reads the figures from the parts of the broker on each call."""

    def __init__(
        self,
        *,
        store: MessageStore,
        store_id: str,
        folder: Path,
        delay: DelayQueues,
        stats: Stats,
        figures: Figures,
        clock: Callable[[], int],
    ) -> None:
        """`folder` is the store's; `figures` are others, by the names under which they are shown.

        None is not shown: it is not known.
        """
        self._store = store
        self._store_id = store_id
        self._folder = folder
        self._delay = delay
        self._stats = stats
        self._figures = figures
        self._clock = clock
        self._started_at = clock()

    def __call__(self) -> Iterator[tuple[str, str]]:
        """Return name and text of every figure."""
        yield from self._identity()
        yield from self._throughput()
        yield from self._latencies()
        yield from self._store_figures()
        yield "limitsReached", " ".join(f"{name}={count}" for name, count in sorted(REACHED.items()))
        for name in _IDLE_POOLS:
            yield f"{name}ThreadPoolQueueSize", "0"
            yield f"{name}ThreadPoolQueueCapacity", "10000"
            yield f"{name}ThreadPoolQueueHeadWaitTimeMills", "0"
        yield "EndTransactionQueueSize", "0"
        yield "EndTransactionThreadPoolQueueCapacity", "100000"
        for level, offset, end in self._delay.progress():
            yield f"scheduleMessageOffset_{level}", f"{offset},{end}"

    def _identity(self) -> Iterator[tuple[str, str]]:
        seconds = (self._clock() - self._started_at) // 1000
        days, hours, minutes = seconds // 86_400, seconds // 3600 % 24, seconds // 60 % 60
        yield "brokerVersionDesc", VERSION_DESC
        yield "brokerVersion", str(VERSION)
        yield "bootTimestamp", str(self._started_at)
        yield "runtime", f"[ {days} days, {hours} hours, {minutes} minutes, {seconds % 60} seconds ]"
        yield "startAcceptSendRequestTimeStamp", "0"
        yield "brokerActive", "true"  # 5.x: false for one that stands aside for a master
        yield ABILITIES_KEY, RESETS_QUEUES
        yield STORE_ID_KEY, self._store_id
        for name, read in self._figures.items():
            if (figure := read()) is not None:
                yield name, str(figure)

    def _throughput(self) -> Iterator[tuple[str, str]]:
        stats = self._stats
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

    def _latencies(self) -> Iterator[tuple[str, str]]:
        """Yield times in ms; none while nothing was stored or read. RocketMQ 5 has those of putting."""
        for name, times in (("put", self._stats.put_times), ("get", self._stats.pull_times)):
            for digits, share in _QUANTILES:
                took = times.quantile_ms(share)
                if took is not None:
                    yield f"{name}Latency{digits}", f"{took:.4f}"

    def _store_figures(self) -> Iterator[tuple[str, str]]:
        figures = self._store.stats()
        folder = self._folder
        disk = shutil.disk_usage(folder)
        ratio = str(_used(disk.used, disk.free))
        yield "commitLogMinOffset", str(figures.log_begin)
        yield "commitLogMaxOffset", str(figures.log_end)
        yield "commitLogDiskRatio", ratio
        yield f"commitLogDiskRatio_{folder / 'commitlog'}", ratio
        yield "consumeQueueDiskRatio", ratio
        yield "commitLogDirCapacity", f"Total : {disk.total / _GIB:.1f} GiB, Free : {disk.free / _GIB:.1f} GiB."
        yield "earliestMessageTimeStamp", str(-1 if figures.oldest_store_time is None else figures.oldest_store_time)
        yield NEWEST_KEY, str(self._store.newest_store_time or -1)
        yield "dispatchBehindBytes", str(figures.undispatched_bytes)
        yield "dispatchMaxBuffer", "0"
        yield "pageCacheLockTimeMills", "0"
        yield "remainTransientStoreBufferNumbs", "0"
        yield "remainHowManyDataToFlush", f"{figures.unflushed_bytes} B"


def _used(used: int, usable: int) -> float:
    """Return the used share of a disk, in whole percent rounded up, as RocketMQ calculates it."""
    return math.ceil(used * 100 / (used + usable)) / 100


def _spaced(rates: tuple[float, ...]) -> str:
    return " ".join(f"{rate:.3f}" for rate in rates)
