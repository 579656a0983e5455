"""Requirements of `gateway.limits`."""

from __future__ import annotations

import pytest

from gateway.limits import GatewayLimits, LeasesOut, check_body_size
from gateway.problems import BODY_TOO_LARGE, TOO_MANY_IN_FLIGHT, ProblemError


def leases(**limits: int) -> LeasesOut:
    return LeasesOut(GatewayLimits(**limits))  # type: ignore[arg-type]


def test_the_room_is_what_group_and_caller_have_left() -> None:
    out = leases(leases_per_group=3, leases_per_caller=2)
    assert out.room(group="c/g", caller="t1", wanted=16, now=0) == 2
    out.add("p", [1], group="c/g", caller="t1", expires_at=10)
    out.add("q", [1], group="c/g", caller="t1", expires_at=20)
    with pytest.raises(ProblemError) as caught:
        out.room(group="c/g", caller="t1", wanted=1, now=0)
    assert caught.value.kind is TOO_MANY_IN_FLIGHT
    assert out.room(group="c/g", caller="t2", wanted=16, now=0) == 1


def test_a_lease_that_is_over_makes_room() -> None:
    out = leases(leases_per_group=1, leases_per_caller=1)
    out.add("p", [1], group="c/g", caller="t1", expires_at=10)
    assert out.room(group="c/g", caller="t1", wanted=1, now=10.5) == 1


def test_a_settled_lease_makes_room_and_settling_it_twice_is_nothing() -> None:
    out = leases(leases_per_group=1, leases_per_caller=1)
    out.add("p", [1], group="c/g", caller="t1", expires_at=10)
    out.settle("p", [1])
    out.settle("p", [1])
    assert out.total(now=0) == 0
    assert out.room(group="c/g", caller="t1", wanted=5, now=0) == 1


def test_leases_of_one_portion_are_settled_one_by_one() -> None:
    out = leases(leases_per_group=3, leases_per_caller=3)
    out.add("p", [1, 2, 3], group="c/g", caller="t1", expires_at=10)
    out.settle("p", [2, 9])
    out.settle("elsewhere", [1])
    assert out.total(now=0) == 2
    assert out.room(group="c/g", caller="t1", wanted=5, now=0) == 1


def test_what_is_over_is_forgotten_on_demand() -> None:
    out = leases(leases_per_caller=100)
    for number in range(100):
        out.add(str(number), [7], group="c/g", caller="t1", expires_at=number + 0.5)
    assert out.total(now=49.5) == 50
    assert out.room(group="c/g", caller="t1", wanted=100, now=49.5) == 50
    assert out.total(now=200) == 0
    assert not out


def test_a_lease_with_a_later_end_counts_until_then() -> None:
    out = leases()
    out.add("p", [1], group="c/g", caller="t1", expires_at=10)
    out.add("p", [2], group="c/g", caller="t1", expires_at=20)
    assert out.total(now=15) == 2
    assert out.settle("p", [1, 2])
    assert not out.settle("p", [1]), "nothing of it is counted any more"
    assert out.total(now=20) == 0


def test_a_body_over_the_limit_is_refused_with_both_figures() -> None:
    check_body_size(10, 10)
    with pytest.raises(ProblemError) as caught:
        check_body_size(11, 10)
    assert caught.value.kind is BODY_TOO_LARGE
    assert "11" in caught.value.detail
    assert "10" in caught.value.detail
