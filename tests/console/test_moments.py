"""Requirements of `console.moments`: one text for a moment, for any number that a client sends as a time."""

from __future__ import annotations

import pytest

from console.moments import lasting, rfc3339


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (999, "1970-01-01T00:00:00.999Z"),
        (1_777_622_400_123, "2026-05-01T08:00:00.123Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (2**62, "9999-12-31T23:59:59.904Z"),
        (-(2**62), "0001-01-01T00:00:00.096Z"),
    ],
)
def test_moments_are_rfc_3339_in_utc_with_milliseconds(moment: int, text: str) -> None:
    assert rfc3339(moment) == text


@pytest.mark.parametrize(
    ("ms", "words"),
    [
        (259_200_000, "3 days"),
        (259_200_001, "3 days 1 ms"),
        (100_805_000, "1 day 4 h 5 s"),
        (60_020, "1 min 20 ms"),
        (0, "0 s"),
    ],
)
def test_a_length_of_time_is_exact(ms: int, words: str) -> None:
    assert lasting(ms) == words
