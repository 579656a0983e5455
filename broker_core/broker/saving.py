"""Registers as files: the text is created on the loop and written in another thread (store/README.md#config-files).

A new file is written, synced and renamed over the old one, which is kept as a backup; nothing else in the broker writes
these files. The text is ordinary JSON, which fastjson can read; what fastjson writes (integers as bare keys) is read
too, so that the store may come from Apache RocketMQ.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any, Protocol

from broker_core.broker.errors import BadConfigFile
from broker_core.broker.pop.journal import Journal
from broker_core.broker.pop.leases import Leases
from broker_core.logs import get_logger
from broker_core.protocol import fastjson
from broker_core.protocol.errors import MalformedBody

_log = get_logger(__name__)


class JsonFile:
    """A file `F` with its backup `F.bak`; `F.tmp` is never read."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._backup = path.with_name(path.name + ".bak")

    def __str__(self) -> str:
        return str(self._path)

    def load(self) -> Any:
        """Return the tree of the file, or of its backup if the file is missing, empty or unreadable; None without both.

        Raises BadConfigFile if only an unreadable backup is left.
        """
        tree = self._read_own()
        if tree is not None:
            return tree
        text = _read(self._backup)
        if not text.strip():
            return None
        try:
            tree = fastjson.loads(text)
        except MalformedBody as error:
            raise BadConfigFile(f"neither {self._path} nor its backup can be read: {error}") from error
        _log.warning("file=%s: missing or unreadable; using its backup", self._path)
        return tree

    def save(self, text: bytes) -> None:
        """Replace the file; at any time a complete file or backup exists. Raises OSError, and the old file stays."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        beside = self._path.with_name(self._path.name + ".tmp")
        try:
            with beside.open("wb") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            error.filename = error.filename or str(self._path)  # the system does not name what is open already
            raise
        if self._path.exists():
            self._path.replace(self._backup)
        beside.replace(self._path)

    def _read_own(self) -> Any:
        text = _read(self._path)
        if not text.strip():
            return None
        try:
            return fastjson.loads(text)
        except MalformedBody as error:
            _log.log(logging.ERROR, "file=%s: cannot be read: %s", self._path, error)
            return None


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


_log = get_logger(__name__)


class Register(Protocol):
    """A register that can be saved: its text is created on the loop and written in another thread."""

    is_changed: bool

    def text(self) -> bytes:
        """Return the current text, and mark the register as saved."""

    def save(self, text: bytes) -> None:
        """Write the text; raises OSError."""


class Saver:
    """Writes registers, one after another; `executor` has one thread, so that a cancelled save ends before the next."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._turn = asyncio.Lock()

    async def save(self, register: Register) -> None:
        """Write a register if it changed; its current content is on the disk when this returns.

        Raises OSError when writing fails; the register then still counts as changed, as it does after a cancellation.
        """
        async with self._turn:  # an older text must not be written after a newer one
            if not register.is_changed:
                return
            text = register.text()
            try:
                await asyncio.get_running_loop().run_in_executor(self._executor, register.save, text)
            except BaseException:  # whoever cancels it does not know whether the text was written
                register.is_changed = True
                raise

    async def save_all(self, registers: Sequence[Register]) -> None:
        """Write the registers that changed; those that fail are retried next time."""
        for register in registers:
            try:
                await self.save(register)
            except OSError as error:
                _log.error("%s: cannot be saved, will be retried: %s", type(register).__name__, error)


class StateSaver:
    """Saves all state of a broker apart from its messages; `executor` waits for the disk."""

    def __init__(
        self, *, saver: Saver, registers: Sequence[Register], journal: Journal, leases: Leases, executor: Executor
    ) -> None:
        self._saver = saver
        self._registers = registers
        self._journal = journal
        self._leases = leases
        self._executor = executor

    async def save(self) -> None:
        """Write the registers that changed, and rewrite the lease journal if it has grown."""
        await self._saver.save_all(self._registers)
        if self._journal.wants_rewrite:
            await self._rewrite_journal()

    async def _rewrite_journal(self) -> None:
        state = self._journal.begin_rewrite(self._leases.snapshot())
        try:
            file = await asyncio.get_running_loop().run_in_executor(self._executor, self._journal.write_beside, state)
        except OSError as error:
            _log.warning("leases: the journal cannot be rewritten: %s", error)
            self._journal.end_rewrite(None)
            return
        self._journal.end_rewrite(file)
