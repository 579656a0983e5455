"""One child process: started in its own session, its output logged, stopped within its time limit."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
from collections.abc import Callable
from typing import Final

from gateway.up.console_log import ConsoleLog
from gateway.up.processes import ROOT, Child

# A line of a traceback may contain a whole request; the stream reader drops longer lines.
_LINE_LIMIT = 1024 * 1024
# prctl(2); the C library is loaded here, for between fork and exec nothing may be imported.
_PR_SET_PDEATHSIG: Final = 1
_LIBC: Final = ctypes.CDLL(None, use_errno=True)


class ChildProcess:
    """A started child. `printed_ready` is set after it has printed a line that begins with ``ready``."""

    def __init__(self, child: Child, process: asyncio.subprocess.Process, log: ConsoleLog) -> None:
        self.child = child
        self.printed_ready = asyncio.Event()
        self._process = process
        self._log = log
        self._exited = _watch_exit(process.pid)
        self._readers = [
            asyncio.create_task(self._collect(stream), name=f"{child.name} log")
            for stream in (process.stdout, process.stderr)
            if stream is not None
        ]

    @classmethod
    async def start(cls, child: Child, environment: dict[str, str], log: ConsoleLog) -> ChildProcess:
        """Start `child` in a separate session, so that a terminal's Ctrl-C reaches only the supervisor.

        When the supervisor is killed, the child is asked to stop: nobody else would, and it would keep its port.
        """
        process = await asyncio.create_subprocess_exec(
            *child.command,
            cwd=ROOT,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            preexec_fn=_ending_with(os.getpid()),
            limit=_LINE_LIMIT,
        )
        return cls(child, process, log)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def status(self) -> int | None:
        """The exit status, or None while the process runs; a negative number is the signal that ended it."""
        return self._process.returncode

    async def wait(self) -> int:
        """Wait until the process has ended, kill the rest of its session, and return the exit status.

        A process that the child started and did not stop, such as a server's worker, would keep the port and the pipes
        open, and asyncio waits for the pipes as well as for the process.
        """
        await asyncio.shield(self._exited)
        self._signal(signal.SIGKILL, whole_session=True)
        status = await self._process.wait()
        await asyncio.wait(self._readers, timeout=1)
        return status

    async def stop(self) -> int:
        """Ask the process to stop, kill its session after the time limit, and return the exit status."""
        self._signal(signal.SIGTERM, whole_session=False)
        try:
            async with asyncio.timeout(self.child.stop_seconds):
                await self.wait()
        except TimeoutError:
            self._log.line("gantry", f"{self.child.name} did not stop within {self.child.stop_seconds:.0f} s: killed")
            self._signal(signal.SIGKILL, whole_session=True)
        return await self.wait()

    def _signal(self, number: signal.Signals, *, whole_session: bool) -> None:
        if not whole_session and self.status is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            (os.killpg if whole_session else os.kill)(self.pid, number)

    async def _collect(self, stream: asyncio.StreamReader) -> None:
        while True:
            try:
                line = await stream.readline()
            except ValueError:  # longer than the limit; the reader has dropped it
                self._log.line(self.child.name, "(a line of more than 1 MiB was dropped)")
                continue
            if not line:
                return
            text = line.decode(errors="replace").rstrip()
            if text.startswith("ready"):
                self.printed_ready.set()
            if text:
                self._log.line(self.child.name, text)


def _ending_with(parent: int) -> Callable[[], None]:
    """Return what a new process does so that the end of its parent is a request to stop."""

    def ask_for_it() -> None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:  # it has ended meanwhile
            os._exit(1)

    return ask_for_it


def _watch_exit(pid: int) -> asyncio.Future[None]:
    """Return a future that is done when the process has ended, even if others still hold its pipes."""
    loop = asyncio.get_running_loop()
    exited: asyncio.Future[None] = loop.create_future()
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:  # it has already ended and been waited for
        exited.set_result(None)
        return exited

    def on_exit() -> None:
        loop.remove_reader(descriptor)
        os.close(descriptor)
        if not exited.done():
            exited.set_result(None)

    loop.add_reader(descriptor, on_exit)
    return exited
