"""What each rule shows now, from the sampler to the API by way of Redis. Gone after a minute: old is not now."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Final

import msgspec
import redis
from msgspec import Meta, Struct

from broker_core.structs import decoded
from console.moments import Moment, rfc3339

_KEY: Final = "gantry:alerts:now:"
KEEP_SECONDS: Final = 60
# The sampler notes the figures every five seconds, and a round may take longer.
_NOW_MS: Final = 15_000

_log = logging.getLogger(__name__)


class RuleFigures(Struct, frozen=True, kw_only=True):
    """What a rule shows in one cluster."""

    cluster: str
    at: Moment
    subjects: Annotated[int, Meta(description="How many match.")]
    unfollowed: Annotated[int, Meta(description="Beyond the limit or unknown, but more than are followed.")]
    worst: Annotated[str | None, Meta(description="The subject with the worst known value.")]
    value: Annotated[float | None, Meta(description="Null: nothing is known.")]


class AlertLastKnown(Struct, frozen=True, kw_only=True):
    """The last value of an alert that was measured, and when."""

    at: Moment
    value: float


class AlertFigures(Struct, frozen=True, kw_only=True):
    """The value of an open alert now; None, with the last known one, while nobody can measure it."""

    value: float | None
    last_known: AlertLastKnown | None


Open = dict[str, dict[str, AlertFigures]]
"""Rule id to subject to figures, of the alerts that are open."""
NOTHING: Final = AlertFigures(value=None, last_known=None)


@decoded
class ClusterFigures(Struct, frozen=True, kw_only=True):
    """What all rules show in one cluster."""

    rules: dict[str, RuleFigures]
    at: int = 0
    open: Open = {}


def open_of(
    subjects: Mapping[str, Iterable[str]],
    values: Callable[[str, str], float | None],
    before: Open,
    at: int,
) -> Open:
    """Return the figures of the open alerts at `at` (ms); what was measured `before` stays as the last known."""
    found: Open = {}
    for rule, names in subjects.items():
        for name in names:
            value = values(rule, name)
            last = before.get(rule, {}).get(name, NOTHING).last_known
            if value is not None:
                last = AlertLastKnown(at=rfc3339(at), value=value)
            found.setdefault(rule, {})[name] = AlertFigures(value=value, last_known=last)
    return found


def key_of(cluster: str) -> str:
    """Return where the figures of a cluster are kept."""
    return _KEY + cluster


def read(store: redis.Redis, clusters: list[str]) -> dict[str, list[RuleFigures]]:
    """Return the figures of each rule, by cluster; without Redis there are none."""
    found: dict[str, list[RuleFigures]] = {}
    for shown in _read(store, clusters).values():
        for rule, figures in shown.rules.items():
            found.setdefault(rule, []).append(figures)
    return found


def read_open(store: redis.Redis, clusters: list[str], now: int) -> dict[str, Open]:
    """Return the figures of the open alerts by cluster at `now` (ms); those of a sampler that is silent are not now."""
    found: dict[str, Open] = {}
    for cluster, shown in _read(store, clusters).items():
        is_now = now - shown.at <= _NOW_MS
        found[cluster] = shown.open if is_now else open_of(shown.open, lambda *_: None, shown.open, shown.at)
    return found


def _read(store: redis.Redis, clusters: list[str]) -> dict[str, ClusterFigures]:
    if not clusters:
        return {}
    try:
        kept = store.mget([key_of(cluster) for cluster in clusters])
    except redis.RedisError as error:
        _log.warning("redis: what the alert rules show was not read (%s)", error)
        return {}
    pairs = zip(clusters, kept, strict=True)
    return {cluster: msgspec.json.decode(text, type=ClusterFigures) for cluster, text in pairs if text is not None}
