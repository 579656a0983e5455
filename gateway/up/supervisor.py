"""Starts the children in order, restarts and logs those that die, and stops each before the ones that it uses."""

from __future__ import annotations

import asyncio
import contextlib
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterable
from itertools import groupby

from gateway.up.child_process import ChildProcess
from gateway.up.config import UpConfig
from gateway.up.console_log import ConsoleLog
from gateway.up.errors import CannotStart
from gateway.up.processes import Child, Plan

START_SECONDS = 60.0
_LOOK_SECONDS = 0.1
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0
# After a child has run this long, the pause before its next restart is short again.
_STABLE_SECONDS = 10.0


async def _nobody() -> None:
    return None


class Supervisor:
    """Keeps the children of one plan running until `stop`."""

    def __init__(self, plan: Plan, config: UpConfig, log: ConsoleLog) -> None:
        self._plan = plan
        self._config = config
        self._log = log
        self._running: dict[str, ChildProcess] = {}
        self._watchers: list[asyncio.Task[None]] = []
        self._stopping = False

    def split_by_database(self) -> tuple[list[Child], list[Child]]:
        """Return the children that need no database, and those that do."""
        children = self._plan.children
        return (
            [child for child in children if not child.needs_database],
            [child for child in children if child.needs_database],
        )

    async def wait_until_ready(self) -> None:
        """Wait until the gateway reports everything as ready; after a minute log what is not, and return."""
        deadline = asyncio.get_running_loop().time() + START_SECONDS
        while True:
            reason = await asyncio.to_thread(_why_not_ready, f"{self._config.console_url}/readyz")
            if reason is None:
                return
            if asyncio.get_running_loop().time() > deadline:
                self._log.line("gantry", f"not ready yet: {reason}")
                return
            await asyncio.sleep(_LOOK_SECONDS)

    async def start(self, child: Child) -> None:
        """Start `child`, wait until it is ready, then watch it; raise CannotStart if it ends or is late."""
        process = await self._launch(child)
        await self._until_ready(process)
        self._watchers.append(asyncio.create_task(self._watch(child), name=f"watch {child.name}"))

    async def stop(self, last_of_kind: Callable[[], Awaitable[str | None]] = _nobody) -> None:
        """Stop all children: first, together, those that need the database; then the others, the last started first.

        `last_of_kind` names a child that stops when the others of its kind have; it is asked before any of these.
        """
        self._stopping = True
        for watcher in self._watchers:
            watcher.cancel()
        await asyncio.gather(*self._watchers, return_exceptions=True)
        used, users = self.split_by_database()
        await asyncio.gather(*(self._stop(child) for child in users))
        last = await last_of_kind()
        for together in reversed(by_kind(used)):
            await asyncio.gather(*(self._stop(child) for child in together if child.name != last))
            await asyncio.gather(*(self._stop(child) for child in together if child.name == last))

    async def _stop(self, child: Child) -> None:
        process = self._running.pop(child.name, None)
        if process is not None:
            await process.stop()

    async def _launch(self, child: Child) -> ChildProcess:
        starting = asyncio.ensure_future(ChildProcess.start(child, self._plan.environment, self._log))
        try:
            process = await asyncio.shield(starting)
        except asyncio.CancelledError:
            # What is half started would be left behind.
            self._running[child.name] = await starting
            raise
        except OSError as error:
            raise CannotStart(f"{child.name}: {child.command[0]} cannot be run ({error.strerror})") from error
        self._running[child.name] = process
        return process

    async def _until_ready(self, process: ChildProcess) -> None:
        child = process.child
        try:
            async with asyncio.timeout(START_SECONDS):
                while not await self._is_ready(process):
                    if process.status is not None:
                        await process.wait()
                        raise CannotStart(f"{child.name} ended with status {process.status}; see its output above")
                    await asyncio.sleep(_LOOK_SECONDS)
        except TimeoutError as error:
            raise CannotStart(
                f"{child.name} was not ready within {START_SECONDS:.0f} s; see its output above"
            ) from error

    async def _is_ready(self, process: ChildProcess) -> bool:
        child = process.child
        if child.ready == "line":
            return process.printed_ready.is_set()
        if child.ready == "port":
            return await _accepts("127.0.0.1", child.port)
        if child.ready == "http":
            return await asyncio.to_thread(_answers, f"{self._config.console_url}/healthz")
        return process.status is None

    async def _watch(self, child: Child) -> None:
        clock = asyncio.get_running_loop().time
        pause = _FIRST_PAUSE
        while True:
            started = clock()
            status = await self._running[child.name].wait()
            if self._stopping:
                return
            # One that ended by itself was asked to, which is no fault.
            pause = _FIRST_PAUSE if status == 0 or clock() - started > _STABLE_SECONDS else pause
            self._log.line("gantry", f"{child.name} {_exit_text(status)}: started again in {pause:g} s")
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)
            try:
                await self._launch(child)
            except CannotStart as error:
                self._log.line("gantry", str(error))


def by_kind(children: Iterable[Child]) -> list[list[Child]]:
    """Return neighbours of one kind as one list; a child without a kind is alone."""
    return [list(together) for _, together in groupby(children, lambda child: child.kind or child.name)]


def _exit_text(status: int) -> str:
    return f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"


async def _accepts(host: str, port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection(host, port)
    except OSError:
        return False
    writer.close()
    with contextlib.suppress(OSError):
        await writer.wait_closed()
    return True


def _answers(url: str) -> bool:
    return _why_not_ready(url) is None


def _why_not_ready(url: str) -> str | None:
    """Return None if `url` answers 200, or else its answer, or why it does not answer."""
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 - our own http address
            return None if answer.status == 200 else f"status {answer.status}"
    except urllib.error.HTTPError as error:
        return error.read(2000).decode(errors="replace")
    except OSError as error:
        return str(error)
