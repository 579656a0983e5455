"""Requirements of `broker_core.broker.latency`: quantiles are at most a quarter too high, and old times are dropped."""

from __future__ import annotations

import hypothesis
import pytest
from hypothesis import strategies as st

from broker_core.broker.latency import MEASURED_ONE_IN, PERIOD_MS, Latency


@hypothesis.given(st.lists(st.integers(8, 2**38), min_size=1), st.sampled_from([0.5, 0.99, 0.999, 1.0]))
def test_a_quantile_is_that_of_the_times_or_little_more(times: list[int], share: float) -> None:
    latency = Latency(0)
    for each in times:
        latency.add(each)
    wanted = sorted(times)[max(0, -int(-share * len(times) // 1) - 1)]
    shown = latency.quantile_ms(share)
    assert shown is not None
    assert wanted / 1e6 <= shown <= wanted * 1.26 / 1e6


@pytest.mark.parametrize("took_ns", [0, 1, 7, 2**60])
def test_the_shortest_and_the_longest_times_have_a_place_too(took_ns: int) -> None:
    latency = Latency(0)
    latency.add(took_ns)
    assert latency.quantile_ms(0.5) is not None


def test_times_are_forgotten_after_two_periods() -> None:
    latency = Latency(0)
    assert latency.quantile_ms(0.99) is None
    latency.add(1_000)
    latency.step(PERIOD_MS)
    assert latency.quantile_ms(0.99) is not None
    latency.step(2 * PERIOD_MS)
    assert latency.quantile_ms(0.99) is None


def test_one_call_in_so_many_is_measured_and_the_first_is() -> None:
    latency = Latency(0)
    assert [latency.is_due() for _ in range(2 * MEASURED_ONE_IN)] == ([True] + [False] * (MEASURED_ONE_IN - 1)) * 2


def test_a_measured_call_returns_and_raises_as_it_did() -> None:
    latency = Latency(0)
    with pytest.raises(ZeroDivisionError):
        latency.measured(divmod, 1, 0)
    assert latency.quantile_ms(0.5) is None
    assert latency.measured(divmod, 7, 2) == (3, 1)
    assert latency.quantile_ms(0.5) is not None
