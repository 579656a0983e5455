"""The socket of a slave: connects, feeds the log, and tries again (broker/README.md#following-a-master)."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, NamedTuple, cast

from broker_core.broker.arrivals import Arrivals
from broker_core.broker.registration import MasterPlace
from broker_core.broker.replication.master_facts import (
    MasterFacts,
    ask_facts,
    ask_first_record,
    ask_queue_ends,
    find_record,
)
from broker_core.broker.replication.plain_slave import (
    FollowError,
    LogsDiverge,
    PlainSlave,
    starting_point,
)
from broker_core.broker.replication.queues_before import make_queues
from broker_core.broker.role import Role, RoleKind
from broker_core.broker.settings import Settings
from broker_core.errors import GantryError
from broker_core.logs import get_logger
from broker_core.remoting.client import RemotingClient
from broker_core.store import MessageStore
from broker_core.store.errors import MessageDamaged

PAUSES_S: Final = (1, 2, 5)
"""Pauses between attempts to follow; the last one is repeated."""

_TICK_S: Final = 0.25
_CONNECT_S: Final = 5.0
_FOREVER: Final = 1 << 62

_log = get_logger(__name__)


class Place(NamedTuple):
    """Where the master is: the port of its stream, and the main one."""

    stream: str
    main: str


@dataclass(slots=True)
class LinkFigures:
    """What is known of the connection; times are ms since 1970, None while there is none."""

    master: str | None = None
    connected_since: int | None = None
    heard_at: int | None = None
    received_bytes: int = 0


class LinkEnded(FollowError):
    """Raised when the connection to the master is closed or cannot be opened."""


class SlaveLink:
    """Follows the master of the broker name for as long as this broker is a slave."""

    def __init__(
        self,
        *,
        store: MessageStore,
        arrivals: Arrivals,
        remoting: RemotingClient,
        settings: Settings,
        flush: Callable[[], Awaitable[None]],
        clock: Callable[[], int],
    ) -> None:
        self._store = store
        self._arrivals = arrivals
        self._remoting = remoting
        self._settings = settings
        self._flush = flush
        self._clock = clock
        self._role: Role | None = None
        self._told: MasterPlace | None = None
        self._changed = asyncio.Event()
        self._stream: _Stream | None = None
        self._said = ""
        self._stuck: LogsDiverge | None = None
        self.figures = LinkFigures()

    # -- whom to follow

    def follow_role(self, role: Role) -> None:
        """Begin or end with the role; a watcher of `Roles`."""
        before, self._role = self._role, role
        if before is None or before.kind is not role.kind:
            self._start_over()

    def follow_master(self, master: MasterPlace) -> None:
        """Follow the master that the name servers tell, unless a setting names one."""
        before, self._told = self._place(), master
        if before != self._place():
            self._start_over()

    def master(self) -> str | None:
        """Return the main port of the master that is followed, None while there is none."""
        place = self._place()
        return None if place is None else place.main

    def _start_over(self) -> None:
        self._stuck = None
        self._changed.set()
        if self._stream is not None:
            self._stream.end(LinkEnded("another master, or none, is to be followed"))

    def _place(self) -> Place | None:
        """Return where to follow; None while this is no slave, or nobody has told where the master is."""
        if self._role is None or self._role.kind is not RoleKind.SLAVE or self._role.epoch is not None:
            return None
        given = self._settings.config.replication.master_address
        if not given:
            return None if self._told is None else Place(self._told.ha_address, self._told.address)
        return Place(given, _main_of(given) if self._told is None else self._told.address)

    # -- following

    async def run(self) -> None:
        """Follow, and try again after each end, until cancelled."""
        failures = 0
        while True:
            self._changed.clear()
            place = self._place()
            if place is None:
                await self._changed.wait()
                continue
            received = self.figures.received_bytes
            try:
                await self._follow(place)
            except (GantryError, OSError) as error:
                self._say(place, str(error))
            failures = 1 if self.figures.received_bytes > received else failures + 1
            await self._pause(PAUSES_S[min(failures, len(PAUSES_S)) - 1])

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            pass

    def _say(self, place: Place, reason: str) -> None:
        """Log why the master is not followed, once for each reason."""
        if reason != self._said:
            self._said = reason
            _log.warning("master=%s: not followed: %s", place.stream, reason)

    async def _follow(self, place: Place) -> None:
        if self._stuck is not None:
            raise self._stuck
        facts = await ask_facts(self._remoting, place.main)
        slave, grew = self._slave(await self._prepare(place, facts)), asyncio.Event()

        def take(data: bytes) -> bytes:
            self._take(place, slave, data, grew)
            return slave.report(_now())

        self._stream = stream = await _connect(place.stream, take, self._tls(facts))
        try:
            if not self._changed.is_set():
                await self._serve(place, slave, stream, grew)
        finally:
            self._stream = None
            self.figures.connected_since = None
            stream.close()

    def _tls(self, facts: MasterFacts) -> ssl.SSLContext | None:
        """Return the TLS of the stream, where own connections have it: RocketMQ's masters speak none on this port."""
        files = self._settings.config.tls.client()
        return files.context() if files is not None and facts.is_gantry else None

    async def _prepare(self, place: Place, facts: MasterFacts) -> int:
        """Return where to begin; an empty log gets the whole history. Raises FollowError and what the store raises."""
        end = self._store.appended_log_offset
        try:
            start = starting_point(end, self._store.segment_bytes, facts.log)
            await self._compare(place, end)
        except LogsDiverge as stuck:
            # The master's log may grow beyond this one: then the ends would say nothing any more.
            self._stuck = stuck
            raise
        if end == 0 < start:
            ends = await ask_queue_ends(self._remoting, place.main, start)
            await make_queues(self._store, ends)
            self._store.begin_behind(ends)
        if start == 0 < facts.log.end:
            self._store.append_raw(0, await ask_first_record(self._remoting, place.main))
            self._arrivals.expect()
            start = self._store.appended_log_offset
        if self._settings.config.flushes_before_answer:
            await self._flush()
        return start

    async def _compare(self, place: Place, end: int) -> None:
        """Compare records of both logs, as far as the master shows them: equal lengths say nothing. Raises LogsDiverge.

        A segment begins with a record in every log; the newest one shows what came behind that.
        """
        last = max(end - 1, 0)
        begins = max(last - last % self._store.segment_bytes, int(self._store.begin_log_offset))
        for at in (begins, int(self._store.place_before(_FOREVER))) if end else ():
            own = self._own_record(at)
            theirs = await find_record(self._remoting, place.main, at) if own is not None else None
            if theirs is not None and theirs != own:
                raise LogsDiverge(
                    f"the record at {at} is another one here than at the master: this is another log. "
                    "To follow it, stop this broker, rename its folder and begin anew"
                )

    def _own_record(self, log_offset: int) -> bytes | None:
        try:
            return self._store.find_raw(log_offset)
        except MessageDamaged:
            return None  # what it was is not known

    def _slave(self, start: int) -> PlainSlave:
        config = self._settings.config
        return PlainSlave(
            self._store,
            start=start,
            reports_flushed=config.flushes_before_answer,
            silence_ms=config.replication.silence_ms,
            now=_now(),
        )

    async def _serve(self, place: Place, slave: PlainSlave, stream: _Stream, grew: asyncio.Event) -> None:
        self.figures.master, self.figures.connected_since = place.stream, self._clock()
        stream.write(slave.report(_now()))
        helpers = [asyncio.ensure_future(self._tick(slave, stream))]
        if self._settings.config.flushes_before_answer:
            helpers.append(asyncio.ensure_future(self._report_flushed(slave, stream, grew)))
        try:
            await stream.ended
        finally:
            for helper in helpers:
                helper.cancel()
        raise stream.reason

    def _take(self, place: Place, slave: PlainSlave, data: bytes, grew: asyncio.Event) -> None:
        self.figures.received_bytes += len(data)
        self.figures.heard_at = self._clock()
        if slave.feed(data, _now()):
            self._arrivals.expect()
            grew.set()
        if self._said or self.figures.received_bytes == len(data):
            self._said = ""
            _log.info("master=%s: followed from log offset %d", place.stream, self._store.appended_log_offset)

    async def _tick(self, slave: PlainSlave, stream: _Stream) -> None:
        """Report from time to time, and give up a master that says nothing."""
        while True:
            await asyncio.sleep(_TICK_S)
            try:
                slave.check(_now())
            except FollowError as error:
                stream.end(error)
                return
            stream.write(slave.report(_now()))

    async def _report_flushed(self, slave: PlainSlave, stream: _Stream, grew: asyncio.Event) -> None:
        """Report what is on the disk, one flush after another."""
        while True:
            await grew.wait()
            grew.clear()
            await self._flush()
            stream.write(slave.report(_now()))


