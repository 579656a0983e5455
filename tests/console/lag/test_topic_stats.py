"""Requirements of `console.lag.topic_stats`."""

from __future__ import annotations

from console.lag.topic_history import Row
from console.lag.topic_stats import made_of, span_of
from console.moments import rfc3339

FIRST = 30_000_000
MINUTE_MS = 60_000
ROWS: list[Row | None] = [
    Row(FIRST - 1, written=1_000, consumed=0, messages=100, size_bytes=900, max_lag=0),
    Row(FIRST, written=1_060, consumed=0, messages=160, size_bytes=1_000, max_lag=60),
    Row(FIRST + 1, written=1_240, consumed=120, messages=340, size_bytes=1_200, max_lag=120),
    None,
    None,
    Row(FIRST + 4, written=1_300, consumed=None, messages=400, size_bytes=None, max_lag=30),
    Row(FIRST + 5, written=1_300, consumed=0, messages=0, size_bytes=None, max_lag=0),
]


def test_a_range_is_made_of_whole_steps() -> None:
    span = span_of(FIRST * MINUTE_MS + 1, (FIRST + 7) * MINUTE_MS + 1, 5)
    assert (span.begin, span.end) == (FIRST, FIRST + 10)


def test_each_step_has_the_rates_of_its_known_minutes_and_the_counts_at_its_end() -> None:
    shown = made_of(ROWS, span_of(FIRST * MINUTE_MS, (FIRST + 6) * MINUTE_MS, 1), with_groups=True)
    assert shown.series.in_rate == [1, 3, None, None, None, 0]
    assert shown.series.out_rate == [0, 2, None, None, None, 0]
    assert shown.series.messages == [160, 340, None, None, 400, 0]
    assert shown.series.size_bytes == [1_000, 1_200, None, None, None, None]
    assert shown.series.max_lag == [60, 120, None, None, 30, 0]
    wide = made_of(ROWS, span_of(FIRST * MINUTE_MS, (FIRST + 6) * MINUTE_MS, 3), with_groups=True)
    assert wide.series.in_rate == [2, 0]
    assert wide.series.messages == [340, 0]
    assert wide.series.max_lag == [120, 30]


def test_the_sums_say_when_most_came_and_how_much_of_the_time_was_measured() -> None:
    totals = made_of(ROWS, span_of(FIRST * MINUTE_MS, (FIRST + 6) * MINUTE_MS, 3), with_groups=True).totals
    assert totals.messages_in == 300, "queues count on while nobody samples"
    assert totals.messages_in_since == rfc3339(FIRST * MINUTE_MS)
    assert (totals.messages_out, totals.measured_minutes) == (120, 4)
    assert (totals.peak_in_rate, totals.peak_in_at) == (3, rfc3339((FIRST + 1) * MINUTE_MS))
    assert (totals.peak_out_rate, totals.peak_out_at) == (2, rfc3339((FIRST + 1) * MINUTE_MS))


def test_a_topic_made_anew_in_between_loses_nothing_but_that_minute() -> None:
    rows = [Row(FIRST - 1, written=900), Row(FIRST, written=5), Row(FIRST + 1, written=65)]
    shown = made_of(rows, span_of(FIRST * MINUTE_MS, (FIRST + 2) * MINUTE_MS, 1), with_groups=True)
    assert (shown.series.in_rate, shown.totals.messages_in) == ([None, 1], 60)


def test_a_sum_says_from_when_it_counts_if_nobody_knows_what_came_before() -> None:
    rows = [None, None, Row(FIRST + 1, written=500), Row(FIRST + 2, written=500)]
    totals = made_of(rows, span_of(FIRST * MINUTE_MS, (FIRST + 3) * MINUTE_MS, 1), with_groups=True).totals
    assert (totals.messages_in, totals.messages_in_since) == (0, rfc3339((FIRST + 2) * MINUTE_MS))
    totals = made_of(rows[:3], span_of(FIRST * MINUTE_MS, (FIRST + 2) * MINUTE_MS, 1), with_groups=True).totals
    assert (totals.messages_in, totals.messages_in_since) == (None, None)


def test_nothing_sampled_is_unknown_everywhere() -> None:
    totals = made_of([None] * 7, span_of(FIRST * MINUTE_MS, (FIRST + 6) * MINUTE_MS, 1), with_groups=True).totals
    assert (totals.messages_in, totals.messages_out, totals.peak_in_rate, totals.measured_minutes) == (
        None,
        None,
        None,
        0,
    )


def test_what_groups_do_is_left_out_for_who_may_not_read_them_all() -> None:
    shown = made_of(ROWS, span_of(FIRST * MINUTE_MS, (FIRST + 6) * MINUTE_MS, 3), with_groups=False)
    assert shown.groups_hidden
    assert (shown.series.out_rate, shown.series.max_lag) == ([None, None], [None, None])
    assert (shown.totals.messages_out, shown.totals.peak_out_rate) == (None, None)
    assert shown.totals.messages_in == 300
