"""Commands to controllers: one of each kind at a time, repeated until it is settled.

The leading controller is asked; one that does not answer, or says that it cannot settle it, is followed by the next.
"""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.broker.replication.messages import Ask, Command


@dataclass(slots=True)
class _Pending:
    number: int
    command: Command
    sent_at: float


class Asking:
    """Knows which controller to ask, and what is asked."""

    def __init__(self, controllers: int, again_after: float) -> None:
        """Ask `controllers` controllers in turn, each again after `again_after` seconds of silence."""
        self._controllers = controllers
        self._again_after = again_after
        self._target = 0
        self._number = 0
        self._pending: dict[type[Command], _Pending] = {}

    def leads(self, controller: int) -> None:
        """Note who leads: it is asked from now on."""
        self._target = controller

    def want(self, kind: type[Command], command: Command | None, now: float) -> list[Ask]:
        """Send a command unless the same is under way; None: nothing of the kind is wanted any more."""
        pending = self._pending.get(kind)
        if command is None:
            self._pending.pop(kind, None)
            return []
        if pending is not None and pending.command == command:
            if now - pending.sent_at < self._again_after:
                return []
            self._target = (self._target + 1) % self._controllers
        return [self._send(kind, command, now)]

    def _send(self, kind: type[Command], command: Command, now: float) -> Ask:
        self._number += 1
        self._pending[kind] = _Pending(self._number, command, now)
        return Ask(self._target, self._number, command)

    def settled(self, number: int) -> Command | None:
        """Return the command that an answer belongs to; None for a late or second one.

        If it is still wanted, it is sent again after the usual time.
        """
        for pending in self._pending.values():
            if pending.number == number:
                pending.number = 0
                return pending.command
        return None

    def unsettled(self, number: int, now: float) -> None:
        """Note that the asked one could not settle a command: the next one is asked, half a second later."""
        for pending in self._pending.values():
            if pending.number == number:
                pending.sent_at = min(pending.sent_at, now - self._again_after / 2)
