"""Follows what controllers decide about the broker names of one cluster, beside the rounds of the sampler."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Final

import redis.asyncio
from asgiref.sync import sync_to_async
from django.db import DatabaseError
from redis.exceptions import RedisError

from broker_core.client.admin import Admin
from broker_core.client.admin.replication import ControllerStatus, KnownState
from broker_core.client.answers import Answers, ask_all
from broker_core.client.errors import NotSupported
from broker_core.errors import GantryError
from broker_core.protocol.bodies.controller import NameState
from broker_core.protocol.bodies.replicas import ReplicasInfo
from console import live
from console.clusters.reasons import reason_of
from console.replicas import controllers, figures, history
from console.replicas.figures import ControllerFigures, DecidedFigures
from console.replicas.rounds import EVERY_MS, KEEP_SECONDS, Rounds
from console.replicas.shapes import DecidedName, DecidedNames

# Where no name server hosts a controller, one may come some day.
_WITHOUT_MS: Final = 30_000
_ELECTIONS_MS: Final = 3_600_000

_log = logging.getLogger(__name__)


class ReplicaWatch:
    """Asks in rounds, one at a time, and keeps each change of epoch, master or in-sync set in the database."""

    def __init__(self, cluster: str, store: redis.asyncio.Redis | None = None) -> None:
        self._cluster = cluster
        self._publisher = None if store is None else live.Publisher(store, keep_seconds=KEEP_SECONDS)
        self._rounds = Rounds(f"decisions of {cluster}", EVERY_MS)
        self._kept: dict[str, tuple[object, ...]] = {}
        self._known: dict[str, KnownState] = {}
        self._elections: Mapping[str, list[int]] | None = None
        self._failed_before = False
        self.figures: Mapping[str, DecidedFigures] = {}
        """Of the last round, by broker name; unknown after one in which no controller knew what is decided."""
        self.of_controllers: ControllerFigures | None = None
        """None where no name server hosts a controller."""

    @property
    def states(self) -> Mapping[str, NameState]:
        """The state of each name as a controller told it last, also while none answers."""
        return {name: known.state for name, known in self._known.items()}

    def begin(self, admin: Admin, now: int) -> None:
        """Begin a round at `now` (ms) if one is due and none is running."""
        self._rounds.begin(now, lambda: self._look(admin, now))

    async def close(self) -> None:
        """Cancel a running round."""
        await self._rounds.close()

    async def _look(self, admin: Admin, now: int) -> None:
        try:
            await self.look(admin, now)
            self._failed_before = False
        except NotSupported:
            self._rounds.rest_until(now + _WITHOUT_MS)
        except (GantryError, DatabaseError, RedisError) as error:
            if not self._failed_before:
                _log.warning("cluster=%s: decisions about replicas were not kept (%s)", self._cluster, _words(error))
            self._failed_before = True

    async def look(self, admin: Admin, now: int) -> None:
        """Ask what is decided of all names, and keep what changed; raise what the client and the database raise.

        Raises NotSupported where no name server hosts a controller.
        """
        if self._elections is None:
            await self._restore(now)
        answers = await admin.replication.controllers(timeout_ms=controllers.ANSWER_MS)
        try:
            infos = await self._asked(admin, answers, now)
        except GantryError:
            await self._publish(answers, {})
            raise
        await self._publish(answers, infos)

    async def _asked(self, admin: Admin, answers: Answers[ControllerStatus], now: int) -> Mapping[str, ReplicasInfo]:
        self._see_controllers(answers)
        knowing = figures.best(answers.found)
        if knowing is None:
            self.figures = dict.fromkeys(self.figures, DecidedFigures())
            return {}
        try:
            infos = await admin.replication.in_sync(by=knowing)
        except GantryError:
            self.figures = dict.fromkeys(self.figures, DecidedFigures())
            raise
        await self._see(admin, infos, now)
        self.figures = self._figures(infos, set(answers.found[knowing].info.set_back), now)
        return infos

    async def _publish(self, answers: Answers[ControllerStatus], infos: Mapping[str, ReplicasInfo]) -> None:
        if self._publisher is None:
            return
        shown = controllers.shown(answers, are_expected=self.of_controllers is not None)
        names = DecidedNames(items=[_decided(name, info) for name, info in infos.items()])
        states = {live.controllers(self._cluster): shown, live.decisions(self._cluster): names}
        await self._publisher.publish(states)

    async def _restore(self, now: int) -> None:
        """Take up the names and elections that an earlier sampler saw: until they are heard of they are unknown."""
        self._elections = await sync_to_async(history.elections)(self._cluster, now - _ELECTIONS_MS)
        names = await sync_to_async(history.names)(self._cluster)
        self.figures = dict.fromkeys(names, DecidedFigures())
        self.of_controllers = ControllerFigures() if names else None

    def _see_controllers(self, answers: Answers[ControllerStatus]) -> None:
        """Take the figures of the controllers; raise NotSupported if there are none, another failure of silent ones."""
        silent = [addr for addr, error in answers.failed.items() if not isinstance(error, NotSupported)]
        if answers.found:
            self.of_controllers = figures.of_controllers(answers.found, silent)
            return
        if silent:
            # Only what was there before is missed.
            self.figures = dict.fromkeys(self.figures, DecidedFigures())
            self.of_controllers = None if self.of_controllers is None else figures.of_controllers({}, silent)
            raise answers.failed[silent[0]]
        self.figures, self.of_controllers = {}, None
        answers.raise_if_none()

    async def _see(self, admin: Admin, infos: Mapping[str, ReplicasInfo], now: int) -> None:
        """Ask for the whole state where it is another one or may become one, and keep it."""
        told = {name: _what(info) for name, info in infos.items()}
        others = [
            name
            for name, what in told.items()
            if self._kept.get(name) != what or figures.is_troubled(infos[name], self._known.get(name))
        ]
        answers = await ask_all(others, admin.replication.state)
        fresh = {name: known for name, known in answers.found.items() if self._kept.get(name) != told[name]}
        if fresh:
            states = [known.state for known in fresh.values()]
            await sync_to_async(history.keep)(self._cluster, states, now)
            self._elections = await sync_to_async(history.elections)(self._cluster, now - _ELECTIONS_MS)
        self._known = {
            name: known
            for name, known in (self._known | answers.found).items()
            if name in told and name not in answers.failed
        }
        self._kept = {name: what for name, what in told.items() if name not in answers.failed}

    def _figures(
        self, infos: Mapping[str, ReplicasInfo], set_back: AbstractSet[str], now: int
    ) -> dict[str, DecidedFigures]:
        # The engine may have lost a name that replicas tell.
        lost = dict.fromkeys(set_back - infos.keys(), DecidedFigures(set_back=1.0))
        moments = self._elections or {}
        return lost | {
            name: figures.figures_of(
                info,
                self._known.get(name),
                elections=sum(at > now - _ELECTIONS_MS for at in moments.get(name, ())),
                is_set_back=name in set_back,
            )
            for name, info in infos.items()
        }


def _decided(name: str, info: ReplicasInfo) -> DecidedName:
    in_sync = [each.broker_id for each in info.in_sync_replicas]
    others = [each.broker_id for each in info.not_in_sync_replicas]
    return DecidedName(broker=name, in_sync=sorted(in_sync), replicas=sorted([*in_sync, *others]))


def _what(info: ReplicasInfo) -> tuple[object, ...]:
    """Return what tells one decision from the next."""
    in_sync = frozenset(each.broker_id for each in info.in_sync_replicas)
    return info.master_epoch, info.master_broker_id, info.sync_state_set_epoch, in_sync


def _words(error: Exception) -> str:
    return reason_of(error) if isinstance(error, GantryError) else str(error)
