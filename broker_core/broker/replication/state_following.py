"""A slave takes over its master's state beside the log (broker/replication/README.md#state-beside-the-log)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from broker_core.broker.housekeeping import in_parts
from broker_core.broker.pop.changes import Change
from broker_core.broker.pop.leases import Leases
from broker_core.broker.pop.mirror import changes_of
from broker_core.broker.registration import Registration
from broker_core.broker.replication.failover import Failover
from broker_core.broker.replication.master_facts import MasterUnclear, ask
from broker_core.broker.replication.passed_on import PassedOn, QueueOfGroup
from broker_core.broker.replication.state_book import EVERYTHING, Registers
from broker_core.broker.role import Role, RoleKind, Roles
from broker_core.errors import GantryError
from broker_core.logs import get_logger
from broker_core.protocol import bodies
from broker_core.protocol.bodies.state import BrokerState, LeaseChanges
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.errors import ProtocolError
from broker_core.protocol.headers.controller import MetadataChangesRequest, MetadataChangesResponse
from broker_core.protocol.headers.offsets import UpdateConsumerOffsetRequest
from broker_core.remoting.client import RemotingClient
from broker_core.remoting.errors import RemotingError
from broker_core.store import MessageStore

_LOOK_S: Final = 0.1
_LOG_S: Final = 0.01
_LAST_S: Final = 1.0
_DISK_S: Final = 1.0
"""Pause after what could not be written."""
_LEASES_AT_ONCE: Final = 5_000
_MORE_MS: Final = 2_000
"""An answer is given up so long after it should have come."""

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What the rest of the broker gives."""

    store: MessageStore
    roles: Roles
    passed_on: PassedOn
    registration: Registration
    remoting: RemotingClient
    clock: Callable[[], int]
    period_ms: Callable[[], int]


