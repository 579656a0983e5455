"""Counts of stored and delivered messages: rates, and sums per minute, hour and day (broker/README.md#statistics).

On the hot path counting is one addition. `step(now)`, once a second, takes the samples whose differences are the rates.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from broker_core.broker.latency import Latency
from broker_core.protocol.topics import BROWSING_GROUP

BROKER_PUT_NUMS: Final = "BROKER_PUT_NUMS"
BROKER_GET_NUMS: Final = "BROKER_GET_NUMS"
TOPIC_PUT_NUMS: Final = "TOPIC_PUT_NUMS"
TOPIC_PUT_SIZE: Final = "TOPIC_PUT_SIZE"
GROUP_GET_NUMS: Final = "GROUP_GET_NUMS"
GROUP_GET_SIZE: Final = "GROUP_GET_SIZE"
SNDBCK_PUT_NUMS: Final = "SNDBCK_PUT_NUMS"

RATE_WINDOWS_S: Final = (10, 60, 600)
DAY_MS: Final = 86_400_000

_MINUTE_SAMPLE_MS: Final = 10_000
_HOUR_SAMPLE_MS: Final = 600_000
_DAY_SAMPLE_MS: Final = 3_600_000
_SPANS: Final = ((_MINUTE_SAMPLE_MS, 6), (_HOUR_SAMPLE_MS, 6), (_DAY_SAMPLE_MS, 24))
"""The interval of the samples of each window, and their number; a window ends at the last step, not at a sample."""


@dataclass(frozen=True, slots=True)
class Window:
    """The counts in a window of time: sum, sum per second, average per event."""

    sum: int
    tps: float
    avgpt: float


_NOTHING: Final = Window(0, 0.0, 0.0)


class Counter:
    """A sum that only grows, the number of its increments, and samples of both."""

    __slots__ = ("_latest", "_samples", "sum", "times")

    def __init__(self) -> None:
        self.sum = 0
        self.times = 0
        self._latest = (0, 0, 0)
        self._samples: tuple[deque[tuple[int, int, int]], ...] = tuple(deque(maxlen=size) for _, size in _SPANS)

    def step(self, now: int) -> None:
        """Take the samples that are due at `now`; a new counter was zero one period ago."""
        for (period, _), samples in zip(_SPANS, self._samples, strict=True):
            if not samples:
                samples.append((now - period, 0, 0))
            elif now - samples[-1][0] >= period:
                samples.append((now, self.sum, self.times))
        self._latest = (now, self.sum, self.times)

    def windows(self) -> tuple[Window, Window, Window]:
        """Return the last 50 to 60 s, 50 to 60 min and 23 to 24 h, each up to the last step."""
        minute, hour, day = (_between(samples[0], self._latest) if samples else _NOTHING for samples in self._samples)
        return minute, hour, day


class Rate:
    """Messages per second over the last 10, 60 and 600 seconds, and totals at midnight."""

    def __init__(self, now: int) -> None:
        self.total = 0
        self.today_morning = 0
        self.yesterday_morning = 0
        self._day = now // DAY_MS
        self._samples: deque[tuple[int, int]] = deque([(now, 0)], maxlen=RATE_WINDOWS_S[-1] + 1)

    def step(self, now: int) -> None:
        """Take the sample of this second, and record the total when a new day has begun (UTC)."""
        self._samples.append((now, self.total))
        if now // DAY_MS != self._day:
            self._day = now // DAY_MS
            self.yesterday_morning, self.today_morning = self.today_morning, self.total

    def restart(self, now: int) -> None:
        """Let the rates be of what comes from now on; the totals stay."""
        self._samples.clear()
        self._samples.append((now, self.total))

    def per_second(self) -> tuple[float, ...]:
        """Return the rates over the windows of `RATE_WINDOWS_S`, or since the last (re)start if that is shorter."""
        newest_at, newest = self._samples[-1]
        rates = []
        for window in RATE_WINDOWS_S:
            at, total = self._samples[max(0, len(self._samples) - 1 - window)]
            rates.append((newest - total) * 1000 / (newest_at - at) if newest_at > at else 0.0)
        return tuple(rates)


class Stats:
    """All counters of the broker, by name and key."""

    def __init__(self, cluster: str, now: int) -> None:
        self._cluster = cluster
        self._counters: dict[tuple[str, str], Counter] = {}
        self._put_by_topic: dict[str, tuple[Counter, Counter]] = {}
        self._got_by_group: dict[tuple[str, str], tuple[Counter, Counter]] = {}
        self.put = Rate(now)
        self.got = Rate(now)
        self.got_found = Rate(now)
        self.got_missed = Rate(now)
        self.put_times = Latency(now)
        self.pull_times = Latency(now)
        self.put_bytes = 0
        self.put_failed = 0
        self._is_of_master = False

    def follow_role(self, now: int, *, is_master: bool) -> None:
        """Let the rate of stored messages begin anew where the broker becomes master, or ceases to be."""
        if is_master != self._is_of_master:
            self._is_of_master = is_master
            self.put.restart(now)

    def count_put(self, topic: str, messages: int, size: int, *, requests: int = 1) -> None:
        """Count stored messages; `size` is their size in the store, in bytes."""
        self.put.total += messages
        self.put_bytes += size
        counters = self._put_by_topic.get(topic)
        if counters is None:
            counters = self._counter(TOPIC_PUT_NUMS, topic), self._counter(TOPIC_PUT_SIZE, topic)
            self._put_by_topic[topic] = counters
        nums, sizes = counters
        nums.sum += messages
        nums.times += requests
        sizes.sum += size
        sizes.times += requests

    def count_got(self, group: str, topic: str, messages: int, size: int) -> None:
        """Count messages that were delivered to a group, by pull or by lease; what tools read counts for them alone."""
        if group != BROWSING_GROUP:
            self.got.total += messages
        self.got_found.total += 1
        counters = self._got_by_group.get((topic, group))
        if counters is None:
            key = f"{topic}@{group}"
            counters = self._counter(GROUP_GET_NUMS, key), self._counter(GROUP_GET_SIZE, key)
            self._got_by_group[topic, group] = counters
        nums, sizes = counters
        nums.sum += messages
        nums.times += 1
        sizes.sum += size
        sizes.times += 1

    def count_missed(self) -> None:
        """Count a pull that found nothing."""
        self.got_missed.total += 1

    def count_sent_back(self, group: str, topic: str) -> None:
        """Count a message that a consumer sent back for a retry."""
        counter = self._counter(SNDBCK_PUT_NUMS, f"{topic}@{group}")
        counter.sum += 1
        counter.times += 1

    def find(self, name: str, key: str) -> tuple[Window, Window, Window] | None:
        """Return the windows of one counter, or None if nothing was counted there."""
        if key == self._cluster and name in (BROKER_PUT_NUMS, BROKER_GET_NUMS):
            return self._counter(name, key).windows()
        counter = self._counters.get((name, key))
        return counter.windows() if counter is not None else None

    def consume_tps(self, group: str, topic: str) -> float:
        """Return the messages per second that a group received of a topic in the last minute."""
        counters = self._got_by_group.get((topic, group))
        return counters[0].windows()[0].tps if counters is not None else 0.0

    def put_tps(self, topic: str) -> float:
        """Return the messages per second that were stored in a topic in the last minute."""
        counters = self._put_by_topic.get(topic)
        return counters[0].windows()[0].tps if counters is not None else 0.0

    def step(self, now: int) -> None:
        """Take all samples that are due; called once a second."""
        for rate in (self.put, self.got, self.got_found, self.got_missed):
            rate.step(now)
        for times in (self.put_times, self.pull_times):
            times.step(now)
        for name, total in ((BROKER_PUT_NUMS, self.put.total), (BROKER_GET_NUMS, self.got.total)):
            counter = self._counter(name, self._cluster)
            counter.sum = counter.times = total
        for counter in self._counters.values():
            counter.step(now)

    def forget(self, keys: Iterable[str]) -> None:
        """Remove the counters of deleted topics or groups; `keys` are those of `find`."""
        gone = set(keys)
        self._counters = {place: counter for place, counter in self._counters.items() if place[1] not in gone}
        self._put_by_topic = {topic: pair for topic, pair in self._put_by_topic.items() if topic not in gone}
        self._got_by_group = {
            place: pair for place, pair in self._got_by_group.items() if f"{place[0]}@{place[1]}" not in gone
        }

    def _counter(self, name: str, key: str) -> Counter:
        return self._counters.setdefault((name, key), Counter())


def _between(first: tuple[int, int, int], last: tuple[int, int, int]) -> Window:
    first_at, first_sum, first_times = first
    last_at, last_sum, last_times = last
    amount, times = last_sum - first_sum, last_times - first_times
    seconds = (last_at - first_at) / 1000
    return Window(amount, amount / seconds if seconds > 0 else 0.0, amount / times if times else 0.0)
