"""The sampler's door to alerts: one call for each round, with the figures that are in memory already."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
import redis
import redis.asyncio
from asgiref.sync import sync_to_async
from django.db import Error as DatabaseError

from console.alerts import job_values, journal, metrics
from console.alerts.board import Board, Change, Figures, Watched
from console.alerts.growth import Counts, Growth
from console.alerts.life import after_pause
from console.alerts.metrics import OF_JOBS, Values
from console.alerts.now import KEEP_SECONDS, ClusterFigures, Open, RuleFigures, key_of, open_of
from console.lag.state import ClusterState
from console.moments import rfc3339

_RULES_EVERY_MS: Final = 2_000
_NOTED_EVERY_MS: Final = 5_000
_SEEN_KEY: Final = "gantry:alerts:seen:"
_GROWTH_KEY: Final = "gantry:alerts:growth:"
_KEPT_SECONDS: Final = 24 * 3600
# A shorter pause is a slow round.
_PAUSE_MS: Final = 10_000

_log = logging.getLogger(__name__)


class ClusterWatch:
    """Evaluates the alert rules of one cluster, round by round. Takes over what an earlier sampler left."""

    def __init__(self, cluster: str, store: redis.asyncio.Redis) -> None:
        self._cluster = cluster
        self._store = store
        self._board: Board | None = None
        self._growth = Growth()
        self._rules: list[Watched] = []
        self._of_jobs: dict[str, Values] = {}
        self._last: dict[str, Values] = {}
        self._open: Open = {}
        self._rules_at = self._noted_at = 0
        self._began_at: int | None = None
        self._failed_before = False

    async def see(self, now: int, state: ClusterState | None) -> list[Change]:
        """Evaluate the figures of the round at `now` (ms); None if the round found nothing out.

        Returns which alerts changed their state. Failures of the database or of Redis end this evaluation, not the
        round: the next one repeats it.
        """
        try:
            changes = await self._see(now, state)
            self._failed_before = False
        except (DatabaseError, redis.RedisError) as error:
            if not self._failed_before:
                _log.warning("cluster=%s: the alert rules were not evaluated (%s)", self._cluster, error)
            self._failed_before = True
            return []
        return changes

    async def _see(self, now: int, state: ClusterState | None) -> list[Change]:
        if self._began_at is None:
            self._began_at = now
        if self._board is None or now - self._rules_at >= _RULES_EVERY_MS:
            self._rules, self._of_jobs = await sync_to_async(self._read)(now)
            self._rules_at = now
        if self._board is None:
            self._board = await self._restored(now)
        if not self._rules and not self._board.lives:
            return []
        figures = self._figures(now, state)
        changes = self._board.step(self._rules, figures, now)
        if changes:
            await sync_to_async(journal.write)(self._cluster, changes, now)
            self._board.accept(changes)
        if now - self._noted_at >= _NOTED_EVERY_MS or changes:
            await self._note(now, self._board, figures)
            self._noted_at = now
        return changes

    def _read(self, now: int) -> tuple[list[Watched], dict[str, Values]]:
        rules = journal.rules_for(self._cluster)
        if not any(rule.metric in OF_JOBS for rule in rules):
            return rules, {}
        return rules, job_values.read(self._cluster, datetime.fromtimestamp(now / 1000, UTC))

    async def _restored(self, now: int) -> Board:
        """Return the board that an earlier sampler left; the time since then has proven nothing."""
        lives = await sync_to_async(journal.open_lives)(self._cluster)
        seen = await self._store.get(_SEEN_KEY + self._cluster)
        kept = await self._store.get(_GROWTH_KEY + self._cluster)
        if kept is not None:
            self._growth = Growth(_decoded(kept))
        paused = now - int(seen) if seen is not None else 0
        if paused > _PAUSE_MS:
            lives = {
                rule: {subject: after_pause(life, paused) for subject, life in each.items()}
                for rule, each in lives.items()
            }
        return Board(lives)

    def _figures(self, now: int, state: ClusterState | None) -> Figures:
        values = dict(self._of_jobs)
        wanted = {rule.metric for rule in self._rules} - OF_JOBS
        if state is None:
            values |= {metric: dict.fromkeys(self._last.get(metric, ()), None) for metric in wanted}
            return Figures(values, is_whole=False)
        is_whole = not state.overview.missing and state.overview.brokers_answering > 0
        for metric in wanted:
            values[metric] = self._last[metric] = self._values(metric, now, state, is_whole=is_whole)
        return Figures(values, is_whole)

    def _values(self, metric: str, now: int, state: ClusterState, *, is_whole: bool) -> Values:
        if metric == "dead_letters_per_hour":
            return self._growth.step(now, metrics.dead_letters(state.topics), is_whole=is_whole)
        if metric == "disk_days_to_full":
            watched_ms = now - (now if self._began_at is None else self._began_at)
            return metrics.days_to_full(self._cluster, state.overview, watched_ms=watched_ms)
        found = metrics.read(metric, self._cluster, state)
        if found is None:
            raise ValueError(f"no figure is known for the metric {metric!r}")
        return found

    async def _note(self, now: int, board: Board, figures: Figures) -> None:
        """Let the pages know what the rules show, and the next sampler where this one was."""
        self._open = self._open_now(now, board, figures)
        rules = {rule.id: self._shown(now, rule, board, figures) for rule in self._rules}
        shown = ClusterFigures(rules=rules, at=now, open=self._open)
        pipe: Any = self._store.pipeline(transaction=False)
        pipe.set(key_of(self._cluster), msgspec.json.encode(shown), ex=KEEP_SECONDS)
        pipe.set(_SEEN_KEY + self._cluster, now, ex=_KEPT_SECONDS)
        if "dead_letters_per_hour" in figures.values:
            pipe.set(_GROWTH_KEY + self._cluster, msgspec.json.encode(self._growth.counts()), ex=_KEPT_SECONDS)
        await pipe.execute()

    def _open_now(self, now: int, board: Board, figures: Figures) -> Open:
        metrics_of = {rule.id: figures.values.get(rule.metric, {}) for rule in self._rules}
        return open_of(board.lives, lambda rule, subject: metrics_of.get(rule, {}).get(subject), self._open, now)

    def _shown(self, now: int, rule: Watched, board: Board, figures: Figures) -> RuleFigures:
        found = board.now(rule, figures)
        return RuleFigures(
            cluster=self._cluster,
            at=rfc3339(now),
            subjects=found.subjects,
            unfollowed=found.unfollowed,
            worst=found.worst,
            value=found.value,
        )


def _decoded(kept: bytes | str) -> Counts | None:
    try:
        return msgspec.json.decode(kept, type=Counts)
    except msgspec.DecodeError as error:
        _log.warning("the counts of dead letters could not be read: %s", error)
        return None
