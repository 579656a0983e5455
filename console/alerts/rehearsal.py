"""Plays the past to a rule: when it would have fired, and for how long. Pure.

A point of the history is the mean of its step. The rule sees it at the beginning and at the end of the step, so a
figure that is beyond the limit on average counts as beyond it for the whole step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from console.alerts.life import QUIET, Life, Limits, step

_Worse = Callable[[float, float], float]


@dataclass(slots=True)
class Span:
    """A time from `begin` to `end` (ms); for one that fired with its worst value."""

    begin: int
    end: int
    worst: float | None = None


@dataclass(slots=True)
class Rehearsal:
    """What a rule would have done."""

    fired: list[Span] = field(default_factory=list)
    unknown: list[Span] = field(default_factory=list)
    brief: int = 0
    """Peaks beyond the limit that were too short to fire."""


def rehearse(points: Sequence[float | None], begin: int, step_ms: int, limits: Limits) -> Rehearsal:
    """Return what happens when a rule sees these points, the first of which begins at `begin` (ms)."""
    found, life = Rehearsal(), QUIET
    for index, value in enumerate(points):
        at = begin + index * step_ms
        before = life
        life = step(step(life, value, at, limits), value, at + step_ms, limits)
        _note(found, life, value, Span(at, at + step_ms), worse=max if limits.is_above else min)
        found.brief += _was_brief(before, life, value)
    return found


def _note(found: Rehearsal, life: Life, value: float | None, now: Span, *, worse: _Worse) -> None:
    if value is None:
        _prolong(found.unknown, now)
    elif life.word == "firing":
        fired = Span(max(now.begin, life.fired_at or 0), now.end, value)
        if found.fired and found.fired[-1].end >= now.begin:
            last = found.fired[-1]
            last.end, last.worst = now.end, value if last.worst is None else worse(last.worst, value)
        else:
            found.fired.append(fired)


def _was_brief(before: Life, after: Life, value: float | None) -> bool:
    return before.crossed_at is not None and before.fired_at is None and after.word == "quiet" and value is not None


def _prolong(spans: list[Span], now: Span) -> None:
    if spans and spans[-1].end == now.begin:
        spans[-1].end = now.end
    else:
        spans.append(now)
