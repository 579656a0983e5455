"""A whole controller: the engine, what is known and heard, the handlers, and what runs by itself."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Final

from broker_core.clock import boot_seconds, now_ms
from broker_core.controller.admin_handlers import AdminHandlers
from broker_core.controller.broker_handlers import BrokerHandlers
from broker_core.controller.commands import Stamp
from broker_core.controller.config import ControllerConfig
from broker_core.controller.deciding import Deciding
from broker_core.controller.decisions import Decisions, DecisionsError
from broker_core.controller.etcd.config import EtcdConfig
from broker_core.controller.file_decisions import FileDecisions
from broker_core.controller.hearing import Hearing
from broker_core.controller.leading import Leader
from broker_core.controller.links import Links
from broker_core.controller.parts import Parts
from broker_core.controller.rounds import Rounds
from broker_core.controller.seen import FILE_NAME as SEEN
from broker_core.controller.seen import Seen
from broker_core.controller.states import States
from broker_core.controller.telling import Telling
from broker_core.controller.trust import Trust
from broker_core.logs import get_logger
from broker_core.protocol import RequestCode
from broker_core.remoting import Handler
from broker_core.remoting.rare_warnings import RareWarnings

POLL_SECONDS: Final = 2.0
"""How old what is known gets at most while the engine answers."""
_AGAIN_SECONDS: Final = 0.2

_log: Final = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Engine:
    """What keeps the decisions, and what runs beside it and ends it."""

    decisions: Decisions
    run: Callable[[], Coroutine[Any, Any, None]] | None
    close: Callable[[], Coroutine[Any, Any, None]]

    @classmethod
    async def open(cls, config: ControllerConfig) -> Engine:
        """Open etcd, or the file; raises FileLocked, FileDamaged, EtcdRefused, OSError."""
        return await (cls.of_file(config) if config.etcd is None else cls.of_etcd(config.etcd))

    @classmethod
    async def of_file(cls, config: ControllerConfig) -> Engine:
        """Open the file; raises FileLocked, FileDamaged, OSError."""
        file = FileDecisions.open(config.folder)
        return cls(file, None, file.close)

    @classmethod
    async def of_etcd(cls, config: EtcdConfig) -> Engine:
        """Open etcd; raises EtcdRefused."""
        # Only whoever uses etcd waits at the start for what speaks HTTP.
        from broker_core.controller.etcd.decisions import EtcdDecisions

        etcd = await EtcdDecisions.open(config)
        return cls(etcd, etcd.run, etcd.close)


@contextlib.asynccontextmanager
async def hosted(config: ControllerConfig | None, who: str) -> AsyncIterator[Controller | None]:
    """Open a controller, which is to be started once its requests are served, and close it; None if none is wanted."""
    if config is None:
        yield None
        return
    controller = await Controller.open(config, who)
    try:
        yield controller
    finally:
        await controller.close()


class Controller:
    """A running controller. `start` and `close` once each, on one loop."""

    def __init__(
        self, config: ControllerConfig, engine: Engine, who: str, clock: Callable[[], float] = boot_seconds
    ) -> None:
        """`who` names this controller to people and to the engine; raises SeenDamaged."""
        self._engine = engine
        self._clock = clock
        self._tasks: list[asyncio.Task[None]] = []
        self._warnings = RareWarnings()
        self._reading = asyncio.Lock()
        states = States()
        hearing = Hearing(clock(), config.timeout_seconds)
        trust = Trust(Seen(config.folder / SEEN), hearing, states)
        links = Links(lambda name, replica, life: hearing.closed(name, replica, life, clock()))
        states.watch(links.tell)
        deciding = Deciding(engine.decisions, states, trust.newest, lambda change: Stamp(change, by=who, at=now_ms()))
        leader = Leader(engine.decisions, who, self.read, self._may_lead, clock, config.timeout_seconds)
        self.parts = Parts(
            cluster=config.cluster,
            who=who,
            clock=clock,
            decisions=engine.decisions,
            states=states,
            hearing=hearing,
            trust=trust,
            links=links,
            deciding=deciding,
            leader=leader,
        )
        self._rounds = Rounds(hearing, states, trust, deciding, links, leader, clock)

    @classmethod
    async def open(cls, config: ControllerConfig, who: str) -> Controller:
        """Open the engine, and return a controller that is to be started; raises as `Engine.open`, and SeenDamaged."""
        engine = await Engine.open(config)
        try:
            return cls(config, engine, who)
        except BaseException:
            await engine.close()
            raise

    def table(self) -> dict[RequestCode, Handler]:
        """Return the handler of each request code that a controller serves."""
        parts = self.parts
        return BrokerHandlers(parts).table() | AdminHandlers(parts).table() | Telling(parts).table()

    async def start(self) -> None:
        """Read, judge and lead from now on."""
        running = {"follow": self._follow(), "rounds": self._rounds.run(), "lead": self.parts.leader.run()}
        if self._engine.run is not None:
            running["engine"] = self._engine.run()
        self._tasks = [asyncio.create_task(each, name=f"controller: {name}") for name, each in running.items()]
        for task in self._tasks:
            task.add_done_callback(_tell_of_end)

    async def close(self) -> None:
        """Give up the lead, and end."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._engine.close()

    async def read(self) -> None:
        """Read all names; raises Unsettled."""
        states = self.parts.states
        async with self._reading:  # or an older answer could be taken after a newer one
            began = self._clock()
            states.begin_read()
            revision, names = await self._engine.decisions.read()
            states.take_all(revision, names, began)
            await self.parts.trust.took(began)

    async def _follow(self) -> None:
        while True:
            try:
                await self.read()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(POLL_SECONDS):
                        await self._engine.decisions.changes(self.parts.states.revision)
            except DecisionsError as error:
                self._warnings.warn(_log, "decisions are not read: %s", error)
                await asyncio.sleep(_AGAIN_SECONDS)

    def _may_lead(self) -> bool:
        """Whoever hears none of the replicas that there are may be the one that is cut off, if there are others."""
        if not self._engine.decisions.others_may_lead:
            return True
        is_any = any(state.replicas for state in self.parts.states.all().values())
        return not is_any or self.parts.hearing.hears_anybody(self._clock())


def _tell_of_end(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.critical("%s ended: %s", task.get_name(), error, exc_info=error)
