"""Follows what controllers decide about the broker names of one cluster, beside the rounds of the sampler."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Final

from asgiref.sync import sync_to_async
from django.db import DatabaseError

from broker_core.client.admin import Admin
from broker_core.client.answers import ask_all
from broker_core.client.errors import NotSupported
from broker_core.errors import GantryError
from broker_core.protocol.bodies.controller import NameState
from broker_core.protocol.bodies.replicas import ReplicasInfo
from console.clusters.reasons import reason_of
from console.replicas import history
from console.replicas.figures import DecidedFigures, figures_of

EVERY_MS: Final = 2_000
# Where no name server hosts a controller, one may come some day.
_WITHOUT_MS: Final = 30_000

_log = logging.getLogger(__name__)


class ReplicaWatch:
    """Asks in rounds, one at a time, and keeps each change of epoch, master or in-sync set in the database."""

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._due = 0
        self._asking: asyncio.Task[None] | None = None
        self._kept: dict[str, tuple[object, ...]] = {}
        self._failed_before = False
        self.figures: Mapping[str, DecidedFigures] = {}
        """Of the last round, by broker name; unknown after one in which no controller answered."""

    def begin(self, admin: Admin, now: int) -> None:
        """Begin a round at `now` (ms) if one is due and none is running."""
        if now >= self._due and (self._asking is None or self._asking.done()):
            self._due = now + EVERY_MS
            self._asking = asyncio.create_task(self._look(admin, now), name=f"decisions of {self._cluster}")

    async def close(self) -> None:
        """Cancel a running round."""
        if self._asking is not None:
            self._asking.cancel()
            await asyncio.gather(self._asking, return_exceptions=True)

    async def _look(self, admin: Admin, now: int) -> None:
        try:
            await self.look(admin, now)
            self._failed_before = False
        except NotSupported:
            self.figures = {}
            self._due = now + _WITHOUT_MS
        except (GantryError, DatabaseError) as error:
            if isinstance(error, GantryError):
                self.figures = dict.fromkeys(self.figures, DecidedFigures())
            if not self._failed_before:
                _log.warning("cluster=%s: decisions about replicas were not kept (%s)", self._cluster, _words(error))
            self._failed_before = True

    async def look(self, admin: Admin, now: int) -> None:
        """Ask what is decided of all names, and keep what changed; raise what the client and the database raise."""
        infos = await admin.replication.in_sync()
        self.figures = {name: figures_of(info) for name, info in infos.items()}
        told = {name: _what(info) for name, info in infos.items()}
        others = [name for name, what in told.items() if self._kept.get(name) != what]
        answers = await ask_all(others, admin.replication.state)
        await self._keep({name: known.state for name, known in answers.found.items()}, now)
        self._kept = {name: what for name, what in told.items() if name not in answers.failed}

    async def _keep(self, states: Mapping[str, NameState], now: int) -> None:
        if states:
            await sync_to_async(history.keep)(self._cluster, list(states.values()), now)


def _what(info: ReplicasInfo) -> tuple[object, ...]:
    """Return what tells one decision from the next."""
    in_sync = frozenset(each.broker_id for each in info.in_sync_replicas)
    return info.master_epoch, info.master_broker_id, info.sync_state_set_epoch, in_sync


def _words(error: Exception) -> str:
    return reason_of(error) if isinstance(error, GantryError) else str(error)
