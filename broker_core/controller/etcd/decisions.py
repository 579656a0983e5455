"""Decisions in etcd: the port, put together from its parts (controller/README.md#decisions-in-etcd)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, Self

from broker_core.controller.decisions import DecisionsError, EngineStatus, Kept, Lead, Unsettled
from broker_core.controller.etcd.bell import Bell
from broker_core.controller.etcd.checks import check
from broker_core.controller.etcd.config import EtcdConfig, EtcdRefused
from broker_core.controller.etcd.errors import EtcdError
from broker_core.controller.etcd.gateway import Gateway
from broker_core.controller.etcd.health import HealthPoll
from broker_core.controller.etcd.keyspace import Keys, Keyspace
from broker_core.controller.etcd.leader_key import LeaderKey, holder_of
from broker_core.controller.etcd.members import Members
from broker_core.controller.etcd.patience import Patience
from broker_core.controller.etcd.reading import Reader
from broker_core.controller.etcd.watching import Watch
from broker_core.controller.etcd.writing import Writer
from broker_core.logs import get_logger

_POLL_SECONDS: Final = 2.0
_GRACE_SECONDS: Final = 1.0
"""How much later than the poll the watch may tell of a change."""

_log: Final = get_logger(__name__)


class EtcdDecisions:
    """Keeps decisions in etcd; while `run` runs it polls and watches."""

    def __init__(self, config: EtcdConfig, patience: Callable[[], Patience] = Patience) -> None:
        self._config = config
        self._members = Members(config.endpoints)
        keys = Keys(config.folder)
        self._space = Keyspace(keys)
        self._bell = Bell(keys)
        self._calls, self._lead_calls, self._streams = (Gateway(config, self._members, first) for first in range(3))
        self._reader = Reader(self._calls, self._space, self._bell, patience)
        self._writer = Writer(self._calls, keys, patience)
        self._leader_key = LeaderKey(self._lead_calls, keys.leader, config.leader_ttl, patience)
        self._watch = Watch(self._streams, keys, self._reader, self._bell)
        self._health = HealthPoll(config, self._calls)
        self._version: str | None = None
        self._unfit = "etcd has not been reached yet"

    @classmethod
    async def open(cls, config: EtcdConfig) -> Self:
        """Check the engine; raises EtcdRefused. One that cannot be reached is checked when it can be."""
        opened = cls(config)
        try:
            await opened._check()
        except EtcdError as error:
            opened._unfit = f"etcd has not been reached yet: {error}"
            _log.warning("%s; nothing is decided until it is", opened._unfit)
        except BaseException:
            await opened.close()
            raise
        return opened

    async def run(self) -> None:
        """Poll and watch until cancelled."""
        while self._unfit:
            await asyncio.sleep(_POLL_SECONDS)
            await self._check_again()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._poll(), name="etcd: poll")
            tasks.create_task(self._watch.run(), name="etcd: watch")
            tasks.create_task(self._health.run(), name="etcd: health")

    async def close(self) -> None:
        """Close all connections."""
        for gateway in (self._calls, self._lead_calls, self._streams):
            await gateway.close()

    async def read(self) -> tuple[int, dict[str, Kept]]:
        """Return the revision and all names, not older than this call; raises Unsettled."""
        self._check_is_fit()
        space = await self._reader.read()
        return space.revision, space.names

    async def put(self, name: str, seen: Kept | None, text: str, lead: Lead | None = None) -> Kept:
        """Write `text` if `seen` is still kept and `lead` holds; raises Changed, NotLeading, Refused and Unsettled."""
        self._check_is_fit()
        return await self._writer.put(name, seen, text, lead)

    def is_settled(self, name: str) -> bool:
        """Return whether the outcome of every writing of this name by this process is known."""
        return self._writer.is_settled(name)

    async def changes(self, after: int) -> set[str]:
        """Return the names that changed after a revision, once there is one."""
        return await self._bell.changes(after)

    async def lead(self, who: str) -> Lead | None:
        """Take the lead if nobody has it; raises Unsettled."""
        self._check_is_fit()
        taken = await self._leader_key.take(who)
        if taken is None:
            await self._reader.read()  # so that whoever waits for a vacancy waits for the end of this lead
        return taken

    async def renew(self, lead: Lead) -> float:
        """Return until when the lead holds; raises NotLeading and Unsettled."""
        return await self._leader_key.renew(lead)

    async def resign(self, lead: Lead) -> None:
        """End the lead now; raises Unsettled."""
        await self._leader_key.give_up(lead)

    async def vacancy(self) -> None:
        """Return once the lead may be free."""
        await self._bell.until(lambda: self._space.leader_text is None)

    @property
    def others_may_lead(self) -> bool:
        """Every controller hears all replicas, and waits for the key."""
        return True

    @property
    def leader(self) -> str | None:
        """Who led when it was last looked at."""
        text = self._space.leader_text
        return None if text is None else holder_of(text)

    @property
    def status(self) -> EngineStatus:
        """What people are told of etcd."""
        health = self._health.now
        return EngineStatus(
            kind="etcd",
            version=self._version,
            members=self._members.statuses,
            revision=self._space.revision or None,
            size_bytes=health.size_bytes,
            quota_bytes=health.quota_bytes,
            alarms=health.alarms,
            last_decision_ms=self._writer.last_ms,
            unsettled=self._writer.unsettled,
        )

    async def _check(self) -> None:
        self._version = await check(self._config, self._calls)
        self._unfit = ""

    async def _check_again(self) -> None:
        try:
            await self._check()
        except EtcdRefused as error:
            if self._unfit != str(error):
                _log.error("%s", error)
            self._unfit = str(error)
        except EtcdError as error:
            self._unfit = f"etcd has not been reached yet: {error}"
        else:
            _log.info("etcd is reached")

    def _check_is_fit(self) -> None:
        if self._unfit:
            raise Unsettled(self._unfit)

    async def _poll(self) -> None:
        revision = 0
        while True:
            try:
                space = await self._reader.read()
                for name in self._writer.unsettled:
                    await self._writer.settle(name)
            except DecisionsError as error:
                _log.debug("nothing was polled: %s", error)
            else:
                await self._compare_with_watch(space, was_set_back=space.revision < revision)
                revision = space.revision
            await asyncio.sleep(_POLL_SECONDS)

    async def _compare_with_watch(self, space: Keyspace, *, was_set_back: bool) -> None:
        newest = space.newest
        if self._watch.has_missed(newest):
            await asyncio.sleep(_GRACE_SECONDS)
        if was_set_back or self._watch.has_missed(newest):
            self._watch.begin_anew()