class _Stream(asyncio.Protocol):
    """The connection: what comes is taken, and the report of it goes out, in the turn of the loop that reads it."""

    def __init__(self, take: Callable[[bytes], bytes]) -> None:
        """`take` returns the report that is due."""
        self._take = take
        self._transport: asyncio.Transport | None = None
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.reason: Exception = LinkEnded("the master closed the connection")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self.ended.done():
            return
        try:
            report = self._take(data)
        except (GantryError, OSError) as error:
            self.end(error)
        else:
            self.write(report)

    def connection_lost(self, error: Exception | None) -> None:
        self.end(self.reason if error is None else LinkEnded(f"the connection is lost: {error}"))

    def write(self, data: bytes) -> None:
        if data and self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)

    def end(self, reason: Exception) -> None:
        """Close for a reason; the first one counts."""
        if not self.ended.done():
            self.reason = reason
            self.ended.set_result(None)
        self.close()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.abort()


async def _connect(address: str, take: Callable[[bytes], bytes], tls: ssl.SSLContext | None) -> _Stream:
    host, _, port = address.rpartition(":")
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(_CONNECT_S):
            _, stream = await loop.create_connection(lambda: _Stream(take), host.strip("[]"), int(port), ssl=tls)
    except TimeoutError as error:
        raise LinkEnded(f"no connection to {address} within {_CONNECT_S:.0f} s") from error
    except (OSError, ValueError, OverflowError) as error:
        raise LinkEnded(f"no connection to {address}: {error}") from error
    return stream


def _main_of(stream: str) -> str:
    """Return the main port of a master by that of its stream, which is the next one in RocketMQ."""
    host, _, port = stream.rpartition(":")
    return f"{host}:{int(port) - 1}"


def _now() -> int:
    return time.monotonic_ns() // 1_000_000
