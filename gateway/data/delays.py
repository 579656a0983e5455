"""Whether a cluster delivers at the times that messages ask for, and how each message has to say it.

Brokers with delivery times (Gantry, 5.x) take any time up to a limit. All others have delay levels only: a delay that
is one of them is sent as such, and any other is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from broker_core.client.admin.timers import TimerLimits
from broker_core.clock import now_ms
from broker_core.errors import GantryError
from broker_core.protocol import properties as names
from console.clusters.connections import Connections
from console.moments import lasting
from gateway.data.messages import DELAY_LEVELS, Draft
from gateway.data.sending import SendOutcome, failed, failed_by
from gateway.problems import DELAY_NOT_SERVED, FieldError, ProblemError

KEEP_SECONDS: Final = 10.0
"""How long the answer of a cluster's brokers is used."""
_PATIENCE_SECONDS: Final = 0.5
"""How long a send waits for a newer answer; with a broker that hangs, the question takes longer."""


class Delays:
    """What the clusters of one process serve."""

    def __init__(self, connections: Connections, clock: Callable[[], float]) -> None:
        """`clock` returns seconds and never goes back."""
        self._connections = connections
        self._clock = clock
        self._known: dict[str, tuple[float, TimerLimits]] = {}
        self._asking: dict[str, asyncio.Task[TimerLimits]] = {}

    async def serve(self, cluster: str, drafts: Sequence[Draft]) -> dict[str, SendOutcome]:
        """Prepare messages that are to be delivered later; return by entry id the outcome of each that is refused."""
        now = now_ms()
        for draft in drafts:
            if draft.is_due(now):  # no broker needs to know of a time that has passed
                draft.message.properties.pop(names.TIMER_DELIVER_MS, None)
        delayed = [draft for draft in drafts if draft.asks_delay and not draft.is_due(now)]
        if not delayed:
            return {}
        try:
            limits = await self._limits(cluster)
        except GantryError as error:
            return {draft.entry_id: failed_by(draft.entry_id, error) for draft in delayed}
        refused: dict[str, SendOutcome] = {}
        for draft in delayed:
            reason = _prepare(draft, cluster, limits, now)
            if reason is not None:
                refused[draft.entry_id] = failed(draft.entry_id, not_served(reason, draft.delay_at))
        return refused

    async def _limits(self, cluster: str) -> TimerLimits:
        asked_at, known = self._known.get(cluster, (0.0, None))
        if known is None:
            return await asyncio.shield(self._ask(cluster))
        if self._clock() - asked_at > KEEP_SECONDS:
            asking = self._ask(cluster)
            await asyncio.wait({asking}, timeout=_PATIENCE_SECONDS)
            if asking.done() and asking.exception() is None:
                return asking.result()
        return known

    def _ask(self, cluster: str) -> asyncio.Task[TimerLimits]:
        """Ask the brokers, once for all who wait."""
        asking = self._asking.get(cluster)
        if asking is None:
            asking = asyncio.create_task(self._fetch(cluster), name=f"limits of delays of {cluster}")
            self._asking[cluster] = asking
            asking.add_done_callback(lambda ended: self._ended(cluster, ended))
        return asking

    def _ended(self, cluster: str, asking: asyncio.Task[TimerLimits]) -> None:
        del self._asking[cluster]
        if not asking.cancelled():
            asking.exception()  # nobody may wait any more

    async def _fetch(self, cluster: str) -> TimerLimits:
        limits = await (await self._connections.admin(cluster)).timers.limits()
        _, known = self._known.get(cluster, (0.0, None))
        if limits.is_partial and known is not None:
            limits = known  # what the silent broker serves was told before
        self._known[cluster] = self._clock(), limits
        return limits


def _prepare(draft: Draft, cluster: str, limits: TimerLimits, now: int) -> str | None:
    """Set the properties by which the cluster's brokers delay a message; return why they cannot."""
    properties = draft.message.properties
    wait = draft.delay_ms if draft.deliver_ms is None else draft.deliver_ms - now
    if limits.max_delay_ms is not None:
        return too_long(wait, limits.max_delay_ms, cluster)
    if draft.delay_ms in DELAY_LEVELS:
        del properties[names.TIMER_DELAY_MS]
        properties[names.DELAY] = str(DELAY_LEVELS[draft.delay_ms])
        return None
    levels = ", ".join(map(str, DELAY_LEVELS))
    return f"Cluster {cluster!r} has delay levels only: {limits.reason}. Allowed for delay_ms are {levels}."


def too_long(wait_ms: int, max_delay_ms: int, cluster: str) -> str | None:
    """Return why a cluster's brokers do not keep a message for so long, None if they do."""
    if wait_ms <= max_delay_ms:
        return None
    return (
        f"The message would wait {lasting(wait_ms)}; cluster {cluster!r} keeps messages for at most "
        f"{lasting(max_delay_ms)} (timerMaxDelaySec={max_delay_ms // 1000})."
    )


def not_served(reason: str, at: str) -> ProblemError:
    """Return the problem of a delay or a time, which the request gives `at` a place."""
    return ProblemError(DELAY_NOT_SERVED, reason, errors=[FieldError(at, "DELAY_NOT_SERVED", reason)])
