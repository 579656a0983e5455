"""Decisions in a file of this machine, for a single controller (controller/README.md#file)."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import secrets
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NoReturn, Self, TypeVar

import msgspec

from broker_core import exit_status
from broker_core.clock import boot_seconds
from broker_core.controller.decisions import (
    MAX_TEXT_BYTES,
    Changed,
    DecisionsError,
    EngineStatus,
    Kept,
    Lead,
    NotLeading,
    Refused,
    Unsettled,
)
from broker_core.controller.disk import Disk, RealDisk
from broker_core.structs import decoded

FILE_NAME: Final = "decisions.json"
LOCK_NAME: Final = "decisions.lock"
LEAD_SECONDS: Final = 3.2
"""How long a lead counts without being renewed; it cannot be lost while the process lives."""

T = TypeVar("T")

_log: Final = logging.getLogger(__name__)


class FileLocked(DecisionsError):
    """Another controller has the file."""


class FileDamaged(DecisionsError):
    """The file is there, but does not hold decisions."""


class _Name(msgspec.Struct):
    number: int
    text: str


@decoded
class _File(msgspec.Struct, forbid_unknown_fields=True):
    """`number` rises with each writing; each name has that of its last one."""

    number: int
    names: dict[str, _Name]


def end_process(error: OSError) -> NoReturn:
    """End this process at once: what the disk holds now is unknown, and syncing the same pages again proves nothing."""
    _log.critical("decisions: the disk failed, and this process ends: %s", error)
    os._exit(exit_status.SYSTEM)


class FileDecisions:
    """One text for each name. Belongs to one loop; the file stays locked until `close` or the end of the process."""

    def __init__(self, folder: Path, lock: int, disk: Disk, fail: Callable[[OSError], None], held: _File) -> None:
        """Hold what `open` found."""
        self._file = folder / FILE_NAME
        self._lock = lock
        self._disk = disk
        self._fail = fail
        self._number = held.number
        self._names = {name: Kept(each.text, each.number) for name, each in held.names.items()}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="decisions")
        self._turn = asyncio.Lock()
        self._changed = asyncio.Condition()
        self._writing: set[str] = set()
        self._running: set[asyncio.Task[Any]] = set()
        self._is_broken = False
        self._lead: Lead | None = None
        self._vacant = asyncio.Event()
        self._vacant.set()
        self._status = EngineStatus("file", revision=self._number)

    @classmethod
    def open(cls, folder: Path, *, disk: Disk | None = None, fail: Callable[[OSError], None] = end_process) -> Self:
        """Lock the file and read it; raises FileLocked, FileDamaged and OSError.

        `fail` is called in another thread when the disk failed, and it is unknown what it holds.
        """
        lock = take_lock(folder)
        disk = disk or RealDisk()
        try:
            held = _parse(folder / FILE_NAME, disk.read(folder / FILE_NAME))
        except BaseException:
            os.close(lock)
            raise
        return cls(folder, lock, disk, fail, held)

    async def close(self) -> None:
        """Let what is being written end, and release the file."""
        if self._running:
            await asyncio.wait(self._running)
        self._thread.shutdown()
        os.close(self._lock)

    async def read(self) -> tuple[int, dict[str, Kept]]:
        """Return the number of the last writing, and all names; raises Unsettled once the disk has failed."""
        self._check_disk()
        return self._number, dict(self._names)

    async def put(self, name: str, seen: Kept | None, text: str, lead: Lead | None = None) -> Kept:
        """Write `text` if `seen` is still what is kept for the name, and `lead`, if given, still holds.

        Raises Changed, NotLeading, Refused when there is no room on the disk, and Unsettled when the disk failed.
        """
        if len(text.encode()) > MAX_TEXT_BYTES:
            raise ValueError(f"a text of more than {MAX_TEXT_BYTES} bytes")
        return await self._to_its_end(self._put(name, seen, text, lead))

    def is_settled(self, name: str) -> bool:
        """Return whether no writing of this name is under way."""
        return name not in self._writing

    async def changes(self, after: int) -> set[str]:
        """Return the names that were written after number `after`, once there is one."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._number > after)
        return {name for name, kept in self._names.items() if _number(kept) > after}

    async def lead(self, who: str) -> Lead | None:
        """Take the lead if nobody in this process has it: others have no access to the file."""
        if self._lead is not None:
            return None
        self._lead = Lead(who, f"{who} {secrets.token_hex(8)}", None)
        self._vacant.clear()
        return self._lead

    async def renew(self, lead: Lead) -> float:
        """Return until when the lead holds; raises NotLeading."""
        self._check_lead(lead)
        return boot_seconds() + LEAD_SECONDS

    async def resign(self, lead: Lead) -> None:
        """End the lead; one that has ended already is no error."""
        if self._lead == lead:
            self._lead = None
            self._vacant.set()

    async def vacancy(self) -> None:
        """Return once nobody leads."""
        await self._vacant.wait()

    @property
    def others_may_lead(self) -> bool:
        """No other has the file; the next process on it judges nobody by silence before every grant has run out."""
        return False

    @property
    def leader(self) -> str | None:
        """Who leads."""
        return None if self._lead is None else self._lead.who

    @property
    def status(self) -> EngineStatus:
        """What people are told of the engine."""
        return replace(self._status, unsettled=tuple(sorted(self._writing)))

    def _check_disk(self) -> None:
        if self._is_broken:
            raise Unsettled(f"{self._file}: the disk failed")

    def _check_lead(self, lead: Lead) -> None:
        if self._lead != lead:
            raise NotLeading(f"{lead.who} no longer leads")

    async def _to_its_end(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what `work` does; it goes on when whoever waits for it is cancelled."""
        task = asyncio.ensure_future(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return await asyncio.shield(task)

    async def _put(self, name: str, seen: Kept | None, text: str, lead: Lead | None) -> Kept:
        async with self._turn:
            self._check_disk()
            if lead is not None:
                self._check_lead(lead)
            if self._names.get(name) != seen:
                raise Changed(name, self._names.get(name))
            kept = Kept(text, self._number + 1)
            names = self._names | {name: kept}
            self._writing.add(name)
            try:
                await self._write(_text(self._number + 1, names))
            finally:
                self._writing.discard(name)
            self._number, self._names = self._number + 1, names
        async with self._changed:
            self._changed.notify_all()
        return kept

    async def _write(self, data: bytes) -> None:
        began = time.perf_counter()
        await asyncio.get_running_loop().run_in_executor(self._thread, self._replace, data)
        self._status = replace(
            self._status,
            revision=self._number + 1,
            size_bytes=len(data),
            last_decision_ms=(time.perf_counter() - began) * 1000,
        )

    def _replace(self, data: bytes) -> None:
        draft = self._file.with_name(FILE_NAME + ".new")
        try:
            self._disk.write(draft, data)
        except OSError as error:
            raise Refused(f"{draft} cannot be written: {error.strerror or error}") from error
        try:
            self._disk.sync(draft)
            self._disk.rename(draft, self._file)
            self._disk.sync_folder(self._file.parent)
        except OSError as error:
            self._is_broken = True
            self._fail(error)
            raise Unsettled(f"{self._file}: {error.strerror or error}") from error


def take_lock(folder: Path) -> int:
    """Return the descriptor that holds the lock of a folder, which is made if needed; raises FileLocked, OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / LOCK_NAME
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise FileLocked(
            f"{path} is locked: another controller uses this folder. Several controllers need controllerEtcdEndpoints"
        ) from error
    return descriptor


def _parse(path: Path, data: bytes | None) -> _File:
    if data is None:
        return _File(0, {})
    try:
        return msgspec.json.decode(data, type=_File)
    except msgspec.DecodeError as error:
        raise FileDamaged(
            f"{path} holds no decisions ({error}). Put back a copy and start once with --set-back; without a copy "
            f"remove it, and adopt a state for each broker name"
        ) from error


def _text(number: int, names: dict[str, Kept]) -> bytes:
    held = {name: _Name(_number(kept), kept.text) for name, kept in names.items()}
    return msgspec.json.encode(_File(number, held))


def _number(kept: Kept) -> int:
    assert isinstance(kept.token, int)
    return kept.token
