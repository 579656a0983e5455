"""Requirements of `console.lag.trends`."""

from __future__ import annotations

import pytest

from console.lag.trends import Trend


def trend_of(*lags: int) -> Trend:
    """Return the trend of a lag seen each second."""
    trend = Trend()
    for second, lag in enumerate(lags):
        trend.see(second * 1_000, lag)
    return trend


def test_a_lag_that_rises_grows_and_one_that_falls_does_not() -> None:
    assert trend_of(*range(0, 300, 10)).is_growing
    assert not trend_of(*range(300, 0, -10)).is_growing
    assert not trend_of(*[50] * 30).is_growing


def test_the_teeth_of_a_consumer_that_commits_now_and_then_are_no_growth() -> None:
    teeth = [100 * (second % 5) for second in range(60)]
    for seen in range(1, 60):
        assert not trend_of(*teeth[:seen]).is_growing
    rising = [100 * (second % 5) + 20 * second for second in range(60)]
    assert trend_of(*rising).is_growing


def test_a_burst_that_was_consumed_is_over() -> None:
    assert not trend_of(*[0] * 10, 500, 400, 300, 200, 100, *[0] * 20).is_growing


def test_little_tells_nothing() -> None:
    for trend in (Trend(), trend_of(5), trend_of(0, 10, 20)):
        assert (trend.is_growing, trend.per_second) == (False, None)


@pytest.mark.parametrize(("lags", "slope"), [(range(0, 300, 10), 10), (range(300, 0, -10), -10), ([7] * 30, 0)])
def test_the_slope_is_the_change_a_second(lags: range | list[int], slope: float) -> None:
    assert trend_of(*lags).per_second == slope
