"""Requirements of `console.lag.shown` without a sampler."""

from __future__ import annotations

import redis

from console.lag import shown
from console.lag.broker_watch import Shown
from console.lag.shown import KEEP_MS, find_shown


def test_what_pages_show_now_is_measured_before_what_they_showed_a_while_ago(redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as store:
        shown.note_shown(store, "busy", topics=[f"t{number}" for number in range(400)])
        (_, noted_at), *_ = store.zrevrange("gantry:shown:busy", 0, 0, withscores=True)
        first = int(noted_at)
        store.zadd("gantry:shown:busy", {"topic:last": first + 1, "group:last": first + 1})
        found = find_shown(store, "busy", first + 2)
        assert "last" in found.topics
        assert "last" in found.groups
        assert len(found.topics) + len(found.groups) == 100
        assert find_shown(store, "busy", first + 2 + KEEP_MS) == Shown()
