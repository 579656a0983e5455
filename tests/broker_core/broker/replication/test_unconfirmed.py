"""Requirements of `broker_core.broker.replication.unconfirmed`: how long the oldest waits, by looks now and then."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from broker_core.broker.replication.unconfirmed import Unconfirmed


def test_what_hangs_waits_longer_and_longer_whatever_comes_behind_it() -> None:
    waiting = Unconfirmed()
    waiting.look(100, 100, 1.0)
    assert waiting.seconds == 0
    for second in range(10):
        waiting.look(101 + second, 100, 2.0 + second)
        assert waiting.seconds == second
    waiting.look(110, 105, 12.0)
    assert waiting.seconds == 12.0 - 7.0  # of what came at 7 s, when the log ended at 106
    waiting.look(110, 110, 12.1)
    assert waiting.seconds == 0


STEPS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.floats(0.05, 2.0)), max_size=40)


@given(STEPS)
def test_it_never_says_longer_than_the_oldest_waited_and_at_most_a_look_and_a_half_less(
    steps: list[tuple[int, int, float]],
) -> None:
    waiting, now, end, confirm = Unconfirmed(), 0.0, 0, 0
    came: dict[int, float] = {}  # the log offset behind each byte, and when it was seen first
    longest = 0.0
    for grown, confirmed, seconds in steps:
        now, longest = now + seconds, max(longest, seconds)
        came |= {end + each: now for each in range(1, grown + 1)}
        end, confirm = end + grown, min(end + grown, confirm + confirmed)
        waiting.look(end, confirm, now)
        true = now - came[confirm + 1] if confirm < end else 0.0
        assert true - 0.5 - longest <= waiting.seconds <= true
