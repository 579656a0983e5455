"""Brokers that hang: others are asked instead of them until they answer again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Final

from broker_core.client.errors import ClientError, Unreachable
from broker_core.client.session import Session
from broker_core.logs import get_logger
from broker_core.protocol.headers.pop import PollingInfoRequest

LATE_SECONDS: Final = 1.0
"""How long a broker may take for an answer for which it need not wait, where there are others."""
_LONGEST_SECONDS: Final = 5.0
_FORGET_SECONDS: Final = 60.0
_PROBE_MS: Final = 5_000
_PROBE_PAUSE_SECONDS: Final = 1.0
_ANY_QUEUE: Final = -1


class LateBrokers:
    """The brokers that let a request of a group wait in vain; each is asked in the background until it answers."""

    def __init__(self, session: Session, group: str) -> None:
        self._session = session
        self._group = group
        self._errors: dict[str, Unreachable] = {}
        self._times: dict[str, tuple[int, float]] = {}
        """By address: how often in a row a broker was late, and when last (s, monotonic)."""
        self._log = get_logger(__name__, f"group={group}")

    @property
    def errors(self) -> Mapping[str, Unreachable]:
        """Why each of them is left out, by address."""
        return self._errors

    def note(self, addr: str, topic: str, error: Unreachable) -> None:
        """Leave out the broker at an address from now on, until it answers a question about the topic."""
        if addr not in self._errors:
            times, _ = self._times_of(addr)
            self._times[addr] = times + 1, time.monotonic()
            self._log.warning("left out while it does not answer: %s", error)
            self._errors[addr] = error
            self._session.tasks.start(f"probe {addr}", self._probe(addr, topic))

    def patience(self, addr: str) -> float:
        """Return how long to wait for a broker (s): longer for one that answers again, but may be slow."""
        times, _ = self._times_of(addr)
        return min(LATE_SECONDS * (1 << min(times, 8)), _LONGEST_SECONDS)

    def _times_of(self, addr: str) -> tuple[int, float]:
        times, at = self._times.get(addr, (0, 0.0))
        return (times, at) if time.monotonic() - at < _FORGET_SECONDS else (0, 0.0)

    async def _probe(self, addr: str, topic: str) -> None:
        if await self._is_late(addr, topic):
            await asyncio.sleep(_PROBE_PAUSE_SECONDS)
            self._session.tasks.start(f"probe {addr}", self._probe(addr, topic))
        else:
            del self._errors[addr]

    async def _is_late(self, addr: str, topic: str) -> bool:
        """Return whether a broker still does not answer; one that is down delays nobody, since it fails at once."""
        began = time.monotonic()
        try:
            await self._session.invoke(addr, PollingInfoRequest(self._group, topic, _ANY_QUEUE), timeout_ms=_PROBE_MS)
        except Unreachable:
            return time.monotonic() - began >= LATE_SECONDS
        except ClientError as error:
            self._log.info("%s cannot be asked whether it answers again: %s", addr, error)
        return False
