"""Carries commands out in the engine (controller/README.md#commands-in-the-engine)."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from weakref import WeakValueDictionary

from broker_core.controller.commands import Command, Stamp, View
from broker_core.controller.decisions import Changed, Decisions, Kept, Lead, NotLeading, Unsettled
from broker_core.controller.errors import Refused
from broker_core.controller.replicas import decide
from broker_core.controller.states import States, state_of
from broker_core.logs import get_logger
from broker_core.protocol.bodies.controller import NameState, encode_state
from broker_core.protocol.codes import ResponseCode

ATTEMPTS: Final = 5
"""How often a command is decided anew because another one came first."""

_log: Final = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Decided:
    """The state before and after a command; the same one if there was nothing to change."""

    before: NameState | None
    after: NameState


class Deciding:
    """Decides, compares and writes. `newest` returns the newest view of a name that anybody told."""

    def __init__(
        self, decisions: Decisions, states: States, newest: Callable[[str], View], stamp: Callable[[str], Stamp]
    ) -> None:
        self._decisions = decisions
        self._states = states
        self._newest = newest
        self._stamp = stamp
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self.conflicts = 0
        self.unsettled = 0

    async def carry_out(self, command: Command, lead: Lead | None = None) -> Decided:
        """Return what a command changed, once it is kept; with `lead` only while that holds. Raises Refused."""
        try:
            async with self._turns.setdefault(command.name, asyncio.Lock()):
                return await self._carry_out(command, lead)
        except NotLeading as error:
            raise Refused(ResponseCode.CONTROLLER_NOT_LEADER, str(error)) from error
        except Unsettled as error:
            self.unsettled += 1
            raise _unsettled(error) from error

    async def preview(self, command: Command) -> Decided:
        """Return what a command would change now; raises Refused."""
        before = state_of(command.name, await self.read(command.name))
        return Decided(before, self._decide(before, command))

    async def read(self, name: str) -> Kept | None:
        """Return what the engine keeps for a name now; raises Refused if it does not answer."""
        try:
            return (await self._decisions.read())[1].get(name)
        except Unsettled as error:
            raise _unsettled(error) from error

    async def _carry_out(self, command: Command, lead: Lead | None) -> Decided:
        seen = await self._seen(command)
        for _ in range(ATTEMPTS):
            before = state_of(command.name, seen)
            after = self._decide(before, command)
            if after is before:
                return Decided(before, after)
            try:
                kept = await self._decisions.put(command.name, seen, encode_state(after).decode(), lead)
            except Changed as error:
                self.conflicts += 1
                seen = error.now
                continue
            self._states.take(command.name, kept)
            _log.info("%s: %s", _shortly(after), after.last.why)
            return Decided(before, after)
        raise Refused(
            ResponseCode.CONTROLLER_NOT_LEADER, f"{command.name} is changed by others all the time: try again"
        )

    async def _seen(self, command: Command) -> Kept | None:
        """Return what to compare with. What is known may be old: good enough for a writing, but not for a refusal."""
        kept = self._states.kept(command.name)
        with contextlib.suppress(Refused):
            before = state_of(command.name, kept)
            if self._decide(before, command) is not before:
                return kept
        return await self.read(command.name)

    def _decide(self, before: NameState | None, command: Command) -> NameState:
        return decide(before, command, self._stamp(secrets.token_hex(8)), self._newest(command.name))


def _shortly(state: NameState) -> str:
    """Return what matters of a state, for the log."""
    master, in_sync = state.master.id if state.master else "none", ",".join(map(str, state.in_sync))
    return f"name={state.name} epoch={state.epoch} master={master} in_sync={in_sync}"


def _unsettled(error: Unsettled) -> Refused:
    return Refused(ResponseCode.CONTROLLER_NOT_LEADER, f"it is not known whether this was decided: {error}")
