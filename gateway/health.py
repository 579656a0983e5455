"""Health: is this process alive, and which part of the installation is not up.

``/healthz`` answers as soon as the process serves. ``/readyz`` asks every part and names the ones that do not answer;
the answer is remembered for a second, so that asking often costs nothing.
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
# A process that shows no sign of life for so long is called silent.
SILENT_SECONDS: Final = 30.0
_REMEMBER_SECONDS: Final = 1.0

BEATS: Final = {"sampler": "gantry:sampler:beat", "worker": "gantry:worker:beat", "beat": "gantry:beat:beat"}


class NotUp(Exception):
    """Raised by a check whose part is not up; the text is shown to whoever asks."""


@dataclass(frozen=True, slots=True)
class State:
    """What the checks found: None for a part that is up, else why it is not."""

    reasons: Mapping[str, str | None]

    @property
    def is_ready(self) -> bool:
        """Whether every part is up."""
        return not any(self.reasons.values())

    def document(self) -> bytes:
        """Return the state as JSON, with the parts that are not up by name."""
        checks = {name: {"up": reason is None, "reason": reason} for name, reason in self.reasons.items()}
        not_up = [name for name, reason in self.reasons.items() if reason is not None]
        return orjson.dumps({"status": "ready" if not not_up else "not_ready", "not_up": not_up, "checks": checks})


class Health:
    """Asks the parts of an installation whether they are up."""

    def __init__(self, checks: Mapping[str, Check], *, clock: Callable[[], float] = time.monotonic) -> None:
        self._checks = checks
        self._clock = clock
        self._asking = asyncio.Lock()
        self._known: tuple[float, State] | None = None

    async def state(self) -> State:
        """Return which parts are up; asks all at once, each for two seconds at most."""
        async with self._asking:
            if self._known is None or self._clock() - self._known[0] > _REMEMBER_SECONDS:
                reasons = await asyncio.gather(*map(_reason, self._checks.values()))
                self._known = self._clock(), State(dict(zip(self._checks, reasons, strict=True)))
            return self._known[1]


def beat_check(store: redis.asyncio.Redis, key: str, *, now_ms: Callable[[], int]) -> Check:
    """Return the check of a process that writes the time (ms since the epoch) under `key` while it lives."""

    async def check() -> None:
        kept = await store.get(key)
        if kept is None:
            raise NotUp("no sign of life")
        ago = (now_ms() - int(kept)) / 1000
        if ago > SILENT_SECONDS:
            raise NotUp(f"silent for {ago:.0f} s")

    return check


async def _reason(check: Check) -> str | None:
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            await check()
    except TimeoutError:
        return f"no answer within {CHECK_SECONDS:g} s"
    except NotUp as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - whatever a part raises, it is not up
        return f"{type(error).__name__}: {error}"[:200]
    return None
