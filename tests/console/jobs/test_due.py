"""Which times of a schedule are due: windows, delays and many missed times."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.jobs.due import MOST_AT_ONCE, Start, delay, due
from console.jobs.models import Schedule
from console.jobs.times import CronMalformed

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
OWN_RANGE = {"type": "replay", "source": {"topic": "orders", "from": "{{ scheduled_at - 1h }}"}, "target": {}}
CONTINUES = {"type": "replay", "source": {"topic": "orders", "from": "{{ last_success }}"}, "target": {}}


def hourly(**fields: Any) -> Schedule:
    return Schedule(
        **{"name": "s", "cron": "0 * * * *", "zone": "UTC", "next_run_at": NOON, "job": OWN_RANGE, **fields}
    )


def test_every_missed_time_gets_its_own_run_unless_a_run_takes_them_all() -> None:
    # Given a scheduler that comes back after three hours
    now = NOON + 2 * HOUR + timedelta(minutes=1)
    # Then ranges of their own need runs of their own
    own = due(hourly(), now)
    assert own is not None
    assert own.starts == (Start(NOON), Start(NOON + HOUR), Start(NOON + 2 * HOUR))
    assert own.following == NOON + 3 * HOUR
    # And one run that continues from the last success has them all; so has the last one where each cancels the previous
    for one in (hourly(job=CONTINUES), hourly(overlap="cancel_previous")):
        found = due(one, now)
        assert found is not None
        assert found.starts == (Start(NOON + 2 * HOUR, (NOON, NOON + HOUR)),)


def test_what_is_later_than_the_window_is_missed() -> None:
    found = due(hourly(catch_up_ms=5_400_000), NOON + 2 * HOUR)
    assert found is not None
    assert found.missed == (NOON,)
    assert [each.scheduled_for for each in found.starts] == [NOON + HOUR, NOON + 2 * HOUR]


@pytest.mark.parametrize("job", [OWN_RANGE, CONTINUES])
def test_every_time_is_started_missed_or_still_to_come(job: dict[str, Any]) -> None:
    # Evenly distributed, so that many of the delays turn the order of two times around.
    rng = random.Random(7)
    for _ in range(300):
        _check_each_time(
            hourly(pk="s", jitter_ms=rng.randrange(20_000_000), catch_up_ms=rng.randrange(7_200_000), job=job),
            NOON + rng.randrange(60) * HOUR,
        )


def _check_each_time(schedule: Schedule, now: datetime) -> None:
    told: list[datetime] = []
    while (found := due(schedule, now)) is not None:
        started = [at for each in found.starts for at in (*each.earlier, each.scheduled_for)]
        assert all(at + delay(schedule, at) <= now for at in started)
        told += [*found.missed, *started]
        schedule.next_run_at = found.following
    assert schedule.next_run_at is not None
    assert sorted(told) == [NOON + number * HOUR for number in range((schedule.next_run_at - NOON) // HOUR)]


def test_runs_after_a_long_stop_start_a_few_at_a_time() -> None:
    late = hourly()
    first = due(late, NOON + 40 * HOUR)
    assert first is not None
    assert len(first.starts) == MOST_AT_ONCE
    assert first.following == NOON + MOST_AT_ONCE * HOUR
    late.next_run_at = first.following
    rest = due(late, NOON + 40 * HOUR)
    assert rest is not None
    assert len(rest.starts) == 41 - MOST_AT_ONCE


def test_a_line_that_is_never_due_again_is_malformed() -> None:
    with pytest.raises(CronMalformed):
        due(hourly(cron="0 0 31 2 *"), NOON + HOUR)


@given(jitter_ms=st.integers(0, 3_600_000), hours=st.integers(0, 50))
def test_a_run_starts_after_its_delay_and_no_earlier(jitter_ms: int, hours: int) -> None:
    at = NOON + hours * HOUR
    one = hourly(jitter_ms=jitter_ms, next_run_at=at)
    wait = delay(one, at)
    assert timedelta(0) <= wait <= timedelta(milliseconds=jitter_ms)
    assert due(one, at + wait - timedelta(milliseconds=1)) is None
    found = due(one, at + wait)
    assert found is not None
    # Its range is that of its time
    assert found.starts[0].scheduled_for == at


def test_schedules_of_one_time_start_at_different_moments() -> None:
    delays = {delay(hourly(jitter_ms=60_000), NOON) for _ in range(20)}
    assert len(delays) > 10
