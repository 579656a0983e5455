"""Requirements of `console.lag.trends`: growing means over minutes, and by more than noise."""

from __future__ import annotations

import pytest

from console.lag.trends import FLOOR, SPAN_MS, Trend


def trend_of(*lags: int) -> Trend:
    """Return the trend of a lag recorded every second."""
    trend = Trend()
    for second, lag in enumerate(lags):
        trend.see(second * 1_000, lag)
    return trend


def test_a_lag_that_rises_grows_and_one_that_falls_does_not() -> None:
    assert trend_of(*range(0, 3000, 10)).is_growing
    assert not trend_of(*range(3000, 0, -10)).is_growing
    assert not trend_of(*[50] * 300).is_growing


def test_the_teeth_of_a_consumer_that_commits_now_and_then_are_no_growth() -> None:
    teeth = [100 * (second % 5) for second in range(400)]
    for seen in range(1, 400, 7):
        assert not trend_of(*teeth[:seen]).is_growing
    rising = [100 * (second % 5) + 2 * second for second in range(400)]
    assert trend_of(*rising).is_growing


def test_a_handful_of_messages_is_no_growth() -> None:
    assert not trend_of(*[0] * 20, *[6] * 100).is_growing
    assert not trend_of(*(second // 20 for second in range(300))).is_growing
    assert trend_of(*(second // 2 for second in range(300))).is_growing
    assert FLOOR >= 10


def test_of_a_large_lag_a_small_share_is_no_growth() -> None:
    assert not trend_of(*(1_000_000 + second for second in range(300))).is_growing
    assert trend_of(*(1_000_000 + 50 * second for second in range(300))).is_growing


def test_a_burst_that_was_consumed_or_is_being_consumed_is_no_growth() -> None:
    assert not trend_of(*[0] * 100, 500, 400, 300, 200, 100, *[0] * 150).is_growing
    for seconds in range(1, 300, 10):
        draining = [50_000 - 50 * second for second in range(seconds)]
        assert not trend_of(*[0] * 100, *draining).is_growing


def test_it_is_judged_over_five_minutes() -> None:
    assert SPAN_MS == 300_000
    assert not trend_of(*range(0, 3000, 10), *[3000] * 300).is_growing


def test_little_tells_nothing() -> None:
    for trend in (Trend(), trend_of(5), trend_of(*range(0, 590, 10))):
        assert (trend.is_growing, trend.per_second) == (False, None)


@pytest.mark.parametrize(("lags", "slope"), [(range(0, 3000, 10), 10), (range(3000, 0, -10), -10), ([7] * 300, 0)])
def test_the_slope_is_the_change_a_second(lags: range | list[int], slope: float) -> None:
    assert trend_of(*lags).per_second == pytest.approx(slope)


def test_the_slope_agrees_with_a_lag_that_began_to_grow() -> None:
    # Given a group that had caught up, and of which nobody consumes any more while four messages a second come
    paused = [0] * 300 + [4 * second for second in range(301)]
    # Then the slope rises with the lag, and is the rate once the window has nothing else
    slopes = [trend_of(*paused[: 300 + seconds]).per_second or 0 for seconds in range(10, 301, 10)]
    assert slopes[0] > 0
    assert slopes == sorted(slopes)
    assert trend_of(*paused[:416]).per_second == pytest.approx(464 / 300, rel=0.25)
    assert slopes[-1] == pytest.approx(4, rel=0.05)


def test_the_slope_of_a_lag_with_teeth_is_that_of_the_lag() -> None:
    for rise in (-2, 0, 3):
        teeth = [5_000 + 40 * (second % 7) + rise * second for second in range(400)]
        assert trend_of(*teeth).per_second == pytest.approx(rise, abs=0.1)


def test_a_lag_that_stays_has_no_slope_at_all() -> None:
    assert trend_of(*range(100), *[7] * 320).per_second == 0, "exactly: nothing is left to follow"


def test_the_first_lag_after_a_time_in_which_it_was_unknown_is_no_growth() -> None:
    trend = trend_of(*[0] * 30)
    trend.see(150_000, 500)
    assert not trend.is_growing
    for second in range(151, 200):
        trend.see(second * 1_000, 500 + 10 * second)
    assert trend.is_growing
