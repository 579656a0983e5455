"""Brokers that failed or were slow are avoided for a while."""

from __future__ import annotations

import pytest

from broker_core.client.faults import Faults


def test_a_broker_nobody_complained_about_is_available() -> None:
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
