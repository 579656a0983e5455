"""Whether this controller leads, which it must ask at the moment of use (controller/README.md#leading)."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from enum import Enum, auto
from typing import Final

from broker_core.clock import boot_seconds
from broker_core.controller.decisions import Decisions, DecisionsError, Lead, NotLeading
from broker_core.logs import get_logger

ROUND_SECONDS: Final = 0.8
MAX_GRANT_SECONDS: Final = 2.5
"""For the lease of a master."""
LOOK_SECONDS: Final = 4.0
"""How often whoever does not lead looks whether anybody does, without a bell."""
_RESIGN_SECONDS: Final = 1.0
_OF_SILENCE: Final = 2.5 / 3
"""The part of the silence before an election that a lease may take."""
_SLOWEST_CLOCK: Final = 0.8
"""The rate of a master's clock beside this one, at least: so much longer does its lease last."""

_log: Final = get_logger(__name__)


class Step(Enum):
    """What to do now."""

    STAND = auto()
    RENEW = auto()
    READ = auto()
    RESIGN = auto()
    WAIT = auto()


class Leading:
    """The lead of one controller. Fed with times and what the engine answered; asks nothing itself."""

    def __init__(self, most_granted: float = MAX_GRANT_SECONDS) -> None:
        """Grant no lease for longer than `most_granted` seconds."""
        self._most_granted = most_granted
        self.lead: Lead | None = None
        self._valid_until = -math.inf
        self._has_read = False
        self._wants_read = False
        self._next = -math.inf
        self._granted_until = -math.inf
        self._took_at = -math.inf

    def is_leading(self, now: float) -> bool:
        """Return whether this controller may judge and grant at this moment."""
        return self.lead is not None and self._has_read and now < self._valid_until

    def grant(self, now: float) -> int:
        """Grant a master's lease for so many ms, never longer than the lead itself holds; 0: not at all."""
        if not self.is_leading(now):
            return 0
        seconds = min(self._most_granted, self._valid_until - now)
        self._granted_until = max(self._granted_until, now + seconds / _SLOWEST_CLOCK)
        return int(seconds * 1000)

    def granted_seconds(self, now: float) -> float:
        """Return for how long a lease may still run that was granted here: nobody else must elect before."""
        return max(0.0, self._granted_until - now)

    def valid_seconds(self, now: float) -> float:
        """Return for how long the lead still holds; 0 without one."""
        return max(0.0, self._valid_until - now) if self.lead is not None else 0.0

    def led_seconds(self, now: float) -> float | None:
        """Return for how long the lead has been this controller's, rests included; None without one."""
        return now - self._took_at if self.lead is not None else None

    def step(self, now: float, *, may_lead: bool) -> Step:
        """Return what to do now."""
        if self.lead is None:
            return Step.STAND if may_lead and now >= self._next else Step.WAIT
        if not may_lead:
            return Step.RESIGN
        if self._wants_read:
            return Step.READ
        return Step.RENEW if now >= self._next else Step.WAIT

    def wait_seconds(self, now: float) -> float:
        """Return how long to wait for the next step."""
        return max(0.0, self._next - now)

    def took(self, lead: Lead | None, now: float) -> None:
        """Take what the engine answered to standing; a lead counts from its first renewal on."""
        self.lost(now)
        self.lead, self._took_at = lead, now
        if lead is None:
            self._next = now + LOOK_SECONDS

    def vacant(self, now: float) -> None:
        """Take that the lead may be free."""
        if self.lead is None:
            self._next = now

    def began_round(self, now: float) -> None:
        """Note when a renewal began; the next one begins a round later, however long it takes."""
        self._next = now + ROUND_SECONDS

    def renewed(self, valid_until: float, now: float) -> None:
        """Take a renewal."""
        if now >= self._valid_until:
            self._has_read = False  # for a while others may have decided, and this one did not hear of it
        self._valid_until = valid_until
        self._wants_read = not self._has_read

    def has_read(self) -> None:
        """Note that all names were read."""
        self._has_read = True
        self._wants_read = False

    def lost(self, now: float) -> None:
        """Take that the lead has ended."""
        self.lead = None
        self._valid_until = -math.inf
        self._has_read = self._wants_read = False
        self._next = now

    def failed(self, now: float) -> None:
        """Take that the engine did not answer: a lead holds as long as was said before."""
        self._wants_read = False  # after the next renewal
        if self.lead is None:
            self._next = now + ROUND_SECONDS


