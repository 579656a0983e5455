"""Requirements of `console.lag.topic_history`: what is kept of a topic, minute by minute, in a real Redis."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest
import redis
import redis.asyncio
from hypothesis import given
from hypothesis import strategies as st

from broker_core.client.admin.groups import GroupStats
from broker_core.client.admin.topics import Topic, TopicKind
from broker_core.protocol.bodies import MessageQueue, OffsetWrapper, TopicConfig, TopicOffset
from console.lag import topic_history
from console.lag.facts import BrokerFacts
from console.lag.reading import LagReading, Missing
from console.lag.shapes import TopicState
from console.lag.topic_history import MINUTE_MS, Row, TopicKeeper, by_minute, growths, read, topic_key

FIRST = 30_000_000
"""The first minute that a test samples."""
Figures = dict[str, tuple[int, int]]
"""How many messages were written to each topic, and consumed by its group."""


class Sampling:
    """A keeper that sees figures of a broker minute by minute."""

    def __init__(self, store: redis.asyncio.Redis, url: str) -> None:
        self.cluster = f"c{uuid4().hex[:8]}"
        self.keeper = TopicKeeper(self.cluster)
        self.store = store
        self._url = url
        self._stats: dict[str, GroupStats] = {}

    async def see(self, minute: int, figures: Figures, *, second: int = 0, silent: bool = False) -> None:
        """Sample once in this minute, counted from `FIRST`."""
        at = (FIRST + minute) * MINUTE_MS + second * 1_000
        reading, states = LagReading(at=at), {}
        facts = BrokerFacts(at=at, followed_at=at)
        for topic, (written, consumed) in figures.items():
            queue = MessageQueue(topic, "a", 0)
            facts.ends[topic] = {queue: TopicOffset(0, written, at)}
            stats = GroupStats({queue: OffsetWrapper(written, consumed)})
            # As of a broker that tells only what changed: what did not is the same object.
            if self._stats.get(topic) != stats:
                self._stats[topic] = stats
            facts.stats[f"of-{topic}"] = self._stats[topic]
            reading.topics[topic] = Topic(topic, TopicKind.NORMAL, {"a": TopicConfig(topic)})
            states[topic] = TopicState(name=topic) if silent else _state(topic, written, consumed)
        if silent:
            reading.missing = [Missing("a", "127.0.0.1:1", "refused the connection", at)]
        else:
            reading.facts["a"] = facts
        await self.keeper.keep(self.store, reading, states)

    def read(self, topic: str, begin: int, end: int) -> list[Row | None]:
        with redis.Redis.from_url(self._url) as store:
            return read(store, self.cluster, topic, FIRST + begin, FIRST + end)

    async def rows(self, topic: str) -> int:
        return int(await self.store.llen(topic_key(self.cluster, topic)))


def _state(topic: str, written: int, consumed: int) -> TopicState:
    return TopicState(name=topic, messages=written, size_bytes=written * 10, max_lag=written - consumed)


@pytest.fixture
async def sampling(redis_url: str) -> AsyncIterator[Sampling]:
    async with redis.asyncio.Redis.from_url(redis_url) as store:
        yield Sampling(store, redis_url)


async def test_a_minute_has_the_counts_at_its_end_and_what_was_consumed_in_it(sampling: Sampling) -> None:
    for minute, (written, consumed) in enumerate([(0, 0), (100, 0), (160, 40), (160, 160)]):
        await sampling.see(minute, {"orders": (written, consumed)})
    first, second, third, now = sampling.read("orders", 0, 4)
    assert first == Row(FIRST, written=100, consumed=None, messages=100, size_bytes=1_000, max_lag=100)
    assert second == Row(FIRST + 1, written=160, consumed=40, messages=160, size_bytes=1_600, max_lag=120)
    assert third == Row(FIRST + 2, written=160, consumed=120, messages=160, size_bytes=1_600, max_lag=120)
    assert now is None, "it is not over"
    assert growths([first, second, third]) == [60, 0]


async def test_the_largest_lag_of_a_minute_is_that_of_all_its_readings(sampling: Sampling) -> None:
    await sampling.see(0, {"orders": (100, 95), "quiet": (7, 7)})
    for second, consumed in ((20, 200), (40, 350)):
        await sampling.see(0, {"orders": (380, consumed), "quiet": (7, 7)}, second=second)
    await sampling.see(1, {"orders": (400, 390), "quiet": (7, 7)})
    await sampling.see(1, {"orders": (400, 400), "quiet": (7, 7)}, second=30)
    await sampling.see(2, {"orders": (400, 400), "quiet": (7, 7)})
    assert [row and row.max_lag for row in sampling.read("orders", 0, 2)] == [180, 10]
    assert [row and row.max_lag for row in sampling.read("quiet", 0, 2)] == [0, 0]
    # Nothing is carried over minutes that nobody sampled
    await sampling.see(2, {"orders": (900, 400), "quiet": (7, 7)}, second=30)
    await sampling.see(9, {"orders": (900, 899), "quiet": (7, 7)})
    await sampling.see(10, {"orders": (900, 900), "quiet": (7, 7)})
    assert [row and row.max_lag for row in sampling.read("orders", 8, 10)] == [1, 1]


async def test_what_stays_costs_one_row_an_hour_and_is_known_all_the_time(sampling: Sampling) -> None:
    for minute in range(181):
        await sampling.see(minute, {"quiet": (7, 7)})
    assert await sampling.rows("quiet") == 4, "one an hour, and one more once consumption is known"
    rows = sampling.read("quiet", 0, 180)
    assert [row.written for row in rows if row] == [7] * 180
    assert [row.consumed for row in rows[1:] if row] == [0] * 179


async def test_what_nobody_sampled_is_unknown_and_no_zero(sampling: Sampling) -> None:
    # Given a sampler that stops for some minutes, while the topic stays as it is
    for minute in (0, 1, 2):
        await sampling.see(minute, {"orders": (5, 0)})
    sampling.keeper = TopicKeeper(sampling.cluster)
    for minute in (7, 8, 9):
        await sampling.see(minute, {"orders": (5, 0)})
    rows = sampling.read("orders", 0, 10)
    assert [row is not None for row in rows] == [True] * 2 + [False] * 5 + [True] * 2 + [False]
    # And one that sampled nothing for longer than a minute
    await sampling.see(14, {"orders": (5, 0)})
    await sampling.see(15, {"orders": (5, 0)})
    rows = sampling.read("orders", 9, 16)
    assert [row is not None for row in rows] == [False, False, False, False, True, True, False]
    assert rows[4] is not None
    assert rows[4].consumed is None, "of five minutes together nothing is known of one"


async def test_a_silent_broker_makes_a_minute_unknown(sampling: Sampling) -> None:
    for minute, is_silent in enumerate([False, False, True, True, False, False]):
        await sampling.see(minute, {"orders": (5, 5)}, silent=is_silent)
    rows = sampling.read("orders", 0, 5)
    assert [None if row is None else row.written for row in rows] == [5, None, None, 5, 5]
    assert [None if row is None else row.consumed for row in rows] == [None, None, None, None, 0]


async def test_a_topic_that_appears_while_all_is_sampled_begins_at_nothing(sampling: Sampling) -> None:
    old = {"orders": (5, 0)}
    for minute in (0, 1):
        await sampling.see(minute, old)
    for minute in (2, 3):
        await sampling.see(minute, old | {"new": (500, 0)})
    # While a broker is silent, what appears may have been there before
    await sampling.see(4, old | {"new": (500, 0)}, silent=True)
    for minute in (5, 6):
        await sampling.see(minute, old | {"new": (600, 0), "found": (70, 0)})
    assert [row and row.written for row in sampling.read("new", 0, 6)] == [0, 500, 500, None, 600, 600]
    assert [row and row.written for row in sampling.read("found", 0, 6)] == [None, None, None, None, 70, 70]
    assert [row and row.written for row in sampling.read("orders", 0, 1)] == [5], "it was there at the start"


async def test_a_group_that_moves_back_makes_what_was_consumed_unknown(sampling: Sampling) -> None:
    for minute, consumed in enumerate([0, 50, 90, 10, 20]):
        await sampling.see(minute, {"orders": (100, consumed)})
    rows = sampling.read("orders", 0, 4)
    assert [None if row is None else row.consumed for row in rows] == [None, 40, None, 10]


async def test_many_topics_are_written_in_portions_and_count_when_all_are_there(
    sampling: Sampling, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topic_history, "TOPICS_A_STEP", 2)
    figures = {f"t{number}": (number, 0) for number in range(5)}
    await sampling.see(0, figures)
    for second in range(3):
        await sampling.see(1, figures, second=second)
        seen = [sampling.read(topic, 0, 1)[0] for topic in figures]
        assert [row.written for row in seen if row] == ([0, 1, 2, 3, 4] if second == 2 else [])


async def test_rows_go_with_their_topic_and_minutes_with_their_cluster(sampling: Sampling) -> None:
    await sampling.see(0, {"kept": (1, 0), "gone": (1, 0)})
    await sampling.see(1, {"kept": (1, 0), "gone": (1, 0)})
    # While a broker is silent no topic counts as deleted
    await sampling.see(2, {"kept": (1, 0)}, silent=True)
    assert await sampling.rows("gone") == 1
    await sampling.see(3, {"kept": (1, 0)})
    assert await sampling.rows("gone") == 0
    assert 0 < await sampling.store.pttl(topic_key(sampling.cluster, "kept")) <= 26 * 60 * MINUTE_MS
    await topic_history.forget(sampling.store, sampling.cluster)
    assert sampling.read("kept", 0, 3) == [None] * 3


async def test_a_day_and_two_hours_are_kept_however_many_rows_that_is(sampling: Sampling) -> None:
    for minute in range(1_700):
        await sampling.see(minute, {"busy": (minute, 0), "quiet": (7, 7), "calmer": (min(minute, 60), 0)})
    assert await sampling.rows("busy") == 26 * 60 + 1
    assert 25 <= await sampling.rows("quiet") <= 27
    assert 25 <= await sampling.rows("calmer") <= 27
    for topic in ("busy", "quiet", "calmer"):
        assert all(row is not None for row in sampling.read(topic, 1_699 - 25 * 60, 1_699)), topic


@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 2)), min_size=1, max_size=60),
    st.integers(0, 30),
)
def test_rows_left_out_change_nothing(minutes: list[tuple[bool, int]], begin: int) -> None:
    """What is read is the same whether each minute has its row, or only those that differ from the one before."""
    sampled = {number for number, (is_sampled, _) in enumerate(minutes) if is_sampled}
    whole = [Row(number, written=minutes[number][1]) for number in sorted(sampled)]
    rows: list[Row] = []
    last: Any = None
    for row in whole:
        if last is None or last.minute != row.minute - 1 or last.figures != row.figures:
            rows.append(row)
        last = row
    shown = by_minute(sampled, rows, begin, len(minutes))
    wanted = by_minute(sampled, whole, begin, len(minutes))
    assert [row and row.figures for row in shown] == [row and row.figures for row in wanted]
    assert [row is not None for row in shown] == [number in sampled for number in range(begin, len(minutes))]
