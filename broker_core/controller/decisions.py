"""The port to what keeps decisions: one text for each broker name (controller/README.md#decisions).

::

    DecisionsError
     ├─ Changed       another text is there than the one that the decision was made from; decide anew
     ├─ NotLeading    the lead is another's, or nobody's; nothing was written
     └─ Unsettled     the engine did not answer; whether a text was written is unknown
         └─ Refused   it answered, and does not do it; nothing was written
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from broker_core.errors import GantryError

MAX_TEXT_BYTES: Final = 64 * 1024
"""The limit on the state of one broker name, in UTF-8."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept for a name: its text, and what the engine tells this writing of it by."""

    text: str
    token: object


@dataclass(frozen=True, slots=True)
class Lead:
    """The lead of one controller, from the moment it got it; each has another text."""

    who: str
    text: str
    token: object


class DecisionsError(GantryError):
    """A decision was not read or written."""


class Changed(DecisionsError):
    """`now` is there, or nothing if it is None, and what was to be written will not be.

    After an attempt without an answer it may have been, and been replaced since. So a decision is made anew from `now`.
    """

    def __init__(self, name: str, now: Kept | None) -> None:
        super().__init__(f"the state of {name!r} has changed since it was read")
        self.now = now


class NotLeading(DecisionsError):
    """The lead has ended; nothing was written."""


class Unsettled(DecisionsError):
    """The engine did not answer in time; whether a text was written is unknown."""


class Refused(Unsettled):
    """The engine answered that it does not do this; nothing was written."""


@dataclass(frozen=True, slots=True)
class MemberStatus:
    """A server of the engine."""

    endpoint: str
    reached: bool | None
    """At the last try; None: not tried yet."""
    since: int | None
    """Since when that is so, in ms since 1970."""


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """What people are told of the engine; None is what is not known."""

    kind: str
    version: str | None = None
    members: tuple[MemberStatus, ...] = ()
    revision: int | None = None
    size_bytes: int | None = None
    quota_bytes: int | None = None
    alarms: tuple[str, ...] | None = None
    last_decision_ms: float | None = None
    """How long the last writing took."""
    unsettled: tuple[str, ...] = ()
    """Names with a writing whose outcome is unknown."""


class Decisions(Protocol):
    """What keeps one text for each name, changed by comparing only (controller/README.md#decisions)."""

    async def read(self) -> tuple[int, dict[str, Kept]]:
        """Return the revision and all names, not older than this call; raises Unsettled."""
        ...

    async def put(self, name: str, seen: Kept | None, text: str, lead: Lead | None = None) -> Kept:
        """Write `text` if `seen` is still what is kept for the name, and `lead`, if given, still holds.

        No text may ever be written twice. Raises Changed, NotLeading, and Unsettled: then nobody may be answered.
        """
        ...

    def is_settled(self, name: str) -> bool:
        """Return whether the outcome of every writing of this name by this process is known."""
        ...

    async def changes(self, after: int) -> set[str]:
        """Return the names that changed after a revision, once there is one.

        A bell: it may ring late or for nothing, and whoever hears it reads.
        """
        ...

    async def lead(self, who: str) -> Lead | None:
        """Take the lead if nobody has it; None if somebody has. Raises Unsettled."""
        ...

    async def renew(self, lead: Lead) -> float:
        """Return until when the lead holds, in seconds of `broker_core.clock.boot_seconds`.

        Raises NotLeading, and Unsettled: then it holds as long as was said before.
        """
        ...

    async def resign(self, lead: Lead) -> None:
        """End the lead now rather than later; raises Unsettled."""
        ...

    async def vacancy(self) -> None:
        """Return once the lead may be free. A bell, like `changes`."""
        ...

    @property
    def others_may_lead(self) -> bool:
        """Whether another controller, which already hears replicas, may lead as soon as the lead is given up."""
        ...

    @property
    def leader(self) -> str | None:
        """Who led when it was last looked at; a hint."""
        ...

    @property
    def status(self) -> EngineStatus:
        """What people are told of the engine."""
        ...
