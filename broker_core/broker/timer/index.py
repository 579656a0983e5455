"""Which messages wait, by time, id and key: an SQLite file that is derived from the timer's topic.

The log is the truth. The file says how far it follows the topic (`position`) and the log (`log_end`): everything that
was delivered before that log offset is left out of it. What this broker delivered, as the master of an `epoch`, is left
out up to `own_end`; a log that has lost a part of that makes the file worthless. A file that is missing, damaged, or
ahead of the log is built anew. One thread writes; readers (`reads.py`) have connections of their own.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple, Self

from broker_core.broker.timer.records import Done, Event, Parked, Recalled
from broker_core.logs import get_logger
from broker_core.store.errors import StoreFull

FILE_NAME: Final = "pending.db"
HOUR_MS: Final = 3_600_000

_VERSION: Final = 1
_CACHE_KIB: Final = 8 * 1024
# The second is about the file by which several connections share a log.
_FULL: Final = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE)
_SCHEMA: Final = """
CREATE TABLE pending (
    seq INTEGER PRIMARY KEY, due INTEGER NOT NULL, log_offset INTEGER NOT NULL,
    topic TEXT NOT NULL, stored_at INTEGER NOT NULL
);
CREATE INDEX pending_due ON pending (due, seq);
CREATE INDEX pending_topic ON pending (topic, due, seq);
CREATE INDEX pending_place ON pending (log_offset);
CREATE TABLE words (word TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (word, seq)) WITHOUT ROWID;
CREATE INDEX words_seq ON words (seq);
CREATE TABLE recalled (seq INTEGER PRIMARY KEY, at INTEGER NOT NULL);
CREATE TABLE hours (
    hour INTEGER PRIMARY KEY, delivered INTEGER NOT NULL, late INTEGER NOT NULL,
    worst_ms INTEGER NOT NULL, recalled INTEGER NOT NULL
);
CREATE TABLE state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
"""

_log = get_logger(__name__)


class Due(NamedTuple):
    """A message whose time may have come."""

    seq: int
    due: int
    log_offset: int


class Outcomes(NamedTuple):
    """What happened in one step; `worst_ms` is the largest delay beyond the due time."""

    delivered: int
    late: int
    worst_ms: int


class TimerIndex:
    """The waiting messages. Changes are visible to readers after `commit`."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._db = connection
        self.position = self._state("position")
        self.log_end = self._state("log_end")
        self.epoch = self._state("epoch")
        self.own_end = self._state("own_end")
        self.count: int = self._one("SELECT count(*) FROM pending") or 0

    @classmethod
    def open(cls, folder: Path, *, is_suspect: bool, now: int) -> Self:
        """Open the file in `folder`, an empty one if there is none or it is damaged.

        A suspect file is checked as a whole. Raises StoreFull, and sqlite3.Error and OSError when no file can be made.
        """
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / FILE_NAME
        try:
            return cls._open_or_make(path, is_suspect=is_suspect, now=now)
        except sqlite3.Error as error:
            if _is_full(error):
                raise StoreFull(path) from error
            raise

    @classmethod
    def _open_or_make(cls, path: Path, *, is_suspect: bool, now: int) -> Self:
        try:
            if path.exists():
                return cls(path, _connect(path, is_suspect=is_suspect))
        except sqlite3.DatabaseError as error:
            if _is_full(error):
                raise
            _log.warning("timer: %s cannot be used and is built anew: %s", path, error)
        return cls._make(path, now)

    @classmethod
    def _make(cls, path: Path, now: int) -> Self:
        for each in (path, path.with_name(f"{FILE_NAME}-wal"), path.with_name(f"{FILE_NAME}-shm")):
            each.unlink(missing_ok=True)
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous=OFF")  # an empty file that a crash damages is made again
            connection.execute("PRAGMA journal_mode=WAL")
            connection.executescript(_SCHEMA)
            connection.execute("INSERT INTO state VALUES ('since', ?)", (now,))
            connection.execute(f"PRAGMA user_version={_VERSION}")
        return cls(path, _connect(path, is_suspect=False))

    def emptied(self, now: int) -> Self:
        """Replace the file by an empty one and return it."""
        self._db.close()
        return self._make(self.path, now)

    def close(self) -> None:
        """Close the file; what was not committed is derived again."""
        self._db.close()

    # -- changes

    def apply(self, events: Iterable[Event]) -> None:
        """Apply what records of the topic say, in their order."""
        self._begin()
        for event in events:
            if isinstance(event, Parked):
                self._park(event)
            elif isinstance(event, Recalled):
                self._recall(event)
            else:
                self._drop_done(event)

    def _park(self, parked: Parked) -> None:
        seq, due, log_offset, topic, stored_at, words = parked
        changed = self._db.execute("UPDATE pending SET due=?, log_offset=? WHERE seq=?", (due, log_offset, seq))
        if changed.rowcount:
            return
        self._db.execute("INSERT INTO pending VALUES (?, ?, ?, ?, ?)", (seq, due, log_offset, topic, stored_at))
        self._db.executemany("INSERT OR IGNORE INTO words VALUES (?, ?)", [(word, seq) for word in words])
        self.count += 1

    def _recall(self, recalled: Recalled) -> None:
        if not self.remove([recalled.seq]):
            return
        self._db.execute("INSERT OR REPLACE INTO recalled VALUES (?, ?)", recalled)
        self._count_hour(recalled.at, Outcomes(0, 0, 0), recalled=1)

    def _drop_done(self, event: Done) -> None:
        gone = self._db.execute(
            "SELECT seq FROM pending WHERE due <= ? AND log_offset < ?", (event.until, event.upto)
        ).fetchall()
        self.remove([seq for (seq,) in gone])
        self.log_end = max(self.log_end, event.log_offset)

    def remove(self, numbers: Iterable[int]) -> int:
        """Remove messages that do not wait any more; return how many there were."""
        self._begin()
        rows = [(seq,) for seq in numbers]
        gone = self._db.executemany("DELETE FROM pending WHERE seq=?", rows).rowcount if rows else 0
        self._db.executemany("DELETE FROM words WHERE seq=?", rows)
        self.count -= gone
        return gone

    def count_delivered(self, now: int, outcomes: Outcomes) -> None:
        """Add deliveries to the figures of the hour."""
        self._begin()
        self._count_hour(now, outcomes, recalled=0)

    def _count_hour(self, at: int, outcomes: Outcomes, *, recalled: int) -> None:
        self._db.execute(
            "INSERT INTO hours VALUES (?, ?, ?, ?, ?) ON CONFLICT (hour) DO UPDATE SET delivered=delivered+excluded."
            "delivered, late=late+excluded.late, worst_ms=max(worst_ms, excluded.worst_ms), "
            "recalled=recalled+excluded.recalled",
            (at // HOUR_MS, *outcomes, recalled),
        )

    def begin_figures(self, now: int) -> None:
        """Drop the figures of the hours: from `now` (ms) on they are whole."""
        self._begin()
        self._db.execute("DELETE FROM hours")
        self._db.execute("INSERT OR REPLACE INTO state VALUES ('since', ?)", (now,))

    def forget(self, before: int) -> None:
        """Drop recalls and figures from before a time (ms)."""
        self._begin()
        self._db.execute("DELETE FROM recalled WHERE at < ?", (before,))
        self._db.execute("DELETE FROM hours WHERE hour < ?", (before // HOUR_MS,))

    def commit(self, log_end: int) -> None:
        """Make the changes visible and safe against the end of the process; `log_end` as in the module's text."""
        self.log_end = self.own_end = log_end
        self.commit_followed()

    def commit_followed(self) -> None:
        """Do the same with what the topic alone says, whoever delivers."""
        self._begin()
        state = {
            "position": self.position,
            "log_end": self.log_end,
            "epoch": self.epoch,
            "own_end": self.own_end,
        }
        self._db.executemany("INSERT OR REPLACE INTO state VALUES (?, ?)", state.items())
        self._db.execute("COMMIT")

    def roll_back(self) -> None:
        """Undo everything since the last commit."""
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
        self.position, self.log_end = self._state("position"), self._state("log_end")
        self.epoch, self.own_end = self._state("epoch"), self._state("own_end")
        self.count = self._one("SELECT count(*) FROM pending") or 0

    def _begin(self) -> None:
        if not self._db.in_transaction:
            self._db.execute("BEGIN IMMEDIATE")

    # -- questions

    def due(self, now: int, count: int) -> list[Due]:
        """Return up to `count` messages that are due, first those that were due first; equal ones as they came."""
        rows = self._db.execute(
            "SELECT seq, due, log_offset FROM pending WHERE due <= ? ORDER BY due, seq LIMIT ?", (now, count)
        )
        return list(map(Due._make, rows))

    def next_due(self) -> int | None:
        """Return when the next message is due (ms)."""
        return self._one("SELECT min(due) FROM pending")

    def first_place(self) -> int | None:
        """Return the log offset of the oldest record that is still needed."""
        return self._one("SELECT min(log_offset) FROM pending")

    def placed_before(self, log_offset: int, count: int) -> list[Parked]:
        """Return up to `count` messages whose record lies before a log offset, without their words."""
        rows = self._db.execute(
            "SELECT seq, due, log_offset, topic, stored_at FROM pending WHERE log_offset < ? "
            "ORDER BY log_offset LIMIT ?",
            (log_offset, count),
        )
        return [Parked(*row) for row in rows]

    def called(self, topic: str, word: str) -> list[Parked]:
        """Return the waiting messages of a topic that a word finds, without their words."""
        rows = self._db.execute(
            "SELECT p.seq, p.due, p.log_offset, p.topic, p.stored_at FROM words w JOIN pending p ON p.seq = w.seq "
            "WHERE w.word = ? AND p.topic = ? ORDER BY p.due, p.seq",
            (word, topic),
        )
        return [Parked(*row) for row in rows]

    def recalled_at(self, seq: int) -> int | None:
        """Return when a message was recalled (ms), if it was and that is not long ago."""
        return self._one("SELECT at FROM recalled WHERE seq = ?", (seq,))

    def _state(self, name: str) -> int:
        return self._one("SELECT value FROM state WHERE name = ?", (name,)) or 0

    def _one(self, query: str, values: tuple[object, ...] = ()) -> int | None:
        row = self._db.execute(query, values).fetchone()
        return None if row is None or row[0] is None else int(row[0])


def _is_full(error: sqlite3.Error) -> bool:
    """Tell whether an error is about a disk without room; that is no damage."""
    return getattr(error, "sqlite_errorcode", None) in _FULL


def _connect(path: Path, *, is_suspect: bool) -> sqlite3.Connection:
    """Open an existing file; raise sqlite3.DatabaseError when there is none that can be used."""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None)
    try:
        if connection.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
            raise sqlite3.DatabaseError("it has another format")
        if is_suspect and connection.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
            raise sqlite3.DatabaseError("it is damaged")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA wal_autocheckpoint=0")
        connection.execute(f"PRAGMA cache_size=-{_CACHE_KIB}")
    except BaseException:
        connection.close()
        raise
    return connection
