"""Whom to elect, and what to heal: the judgement of the leading controller (controller/README.md#judging)."""

from __future__ import annotations

from collections.abc import Mapping

from broker_core.controller.commands import Elect
from broker_core.controller.electing import awaited, electable, why_nobody
from broker_core.controller.hearing import Hearing
from broker_core.protocol.bodies.controller import NameState


class Judging:
    """Judges from what is heard. It changes nothing: what it returns is decided anew when it is written."""

    def __init__(self, hearing: Hearing) -> None:
        self._hearing = hearing

    def step(self, states: Mapping[str, NameState], now: float) -> list[Elect]:
        """Return the elections that `states` need; those that are set back must not be among them."""
        return [command for name in sorted(states) if (command := self.judge(states[name], now)) is not None]

    def judge(self, state: NameState, now: float) -> Elect | None:
        """Return the election that a name needs and that can succeed."""
        why = self.why_without_master(state, now)
        if why is None:
            return None
        among = self._hearing.alive(state.name, now)
        can_succeed = electable(state, among) and not awaited(state, among)
        return Elect(state.name, among, state.master, why) if can_succeed else None

    def why_without_master(self, state: NameState, now: float) -> str | None:
        """Return why the name needs another master; None if it has one that counts as alive."""
        if state.master is None:
            return "restarted" if _has_restarted(state) else "without master"
        return self._hearing.why_dead(state.name, state.master.id, state.master.life, now)

    def why_stuck(self, state: NameState, now: float) -> str | None:
        """Return why a name without a living master can have none; None if it has or can have one."""
        if self.why_without_master(state, now) is None:
            return None
        among = self._hearing.alive(state.name, now)
        return None if electable(state, among) and not awaited(state, among) else why_nobody(state, among)


def _has_restarted(state: NameState) -> bool:
    """Return whether the master of this epoch registered another life, which made it none."""
    last = state.elected[-1] if state.elected and state.elected[-1].epoch == state.epoch else None
    known = None if last is None else state.replicas.get(last.master.id)
    return last is not None and known is not None and known.life != last.master.life
