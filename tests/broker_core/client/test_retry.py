from __future__ import annotations

from itertools import islice

import pytest

from broker_core.client.retry import backoff


@pytest.fixture(autouse=True)
def no_jitter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("random.random", lambda: 0.0)


def test_the_first_attempt_is_made_at_once_and_pauses_double_up_to_the_longest() -> None:
    assert list(backoff(first_s=0.1, longest_s=0.3, attempts=5)) == [0.0, 0.1, 0.2, 0.3, 0.3]


def test_jitter_shortens_a_pause_by_a_fifth_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("random.random", lambda: 1.0)
    assert list(backoff(first_s=1.0, longest_s=2.0, attempts=3)) == [0.0, 0.8, 1.6]


def test_there_is_no_attempt_after_the_deadline_and_no_pause_beyond_it() -> None:
    now = 100.0
    pauses = backoff(first_s=1.0, longest_s=8.0, within_s=2.5, clock=lambda: now)
    assert list(islice(pauses, 2)) == [0.0, 1.0]
    now = 102.0
    assert next(pauses) == 0.5
    now = 102.5
    assert next(pauses, None) is None


def test_without_limits_it_continues() -> None:
    assert len(list(islice(backoff(first_s=0.1, longest_s=0.1), 1000))) == 1000
