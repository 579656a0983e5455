"""A day of minutes of each topic, in Redis.

Of ten thousand topics most stay as they are for hours. A row is therefore written only when it differs from the one
before, which holds for all minutes that follow; once an hour it is repeated, so that no row needs an older one than
that. To keep "nothing changed" and "nobody looked" apart, a cluster has one list of the minutes that were sampled: a
minute gets there after all its rows were written, and a row does not outlast a minute that is missing.

A row has what the brokers count at the end of its minute, not rates: the sum over a time is then exact, and a broker is
asked nothing more than it is asked for the live figures. A topic that appears while all minutes are sampled gets a row
that says 0 for the minute before: what was stored until its first minute ended is then known, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final, cast

import msgspec
import redis
import redis.asyncio
from msgspec import Struct

from broker_core.client.admin.groups import GroupStats
from console.lag.reading import LagReading
from console.lag.shapes import TopicState

MINUTE_MS: Final = 60_000
_REPEAT_MINUTES: Final = 60
# A day, one hour so that a whole day stays readable while one looks at it, and the repetition before it.
KEPT_MINUTES: Final = 25 * 60
_STORED_MINUTES: Final = KEPT_MINUTES + _REPEAT_MINUTES
TOPICS_A_STEP: Final = 500
"""How many rows are written in one step, or more if all would not be written within half a minute."""
_WRITING_STEPS: Final = 30

# Appends one row to each list, and drops those before a minute. A list is as short as its topic is quiet, so how many
# rows it may have says nothing of their age.
_APPEND: Final = """
local kept_ms, oldest = ARGV[1], tonumber(ARGV[2])
for index, key in ipairs(KEYS) do
  redis.call("RPUSH", key, ARGV[index + 2])
  while cmsgpack.unpack(redis.call("LINDEX", key, 0))[1] < oldest do
    redis.call("LPOP", key)
  end
  redis.call("PEXPIRE", key, kept_ms)
end
"""


class Row(Struct, frozen=True, array_like=True):
    """A topic at the end of a minute; None is unknown."""

    minute: int
    """Minutes since 1970."""
    written: int | None = None
    """Messages that were ever stored in it, as its queues count."""
    consumed: int | None = None
    """Messages that all groups together moved on by in this minute."""
    messages: int | None = None
    size_bytes: int | None = None
    max_lag: int | None = None
    """The largest of all readings in this minute."""

    @property
    def figures(self) -> tuple[int | None, ...]:
        """All but the minute."""
        return self.written, self.consumed, self.messages, self.size_bytes, self.max_lag


_ENCODE: Final = msgspec.msgpack.Encoder().encode
_DECODE: Final = msgspec.msgpack.Decoder(Row).decode
_DECODE_MINUTE: Final = msgspec.msgpack.Decoder(tuple[int]).decode


def minutes_key(cluster: str) -> str:
    """Return the list of the minutes that were sampled."""
    return f"gantry:topic-minutes:{cluster}"


def topic_key(cluster: str, topic: str) -> str:
    """Return the list of a topic's rows."""
    return f"gantry:topic-history:{cluster}:{topic}"


