"""Requirements of `gateway.rates`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.limits import RateLimit
from gateway.problems import RATE_LIMITED, ProblemError
from gateway.rates import RateLimiter

TEN = RateLimit("produce", per_second=10, burst=20)


def remaining(headers: tuple[tuple[bytes, bytes], ...]) -> int:
    return int(dict(headers)[b"ratelimit"].split(b"r=")[1].split(b";")[0])


def test_headers_tell_the_policy_and_what_is_left() -> None:
    headers = RateLimiter(TEN).take("a", 5, now=0.0)
    assert dict(headers) == {b"ratelimit-policy": b'"produce";q=20;w=2', b"ratelimit": b'"produce";r=15;t=1'}


def test_tokens_come_back_with_time_and_never_above_the_burst() -> None:
    limiter = RateLimiter(TEN)
    assert remaining(limiter.take("a", 20, now=0.0)) == 0
    assert remaining(limiter.take("a", 1, now=1.0)) == 9
    assert remaining(limiter.take("a", 1, now=1000.0)) == 19


def test_a_caller_over_the_rate_is_told_when_to_come_again_and_pays_nothing() -> None:
    limiter = RateLimiter(TEN)
    limiter.take("a", 20, now=0.0)
    with pytest.raises(ProblemError) as caught:
        limiter.take("a", 15, now=0.0)
    assert caught.value.kind is RATE_LIMITED
    assert caught.value.retry_after_s == 2
    assert remaining(caught.value.headers) == 0
    assert remaining(limiter.take("a", 5, now=0.5)) == 0


def test_callers_do_not_pay_for_each_other() -> None:
    limiter = RateLimiter(TEN)
    limiter.take("a", 20, now=0.0)
    assert remaining(limiter.take("b", 1, now=0.0)) == 19


def test_a_cost_above_the_burst_is_possible_from_a_full_bucket() -> None:
    limiter = RateLimiter(TEN)
    assert remaining(limiter.take("a", 500, now=0.0)) == 0
    with pytest.raises(ProblemError) as caught:
        limiter.take("a", 1, now=48.0)
    assert caught.value.retry_after_s == 1, "480 of a rate of 10 are waited out"
    assert remaining(limiter.take("a", 1, now=49.0)) == 9


def test_buckets_of_callers_that_are_gone_are_forgotten() -> None:
    limiter = RateLimiter(TEN)
    for number in range(50_001):
        limiter.take(str(number), 1, now=number * 0.001)
    assert len(limiter._buckets) < 50_000


@given(st.lists(st.tuples(st.floats(0, 3), st.integers(1, 20)), max_size=50))
def test_over_any_time_no_more_passes_than_burst_and_rate_allow(steps: list[tuple[float, int]]) -> None:
    limiter, now, passed = RateLimiter(TEN), 0.0, 0
    for pause, cost in steps:
        now += pause
        try:
            limiter.take("a", cost, now)
        except ProblemError:
            continue
        passed += cost
    assert passed <= TEN.burst + TEN.per_second * now + 1e-6
