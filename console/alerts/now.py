"""What each rule shows now, from the sampler to the API by way of Redis. Gone after a minute: old is not now."""

from __future__ import annotations

import logging
from typing import Annotated, Final

import msgspec
import redis
from msgspec import Meta, Struct

from console.moments import Moment

_KEY: Final = "gantry:alerts:now:"
KEEP_SECONDS: Final = 60

_log = logging.getLogger(__name__)


class RuleFigures(Struct, frozen=True, kw_only=True):
    """What a rule shows in one cluster."""

    cluster: str
    at: Moment
    subjects: Annotated[int, Meta(description="How many match.")]
    unfollowed: Annotated[int, Meta(description="Beyond the limit or unknown, but more than are followed.")]
    worst: Annotated[str | None, Meta(description="The subject with the worst known value.")]
    value: Annotated[float | None, Meta(description="Null: nothing is known.")]


class ClusterFigures(Struct, frozen=True, kw_only=True):
    """What all rules show in one cluster."""

    rules: dict[str, RuleFigures]


def key_of(cluster: str) -> str:
    """Return where the figures of a cluster are kept."""
    return _KEY + cluster


def read(store: redis.Redis, clusters: list[str]) -> dict[str, list[RuleFigures]]:
    """Return the figures of each rule, by cluster; without Redis there are none."""
    found: dict[str, list[RuleFigures]] = {}
    if not clusters:
        return found
    try:
        kept = store.mget([key_of(cluster) for cluster in clusters])
    except redis.RedisError as error:
        _log.warning("redis: what the alert rules show was not read (%s)", error)
        return found
    for text in kept:
        if text is None:
            continue
        for rule, figures in msgspec.json.decode(text, type=ClusterFigures).rules.items():
            found.setdefault(rule, []).append(figures)
    return found
