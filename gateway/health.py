"""Health: whether this process is alive, and which parts of the installation are not up.

``/healthz`` answers as soon as the process serves. ``/readyz`` checks every part and names those that do not answer;
its result is cached for a second, so frequent requests are cheap.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

import orjson
import redis.asyncio

Check = Callable[[], Awaitable[None]]

CHECK_SECONDS: Final = 2.0
# After this time without a heartbeat a process counts as silent.
SILENT_SECONDS: Final = 30.0
_REMEMBER_SECONDS: Final = 1.0

BEATS: Final = {"sampler": "gantry:sampler:beat", "worker": "gantry:worker:beat", "beat": "gantry:beat:beat"}


class NotUp(Exception):
    """Raised by a check if its part is not up; the answer contains the text."""


@dataclass(frozen=True, slots=True)
class State:
    """The results of the checks by part: None if it is up, or else the reason."""

    reasons: Mapping[str, str | None]

    @property
    def is_ready(self) -> bool:
        """Whether every part is up."""
        return not any(self.reasons.values())

    def document(self) -> bytes:
        """Return the state as JSON, including the names of the parts that are not up."""
        checks = {name: {"up": reason is None, "reason": reason} for name, reason in self.reasons.items()}
        not_up = [name for name, reason in self.reasons.items() if reason is not None]
        return orjson.dumps({"status": "ready" if not not_up else "not_ready", "not_up": not_up, "checks": checks})


class Health:
    """Checks the parts of an installation."""

    def __init__(self, checks: Mapping[str, Check], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._checks = checks
        self._clock = clock
        self._asking = asyncio.Lock()
        self._known: tuple[float, State] | None = None

    async def state(self) -> State:
        """Return which parts are up; all checks run concurrently, each for at most two seconds."""
        async with self._asking:
            if self._known is None or self._clock() - self._known[0] > _REMEMBER_SECONDS:
                reasons = await asyncio.gather(*map(_reason, self._checks.values()))
                self._known = self._clock(), State(dict(zip(self._checks, reasons, strict=True)))
            return self._known[1]


def beat_check(store: redis.asyncio.Redis, key: str, *, now_ms: Callable[[], int]) -> Check:
    """Return the check of a process that keeps writing the time (ms since the epoch) under `key`."""

    async def check() -> None:
        kept = await store.get(key)
        if kept is None:
            raise NotUp("no sign of life")
        ago = (now_ms() - int(kept)) / 1000
        if ago > SILENT_SECONDS:
            raise NotUp(f"silent for {ago:.0f} s")

    return check


_shown: Health | None = None


def use(health: Health | None) -> None:
    """Set what `current` returns; None when the gateway stops."""
    global _shown
    _shown = health


def current() -> Health:
    """Return the checks of this process, whose results live on its loop; raise NotUp outside a running gateway."""
    if _shown is None:
        raise NotUp("this process serves no gateway")
    return _shown


async def _reason(check: Check) -> str | None:
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            await check()
    except TimeoutError:
        return f"no answer within {CHECK_SECONDS:g} s"
    except NotUp as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - after any exception the part is not up
        return f"{type(error).__name__}: {error}"[:200]
    return None
