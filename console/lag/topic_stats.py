"""The statistics of a topic over a time range, from the minutes that the sampler kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import redis

from console.errors import RedisUnreachable
from console.lag import topic_history
from console.lag.shapes import Points, TopicSeries, TopicStats, TopicTotals
from console.lag.topic_history import MINUTE_MS, Row, growths
from console.moments import rfc3339
from console.redis_client import store

STEPS: Final = {"1m": 1, "5m": 5, "15m": 15, "1h": 60}
"""Minutes between two points, by their name in the API."""


Values = Sequence[int | None]


@dataclass(frozen=True, slots=True)
class Span:
    """The minutes since 1970 of a range, and how many of them are one step."""

    begin: int
    end: int
    step: int


def span_of(begin_ms: int, end_ms: int, step: int) -> Span:
    """Return the whole steps that contain a range."""
    step_ms = step * MINUTE_MS
    return Span(begin_ms // step_ms * step, -(-end_ms // step_ms) * step, step)


def topic_stats(cluster: str, topic: str, span: Span, *, with_groups: bool) -> TopicStats:
    """Return the statistics of a topic; `with_groups` whether the caller may see what all groups do.

    Raises RedisUnreachable.
    """
    try:
        rows = topic_history.read(store(), cluster, topic, span.begin - 1, span.end)
    except redis.RedisError as error:
        raise RedisUnreachable from error
    return made_of(rows, span, with_groups=with_groups)


def made_of(rows: Sequence[Row | None], span: Span, *, with_groups: bool) -> TopicStats:
    """Return the statistics in these rows: one for each minute of the span, and that of the minute before it."""
    stored, own = growths(rows), rows[1:]
    consumed: Values = [row.consumed if row and with_groups else None for row in own]
    lags: Values = [row.max_lag if row and with_groups else None for row in own]
    peak_in, peak_in_at = _peak(stored, span)
    peak_out, peak_out_at = _peak(consumed, span)
    known = [count for count in consumed if count is not None]
    return TopicStats(
        step_ms=span.step * MINUTE_MS,
        begin=rfc3339(span.begin * MINUTE_MS),
        to=rfc3339(span.end * MINUTE_MS),
        series=TopicSeries(
            in_rate=_stepped(stored, span, _rate),
            out_rate=_stepped(consumed, span, _rate),
            messages=_stepped([row.messages if row else None for row in own], span, _last),
            size_bytes=_stepped([row.size_bytes if row else None for row in own], span, _last),
            max_lag=_stepped(lags, span, max),
        ),
        totals=TopicTotals(
            measured_minutes=sum(row is not None and row.written is not None for row in own),
            messages_in=_sum_in(rows),
            messages_in_since=_since(rows, span),
            messages_out=sum(known) if known else None,
            peak_in_rate=peak_in,
            peak_in_at=peak_in_at,
            peak_out_rate=peak_out,
            peak_out_at=peak_out_at,
        ),
        groups_hidden=not with_groups,
    )


def _stepped(values: Values, span: Span, join: Callable[[Sequence[int]], float]) -> Points:
    """Return one value for each step, from the known ones in it; None if there is none."""
    steps = ([v for v in values[at : at + span.step] if v is not None] for at in range(0, len(values), span.step))
    return [join(known) if known else None for known in steps]


def _rate(counts: Sequence[int]) -> float:
    return round(sum(counts) / len(counts) / 60, 6)


def _last(values: Sequence[int]) -> int:
    return values[-1]


def _peak(counts: Values, span: Span) -> tuple[float | None, str | None]:
    """Return the rate of the busiest minute and when it began; None if no minute is known or nothing came."""
    found = max(((count, -at) for at, count in enumerate(counts) if count is not None), default=None)
    if found is None:
        return None, None
    count, at = found[0], -found[1]
    return _rate([count]), rfc3339((span.begin + at) * MINUTE_MS) if count else None


def _since(rows: Sequence[Row | None], span: Span) -> str | None:
    """Return from when on the sum counts: the end of the first minute whose count is known."""
    known = [at for at, row in enumerate(rows) if row is not None and row.written is not None]
    return rfc3339((span.begin + known[0]) * MINUTE_MS) if len(known) > 1 else None


def _sum_in(rows: Sequence[Row | None]) -> int | None:
    """Return how much was stored, also in minutes that nobody sampled: the queues went on counting."""
    written = [row.written for row in rows if row is not None and row.written is not None]
    if len(written) < 2:
        return None
    return sum(max(0, after - before) for before, after in pairwise(written))