class Leader:
    """Takes the lead when it is free and keeps it.

    When it ends, it gives the lead up as soon as no lease that it granted can run any more.
    """

    def __init__(
        self,
        decisions: Decisions,
        who: str,
        read: Callable[[], Awaitable[object]],
        may_lead: Callable[[], bool] = lambda: True,
        clock: Callable[[], float] = boot_seconds,
        dead_after: float = 3.0,
    ) -> None:
        """`dead_after`: so many seconds of silence let another master be elected."""
        self.state = Leading(min(MAX_GRANT_SECONDS, dead_after * _OF_SILENCE))
        self._decisions = decisions
        self._who = who
        self._read = read
        self._may_lead = may_lead
        self._clock = clock
        self._is_failing = False

    @property
    def lead(self) -> Lead | None:
        """The lead, while it holds, for writings that only a leader may do."""
        return self.state.lead if self.is_leading else None

    @property
    def is_leading(self) -> bool:
        """Whether this controller may judge and grant at this moment."""
        return self.state.is_leading(self._clock())

    def grant(self) -> int:
        """Grant a master's lease for so many ms from this moment on; 0: not at all."""
        return self.state.grant(self._clock())

    async def run(self) -> None:
        """Stand, renew and resign until cancelled."""
        try:
            while True:
                await self._do(self.state.step(self._clock(), may_lead=self._may_lead()))
        finally:
            await self._resign_in_time()

    async def _do(self, step: Step) -> None:
        try:
            await self._steps[step]()
        except NotLeading as error:
            _log.warning("%s no longer leads: %s", self._who, error)
            self.state.lost(self._clock())
        except (DecisionsError, TimeoutError) as error:
            if not self._is_failing:
                _log.warning("the engine does not tell who leads: %s", str(error) or "it does not answer")
            self._is_failing = True
            self.state.failed(self._clock())
        else:
            # It is told again once an attempt was answered; waiting is none.
            self._is_failing = self._is_failing and step is Step.WAIT

    @property
    def _steps(self) -> dict[Step, Callable[[], Awaitable[None]]]:
        return {
            Step.STAND: self._stand,
            Step.RENEW: self._renew,
            Step.READ: self._read_all,
            Step.RESIGN: self._resign,
            Step.WAIT: self._wait,
        }

    async def _stand(self) -> None:
        lead = await self._decisions.lead(self._who)
        self.state.took(lead, self._clock())
        if lead is not None:
            _log.info("%s leads", self._who)

    async def _renew(self) -> None:
        lead = self.state.lead
        assert lead is not None
        self.state.began_round(self._clock())
        valid_until = await self._decisions.renew(lead)
        self.state.renewed(valid_until, self._clock())

    async def _read_all(self) -> None:
        await self._read()
        self.state.has_read()

    async def _resign(self) -> None:
        lead = self.state.lead
        assert lead is not None
        self.state.lost(self._clock())  # from here on nothing is granted or judged
        await self._outlive_grants()
        async with asyncio.timeout(_RESIGN_SECONDS):
            await self._decisions.resign(lead)

    async def _outlive_grants(self) -> None:
        """Wait until every lease has run out that was granted here: whoever leads next may elect another master."""
        if not self._decisions.others_may_lead:
            return
        left = self.state.granted_seconds(self._clock())
        if left > 0:
            _log.info("%s gives up the lead in %.1f s, when the last lease that it granted is over", self._who, left)
            await asyncio.sleep(left)

    async def _wait(self) -> None:
        seconds = self.state.wait_seconds(self._clock())
        if self.state.lead is not None or seconds == 0:
            # Nothing rings when this one may lead again.
            await asyncio.sleep(seconds or ROUND_SECONDS)
            return
        try:
            async with asyncio.timeout(seconds):
                await self._decisions.vacancy()
        except TimeoutError:
            return  # then it is time to look
        self.state.vacant(self._clock())

    async def _resign_in_time(self) -> None:
        if self.state.lead is None:
            return
        try:
            await self._resign()
        except (DecisionsError, TimeoutError) as error:
            _log.warning("the lead of %s ends by itself: %s", self._who, str(error) or "the engine does not answer")
