"""A whole broker: open, listen, serve and stop in an order that loses nothing (broker/README.md#start-and-stop)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any, Final

from broker_core.broker import background
from broker_core.broker.address import advertised_host, ip_of
from broker_core.broker.answers import ANSWERS
from broker_core.broker.arrivals import paced
from broker_core.broker.components import Components
from broker_core.broker.composition import compose
from broker_core.broker.config import BrokerConfig
from broker_core.broker.housekeeping import Housekeeping, Step
from broker_core.broker.pop.journal import Journal
from broker_core.broker.processors.composition import Processors, processors_of
from broker_core.broker.replication.peers import Peers
from broker_core.broker.replication.standstill import LOOK_MS, Standstill
from broker_core.broker.resources import Resources
from broker_core.broker.saving import StateSaver
from broker_core.broker.serving import guard, register, register_mode
from broker_core.broker.settings import Settings
from broker_core.broker.timer.index import TimerIndex
from broker_core.clock import now_ms
from broker_core.logs import get_logger
from broker_core.remoting import AddressRefused, Dispatch, RemotingClient, Server
from broker_core.remoting.memory import ConnectionMemory
from broker_core.remoting.open_files import Sockets, check_files, queues_within, raise_limit
from broker_core.remoting.own_address import join
from broker_core.store import MessageStore
from broker_core.store.layout import count_files

FAST_PORT_BELOW: Final = 2
"""The second port, which serves no pulls, is this far below the first."""

TIMER_FOLDER: Final = "timer"
"""The folder of the timer's index, in that of the store."""

_DRAIN_SECONDS: Final = 1.0
_ROUND_SECONDS: Final = 0.001
_log = get_logger(__name__)


class Broker:
    """A running broker; `open` starts one."""

    def __init__(
        self,
        components: Components,
        processors: Processors,
        saver: StateSaver,
        servers: Sequence[Server],
        background: asyncio.Task[None],
        opened: AsyncExitStack,
    ) -> None:
        """Take over the resources of `open`; `opened` releases them."""
        self.components = components
        self.failover = components.mode.failover
        """The replica, where controllers decide its role."""
        self._processors = processors
        self._saver = saver
        self._servers = servers
        self._background = background
        self._opened = opened
        self._name = components.config.identity.name
        self._is_closed = False

    @classmethod
    async def open(
        cls, config: BrokerConfig, *, clock: Callable[[], int] = now_ms, sockets: Sockets | None = None
    ) -> Broker:
        """Open the store, listen, and register with the name servers; after a failure nothing is left open.

        Servers of one process share `sockets`. Raises StoreLocked, AddressInUse, TooFewFiles, BadConfigFile and other
        errors of the store, the sockets and the configuration.
        """
        settings = Settings.of(config)
        async with AsyncExitStack() as opened:
            return await _Start(settings, clock, sockets or Sockets(raise_limit()), opened).run()

    @property
    def store(self) -> MessageStore:
        """The open store."""
        return self.components.store

    @property
    def port(self) -> int:
        """The main port."""
        return self._servers[0].port

    @property
    def address(self) -> str:
        """Where clients find the broker, ``host:port``."""
        return self.components.address

    async def close(self) -> None:
        """Unregister, answer waiting requests, stop, and flush everything; after a failure resources are freed too."""
        if self._is_closed:
            return
        self._is_closed = True
        async with self._opened:
            await self.components.rest.registration.unregister()
            self._processors.drain()
            await self.components.durability.flush()
            self.components.waits.give_up()
            await self._settle_with_others()
            for server in self._servers:
                await server.close(_DRAIN_SECONDS)
            self._background.cancel()
            await asyncio.wait([self._background])
            self.components.arrivals.round()
            self.components.timer.tidy(self.components.clock())
            self.components.checks.save_progress()
            await self._saver.save()
        _log.info("broker=%s: stopped", self._name)

    async def _settle_with_others(self) -> None:
        """Take over the master's last state beside the log, or tell it to the slaves."""
        if self.components.state_of_master is not None:
            await self.components.state_of_master.finish()
        await self.components.rest.state_book.end()

    @property
    def begins_anew(self) -> bool:
        """Whether this replica is to be closed and opened again with an empty log (`put_aside`)."""
        return self.failover is not None and self.failover.anew.done()

    async def failed(self) -> None:
        """Return when the broker cannot go on: it `begins_anew`, or its background work has ended through a bug."""
        waiting: list[asyncio.Future[Any]] = [self._background]
        if self.failover is not None:
            waiting.append(self.failover.anew)
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        if not self._background.done() or self._background.cancelled():
            return
        if (error := self._background.exception()) is not None:
            _log.critical("broker=%s: a background task failed", self._name, exc_info=error)


