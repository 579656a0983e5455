"""One TCP connection, for either side (protocol/README.md#connections).

Both sides send requests and responses, so there is one class. All frames of one read are handled together, and their
answers are written together: with many small commands the cost is in the system calls, not in the bytes.

::

    data_received ─► FrameReader ─► Command ─┬─ response ─► the call that waits for it
                                             └─ request ──► handler ─┬─ Command ───┐
                                                                     ├─ awaitable ─┤ at its end
                                                                     └─ None       │ (answer() later, or never)
    transport ◄── one write ◄── Outbox ◄───────────────────────────────────────────┘

A connection may have a lane, which is asked before the handlers and takes many requests together.

Backpressure: when the peer does not read its answers, a server stops reading from it, if necessary in the middle of
received data; a client continues to read (otherwise both could wait for each other) and holds back its calls.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, Final, Protocol, TypeAlias, cast

from broker_core.clock import boot_seconds
from broker_core.logs import get_logger
from broker_core.protocol.codes import FLAG_ONE_WAY, FLAG_RESPONSE, ResponseCode, name_of_request
from broker_core.protocol.command import Command
from broker_core.protocol.errors import FrameError, ProtocolError
from broker_core.protocol.frame import Frame, FrameReader
from broker_core.remoting.calls import PendingCalls
from broker_core.remoting.errors import ConnectionClosed, Overloaded, RemotingTimeout
from broker_core.remoting.limits import ConnectionLimits
from broker_core.remoting.memory import SMALL, ConnectionMemory
from broker_core.remoting.other_protocols import Farewell, recognize
from broker_core.remoting.outbox import Outbox
from broker_core.remoting.rare_warnings import RareWarnings

_LAST_ANSWERS_SECONDS: Final = 1.0

Result: TypeAlias = Command | Awaitable[Command | None] | None
ConnectionCallback: TypeAlias = Callable[["Connection"], None]


class Serving(Protocol):
    """What a connection needs to serve requests; see Dispatch."""

    def handle(self, request: Command, connection: Connection) -> Result: ...

    def finish(
        self, request: Command, ended: asyncio.Future[Command | None], connection: Connection
    ) -> Command | None: ...


class Lane(Protocol):
    """Handles many requests of one connection together."""

    def take(self, frames: list[Frame], at: int) -> int:
        """Handle the requests from `at` on, as far as it can; return how many frames that were."""


class Connection(asyncio.Protocol):
    """An open connection; belongs to one loop."""

    def __init__(
        self,
        serving: Serving | None,
        limits: ConnectionLimits,
        *,
        stops_reading_when_full: bool,
        on_open: ConnectionCallback | None = None,
        memory: ConnectionMemory | None = None,
        warnings: RareWarnings | None = None,
        before_work: ConnectionCallback | None = None,
    ) -> None:
        """Without `serving`, every request of the peer is dropped; held bytes are counted in `memory`.

        The connections of a server share `warnings`: how often a peer sends what is no request is up to the peer.
        `before_work` sees the connection before what it brought is handled, and may close it: then nothing of that is.
        """
        self.opened_at = 0.0
        """When, in the seconds of `boot_seconds`."""
        self.peer = ""  # ip:port
        self.local = ""
        self.close_reason = ""
        # Asked before the handlers; None if there is none.
        self.lane: Lane | None = None
        self._serving = serving
        self._limits = limits
        self._stops_reading_when_full = stops_reading_when_full
        self._on_open = on_open
        self._before_work = before_work
        self._memory = memory
        self._warnings = RareWarnings() if warnings is None else warnings
        self._counted = 0  # bytes reported to `memory`
        self._worked_on = 0  # bytes of the requests that handlers are working on
        self._on_close: list[ConnectionCallback] = []
        self._loop = asyncio.get_running_loop()
        self._closed: asyncio.Future[None] = self._loop.create_future()
        self._transport: asyncio.Transport | None = None
        self._is_open = False
        self._frames = FrameReader(limits.frame_bytes, limits.header_bytes)
        self._held: deque[Frame] = deque()  # frames that wait until the peer has read its answers
        self._outbox = Outbox(self._loop, self._check_backlog)
        self._is_deaf = False  # reading has stopped permanently
        self._calls = PendingCalls(self._loop)
        self._unanswered: set[asyncio.Future[Any]] = set()
        self._leaving: asyncio.Task[None] | None = None
        self._idle_timer: asyncio.TimerHandle | None = None
        self._last_read = self._loop.time()
        self._log = get_logger(__name__)

    # ---- requests of this side ---------------------------------------------------------------------------------------

    async def invoke(self, request: Command, timeout_ms: int) -> Command:
        """Send a request and return its response, whatever its code.

        Raises RemotingTimeout, ConnectionClosed, Overloaded, or ProtocolError for a request that cannot be encoded.
        `timeout_ms` starts now and includes waiting for room.
        """
        deadline = self._loop.time() + timeout_ms / 1000
        if self._outbox.is_full and self._is_open and not await self._outbox.wait_for_room(deadline):
            raise RemotingTimeout(self.peer, timeout_ms, "room to write")
        if len(self._calls) >= self._limits.calls_per_connection:
            raise Overloaded(self.peer, "calls_per_connection", self._limits.calls_per_connection)
        request.opaque = self._calls.next_opaque()
        if not self._is_open:
            raise self._closed_error()
        self._outbox.put(request)
        return await self._calls.wait(request.opaque, deadline, timeout_ms)

    def send(self, request: Command) -> None:
        """Send a request that gets no answer; raises ConnectionClosed."""
        request.opaque = self._calls.next_opaque()
        request.flag |= FLAG_ONE_WAY
        if not self._is_open:
            raise self._closed_error()
        self._outbox.put(request)

    def answer(self, request: Command, response: Command) -> None:
        """Send the response to a request of the peer; do nothing for a one-way request or a closed connection."""
        if request.flag & FLAG_ONE_WAY or not self._is_open:
            return
        try:
            self._outbox.put(response.answering(request))
        except ProtocolError as error:
            self._log.error("peer=%s request=%s: %s", self.peer, name_of_request(request.code), error)
            remark = f"the response cannot be sent: {error}".encode("utf-8", "replace").decode()
            self._outbox.put(Command.response(ResponseCode.SYSTEM_ERROR, remark=remark).answering(request))

    def answer_many(self, frames: bytes, count: int) -> None:
        """Send so many responses, already encoded; do nothing if the connection has closed."""
        if self._is_open:
            self._outbox.put_frames(frames, count)

    def owe(self) -> asyncio.Future[None]:
        """Let a server that stops wait for answers that come later; whoever sends them sets the result."""
        owed = self._loop.create_future()
        self._unanswered.add(owed)
        owed.add_done_callback(self._unanswered.discard)
        return owed

    # ---- state and closing -------------------------------------------------------------------------------------------

    @property
    def is_closing(self) -> bool:
        """Whether nothing can be sent any more."""
        return not self._is_open

    @property
    def has_room(self) -> bool:
        """Whether the peer reads what it is sent."""
        return self._is_open and not self._outbox.is_full

    @property
    def unanswered(self) -> int:
        """Requests of the peer that handlers are working on."""
        return len(self._unanswered)

    @property
    def held_bytes(self) -> int:
        """Bytes held for the peer: incomplete frames, waiting and unanswered requests, unread answers; 0 if small."""
        if self._transport is None:
            return 0
        held = self._frames.buffered + self._worked_on + self._outbox.unread_bytes
        if self._held:
            held += sum(len(each.header) + len(each.body) for each in self._held)
        return held if held > SMALL else 0

    @property
    def pending_calls(self) -> int:
        """Requests of this side that wait for their responses."""
        return len(self._calls)

    @property
    def silent_ms(self) -> int:
        """For how long nothing was received."""
        return int((self._loop.time() - self._last_read) * 1000)

    def on_close(self, callback: ConnectionCallback) -> None:
        """Call `callback` once when the connection is closed, at once if it already is."""
        if self._closed.done():
            callback(self)
        else:
            self._on_close.append(callback)

    def close(self, reason: str = "closed here") -> None:
        """Write what is collected, then close; waiting calls fail with ConnectionClosed."""
        if self._transport is not None and self._is_open:
            self.close_reason = reason
            self._outbox.flush()
            self._is_open = False
            self._transport.close()

    def abort(self, reason: str) -> None:
        """Close without writing what the peer has not read."""
        if self._transport is not None:
            if self._is_open:
                self._log.warning("peer=%s: closed, %s", self.peer, reason)
            self.close_reason = self.close_reason or reason
            self._is_open = False
            self._transport.abort()

    async def closed(self) -> None:
        """Return after the connection has closed."""
        await asyncio.shield(self._closed)

    async def drained(self) -> None:
        """Return when no handler is working on a request of the peer."""
        while self._unanswered:
            await asyncio.wait(self._unanswered)

    def stop_reading(self) -> None:
        """Accept no more requests; answers are still written."""
        self._is_deaf = True
        self._held.clear()
        self._pause_reading()

    def cancel_handlers(self) -> None:
        """Cancel the handlers that still work on a request of the peer."""
        for each in list(self._unanswered):
            each.cancel()

    # ---- called by the transport -------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the peer's address and start the idle timer."""
        self._transport = cast(asyncio.Transport, transport)
        self._is_open = True
        self.opened_at = boot_seconds()
        self.peer = self._calls.peer = socket_name(transport.get_extra_info("peername"))
        self.local = socket_name(transport.get_extra_info("sockname"))
        self._outbox.open(self._transport, full_from_bytes=self._limits.write_buffer_bytes)
        if self._limits.idle_seconds:
            self._idle_timer = self._loop.call_later(self._limits.idle_seconds, self._close_if_idle)
        if self._on_open is not None:
            self._on_open(self)

    def data_received(self, data: bytes) -> None:
        """Handle every frame that `data` completes; write all answers together."""
        self._last_read = self._loop.time()
        frames = self._frames.feed(data)
        self._work_off(frames)
        fault = self._frames.fault
        if fault is not None and self._is_open:
            self._fail_frame(fault, is_first=not frames)
        elif self._counted or self._frames.buffered > SMALL:
            self._count()

    def pause_writing(self) -> None:
        """The peer does not read fast enough: stop reading from it, or hold back calls."""
        self._outbox.is_full = True
        if self._stops_reading_when_full:
            self._pause_reading()
        self._count()

    def resume_writing(self) -> None:
        """The peer has caught up: continue where it was stopped."""
        self._outbox.give_room()
        if self._held:
            held = list(self._held)
            self._held.clear()
            self._work_off(held)
        self._count()
        if self._stops_reading_when_full and self._is_open and not (self._outbox.is_full or self._is_deaf):
            cast(asyncio.Transport, self._transport).resume_reading()

    def eof_received(self) -> None:
        """The peer will send nothing more: write what is collected. Returning None makes the transport close."""
        self._outbox.flush()
        self._is_open = False

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail the waiting calls and run the close callbacks."""
        self.close_reason = self.close_reason or (str(exc) if exc else "closed by the peer")
        self._transport = None
        self._is_open = False
        # At once: the connection is in reference cycles, and what it holds would wait for the garbage collector.
        self._held.clear()
        self._frames.drop()
        self._outbox.close()
        self._count()
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        self._calls.fail(self.close_reason, is_unreadable=self._frames.fault is not None)
        self._closed.set_result(None)
        for callback in self._on_close:
            try:
                callback(self)
            except Exception:  # noqa: BLE001 - the top of a connection: the other callbacks must still run
                self._log.exception("peer=%s: a close callback failed", self.peer)
        self._on_close.clear()

    def _closed_error(self) -> ConnectionClosed:
        return ConnectionClosed(self.peer, self.close_reason, is_unreadable=self._frames.fault is not None)

    # ---- reading -----------------------------------------------------------------------------------------------------

    def _work_off(self, frames: list[Frame]) -> None:
        if self._held:
            self._held.extend(frames)
            return
        if self._before_work is not None:
            self._before_work(self)
        self._outbox.collect()
        try:
            at = 0
            while at < len(frames) and self._is_open:
                if self._outbox.is_full and self._stops_reading_when_full:
                    self._held.extend(frames[at:])
                    break
                if self.lane is not None and (taken := self.lane.take(frames, at)):
                    at += taken
                    continue
                self._take(Command.decode(frames[at]))
                at += 1
        except ProtocolError as error:
            self._fail(error)
        finally:
            self._outbox.flush()

    def _take(self, command: Command) -> None:
        if command.flag & FLAG_RESPONSE:
            if not self._calls.resolve(command):
                self._log.debug("peer=%s opaque=%d: no request is waiting for this response", self.peer, command.opaque)
            return
        if self._serving is None:
            return
        if len(self._unanswered) >= self._limits.unanswered_requests:
            self.answer(command, _busy(self._limits.unanswered_requests))
            return
        result = self._serving.handle(command, self)
        if type(result) is Command:
            self.answer(command, result)
        elif result is not None:
            self._await(command, cast(Awaitable[Command | None], result))

    def _await(self, request: Command, result: Awaitable[Command | None]) -> None:
        if isinstance(result, asyncio.Future):
            future = result
        else:
            future = self._loop.create_task(
                cast(Coroutine[Any, Any, Command | None], result), name=f"{name_of_request(request.code)} {self.peer}"
            )
        self._unanswered.add(future)
        self._worked_on += len(request.body)
        if self._worked_on > SMALL:
            self._count()
        future.add_done_callback(partial(self._finish, request))

    def _finish(self, request: Command, ended: asyncio.Future[Command | None]) -> None:
        self._unanswered.discard(ended)
        self._worked_on -= len(request.body)
        if self._counted:
            self._count()
        response = cast(Serving, self._serving).finish(request, ended, self)
        if response is not None:
            self.answer(request, response)

    def _fail_frame(self, fault: FrameError, *, is_first: bool) -> None:
        """Close; if the first bytes belong to another protocol, answer in that protocol."""
        other = recognize(fault.head) if is_first else None
        if other is None or self._transport is None:
            self._fail(fault)
            return
        self._warnings.warn(self._log, "peer=%s: %s; closing", self.peer, other.what)
        if not other.answer:
            self.close(other.what)
            return
        self.close_reason = other.what
        self._is_open = False
        Farewell(self._transport, self, other.answer)

    def _fail(self, error: ProtocolError) -> None:
        self._warnings.warn(self._log, "peer=%s: %s; closing", self.peer, error)
        if self._unanswered:
            self.stop_reading()
            self._leaving = self._loop.create_task(self._close_when_answered(str(error)))
        else:
            self.close(str(error))

    async def _close_when_answered(self, reason: str) -> None:
        """Close when the requests before a fault are answered, or soon: some wait for messages."""
        await asyncio.wait(self._unanswered, timeout=_LAST_ANSWERS_SECONDS)
        self.close(reason)

    def _count(self) -> None:
        """Report the held bytes to `memory`; above its limit a connection is closed, possibly this one."""
        if self._memory is not None:
            held = self.held_bytes
            if held != self._counted:
                self._counted = held
                self._memory.hold(self, held)

    def _pause_reading(self) -> None:
        if self._is_open:
            cast(asyncio.Transport, self._transport).pause_reading()

    # ---- writing -----------------------------------------------------------------------------------------------------

    def _check_backlog(self) -> None:
        if self._outbox.unread_bytes > self._limits.unread_bytes:
            self.abort(f"limit unread_bytes={self._limits.unread_bytes} reached: the peer does not read its answers")
        else:
            self._count()

    def _close_if_idle(self) -> None:
        idle = self._loop.time() - max(self._last_read, self._outbox.last_write)
        if idle >= self._limits.idle_seconds:
            self._log.info("peer=%s: closed, limit idle_seconds=%g reached", self.peer, self._limits.idle_seconds)
            self.close("idle")
            return
        self._idle_timer = self._loop.call_later(self._limits.idle_seconds - idle, self._close_if_idle)


def _busy(limit: int) -> Command:
    remark = f"[OVERLOAD]limit unanswered_requests={limit} reached, start flow control for a while"
    return Command.response(ResponseCode.SYSTEM_BUSY, remark=remark)


def socket_name(name: Any) -> str:
    """Return a socket's name as ``ip:port`` or ``[ip]:port``."""
    if not isinstance(name, tuple):
        return str(name or "")
    ip, port = name[0], name[1]
    return f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}"
