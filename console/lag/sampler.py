"""Samples every cluster once a second, and stores and publishes the result. One instance works, others stand by."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Final

import msgspec
import redis.asyncio
from django.conf import settings
from django.db import Error as DatabaseError

from broker_core.clock import now_ms
from broker_core.errors import GantryError
from broker_core.logs import Repeated, get_logger
from console.activity import feed
from console.activity.watch import ActivityWatch
from console.alerts.watch import ClusterWatch
from console.clusters.connections import Connections
from console.clusters.memory import SavedMemory, store_ids
from console.clusters.models import Cluster
from console.clusters.services import find_address
from console.lag import history, lease_consumers, rounds, topic_history
from console.lag.broker_watch import Shown
from console.lag.publishing import ClusterPublisher
from console.lag.reading import Memory, Reader
from console.lag.shapes import LastKnown, OverviewState
from console.lag.shown import ShownNames
from console.lag.state import ClusterState, StateBuilder
from console.leader import Leadership
from console.replicas.away import AwayReplicas, Place
from console.replicas.pages import ReplicaPages
from console.replicas.watch import ReplicaWatch

BEAT_KEY: Final = "gantry:sampler:beat"
LEADER_KEY: Final = "gantry:sampler:leader"
STEP_SECONDS: Final = 1.0
_BEAT_TTL_SECONDS: Final = 60
_CLUSTERS_EVERY_SECONDS: Final = 5.0
# A step that hangs must end; steps with thousands of groups take long.
_STEP_TIMEOUT_SECONDS: Final = 30.0
# All clusters share them, and wait for each other's commands: no command takes long.
_CONNECTIONS: Final = 32
_PLACE_SECONDS: Final = 20.0
_LAST_KNOWN_KEY: Final = "gantry:last-known:"
_LAST_KNOWN_EVERY_MS: Final = 10_000
_LAST_KNOWN_SECONDS: Final = 7 * 24 * 3600

# What keeps a round from its end without being a mistake of the code: the next one tries again.
_PASSING: Final = (GantryError, redis.RedisError, DatabaseError, OSError)

_log = get_logger(__name__)


async def _pause(seconds: float) -> None:
    """Sleep between two rounds; raise CancelledError if the last round lost its cancellation.

    The Redis client sends within `asyncio.wait_for`; in Python 3.11 this drops a cancellation that arrives just as the
    bytes are sent.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
    await asyncio.sleep(seconds)


class ClusterSampler:
    """The sampling of one cluster: its reader, its memory, its history."""

    def __init__(
        self,
        name: str,
        connections: Connections,
        store: redis.asyncio.Redis,
        memory: Memory | None = None,
        watch: ClusterWatch | None = None,
        activity: ActivityWatch | None = None,
        decisions: ReplicaWatch | None = None,
        pages: ReplicaPages | None = None,
    ) -> None:
        self._name = name
        self._connections = connections
        self._store = store
        self._publisher = ClusterPublisher(name, store)
        self._memory = memory or SavedMemory(name)
        self._reader: Reader | None = None
        self._session: object = None
        self._builder = StateBuilder()
        self._keeper = history.Keeper()
        self._topic_keeper = topic_history.TopicKeeper(name)
        self._watch = watch
        self._activity = activity
        self._decisions = decisions
        self._pages = pages
        self._away = AwayReplicas(name)
        self._shown_names = ShownNames(name, store)
        self._last_known_at: int | None = None

    async def step(self, now: int) -> None:
        """Take one sample at `now` (ms), store and publish it."""
        session = await self._connections.session(self._name)
        admin = await self._connections.admin(self._name)
        if self._reader is None or session is not self._session:
            await self.close()
            self._reader, self._session = Reader(admin, self._memory), session
        if self._decisions is not None:
            self._decisions.begin(admin, now)
        await self._keep_last_known(now)
        shown = await self._shown_names.now(now)
        reading = await self._reader.step(now, shown)
        reading.lease_consumers = await lease_consumers.find(self._store, self._name, now)
        reading.decided = {} if self._decisions is None else self._decisions.states
        reading.held = self._away.held
        state = self._builder.step(reading)
        if self._decisions is not None:
            state = replace(
                state,
                decisions=self._decisions.figures,
                decided=self._decisions.states,
                controllers=self._decisions.of_controllers,
            )
        self._away.begin(admin, _away(state.overview), now)
        if self._pages is not None:
            self._pages.begin(admin, {each.name for each in state.overview.brokers} | state.decisions.keys(), now)
        await self._keeper.keep(self._store, now, self._points(state), first=self._charted(shown))
        await self._topic_keeper.keep(self._store, reading, state.topics)
        self._shown_names.watched = await self._publisher.publish(state, shown.groups)
        alerts = [] if self._watch is None else await self._watch.see(now, state)
        if self._activity is not None:
            await self._activity.see(now, reading, state, alerts)
            self._builder.note_moved(self._activity.take_moved())

    async def fail(self, now: int) -> None:
        """Let the alert rules know that the round at `now` (ms) found nothing out."""
        if self._watch is not None:
            await self._watch.see(now, None)
        if self._activity is not None:
            self._activity.miss()

    async def close(self) -> None:
        """Cancel the running questions."""
        if self._reader is not None:
            await self._reader.close()
            self._reader = None
        await self._away.close()
        if self._decisions is not None:
            await self._decisions.close()
        if self._pages is not None:
            await self._pages.close()

    async def _keep_last_known(self, now: int) -> None:
        """Read once, and write from time to time, the figures that outlive this process."""
        key = _LAST_KNOWN_KEY + self._name
        if self._last_known_at is None:
            kept = await self._store.get(key)
            if kept is not None:
                self._begin_with(kept)
        elif now - self._last_known_at < _LAST_KNOWN_EVERY_MS:
            return
        else:
            await self._store.set(key, msgspec.json.encode(self._builder.last_known()), ex=_LAST_KNOWN_SECONDS)
        self._last_known_at = now

    def _begin_with(self, kept: bytes | str) -> None:
        try:
            self._builder.begin_with(msgspec.json.decode(kept, type=LastKnown))
        except msgspec.DecodeError as error:
            _log.warning("cluster=%s: the last known figures could not be read: %s", self._name, error)

    def _points(self, state: ClusterState) -> dict[str, list[float | None]]:
        points: dict[str, list[float | None]] = {
            history.overview_key(self._name): [getattr(state.overview, column) for column in history.OVERVIEW_COLUMNS]
        }
        for name, group in state.groups.items():
            points[history.group_key(self._name, name)] = [getattr(group, column) for column in history.GROUP_COLUMNS]
        return points

    def _charted(self, shown: Shown) -> set[str]:
        """Return the series that somebody may look at now."""
        groups = (history.group_key(self._name, name) for name in shown.groups)
        return {history.overview_key(self._name), *groups}


