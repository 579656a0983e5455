"""Requirements of `gateway.control.topic_stats`."""

from __future__ import annotations

import time
from typing import Any

import msgspec
import pytest
import redis

from console.lag.topic_history import MINUTE_MS, Row, minutes_key, topic_key
from console.moments import rfc3339
from tests.gateway.control.conftest import Control


@pytest.mark.sample
def test_a_topic_that_nobody_sampled_is_unknown_and_no_zero(control: Control) -> None:
    topic = control.topic()
    for step, points in (("1m", (1440, 1441)), ("5m", (288, 289)), ("15m", (96, 97)), ("1h", (24, 25))):
        stats = control.get(f"/topics/{topic}/stats", step=step)
        assert {len(values) for values in stats["series"].values()} <= set(points)
        assert {value for values in stats["series"].values() for value in values} == {None}
        assert stats["totals"]["messages_in"] is None
        assert stats["totals"]["measured_minutes"] == 0


@pytest.mark.sample
def test_what_was_sampled_is_shown_in_whole_steps(control: Control, redis_url: str) -> None:
    topic = control.topic()
    end = time.time_ns() // 1_000_000 // MINUTE_MS
    with redis.Redis.from_url(redis_url) as store:
        rows = [Row(end - 3, 100, 0, 10, 1_000, 4), Row(end - 2, 700, 60, 610, 2_000, 544)]
        store.rpush(topic_key(control.cluster, topic), *(msgspec.msgpack.encode(row) for row in rows))
        # In the last minute nothing changed
        minutes = range(end - 3, end)
        store.rpush(minutes_key(control.cluster), *(msgspec.msgpack.encode((minute,)) for minute in minutes))
    span = {"from_": rfc3339((end - 2) * MINUTE_MS), "to": rfc3339(end * MINUTE_MS)}
    stats = control.get(f"/topics/{topic}/stats", step="1m", **span)
    assert (stats["from"], stats["to"], stats["step_ms"]) == (span["from_"], span["to"], 60_000)
    assert stats["series"]["in_rate"] == [10, 0]
    assert stats["series"]["messages"] == [610, 610]
    assert (stats["totals"]["messages_in"], stats["totals"]["measured_minutes"]) == (600, 2)
    assert (stats["totals"]["peak_in_rate"], stats["totals"]["peak_in_at"]) == (10, span["from_"])
    assert (stats["series"]["max_lag"], stats["groups_hidden"]) == ([544, 544], False)


def test_who_may_not_read_all_groups_sees_nothing_of_what_they_do(control: Control) -> None:
    topic = control.topic()
    stats = control.get(f"/topics/{topic}/stats", role="narrow")
    assert stats["groups_hidden"]
    assert set(stats["series"]["max_lag"]) == {None}


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ({"step": "2m"}, "step"),
        ({"from": "yesterday"}, "from"),
        ({"from": "２０２６-05-01T08:00:00Z"}, "from"),  # noqa: RUF001 - digits of another script
        ({"from": "2020-01-01T00:00:00Z"}, "from"),
        ({"to": "2020-01-01T00:00:00Z"}, "from"),
        ({"from": "2020-01-01T00:00:00Z", "to": "2019-01-01T00:00:00Z"}, "from"),
        ({"to": "2990-01-01T00:00:00Z"}, "to"),
        ({"range": "1h"}, "range"),
    ],
)
def test_a_range_that_is_not_kept_is_refused_by_name(control: Control, query: dict[str, Any], name: str) -> None:
    answer = control.call("GET", f"/topics/{control.topic()}/stats", params=query)
    assert answer.status_code == 422
    assert name in answer.text


def test_a_day_until_now_is_served_and_what_was_before_or_comes_is_refused(control: Control) -> None:
    now = time.time_ns() // 1_000_000
    topic, hour = control.topic(), 3_600_000
    # A clock that is a little behind still gets its day
    assert control.get(f"/topics/{topic}/stats", from_=rfc3339(now - 24 * hour - 5_000))["from"] <= rfc3339(
        now - 24 * hour
    )
    for begin, end in ((now, now + hour), (now - 25 * hour - 60_000, now)):
        span = {"from": rfc3339(begin), "to": rfc3339(end)}
        assert control.call("GET", f"/topics/{topic}/stats", params=span).status_code == 422
