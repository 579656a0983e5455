"""Brokers that failed or were slow are avoided for a while."""

from __future__ import annotations

import pytest

from broker_core.client.faults import FaultAvoidance, Faults


def test_a_broker_without_recorded_failures_is_available() -> None:
    faults = Faults()

    assert faults.is_available("a", now=0)
    assert not faults


@pytest.mark.parametrize(
    ("latency_ms", "pause_ms"),
    [
        (0, 0),
        (549, 0),
        (550, 2_000),
        (1_800, 5_000),
        (3_000, 6_000),
        (5_000, 10_000),
        (15_000, 30_000),
        (99_999, 30_000),
    ],
)
def test_a_slow_answer_pauses_the_broker(latency_ms: int, pause_ms: int) -> None:
    faults = Faults()

    faults.note_latency("a", latency_ms, now=1_000)

    assert faults.is_available("a", now=1_000 + pause_ms)
    if pause_ms:
        assert not faults.is_available("a", now=1_000 + pause_ms - 1)


def test_a_failure_isolates_for_ten_seconds() -> None:
    faults = Faults()

    faults.note_failure("a", now=0)

    assert not faults.is_available("a", now=9_999)
    assert faults.is_available("a", now=10_000)
    assert faults.is_available("b", now=0)


def test_a_quick_answer_ends_the_pause() -> None:
    faults = Faults()
    faults.note_failure("a", now=0)

    faults.note_latency("a", 3, now=1)

    assert faults.is_available("a", now=1)
    assert not faults


@pytest.mark.parametrize(
    ("latency_ms", "pause_ms"),
    [
        (0, 0),
        (50, 0),
        (100, 0),
        (549, 0),
        (550, 30_000),
        (999, 30_000),
        (1_000, 60_000),
        (1_999, 60_000),
        (2_000, 120_000),
        (2_999, 120_000),
        (3_000, 180_000),
        (14_999, 180_000),
        (15_000, 600_000),
        (99_999, 600_000),
    ],
)
def test_the_pauses_of_4_9(latency_ms: int, pause_ms: int) -> None:
    faults = Faults(FaultAvoidance.V4)

    faults.note_latency("a", latency_ms, now=1_000)

    assert faults.is_available("a", now=1_000 + pause_ms)
    assert not pause_ms or not faults.is_available("a", now=1_000 + pause_ms - 1)


def test_a_failure_isolates_for_ten_minutes_as_in_4_9() -> None:
    faults = Faults(FaultAvoidance.V4)

    faults.note_failure("a", now=0)

    assert not faults.is_available("a", now=599_999)
    assert faults.is_available("a", now=600_000)


def test_nothing_is_remembered_when_avoidance_is_off() -> None:
    faults = Faults(FaultAvoidance.OFF)

    faults.note_failure("a", now=0)
    faults.note_latency("b", 20_000, now=0)

    assert not faults
    assert faults.is_available("a", now=0)


def test_one_at_least_is_of_the_better_half() -> None:
    faults = Faults(FaultAvoidance.V4)
    assert faults.pick_one_at_least(now=0) is None
    faults.note_latency("slow", 3_000, now=0)
    assert faults.pick_one_at_least(now=0) == "slow"
    # Available ones first, then by latency, then by the end of the pause
    faults.note_latency("quick", 10, now=0)
    faults.note_latency("less slow", 600, now=0)
    faults.note_failure("gone", now=0)

    assert {faults.pick_one_at_least(now=1) for _ in range(4)} == {"quick", "less slow"}
    faults.forget("quick")
    assert {faults.pick_one_at_least(now=1) for _ in range(4)} == {"less slow"}