class _Start:
    """One start of a broker; `opened` releases what it opened, in reverse order."""

    def __init__(self, settings: Settings, clock: Callable[[], int], sockets: Sockets, opened: AsyncExitStack) -> None:
        self._settings = settings
        self._config = settings.config
        self._clock = clock
        self._sockets = sockets
        self._opened = opened
        self._memory = ConnectionMemory(self._config.limits.memory_bytes)
        self._tls = self._config.tls.server()
        self._remoting = RemotingClient(tls=self._config.tls.client())
        self._peers = Peers(tls=self._config.tls.client())
        self._timers = self._thread("timer")
        self._standstill = Standstill()

    async def run(self) -> Broker:
        """Return the running broker."""
        files, disk = self._thread("files"), self._thread("disk")
        store, journal = self._open_files(files)
        main, fast = Dispatch(ANSWERS), Dispatch(ANSWERS)
        server = await self._listen(main, self._config.port)
        # No request is read before this function waits again; by then everything is set up.
        components = compose(self._settings, self._resources(store, journal, server.port, files=files, disk=disk))
        self._opened.callback(components.timer.close)
        self._opened.callback(components.durability.close)
        self._opened.push_async_callback(server.close)  # before the disk closes: a running request may still need it
        processors = processors_of(components)
        register(processors, components, main=main, fast=fast)
        register_mode(components, main, fast)  # before the guard, which learns here what is served
        components.roles.watch(processors.follow_role)
        guarding = guard(components, main, fast)
        housekeeping = Housekeeping(store=store, intake=components.intake, arrivals=components.arrivals, executor=disk)
        # Before the first message: the disk may already be full.
        housekeeping.drop_expired(self._clock())
        servers = [server, *await self._listen_below(fast)]
        self._opened.push_async_callback(components.mode.close)
        slave_steps = await components.mode.listen()
        await components.rest.registration.register()
        saver = _saver(components, journal, files)
        guarding = (*guarding, *self._watch_standstill(components, servers))
        steps = (*guarding, *slave_steps, *background.steps_of(components, processors, housekeeping, saver))
        running = background.begin(components, steps)
        self._opened.callback(running.cancel)
        _log.info("broker=%s: serving at %s", self._config.identity.name, components.address)
        return Broker(components, processors, saver, servers, running, self._opened.pop_all())

    def _watch_standstill(self, components: Components, servers: Sequence[Server]) -> Sequence[Step]:
        """Watch where another master may be elected meanwhile; return what is to be done for it."""
        failover = components.mode.failover
        if failover is None:
            return ()
        self._standstill.begin(servers, failover.has_lease)
        return (Step("standstill", LOOK_MS, self._standstill.look),)

    def _open_files(self, files: Executor) -> tuple[MessageStore, Journal]:
        store = self._open_store(files)
        journal = Journal(self._config.config_folder)
        self._opened.push_async_callback(_run_in, files, journal.close)
        self._opened.push_async_callback(self._remoting.close)
        self._opened.push_async_callback(self._peers.close)
        return store, journal

    def _resources(
        self, store: MessageStore, journal: Journal, port: int, *, files: Executor, disk: Executor
    ) -> Resources:
        host = advertised_host(self._config.bind, self._config.advertise)
        folder, is_suspect = self._config.store.folder / TIMER_FOLDER, not store.recovered.was_clean
        timer_index = TimerIndex.open(folder, is_suspect=is_suspect, now=self._clock())
        self._opened.callback(timer_index.close)  # the timer closes what comes in its place, but may not come itself
        return Resources(
            store=store,
            journal=journal,
            timer_index=timer_index,
            remoting=self._remoting,
            peers=self._peers,
            address=join(host, port),
            store_host=(ip_of(host), port),
            tls=self._tls,
            sockets=self._sockets,
            disk=disk,
            files=files,
            timers=self._timers,
            clock=self._clock,
            call_soon=paced(asyncio.get_running_loop(), _ROUND_SECONDS),
            memory=self._memory,
        )

    def _thread(self, name: str) -> Executor:
        executor = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._opened.callback(executor.shutdown)
        return executor

    def _open_store(self, files: Executor) -> MessageStore:
        limit = raise_limit()
        check_files(limit, count_files(self._config.store.folder))
        store = MessageStore.open(replace(self._config.store, is_replica=self._config.failover.is_on), now=None)
        self._opened.push_async_callback(_run_in, files, store.close)
        _log_recovery(store)
        store.max_queues = queues_within(self._config.limits.queues, limit)
        return store

    async def _listen(self, dispatch: Dispatch, port: int) -> Server:
        server = Server(
            dispatch,
            host=self._config.bind,
            port=port,
            tls=self._tls,
            limits=self._config.limits.of_connections(),
            memory=self._memory,
            sockets=self._sockets,
            before_work=self._standstill.check if self._config.failover.is_on else None,
        )
        await server.start()
        self._opened.push_async_callback(server.close)
        return server

    async def _listen_below(self, dispatch: Dispatch) -> Sequence[Server]:
        """Listen on the second port if it is free; otherwise clients that want it fall back to the first."""
        port = self._config.port - FAST_PORT_BELOW
        if port <= 0:
            return ()
        try:
            return (await self._listen(dispatch, port),)
        except AddressRefused as error:
            _log.warning("broker=%s: the fast port is not available: %s", self._config.identity.name, error)
            return ()


def _saver(components: Components, journal: Journal, files: Executor) -> StateSaver:
    registers = (
        components.topics,
        components.groups,
        components.offsets,
        components.filters,
        components.delay,
        components.settings,
        components.request_modes,
    )
    return StateSaver(
        saver=components.beside.saver, registers=registers, journal=journal, leases=components.leases, executor=files
    )


async def _run_in(executor: Executor, function: Callable[[], None]) -> None:
    await asyncio.get_running_loop().run_in_executor(executor, function)


def _log_recovery(store: MessageStore) -> None:
    """Log what opening the store found, unless everything was in order."""
    found = store.recovered
    if not found.was_clean:
        _log.warning("store: it was not shut down properly; %d records were checked again", found.walked_records)
    for begin, end, reason in found.damaged:
        _log.error("store: no intact record from log offset %d to %d: %s", begin, end, reason)
    if found.cut_reason is not None:
        _log.warning("store: the log was cut at %d: %s", store.appended_log_offset, found.cut_reason)
    for topic, queue_id in found.queues.lost:
        _log.warning("store: topic=%s queue=%d was missing or damaged and was rebuilt from the log", topic, queue_id)
