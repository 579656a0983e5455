"""Writes values of metrics as deliveries say them: numbers, lengths of time, parts of a hundred. Pure."""

from __future__ import annotations

from typing import Final

from console.alerts import template
from console.alerts.metrics import YES_OR_NO

_UNITS: Final = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"))
_TIMES: Final = frozenset({"group_time_lag_ms", "replica_lag_ms", "schedule_late_ms"})
_SHARES: Final = frozenset({"broker_disk_used", "controller_engine_used"})
_SAID_BY_THEIR_RULE: Final = YES_OR_NO - {"broker_silent"}
_BINARY: Final = (("GiB", 1024**3), ("MiB", 1024**2), ("KiB", 1024))
_RATES: Final = frozenset({"group_in_rate", "group_out_rate", "topic_in_rate"})


def written(metric: str, value: float | None) -> str:
    """Return a value in words: ``184,220``, ``1 min 40 s``, ``61.4 %``; "unknown" for None."""
    if value is None:
        return "unknown"
    if metric in _TIMES:
        return _length(round(value))
    if metric in _SHARES:
        return f"{100 * value:.1f} %"
    if metric == "disk_days_to_full":
        return f"{value:,.1f} d"
    if metric == "broker_silent":
        return "no answer" if value else "an answer"
    if metric in YES_OR_NO:
        return "yes" if value else "no"
    if metric == "replica_lag_bytes":
        return _bytes(value)
    if metric in _RATES:
        return f"{value:,.4g}/s" if value < 100 else f"{value:,.0f}/s"
    return f"{value:,.0f}" + ("/h" if metric.endswith("_per_hour") else "")


def sentence_of(metric: str) -> str:
    """Return the title of a delivery about a metric for which nobody wrote one."""
    return template.YES_OR_NO if metric in _SAID_BY_THEIR_RULE else template.DEFAULT


def _bytes(value: float) -> str:
    unit, size = next((each for each in _BINARY if value >= each[1]), ("B", 1))
    return f"{value / size:,.4g} {unit}" if size > 1 else f"{value:,.0f} B"


def _length(ms: int) -> str:
    """Return a length of time by its two largest units."""
    if ms < 1_000:
        return f"{ms} ms"
    parts = []
    for size, unit in _UNITS:
        count, ms = divmod(ms, size)
        if count:
            parts.append(f"{count} {unit}")
        if len(parts) == 2:
            break
    return " ".join(parts)