class StateFollowing:
    """Asks the master of the present epoch again and again; what belongs to another epoch is dropped.

    What tells how far messages are done with is taken over when the own log has reached the end that the master's log
    had then. So a message that was put again, or delivered, before an offset passed it is here, too.
    """

    def __init__(self, registers: Registers, around: Around, failover: Failover) -> None:
        self._registers = registers
        self._around = around
        self._failover = failover
        self._role: Role | None = None
        self._after = EVERYTHING
        self._said = ""
        self._is_finishing, self._rests = asyncio.Event(), asyncio.Event()

    async def run(self) -> None:
        """Follow whoever is the master, until cancelled."""
        while not self._is_finishing.is_set():
            role = self._around.roles.now
            if role.kind is not RoleKind.SLAVE or role.master is None:
                await asyncio.sleep(_LOOK_S)
                continue
            try:
                await self._round(role)
                self._said = ""
            except GantryError as error:
                self._say(role, str(error))
                await asyncio.sleep(_LOOK_S)
            except OSError as error:
                self._say(role, f"they cannot be kept: {error}")
                await asyncio.sleep(_DISK_S)

        self._rests.set()
        await asyncio.Event().wait()

    async def finish(self) -> None:
        """Take over the last state of the master, for a second at most: this broker stops."""
        self._is_finishing.set()
        role = self._around.roles.now
        if role.kind is not RoleKind.SLAVE or role.master is None:
            return
        try:
            async with asyncio.timeout(_LAST_S):
                await self._rests.wait()
                _, state = await self._ask(role, EVERYTHING, wait_ms=0)
                if await self._take(role, state):
                    await self._pass_on(role)
        except (GantryError, OSError) as error:
            _log.info("master=%s: its last state is not known: %s", role.master, error or "no answer in time")

    def _say(self, role: Role, reason: str) -> None:
        self._after = EVERYTHING
        if reason != self._said:
            self._said = reason
            _log.warning("master=%s: its topics, groups, offsets and leases are not known: %s", role.master, reason)

    async def _round(self, role: Role) -> None:
        if role != self._role:
            self._role, self._after = role, EVERYTHING
        asked_at = self._around.clock()
        asked = asyncio.ensure_future(self._ask(role, self._after, self._around.period_ms()))
        finishing = asyncio.ensure_future(self._is_finishing.wait())
        # Why it failed is nobody's concern once the role is over.
        asked.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            while not asked.done() and not finishing.done() and self._is_current(role):
                await asyncio.wait([asked, finishing], timeout=_LOOK_S, return_when=asyncio.FIRST_COMPLETED)
        finally:
            finishing.cancel()
            if not asked.done():
                asked.cancel()
        if asked.done() and self._is_current(role):
            number, state = await asked
            self._registers.locks.follow_rest(state.locks_rest_ms, asked_at=asked_at, now=self._around.clock())
            if await self._take(role, state):
                self._after = number
                await self._pass_on(role)
                return
        self._role = None  # an answer was not taken over whole: it may be this role again, and is told everything then

    def _is_current(self, role: Role) -> bool:
        return self._around.roles.now == role

    async def _ask(self, role: Role, after: int, wait_ms: int) -> tuple[int, BrokerState]:
        identity = self._failover.replica.identity
        header = MetadataChangesRequest(
            identity.name, identity.broker_id, identity.life, role.epoch or 0, after, wait_ms
        )
        assert role.master is not None
        try:
            answer = await self._around.remoting.invoke(role.master, Command.request(header), wait_ms + _MORE_MS)
            if answer.code != ResponseCode.SUCCESS:
                raise MasterUnclear(f"the master {role.master} answers {answer.code}: {answer.remark}")
            told = answer.header(MetadataChangesResponse)
        except (RemotingError, ProtocolError) as error:
            raise MasterUnclear(str(error)) from error
        if told.epoch != role.epoch:
            raise MasterUnclear(f"the master {role.master} is of epoch {told.epoch}, not {role.epoch}")
        return told.changes, bodies.decode(BrokerState, answer.body)

    async def _take(self, role: Role, state: BrokerState) -> bool:
        """Take over what is there to be taken over; return whether all of it was, before the role ended."""
        self._take_registers(state)
        while self._around.store.followed_log_offset < state.log_end:
            await asyncio.sleep(_LOG_S)
            if not self._is_current(role):
                return False
        if state.topics is not None:
            await self._drop_queues(state.log_end)
        self._take_progress(state)
        return state.leases is None or await self._take_leases(role, state.leases)

    def _take_registers(self, state: BrokerState) -> None:
        own, now = self._registers, self._around.clock()
        if state.topics is not None and own.topics.replace(state.topics, now=now):
            self._around.registration.want_all()
        if state.groups is not None:
            own.groups.replace(state.groups)
        if state.request_modes is not None:
            own.request_modes.replace(state.request_modes)

    async def _drop_queues(self, log_end: int) -> None:
        """Drop the queues of topics that the master has not; what came after its answer may be of a newer topic."""
        store, topics = self._around.store, self._registers.topics
        gone: dict[str, list[int]] = {}
        for topic, queue_id in store.queues():
            if topics.find(topic) is None:
                gone.setdefault(topic, []).append(queue_id)
        for topic, queue_ids in sorted(gone.items()):
            firsts = (
                unit.log_offset
                for queue_id in queue_ids
                for unit in store.units(topic, queue_id, store.min_offset(topic, queue_id), 1)
            )
            first = next(firsts, None)
            # Without messages it is an old one: all have left the log.
            is_old = not store.waits(topic) if first is None else min(first, *firsts, first) < log_end
            if is_old:
                await in_parts(store.detach_topic(topic)[1])

    def _take_progress(self, state: BrokerState) -> None:
        own, passed_on = self._registers, self._around.passed_on
        known = {
            QueueOfGroup(group, topic, queue_id): offset
            for group, topics in state.offsets.items()
            for topic, queues in topics.items()
            for queue_id, offset in queues.items()
        }
        ahead = passed_on.above(known)
        own.offsets.replace(state.offsets, is_whole=state.is_whole)
        for queue, offset in ahead.items():
            own.offsets.commit(*queue, offset)
        if state.delays is not None:
            own.delay.replace(state.delays)
        if state.locks is not None:
            own.locks.replace(state.locks, self._around.clock())

    async def _take_leases(self, role: Role, told: LeaseChanges) -> bool:
        """Take over what the master lent, in parts; return whether it was all, before the role ended.

        Whenever it ends, here or by a kill, what is known is what the master had lent at some time.
        """
        own = self._registers.leases
        rebuilt = Leases(_unrecorded)
        follow = rebuilt.apply if told.is_whole else own.follow
        for number, change in enumerate(changes_of(told)):
            if number % _LEASES_AT_ONCE == 0:
                await asyncio.sleep(0)
                if not self._is_current(role):
                    return False
            follow(change)
        if told.is_whole:
            own.become(rebuilt)
        return True

    async def _pass_on(self, role: Role) -> None:
        """Bring the master what clients committed here and it lacks."""
        assert role.master is not None
        for queue, offset in self._around.passed_on.above({}).items():
            await ask(self._around.remoting, role.master, UpdateConsumerOffsetRequest(*queue, offset))
            self._around.passed_on.done(queue, offset)


def _unrecorded(_change: Change) -> None:
    """Record nothing: it is recorded as a whole when it is complete."""
