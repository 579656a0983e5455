"""A broker as a whole: open, listen, serve, stop, in the order that loses nothing (broker/README.md#start-and-stop)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from broker_core.broker.address import advertised_host, ip_of, join
from broker_core.broker.answers import ANSWERS
from broker_core.broker.arrivals import Arrivals, paced
from broker_core.broker.background import Step, repeat
from broker_core.broker.components import Components
from broker_core.broker.composition import Resources, compose
from broker_core.broker.config import BrokerConfig
from broker_core.broker.parked_pulls import SLOT_MS
from broker_core.broker.pop.journal import Journal
from broker_core.broker.processors.composition import Processors, processors_of
from broker_core.broker.processors.notifications import STEP_MS
from broker_core.broker.settings import Settings
from broker_core.errors import GantryError
from broker_core.logs import get_logger
from broker_core.protocol.codes import RequestCode
from broker_core.protocol.command import Command
from broker_core.remoting import AddressRefused, Dispatch, RemotingClient, Server
from broker_core.remoting.connection import Connection, Result
from broker_core.remoting.dispatch import Handler
from broker_core.remoting.memory import Memory
from broker_core.remoting.open_files import Sockets, check_files, queues_within, raise_limit
from broker_core.store import MessageStore
from broker_core.store.layout import count_files

FAST_PORT_BELOW: Final = 2
"""The second port, without pulls, lies so far below the first."""

_DRAIN_SECONDS: Final = 1.0
_CHECKPOINT_MS: Final = 60_000
_RETENTION_MS: Final = 10_000
_SECOND_MS: Final = 1_000
_ROUND_SECONDS: Final = 0.001
# They look at nothing that a round would have made readable.
_SENDS: Final = frozenset(
    {
        RequestCode.SEND_MESSAGE,
        RequestCode.SEND_MESSAGE_V2,
        RequestCode.SEND_BATCH_MESSAGE,
        RequestCode.UPDATE_CONSUMER_OFFSET,
    }
)

_log = get_logger(__name__)


def now_ms() -> int:
    """Return the time of this machine in ms since 1970."""
    return time.time_ns() // 1_000_000


class Broker:
    """One broker process. `start` raises StoreLocked, AddressInUse, TooFewFiles, BadConfigFile and their kin."""

    def __init__(
        self, config: BrokerConfig, *, clock: Callable[[], int] = now_ms, sockets: Sockets | None = None
    ) -> None:
        """Servers of one process share `sockets`."""
        self._config = config
        self._clock = clock
        self._dispatch = Dispatch(ANSWERS)
        self._fast_dispatch = Dispatch(ANSWERS)
        self._memory = Memory(config.limits.memory_bytes)
        self._sockets = sockets or Sockets(raise_limit())
        self._main_server: Server | None = None
        self._fast_server: Server | None = None
        self._remoting = RemotingClient()
        self._disk = ThreadPoolExecutor(1, thread_name_prefix="disk")
        self._files = ThreadPoolExecutor(1, thread_name_prefix="files")
        self._store: MessageStore | None = None
        self._journal: Journal | None = None
        self._components: Components | None = None
        self._processors: Processors | None = None
        self._background: asyncio.Task[None] | None = None

    @property
    def components(self) -> Components:
        """What the broker is made of, once it is started."""
        assert self._components is not None, "the broker is not started"
        return self._components

    @property
    def store(self) -> MessageStore:
        """The open store."""
        return self.components.store

    @property
    def port(self) -> int:
        """The main port."""
        assert self._main_server is not None, "the broker is not started"
        return self._main_server.port

    @property
    def address(self) -> str:
        """Where clients are told to find the broker, ``host:port``."""
        return self.components.address

    # -- start and stop

    async def start(self) -> None:
        """Open the store, listen, and tell the name servers; after a failure nothing is left open."""
        try:
            settings = Settings.of(self._config)
            self._config = settings.config
            self._store = self._open_store()
            self._journal = Journal(self._config.config_folder)
            self._memory.limit = self._config.limits.memory_bytes
            self._main_server = self._server(self._dispatch, self._config.port)
            await self._main_server.start()
            # No request is read before this function waits again, and then everything is in place.
            self._components = self._compose(settings, self._store, self._journal)
            self._processors = processors_of(self._components)
            self._serve(self._components, self._processors)
            # Before the first message: the disk may be full already.
            self._drop_expired(self._clock())
            await self._start_fast_server()
            await self._components.registration.register()
        except BaseException:
            await self._release()
            raise
        steps = self._steps(self._components, self._processors)
        self._background = asyncio.get_running_loop().create_task(self._run(self._components, steps), name="broker")
        _log.info("broker=%s: serving at %s", self._config.identity.name, self.address)

    async def close(self) -> None:
        """Leave the name servers, answer who waits, stop, and put everything on the disk."""
        if self._components is None:
            return
        await self._components.registration.unregister()
        if self._processors is not None:
            self._processors.drain()
        await self._components.durability.flush()
        for server in (self._main_server, self._fast_server):
            if server is not None:
                await server.close(_DRAIN_SECONDS)
        if self._background is not None:
            self._background.cancel()
            await asyncio.wait([self._background])
        self._components.arrivals.round()
        await self._save(self._clock())
        await self._release()
        _log.info("broker=%s: stopped", self._config.identity.name)

    async def failed(self) -> None:
        """Return when the broker's background work has ended, which only happens by a bug or by `close`."""
        if self._background is None:
            return
        await asyncio.wait([self._background])
        if not self._background.cancelled() and (error := self._background.exception()) is not None:
            _log.critical("broker=%s: its background work failed", self._config.identity.name, exc_info=error)

    async def _release(self) -> None:
        if self._main_server is not None:
            await self._main_server.close()
        await self._remoting.close()
        if self._components is not None:
            self._components.durability.close()
        loop = asyncio.get_running_loop()
        for resource in (self._journal, self._store):
            if resource is not None:
                await loop.run_in_executor(self._files, resource.close)
        self._journal = self._store = self._components = None
        self._disk.shutdown()
        self._files.shutdown()

    # -- putting together

    def _open_store(self) -> MessageStore:
        files = raise_limit()
        check_files(files, count_files(self._config.store.folder))
        store = MessageStore.open(self._config.store, now=self._clock())
        _tell_recovery(store)
        store.max_queues = queues_within(self._config.limits.queues, files)
        return store

    def _compose(self, settings: Settings, store: MessageStore, journal: Journal) -> Components:
        host = advertised_host(self._config.bind, self._config.advertise)
        loop = asyncio.get_running_loop()
        resources = Resources(
            store=store,
            journal=journal,
            remoting=self._remoting,
            address=join(host, self.port),
            store_host=(ip_of(host), self.port),
            disk=self._disk,
            files=self._files,
            clock=self._clock,
            call_soon=paced(loop, _ROUND_SECONDS),
            memory=self._memory,
        )
        return compose(settings, resources)

    def _serve(self, components: Components, processors: Processors) -> None:
        """Have every processor answer its codes; pulls are for the main port only.

        Whoever asks for messages or offsets finds every message that was answered before.
        """
        for processor in processors.all:
            for code, handler in processor.handlers().items():
                answer = handler if code in _SENDS else _settled(components.arrivals, handler)
                self._dispatch.register(code, answer)
                if code != RequestCode.PULL_MESSAGE:
                    self._fast_dispatch.register(code, answer)

    def _steps(self, components: Components, processors: Processors) -> list[Step]:
        """Return what is to be done again and again."""
        periods = components.config.periods
        return [
            Step("parked pulls", SLOT_MS, processors.pulls.expire),
            Step("leases", SLOT_MS, processors.pops.step),
            Step("notifications", STEP_MS, processors.notifications.step),
            Step("waiting sends", SLOT_MS, components.durability.expire),
            Step("delay", periods.delay_step, components.delay.step),
            Step("statistics", _SECOND_MS, components.stats.step),
            Step("saving", periods.save, self._save),
            Step("silent clients", periods.client_scan, processors.clients.expire),
            Step("retention", _RETENTION_MS, self._drop_expired),
            Step("damage", _SECOND_MS, self._tell_damage),
            Step("checkpoint", _CHECKPOINT_MS, self._checkpoint),
        ]

    def _server(self, dispatch: Dispatch, port: int) -> Server:
        limits = self._config.limits.of_connections()
        return Server(
            dispatch, host=self._config.bind, port=port, limits=limits, memory=self._memory, sockets=self._sockets
        )

    async def _start_fast_server(self) -> None:
        """Listen on the second port if it is free; clients that want it fall back to the first."""
        port = self._config.port - FAST_PORT_BELOW
        if port <= 0:
            return
        server = self._server(self._fast_dispatch, port)
        try:
            await server.start()
        except AddressRefused as error:
            _log.warning("broker=%s: no fast port: %s", self._config.identity.name, error)
            return
        self._fast_server = server

    # -- what runs by itself

    async def _run(self, components: Components, steps: list[Step]) -> None:
        async with asyncio.TaskGroup() as tasks:
            for step in steps:
                tasks.create_task(repeat(step, self._clock), name=step.name)
            tasks.create_task(components.durability.run(components.config.periods.flush), name="flush")
            tasks.create_task(components.registration.run(components.config.periods.registration), name="registration")

    async def _save(self, _now: int) -> None:
        """Write the registers that changed, and the journal of leases anew when it has grown."""
        components = self.components
        registers = (
            components.topics,
            components.groups,
            components.offsets,
            components.delay,
            components.settings,
            components.request_modes,
        )
        await components.saver.save_all(registers)
        await self._rewrite_journal(components)

    async def _rewrite_journal(self, components: Components) -> None:
        journal = self._journal
        if journal is None or not journal.wants_rewrite:
            return
        state = journal.begin_rewrite(components.leases.snapshot())
        try:
            file = await asyncio.get_running_loop().run_in_executor(self._files, journal.write_beside, state)
        except OSError as error:
            _log.warning("leases: the journal cannot be written anew: %s", error)
            journal.end_rewrite(None)
            return
        journal.end_rewrite(file)

    def _drop_expired(self, now: int) -> None:
        dropped = self.store.drop_expired(now)
        if dropped.segments:
            _log.info("store: dropped %d old segments, %d bytes", dropped.segments, dropped.log_bytes)
        intake = self.components.intake
        if dropped.has_room != (intake.refusal is None):
            _log.warning("store: messages are %s", f"refused, {dropped.refusal}" if dropped.refusal else "taken again")
        intake.refusal = dropped.refusal
        # What a full disk left undone may have room now.
        self.components.arrivals.expect()

    def _tell_damage(self, _now: int) -> None:
        """Name the messages that reads left out since the last step."""
        for damaged in self.store.damage.take_new():
            _log.error("%s", damaged)

    async def _checkpoint(self, _now: int) -> None:
        try:
            await asyncio.get_running_loop().run_in_executor(self._disk, self.store.checkpoint)
        except (GantryError, OSError) as error:
            _log.error("store: no checkpoint: %s", error)


def _settled(arrivals: Arrivals, handler: Handler) -> Handler:
    """Return a handler before which everything appended becomes readable."""

    def answer(request: Command, connection: Connection) -> Result:
        arrivals.settle()
        return handler(request, connection)

    return answer


def _tell_recovery(store: MessageStore) -> None:
    """Say what opening the store found, if that was not simply all in order."""
    found = store.recovered
    if not found.was_clean:
        _log.warning("store: it was not closed well; %d records were looked at again", found.walked_records)
    for begin, end, reason in found.damaged:
        _log.error("store: no sound record from log offset %d to %d: %s", begin, end, reason)
    if found.cut_reason is not None:
        _log.warning("store: the log was cut at %d: %s", store.appended_log_offset, found.cut_reason)
    for topic, queue_id in found.queues.lost:
        _log.warning("store: topic=%s queue=%d was gone or broken, it was made again from the log", topic, queue_id)
