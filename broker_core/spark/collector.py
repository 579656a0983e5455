"""Live rows, limits, cancel and confirmations between the driver and its running tasks (spark/README.md#replay-lanes).

Spark shows no rows of a running task, so each task keeps one TCP connection to the driver and sends a line of JSON
before every batch and after every chunk; the driver answers with what the task may do::

    task → driver   {"token": …, "lane": 0}
    task → driver   {"want": 128, "checkpoint": {"chunk": 3, "state": "partial", "read": 2048, …}}   before a batch
    driver → task   {"count": 128, "wait_s": 0.0, "stop": false}                or, with a rate, "ask again later":
    driver → task   {"count": 0, "wait_s": 0.1, "stop": false}
    task → driver   {"want": 0, "checkpoint": {"chunk": 3, "state": "done", …}}                      after a chunk
    driver → task   {"count": 0, "wait_s": 0.0, "stop": false}                  … whose checkpoint is on disk by now

A report also names the messages that were left out since the last one.
"""

from __future__ import annotations

import secrets
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import msgspec

from broker_core.spark.checkpoint import Checkpoint, LeftOut
from broker_core.structs import decoded

_TIMEOUT_S: Final = 30.0
_BURST_S: Final = 1.0
_LONGEST_WAIT_S: Final = 0.25
_GRANTS_PER_SECOND: Final = 10
_POLL_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class Address:
    """The address of the driver; sent to the tasks."""

    host: str
    port: int
    token: str


@decoded
class SendPermit(msgspec.Struct, frozen=True):
    """What a task may do next: send `count` messages now, or ask again after `wait_s` seconds, or stop."""

    count: int = 0
    wait_s: float = 0.0
    stop: bool = False


@decoded
class _Hello(msgspec.Struct):
    token: str = ""
    lane: int = 0


@decoded
class _Report(msgspec.Struct):
    checkpoint: Checkpoint
    want: int = 0
    give_back: int = 0
    left_out: Sequence[LeftOut] = ()
    """Since the last report; the checkpoint counts them."""


class Budget:
    """Shares a rate and a total between tasks; thread-safe; `now` is in seconds (monotonic).

    Nothing is promised for later, so a new rate holds for the next grant of every task.
    """

    def __init__(self, *, per_second: float | None = None, total: int | None = None) -> None:
        """Without a rate no task waits, without a total no task stops."""
        self._per_second, self._left = per_second, total
        self._free_at: float | None = None
        self._lock = threading.Lock()

    def set_rate(self, per_second: float | None) -> None:
        """Change the rate; None is no limit."""
        with self._lock:
            if per_second != self._per_second:
                self._per_second = per_second
                # What was saved or owed at the old rate counts no more.
                self._free_at = None

    def take(self, want: int, now: float) -> tuple[int, float]:
        """Return how many of `want` may be sent now; if none, after how many seconds to ask again, 0.0 for never."""
        with self._lock:
            count = want if self._left is None else max(0, min(want, self._left))
            if not self._per_second or not count:
                return self._granted(count), 0.0
            free_at = now if self._free_at is None else self._free_at
            if free_at > now:
                return 0, min(free_at - now, _LONGEST_WAIT_S)
            count = max(1, min(count, int(self._per_second / _GRANTS_PER_SECOND)))
            # Unused permits are kept for one second only, so a pause does not cause a burst.
            self._free_at = max(now - _BURST_S, free_at) + count / self._per_second
            return self._granted(count), 0.0

    def _granted(self, count: int) -> int:
        if self._left is not None:
            self._left -= count
        return count

    def give_back(self, count: int) -> None:
        """Return permits that were not used; fewer than 0 are what an earlier run used and nobody counted."""
        with self._lock:
            if self._left is not None:
                self._left += count


@dataclass(slots=True)
class Collector:
    """The driver's side; `on_done` stores a finished chunk before its task continues.

    `on_left_out` gets the messages that were not copied, before the checkpoint that counts them is seen anywhere.
    """

    budget: Budget
    on_done: Callable[[Checkpoint], None]
    on_left_out: Callable[[Sequence[LeftOut]], None]
    host: str = "127.0.0.1"
    stop: bool = False
    """Set to make every task end after the batch it is sending."""
    running: dict[int, Checkpoint] = field(default_factory=dict)
    """By lane the totals of the chunk that is being worked on."""
    connected: set[int] = field(default_factory=set)
    """The lanes whose tasks run."""
    _token: str = field(default_factory=lambda: secrets.token_hex(16))
    _server: socketserver.ThreadingTCPServer | None = None

    def start(self) -> Address:
        """Listen on a free port; return the address for the tasks."""
        collector = self

        class LaneConnection(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                collector._serve(self)

        self._server = socketserver.ThreadingTCPServer((self.host, 0), LaneConnection)
        self._server.daemon_threads = True
        serve = partial(self._server.serve_forever, poll_interval=_POLL_S)
        threading.Thread(target=serve, name="collector", daemon=True).start()
        return Address(self.host, self._server.server_address[1], self._token)

    @property
    def has_moved(self) -> bool:
        """Whether a running chunk has a message that was read."""
        return any(checkpoint.read for checkpoint in list(self.running.values()))

    def close(self) -> None:
        """Stop listening; a task that is still there gets no permit any more, though this process may go on."""
        self.stop = True
        if self._server:
            self._server.shutdown()
            self._server.server_close()

    def _serve(self, connection: socketserver.StreamRequestHandler) -> None:
        hello = msgspec.json.decode(connection.rfile.readline() or b"{}", type=_Hello)
        if not secrets.compare_digest(hello.token, self._token):
            return
        self.connected.add(hello.lane)
        try:
            for line in connection.rfile:
                permit = self._answer(hello.lane, msgspec.json.decode(line, type=_Report))
                connection.wfile.write(msgspec.json.encode(permit) + b"\n")
        finally:
            self.connected.discard(hello.lane)

    def _answer(self, lane: int, report: _Report) -> SendPermit:
        if report.left_out:
            self.on_left_out(report.left_out)
        if report.checkpoint.is_done:
            self.running.pop(lane, None)
            self.on_done(report.checkpoint)
            return SendPermit(stop=self.stop)
        self.running[lane] = report.checkpoint
        self.budget.give_back(report.give_back)
        if self.stop:
            return SendPermit(stop=True)
        count, wait_s = self.budget.take(report.want, time.monotonic())
        return SendPermit(count, wait_s, stop=report.want > 0 and not count and not wait_s)


class Reporter:
    """The task's side of the connection; one per lane."""

    def __init__(self, address: Address, lane: int) -> None:
        """Connect to the driver."""
        self._socket = socket.create_connection((address.host, address.port), timeout=_TIMEOUT_S)
        self._lines = self._socket.makefile("rwb")
        self._send(_Hello(address.token, lane))

    def ask(
        self, want: int, checkpoint: Checkpoint, *, give_back: int = 0, left_out: Sequence[LeftOut] = ()
    ) -> SendPermit:
        """Report the chunk's progress and ask to send `want` messages; a finished chunk is on disk on return."""
        self._send(_Report(checkpoint, want, give_back, left_out))
        line = self._lines.readline()
        if not line:
            raise ConnectionError("the driver of this job has ended")
        return msgspec.json.decode(line, type=SendPermit)

    def close(self) -> None:
        """End the connection."""
        self._lines.close()
        self._socket.close()

    def _send(self, message: _Hello | _Report) -> None:
        self._lines.write(msgspec.json.encode(message) + b"\n")
        self._lines.flush()
