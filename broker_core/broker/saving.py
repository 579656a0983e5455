"""Keeping the registers as files: the text is made on the loop, the disk is waited for in another thread."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Protocol

from broker_core.broker.pop.journal import Journal
from broker_core.broker.pop.leases import Leases
from broker_core.logs import get_logger

_log = get_logger(__name__)


class Register(Protocol):
    """What can be kept: its text is taken on the loop, and written in another thread."""

    is_changed: bool

    def text(self) -> bytes:
        """Return the text as it should be now; from here on the register counts as unchanged."""

    def save(self, text: bytes) -> None:
        """Write the text; raises OSError."""


class Saver:
    """Writes registers, one after another."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._turn = asyncio.Lock()

    async def save(self, register: Register) -> None:
        """Write a register if it changed; what it says now is on the disk when this returns.

        Raises OSError when the disk refuses; the register then counts as changed still.
        """
        async with self._turn:  # an older text must not come after a newer one
            if not register.is_changed:
                return
            text = register.text()
            try:
                await asyncio.get_running_loop().run_in_executor(self._executor, register.save, text)
            except OSError:
                register.is_changed = True
                raise

    async def save_all(self, registers: Sequence[Register]) -> None:
        """Write the registers that changed; what the disk refuses is tried again next time."""
        for register in registers:
            try:
                await self.save(register)
            except OSError as error:
                _log.error("%s: cannot be saved, trying again: %s", type(register).__name__, error)


class StateSaver:
    """Keeps all that a broker remembers beside its messages; `executor` waits for the disk."""

    def __init__(
        self, *, saver: Saver, registers: Sequence[Register], journal: Journal, leases: Leases, executor: Executor
    ) -> None:
        self._saver = saver
        self._registers = registers
        self._journal = journal
        self._leases = leases
        self._executor = executor

    async def save(self) -> None:
        """Write the registers that changed, and rewrite the journal of leases when it has grown."""
        await self._saver.save_all(self._registers)
        if self._journal.wants_rewrite:
            await self._rewrite_journal()

    async def _rewrite_journal(self) -> None:
        state = self._journal.begin_rewrite(self._leases.snapshot())
        try:
            file = await asyncio.get_running_loop().run_in_executor(self._executor, self._journal.write_beside, state)
        except OSError as error:
            _log.warning("leases: the journal cannot be written anew: %s", error)
            self._journal.end_rewrite(None)
            return
        self._journal.end_rewrite(file)
