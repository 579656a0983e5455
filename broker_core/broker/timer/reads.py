"""Lists and counts waiting messages, in a thread of their own: millions may wait while the broker serves."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from broker_core.broker.timer.index import HOUR_MS
from broker_core.broker.timer.records import Parked, id_word, key_word

T = TypeVar("T")

MAX_COUNTS: Final = 20_000
"""Rows of one summary; beyond them it says that it is partial."""

_DAY_HOURS: Final = 24


class Wanted(NamedTuple):
    """Which messages to list: those due in [begin, end) (ms) behind a place in the order, of a topic, by a word."""

    begin: int
    end: int
    after: tuple[int, int]
    topic: str | None
    key: str | None
    message_id: str | None
    most: int


class TopicFigures(NamedTuple):
    """One topic: how many wait, and the first and the last due time (ms)."""

    topic: str
    waiting: int
    first_due: int
    last_due: int


class BucketFigures(NamedTuple):
    """How many of a topic are due from `begin` on, for the length of a bucket."""

    begin: int
    topic: str
    due: int


class LastDay(NamedTuple):
    """The last 24 hours, by whole hours; `since` is when the figures begin (ms)."""

    delivered: int
    late: int
    worst_ms: int
    recalled: int
    since: int


class Summary(NamedTuple):
    """Everything that waits, in figures."""

    topics: list[TopicFigures]
    buckets: list[BucketFigures]
    is_partial: bool
    last_day: LastDay


class TimerReads:
    """Answers questions about the committed state of the index; `executor` has one thread."""

    def __init__(self, path: Path, executor: Executor) -> None:
        self._uri = f"{path.absolute().as_uri()}?mode=ro"
        self._path = path
        self._executor = executor

    async def list(self, wanted: Wanted) -> list[Parked]:
        """Return the messages, first those that are due first, without their words."""
        return await self._ask(lambda db: _list(db, wanted))

    async def summary(self, begin: int, end: int, bucket_ms: int, now: int) -> Summary:
        """Count what waits by topic, and what is due within [begin, end) by topic and bucket."""
        return await self._ask(lambda db: _summary(db, begin, end, bucket_ms, now))

    async def checkpoint(self, _now: int) -> None:
        """Move the log of the index into its file; raises sqlite3.Error."""

        def run() -> None:
            connection = sqlite3.connect(self._path)
            try:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                connection.close()

        await asyncio.get_running_loop().run_in_executor(self._executor, run)

    async def _ask(self, question: Callable[[sqlite3.Connection], T]) -> T:
        def run() -> T:
            connection = sqlite3.connect(self._uri, uri=True)
            try:
                return question(connection)
            finally:
                connection.close()

        return await asyncio.get_running_loop().run_in_executor(self._executor, run)


def _list(db: sqlite3.Connection, wanted: Wanted) -> list[Parked]:
    words = [id_word(wanted.message_id)] if wanted.message_id else []
    if wanted.key:
        words += [key_word(wanted.key), id_word(wanted.key)]
    conditions = ["due >= ?", "due < ?", "(due, seq) > (?, ?)"]
    values: list[int | str] = [wanted.begin, wanted.end, *wanted.after]
    if wanted.topic:
        conditions.append("topic = ?")
        values.append(wanted.topic)
    if words:
        marks = ", ".join("?" * len(words))
        conditions.append(f"seq IN (SELECT seq FROM words WHERE word IN ({marks}))")  # noqa: S608 - marks only
        values += words
    rows = db.execute(
        f"SELECT seq, due, log_offset, topic, stored_at FROM pending WHERE {' AND '.join(conditions)} "  # noqa: S608
        "ORDER BY due, seq LIMIT ?",
        (*values, wanted.most),
    )
    return [Parked(*row) for row in rows]


def _summary(db: sqlite3.Connection, begin: int, end: int, bucket_ms: int, now: int) -> Summary:
    topics = db.execute("SELECT topic, count(*), min(due), max(due) FROM pending GROUP BY topic").fetchall()
    buckets = db.execute(
        "SELECT ? + (due - ?) / ? * ? AS bucket, topic, count(*) FROM pending WHERE due >= ? AND due < ? "
        "GROUP BY bucket, topic ORDER BY bucket LIMIT ?",
        (begin, begin, bucket_ms, bucket_ms, begin, end, MAX_COUNTS + 1),
    ).fetchall()
    day = db.execute(
        "SELECT total(delivered), total(late), max(worst_ms), total(recalled) FROM hours WHERE hour > ?",
        (now // HOUR_MS - _DAY_HOURS,),
    ).fetchone()
    since = db.execute("SELECT value FROM state WHERE name = 'since'").fetchone()[0]
    last_day = LastDay(int(day[0]), int(day[1]), int(day[2] or 0), int(day[3]), int(since))
    is_partial = len(buckets) > MAX_COUNTS
    return Summary(
        list(map(TopicFigures._make, topics)),
        list(map(BucketFigures._make, buckets[:MAX_COUNTS])),
        is_partial,
        last_day,
    )