class TopicKeeper:
    """Writes the minutes of one cluster's topics."""

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._minute: int | None = None
        self._last: dict[str, Row] = {}
        self._stats: dict[str, dict[str, GroupStats]] | None = None
        self._largest: dict[str, int] = {}
        """The largest lag of each topic since the minute began."""
        self._ended: int | None = None
        self._is_whole = False
        """Whether the last minute's reading knew all topics."""
        self._waiting: dict[str, tuple[Row, ...]] = {}
        self._portion = 0

    async def keep(self, store: redis.asyncio.Redis, reading: LagReading, topics: Mapping[str, TopicState]) -> None:
        """Take the first reading after the end of a minute for that minute; write a portion of what waits."""
        minute = reading.at // MINUTE_MS
        if self._minute is not None and minute > self._minute + 1:
            self._largest.clear()
        self._note_lags(topics)
        if self._minute is not None and minute > self._minute:
            await self._forget_gone(store, reading, topics)
            # What one reading says of minutes in which there was none is nothing, and what was not written in time is a
            # gap: then every topic begins anew.
            if minute > self._minute + 1 or self._ended is not None:
                self._last.clear()
                self._waiting.clear()
                self._stats, self._ended, self._is_whole = None, None, False
            self._end(minute - 1, reading, topics)
            # It ended with this reading, which the next one begins with.
            self._largest.clear()
            self._note_lags(topics)
        self._minute = minute
        await self._write(store)

    def _note_lags(self, topics: Mapping[str, TopicState]) -> None:
        largest = self._largest
        for name, topic in topics.items():
            lag = topic.max_lag
            if lag and lag > largest.get(name, 0):
                largest[name] = lag

    def _end(self, minute: int, reading: LagReading, topics: Mapping[str, TopicState]) -> None:
        before, self._stats = self._stats, {name: dict(facts.stats) for name, facts in reading.facts.items()}
        consumed = _consumed(before, self._stats)
        # A broker that was not there the minute before may have brought its topics along.
        knew_all = self._is_whole and before is not None and before.keys() == self._stats.keys()
        self._is_whole = not reading.missing and bool(reading.facts)
        for name, topic in topics.items():
            row = _row(minute, reading, topic, consumed, self._largest.get(name, 0))
            last = self._last.get(name)
            if last is None or last.figures != row.figures or minute >= last.minute + _REPEAT_MINUTES:
                self._last[name] = row
                is_new = last is None and knew_all
                self._waiting[name] = (Row(minute - 1, written=0), row) if is_new else (row,)
        self._ended = minute
        self._portion = max(TOPICS_A_STEP, len(self._waiting) // _WRITING_STEPS + 1)

    async def _write(self, store: redis.asyncio.Redis) -> None:
        if self._ended is None:
            return
        names = list(self._waiting)[: self._portion]
        keys = [topic_key(self._cluster, name) for name in names for _ in self._waiting[name]]
        rows = [_ENCODE(row) for name in names for row in self._waiting[name]]
        if len(names) == len(self._waiting):
            keys.append(minutes_key(self._cluster))
            rows.append(_ENCODE((self._ended,)))
        oldest = self._ended - _STORED_MINUTES
        await store.register_script(_APPEND)(keys=keys, args=[_STORED_MINUTES * MINUTE_MS, oldest, *rows])
        for name in names:
            del self._waiting[name]
        if not self._waiting:
            self._ended = None

    async def _forget_gone(
        self, store: redis.asyncio.Redis, reading: LagReading, topics: Mapping[str, TopicState]
    ) -> None:
        """Delete the rows of deleted topics; while a broker is silent none counts as deleted."""
        gone = [] if reading.missing or not reading.facts else list(self._last.keys() - topics.keys())
        if gone:
            await store.delete(*(topic_key(self._cluster, name) for name in gone))
        for name in gone:
            del self._last[name]
            self._waiting.pop(name, None)


async def forget(store: redis.asyncio.Redis, cluster: str) -> None:
    """Let nothing of a deleted cluster be found: without its minutes no row counts."""
    await store.delete(minutes_key(cluster))


def _row(
    minute: int, reading: LagReading, topic: TopicState, consumed: Mapping[str, int | None] | None, largest: int
) -> Row:
    facts = [each for name in reading.topics[topic.name].configs if (each := reading.facts.get(name)) is not None]
    # A topic among thousands of Apache RocketMQ may not have been read in this minute.
    if topic.messages is None or any(each.ended_at(topic.name) < minute * MINUTE_MS for each in facts):
        return Row(minute)
    return Row(
        minute,
        written=sum(end.max_offset for each in facts for end in each.ends[topic.name].values()),
        consumed=None if consumed is None else consumed.get(topic.name, 0),
        messages=topic.messages,
        size_bytes=topic.size_bytes,
        max_lag=None if topic.max_lag is None else largest,
    )


def _consumed(
    before: Mapping[str, Mapping[str, GroupStats]] | None, now: Mapping[str, Mapping[str, GroupStats]]
) -> dict[str, int | None] | None:
    """Return by how many messages the groups moved on in each topic, by broker and group; None if that is not known.

    A group that moved back makes its topic's sum unknown; the first offset of a group is no move.
    """
    if before is None or before.keys() != now.keys():
        return None
    moved: dict[str, int | None] = {}
    for broker, groups in now.items():
        for group, stats in groups.items():
            last = before[broker].get(group)
            if last is None or last is stats:
                continue
            for queue, offset in stats.queues.items():
                old = last.queues.get(queue)
                if old is None or old.consumer_offset < 0 or offset.consumer_offset == old.consumer_offset:
                    continue
                total = moved.get(queue.topic, 0)
                is_back = offset.consumer_offset < old.consumer_offset
                moved[queue.topic] = (
                    None if is_back or total is None else total + offset.consumer_offset - old.consumer_offset
                )
    return moved


def read(store: redis.Redis, cluster: str, topic: str, begin: int, end: int) -> list[Row | None]:
    """Return the row of each minute from `begin` up to `end` (minutes since 1970); None for one that nobody sampled."""
    pipe = store.pipeline(transaction=False)
    pipe.lrange(minutes_key(cluster), 0, -1)
    pipe.lrange(topic_key(cluster, topic), 0, -1)
    minutes, rows = cast("tuple[list[bytes], list[bytes]]", pipe.execute())
    return by_minute({_DECODE_MINUTE(minute)[0] for minute in minutes}, [_DECODE(row) for row in rows], begin, end)


def by_minute(sampled: set[int], rows: Sequence[Row], begin: int, end: int) -> list[Row | None]:
    """Return the row of each minute: the last one written, as long as every minute since was sampled."""
    written = {row.minute: row for row in rows}
    found: list[Row | None] = []
    last: Row | None = None
    for minute in range(min(begin, *written) if written else begin, end):
        last = written.get(minute, last) if minute in sampled else None
        if minute >= begin:
            found.append(last)
    return found


def growths(rows: Iterable[Row | None]) -> list[int | None]:
    """Return how much was written in each minute but the first; None unless both ends of it are known.

    A count that falls is that of a topic made anew: how much was written to it is not known either.
    """
    written = [None if row is None else row.written for row in rows]
    return [None if one is None or other is None or other < one else other - one for one, other in pairwise(written)]
