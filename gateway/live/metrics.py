"""The lag of all groups as metric families, from what the sampler published last; a lag nobody knows is left out."""

from __future__ import annotations

from typing import Final

import orjson
import redis.asyncio
from prometheus_client.core import GaugeMetricFamily, Metric
from redis.exceptions import RedisError

from console import live
from gateway.live.lag import items

_PATTERN: Final = "gantry:live:groups:*"


async def lag_families(store: redis.asyncio.Redis) -> list[Metric]:
    """Return lag and age of the oldest unread message by cluster and group; empty when Redis does not answer."""
    lag = GaugeMetricFamily("gantry_group_lag_messages", "Messages not consumed.", labels=["cluster", "group"])
    age = GaugeMetricFamily("gantry_group_lag_seconds", "Age of the oldest one.", labels=["cluster", "group"])
    try:
        keys = [key async for key in store.scan_iter(match=_PATTERN)]
        states = await store.mget(keys) if keys else []
    except RedisError:
        return []
    for kept in states:
        if kept is None:
            continue
        event: live.Event = orjson.loads(kept)
        cluster = event["subject"].partition(":")[2]
        for group in items(event["data"]):
            if group["lag"] is not None:
                lag.add_metric([cluster, group["name"]], group["lag"])
            if group["time_lag_ms"] is not None:
                age.add_metric([cluster, group["name"]], group["time_lag_ms"] / 1000)
    return [lag, age]
