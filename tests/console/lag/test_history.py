"""Requirements of `console.lag.history`."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import orjson
import pytest
import redis
import redis.asyncio
from hypothesis import given
from hypothesis import strategies as st

from console.lag import history
from console.lag.history import FIVES, MINUTES, RANGES, SECONDS, TIERS, Keeper, bucketed, end_of, read

START = 1_800_000_000_000


def kept(values: dict[int, float | None]) -> dict[str, list[list[float | None]]]:
    """Return the points by tier that a keeper writes for one column with these values by second."""
    keeper = Keeper()
    written: dict[str, list[list[float | None]]] = {tier.name: [] for tier in TIERS}
    for second, value in values.items():
        for _, tier, point in keeper.step(START + second * 1_000, {"s": [value]}):
            written[tier.name].append(orjson.loads(point))
    return written


def test_each_tier_has_the_mean_of_its_step() -> None:
    written = kept({second: float(second) for second in range(121)})
    assert written[SECONDS.name][:2] == [[START, 0], [START + 1_000, 1]]
    assert written[FIVES.name][:2] == [[START, 2], [START + 5_000, 7]]
    assert written[MINUTES.name] == [[START, 29.5], [START + 60_000, 89.5]]


def test_what_was_unknown_in_a_whole_step_is_null_and_no_zero() -> None:
    written = kept(dict.fromkeys(range(5), None) | {5: 4.0, 6: None, 7: 8.0, 10: None})
    assert written[FIVES.name] == [[START, None], [START + 5_000, 6]]


def test_a_time_without_samples_is_a_gap() -> None:
    written = kept({0: 1.0, 3600: 2.0, 3601: 2.0})
    points = [*written[SECONDS.name]]
    series = bucketed(points, ["lag"], begin=START, end=START + 3_601_000, step_ms=1_000)["lag"]
    assert [index for index, value in enumerate(series) if value is not None] == [0, 3600]


def test_series_that_are_no_more_are_forgotten() -> None:
    keeper = Keeper()
    for second in range(100):
        keeper.step(START + second * 1_000, {f"group-{second}": [1.0]})
    assert len(keeper._series) == 1


@pytest.mark.parametrize("name", RANGES)
def test_a_range_is_read_from_a_tier_that_reaches_far_enough(name: str) -> None:
    wanted = RANGES[name]
    assert wanted.tier.span_ms >= wanted.span_ms
    assert wanted.step_ms % wanted.tier.step_ms == 0
    assert wanted.span_ms // wanted.step_ms <= 900
    end = end_of(wanted, START + 1)
    assert end % wanted.step_ms == 0
    assert 0 < end - (START + 1) <= wanted.step_ms


@given(st.lists(st.tuples(st.integers(-5_000, 25_000), st.none() | st.floats(-1e9, 1e9)), max_size=50))
def test_every_step_has_a_place_whatever_the_points(points: list[tuple[int, float | None]]) -> None:
    series = bucketed(points, ["a"], begin=0, end=20_000, step_ms=1_000)["a"]
    assert len(series) == 20
    for index, value in enumerate(series):
        inside = [v for at, v in points if at // 1_000 == index and v is not None]
        assert (value is None) == (not inside)
        if inside and value is not None:
            assert min(inside) - 1e-6 <= value <= max(inside) + 1e-6


async def test_points_are_kept_in_redis_and_no_more_than_wanted(redis_url: str) -> None:
    # Given twenty minutes of samples, a second apart
    key = f"gantry:history:{uuid4().hex}"
    keeper = Keeper()
    async with redis.asyncio.Redis.from_url(redis_url) as store:
        for second in range(1_200):
            await keeper.keep(store, START + second * 1_000, {key: [float(second), None]})
    # Then each range shows the end of them
    with redis.Redis.from_url(redis_url) as store:
        assert store.llen(f"{key}:{SECONDS.name}") == SECONDS.points
        now = START + 1_199_000
        for name, points in {"15m": 899, "1h": 239, "6h": 19}.items():
            wanted = RANGES[name]
            series = read(store, key, ("lag", "rate"), wanted, end=end_of(wanted, now))
            known = [value for value in series["lag"] if value is not None]
            assert known == sorted(known)
            assert len(known) == points, "all but the step that is not over"
            assert set(series["rate"]) == {None}
        assert 0 < int(_ttl(store, f"{key}:{SECONDS.name}")) <= SECONDS.span_ms + SECONDS.step_ms


def _ttl(store: redis.Redis, key: str) -> Any:
    return store.pttl(key)


@given(st.lists(st.sampled_from([None, 0.0, 7.0]), min_size=20, max_size=80), st.integers(0, 8))
def test_values_that_stay_have_the_points_of_values_that_are_added_one_by_one(
    values: list[float | None], shift: int
) -> None:
    seconds = {shift + second: value for second, value in enumerate(values)}
    written = kept(seconds)
    for tier in (SECONDS, FIVES, MINUTES):
        for begin, mean in written[tier.name]:
            assert begin is not None
            low = (int(begin) - START) // 1_000
            known = [v for s, v in seconds.items() if low <= s < low + tier.step_ms // 1_000 and v is not None]
            assert mean == (pytest.approx(sum(known) / len(known), abs=1e-5) if known else None)


async def test_what_somebody_looks_at_is_written_at_once_and_the_rest_in_its_turn(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "SERIES_A_STEP", 4)
    keys = [f"series-{uuid4().hex}" for _ in range(12)]
    async with redis.asyncio.Redis.from_url(redis_url) as store:
        keeper = Keeper()
        for second in range(12):
            points = {key: [float(second)] for key in keys}
            await keeper.keep(store, START + second * 1_000, points, first={keys[7]})
            assert await store.llen(f"{keys[7]}:1s") == second
        assert all([await store.llen(f"{key}:1s") >= 6 for key in keys])
        assert 0 < await store.pttl(f"{keys[0]}:1s") <= SECONDS.span_ms + SECONDS.step_ms
