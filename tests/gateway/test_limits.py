"""Requirements of `gateway.limits`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.limits import GatewayLimits, LeasesOut, RateLimit, RateLimiter, check_body_size
from gateway.problems import BODY_TOO_LARGE, RATE_LIMITED, TOO_MANY_IN_FLIGHT, ProblemError

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


def leases(**limits: int) -> LeasesOut:
    return LeasesOut(GatewayLimits(**limits))  # type: ignore[arg-type]


def test_the_room_is_what_group_and_caller_have_left() -> None:
    out = leases(leases_per_group=3, leases_per_caller=2)
    assert out.room(group="c/g", caller="t1", wanted=16, now=0) == 2
    out.add(["a"], group="c/g", caller="t1", expires_at=10)
    out.add(["b"], group="c/g", caller="t1", expires_at=20)
    with pytest.raises(ProblemError) as caught:
        out.room(group="c/g", caller="t1", wanted=1, now=0)
    assert caught.value.kind is TOO_MANY_IN_FLIGHT
    assert out.room(group="c/g", caller="t2", wanted=16, now=0) == 1


def test_a_lease_that_is_over_makes_room() -> None:
    out = leases(leases_per_group=1, leases_per_caller=1)
    out.add(["a"], group="c/g", caller="t1", expires_at=10)
    assert out.room(group="c/g", caller="t1", wanted=1, now=10.5) == 1


def test_a_settled_lease_makes_room_and_settling_it_twice_is_nothing() -> None:
    out = leases(leases_per_group=1, leases_per_caller=1)
    out.add(["a"], group="c/g", caller="t1", expires_at=10)
    out.settle(["a"], group="c/g", caller="t1")
    out.settle(["a"], group="c/g", caller="t1")
    assert out.total() == 0
    assert out.room(group="c/g", caller="t1", wanted=5, now=0) == 1


def test_what_is_over_is_forgotten_on_demand() -> None:
    out = leases()
    for number in range(100):
        out.add([str(number)], group="c/g", caller="t1", expires_at=number)
    out.forget_expired(now=49)
    assert out.total() == 50


def test_what_is_over_is_forgotten_in_the_long_run_without_being_asked_to() -> None:
    out = leases()
    for number in range(100):
        out.add([str(number)], group="c/gone", caller="t1", expires_at=1)
    for _ in range(5000):
        out.room(group="c/other", caller="t2", wanted=1, now=50)
    assert out.total() == 0


def test_a_body_over_the_limit_is_refused_with_both_figures() -> None:
    check_body_size(10, 10)
    with pytest.raises(ProblemError) as caught:
        check_body_size(11, 10)
    assert caught.value.kind is BODY_TOO_LARGE
    assert "11" in caught.value.detail
    assert "10" in caught.value.detail
