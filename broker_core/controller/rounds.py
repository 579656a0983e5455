"""What a controller does by itself: tries ports, elects, heals (controller/README.md#judging)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

from broker_core.controller.commands import Elect
from broker_core.controller.deciding import Deciding
from broker_core.controller.errors import Refused
from broker_core.controller.hearing import Hearing, Heartbeat
from broker_core.controller.judging import Judging
from broker_core.controller.leading import Leader
from broker_core.controller.links import Links
from broker_core.controller.set_back import healing
from broker_core.controller.states import States
from broker_core.controller.trust import Trust
from broker_core.logs import get_logger

ROUND_SECONDS: Final = 0.1
ASLEEP_SECONDS: Final = 1.0
"""A round that comes so late shows that this process, or the machine, stood still."""
HEAL_SECONDS: Final = 1.0
PROBE_TIMEOUT_SECONDS: Final = 0.5
AT_ONCE: Final = 8
"""How many elections are under way at the same time."""

_log: Final = get_logger(__name__)


class Rounds:
    """Steps ten times a second; what takes time runs beside it, one task for each name."""

    def __init__(
        self, hearing: Hearing, states: States, trust: Trust, deciding: Deciding, links: Links, leader: Leader,
        clock: Callable[[], float],
    ) -> None:  # fmt: skip
        self.judging = Judging(hearing)
        self._hearing = hearing
        self._states = states
        self._trust = trust
        self._deciding = deciding
        self._links = links
        self._leader = leader
        self._clock = clock
        self._running: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._room = asyncio.Semaphore(AT_ONCE)
        self._healed_at = float("-inf")
        self._stepped_at = clock()

    async def run(self) -> None:
        """Step until cancelled."""
        try:
            while True:
                await self._step(self._clock())
                await asyncio.sleep(ROUND_SECONDS)
        finally:
            for task in self._running.values():
                task.cancel()
            await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def _step(self, now: float) -> None:
        if now - self._stepped_at > ASLEEP_SECONDS:
            self._hearing.woke(now)
        self._stepped_at = now
        states = self._states.all()
        for beat in self._hearing.probes(now):
            # Only where a replica registered: anybody may send heartbeats in any name, and say any address.
            replica = states[beat.name].replicas.get(beat.id) if beat.name in states else None
            if replica is not None and replica.life == beat.life:
                self._begin(("probe", f"{beat.name} {beat.id}"), self._probe(beat, replica.address))
        self._hearing.prune({name: state.replicas.keys() for name, state in states.items()}, now)
        await self._trust.review(now)
        if not self._leader.is_leading:
            return
        states = {name: state for name, state in self._states.all().items() if not self._trust.is_set_back(name)}
        if self._hearing.hears_anybody(now):
            for election in self.judging.step(states, now):
                self._begin(("elect", election.name), self._elect(election))
        if now - self._healed_at >= HEAL_SECONDS:
            self._healed_at = now
            for name in self._trust.set_back():
                self._begin(("heal", name), self._heal(name))

    def _begin(self, what: tuple[str, str], work: Coroutine[Any, Any, None]) -> None:
        if what in self._running:
            work.close()
            return
        task = asyncio.create_task(work, name=" ".join(what))
        self._running[what] = task
        task.add_done_callback(lambda ended: self._ended(what, ended))

    def _ended(self, what: tuple[str, str], task: asyncio.Task[None]) -> None:
        self._running.pop(what, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("%s: failed", " ".join(what), exc_info=error)

    async def _probe(self, beat: Heartbeat, address: str) -> None:
        host, _, port = address.rpartition(":")
        try:
            async with asyncio.timeout(PROBE_TIMEOUT_SECONDS):
                _, writer = await asyncio.open_connection(host.strip("[]"), int(port))
        except ConnectionRefusedError:
            self._hearing.refused(beat.name, beat.id, beat.life, self._clock())
        except (OSError, TimeoutError, ValueError, OverflowError) as error:
            _log.debug("%s: %s", address, error)
        else:
            writer.close()

    async def _elect(self, command: Elect) -> None:
        async with self._room:
            lead = self._leader.lead
            if lead is None:
                return
            try:
                done = await self._deciding.carry_out(command, lead)
            except Refused as refused:
                _log.warning("name=%s: not elected (%s): %s", command.name, command.why, refused)
                return
        master = done.after.master
        assert master is not None
        _log.warning(
            "name=%s epoch=%d: replica %d is master (%s)", command.name, done.after.epoch, master.id, command.why
        )

    async def _heal(self, name: str) -> None:
        told = await self._links.ask_states(name)
        heard = {each.id: each.life for each in self._hearing.heard(name, self._clock())}
        command = healing(self._states.find(name), told, heard, self._hearing.newest(name))
        if command is None:
            return
        try:
            done = await self._deciding.carry_out(command)
        except Refused as refused:
            _log.warning("name=%s: not healed: %s", name, refused)
            return
        self._trust.trust(name)
        _log.warning("name=%s epoch=%d: healed after it was set back", name, done.after.epoch)
