"""The life of an alert as a pure function of its last state, a value and the time.

quiet → pending (beyond the limit) → firing (for long enough) → quiet again (resolved); from each of them to no_data
when nothing was known for long enough. Unknown is never good: it resolves nothing, and proves nothing either, so a
pending alert waits longer by the spans in which its value was unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

Word = Literal["quiet", "pending", "firing", "no_data"]


@dataclass(frozen=True, slots=True)
class Limits:
    """When a value is bad, and for how long (ms) before it matters."""

    is_above: bool
    limit: float
    for_ms: int
    no_data_after_ms: int | None

    def is_crossed(self, value: float) -> bool:
        """Return whether the value is beyond the limit; the limit itself is not."""
        return value > self.limit if self.is_above else value < self.limit


@dataclass(frozen=True, slots=True)
class Life:
    """Where an alert is; moments are ms since 1970."""

    word: Word = "quiet"
    since: int = 0
    crossed_at: int | None = None
    """The first sample beyond the limit, later by the unknown spans since then."""
    fired_at: int | None = None
    """Since when it fires; kept through no_data."""
    unknown_at: int | None = None
    """The first of the unknown samples that go on."""


QUIET: Final = Life()


def step(life: Life, value: float | None, now: int, limits: Limits) -> Life:
    """Return the life after the sample `value` (None: unknown) at `now`; the same object if nothing has changed."""
    if value is None:
        return _unknown(life, now, limits)
    if limits.is_crossed(value):
        return _crossed(_known(life, now), now, limits)
    # Quiet, or back to it.
    return life if life is QUIET or (life.word == "quiet" and life.unknown_at is None) else Life("quiet", now)


def after_pause(life: Life, paused_ms: int) -> Life:
    """Return the life after a time without samples at all: a pending alert has proven nothing in it."""
    if life.crossed_at is None or life.fired_at is not None or life.unknown_at is not None:
        return life
    return replace(life, crossed_at=life.crossed_at + paused_ms)


def _known(life: Life, now: int) -> Life:
    """Return the life without the unknown span that ends at `now`."""
    if life.unknown_at is None:
        return life
    shift = now - life.unknown_at
    return replace(life, unknown_at=None, crossed_at=None if life.crossed_at is None else life.crossed_at + shift)


def _crossed(life: Life, now: int, limits: Limits) -> Life:
    if life.fired_at is not None:
        return life if life.word == "firing" else replace(life, word="firing", since=now)
    if life.crossed_at is None:
        life = Life("pending", now, crossed_at=now)
    elif life.word == "no_data":
        life = replace(life, word="pending", since=now)
    if life.crossed_at is not None and now - life.crossed_at >= limits.for_ms:
        return replace(life, word="firing", since=now, fired_at=now)
    return life


def _unknown(life: Life, now: int, limits: Limits) -> Life:
    if life.unknown_at is None:
        return replace(life, unknown_at=now)
    waited = now - life.unknown_at
    if life.word == "no_data" or limits.no_data_after_ms is None or waited < limits.no_data_after_ms:
        return life
    return replace(life, word="no_data", since=now)
