from unittest.mock import Mock

from hypothesis import given
from hypothesis import strategies as st

from broker_core.broker.replication.pace import Pace
from broker_core.broker.replication.slave_streams import SlaveStreams
from tests.support.wait import eventually


def test_a_rested_bucket_lets_a_burst_through_and_then_asks_to_wait() -> None:
    pace = Pace(1_000_000)
    assert pace.wait_seconds(10.0) == 0
    pace.sent(300_000, 10.0)
    assert pace.wait_seconds(10.0) == 0.2
    assert pace.wait_seconds(10.21) == 0


@given(st.lists(st.tuples(st.integers(0, 100_000), st.floats(0, 1)), max_size=50))
def test_never_more_than_the_rate_and_a_burst_goes(frames: list[tuple[int, float]]) -> None:
    pace, now, sent = Pace(100_000), 5.0, 0
    for size, rest in frames:
        now += rest + pace.wait_seconds(now + rest)
        pace.sent(size, now)
        sent += size
        assert sent - size <= 100_000 * (now - 5.0) + 10_000 + 1


def test_a_clock_that_stands_still_gives_nothing() -> None:
    pace = Pace(1_000)
    pace.sent(1_100, 1.0)
    assert pace.wait_seconds(1.0) == 1.0


async def test_streams_that_wait_for_their_turn_wake_once() -> None:
    woken: list[int] = []
    streams = SlaveStreams(Mock(), Mock(), Pace(100_000), lambda: woken.append(1))
    streams.sent(11_000)
    assert not any(streams.may_send() for _ in range(100))
    await eventually(lambda: woken)
    assert len(woken) == 1