def _away(overview: OverviewState) -> list[Place]:
    """Return the replicas that the sampler does not hear."""
    return [
        (each.address, each.replica_id)
        for each in overview.brokers
        if not each.reachable and each.replica_id is not None
    ]


class Sampler:
    """Samples all clusters of the console, each in its own task, so that a silent cluster does not delay the others."""

    def __init__(self) -> None:
        pool = redis.asyncio.BlockingConnectionPool.from_url(
            settings.GANTRY_REDIS_URL, max_connections=_CONNECTIONS, timeout=_PLACE_SECONDS
        )
        self._store = redis.asyncio.Redis.from_pool(pool)
        self._connections = Connections(find_address, store_ids)
        self._ended: dict[str, int] = {}
        """When the last round of each cluster ended, and is not written yet (ms since the epoch)."""
        self._failures = Repeated(_log)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._leadership = Leadership(self._store, LEADER_KEY)

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._beat(), name="sampler beat")
                group.create_task(self._follow_clusters(group), name="sampler clusters")
        finally:
            await self._connections.close()
            await self._leadership.step_down()
            await self._store.aclose()

    async def _beat(self) -> None:
        while True:
            try:
                await self._store.set(BEAT_KEY, now_ms(), ex=_BEAT_TTL_SECONDS)
                ended, self._ended = self._ended, {}
                await rounds.keep(self._store, ended)
            except redis.RedisError as error:
                self._failures.warning("beat", "redis: the heartbeat was not written (%s)", error)
            await _pause(STEP_SECONDS)

    async def _follow_clusters(self, group: asyncio.TaskGroup) -> None:
        while True:
            if await self._leadership.leads():
                names = {name async for name in Cluster.objects.values_list("name", flat=True)}
                for name in names - self._tasks.keys():
                    self._tasks[name] = group.create_task(self._follow(name), name=f"sampler {name}")
                for name in self._tasks.keys() - names:
                    self._tasks.pop(name).cancel()
                    await self._forget_figures(name)
            else:
                while self._tasks:
                    self._tasks.popitem()[1].cancel()
            await _pause(_CLUSTERS_EVERY_SECONDS)

    async def _forget_figures(self, name: str) -> None:
        """Delete the figures and events of a deleted cluster: another one may get its name."""
        try:
            await self._store.delete(_LAST_KNOWN_KEY + name)
            await rounds.forget(self._store, [name])
            await topic_history.forget(self._store, name)
            await feed.forget(name, store=self._store)
        except redis.RedisError as error:
            _log.warning("redis: the figures of %s were not deleted (%s)", name, error)

    async def _follow(self, name: str) -> None:
        watch = ClusterWatch(name, self._store)
        activity = ActivityWatch(name, self._store)
        decisions, pages = ReplicaWatch(name, self._store), ReplicaPages(name, self._store)
        sampler = ClusterSampler(name, self._connections, self._store, None, watch, activity, decisions, pages)
        clock = asyncio.get_running_loop().time
        try:
            while True:
                started = clock()
                try:
                    async with asyncio.timeout(_STEP_TIMEOUT_SECONDS):
                        await sampler.step(now_ms())
                    self._ended[name] = now_ms()
                except Exception as error:  # noqa: BLE001 - the top of a task
                    self._note_failure(name, error)
                    await sampler.fail(now_ms())
                await _pause(max(0.05, STEP_SECONDS - (clock() - started)))
        finally:
            await sampler.close()
            await self._connections.leave(name)

    def _note_failure(self, name: str, error: Exception) -> None:
        """Log a failed round, once in a while for all clusters that fail for the same reason."""
        is_late = isinstance(error, TimeoutError) and not str(error)
        reason = f"not within {_STEP_TIMEOUT_SECONDS:g} s" if is_late else str(error) or type(error).__name__
        traceback = None if isinstance(error, _PASSING) else error
        self._failures.warning(reason, "cluster=%s: sampling failed (%s)", name, reason, exc_info=traceback)
