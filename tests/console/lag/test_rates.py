"""Requirements of `console.lag.rates`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.lag.rates import STALE_MS, WINDOW_MS, Rates


def rates_of(*seen: tuple[int, dict[str, float]]) -> Rates[str]:
    rates = Rates[str]()
    for at, totals in seen:
        rates.see(at, totals)
    return rates


def test_one_look_is_no_rate() -> None:
    assert rates_of((0, {"a": 5})).find("a") is None
    assert rates_of().find("a") is None
    assert rates_of((0, {"a": 5})).find() is None


def test_a_rate_is_the_growth_a_second() -> None:
    assert rates_of((0, {"a": 5}), (2_000, {"a": 25})).find("a") == 10


def test_only_the_last_seconds_count() -> None:
    seen = [(second * 1_000, {"a": float(max(0, second - 50) * 7)}) for second in range(86)]
    assert rates_of(*seen).find("a") == 7
    assert rates_of(*seen[:51]).find("a") == 0


def test_rates_of_several_add_up_unless_one_is_unknown() -> None:
    rates = rates_of((0, {"a": 0, "b": 0}), (1_000, {"a": 3, "b": 4, "c": 9}))
    assert rates.find("a", "b") == 7
    assert rates.find("a", "c") is None


def test_a_total_that_fell_is_counted_anew() -> None:
    assert rates_of((0, {"a": 100}), (1_000, {"a": 4})).find("a") is None
    assert rates_of((0, {"a": 100}), (1_000, {"a": 4}), (2_000, {"a": 9})).find("a") == 5


def test_commits_every_five_seconds_do_not_swing() -> None:
    rates = Rates[str](shortest_ms=WINDOW_MS)
    for second in range(120):
        rates.see(second * 1_000, {"a": 50 * (second // 5)})
        rate = rates.find("a")
        assert (rate is None) is (second < 30)
        assert rate is None or 8 <= rate <= 12


def test_few_points_are_kept() -> None:
    rates = rates_of(*((second * 1_000, {"a": 2.0 * second}) for second in range(300)))
    assert len(rates._seen["a"]) <= 9
    assert rates.find("a") == 2


def test_what_is_read_now_and_then_has_the_rate_between_its_readings() -> None:
    # Given a topic that is read every seven seconds, and one that is read each second
    rates = Rates[str]()
    for second in range(22):
        totals = {"often": second * 2.0} | ({"seldom": second * 3.0} if second % 7 == 0 else {})
        rates.see(second * 1_000, totals)
        # Then no rate jumps between readings
        if second > 7:
            assert rates.find("seldom") == 3
            assert rates.find("often") == 2


@given(st.dictionaries(st.integers(1, 120), st.sampled_from([0, 1, 1000]), min_size=1, max_size=6))
def test_a_rate_counts_what_grew_in_its_window_alone_whoever_reads_it_again(read: dict[int, int]) -> None:
    # Given a total that is read when it grew and now and then, and otherwise is said to have stayed
    rates, totals = Rates[str](), [0]
    rates.see(0, {"a": 0})
    for second in range(1, max(read) + 1):
        totals.append(totals[-1] + read.get(second, 0))
        if second in read:
            rates.see(second * 1_000, {"a": totals[-1]})
        else:
            rates.confirm(second * 1_000)
    # Then the window begins up to a step of points early, and never late
    now, window, step = max(read), WINDOW_MS // 1_000, 6
    since = [totals[-1] - totals[max(0, now - span)] for span in (window, window + step)]
    rate = rates.find("a")
    assert rate is not None
    assert since[0] / min(now, window + step) - 0.001 <= rate <= since[1] / min(now, window) + 0.001


def test_what_was_not_read_for_long_is_unknown() -> None:
    rates = rates_of((0, {"a": 0}), (1_000, {"a": 5}))
    rates.see(1_000 + STALE_MS, {"b": 1})
    assert rates.find("a") == 5
    rates.see(1_001 + STALE_MS, {"b": 1})
    assert rates.find("a") is None


def test_what_is_gone_is_forgotten() -> None:
    rates = rates_of((0, {"a": 0, "b": 0}), (WINDOW_MS, {"a": 30, "b": 5}))
    rates.keep({"a"})
    assert (rates.find("a"), rates.find("b")) == (1, None)


def test_totals_that_are_confirmed_have_the_rate_of_totals_that_are_read_each_time() -> None:
    told, read = Rates[str](), Rates[str]()
    total = 0.0
    for second in range(120):
        # Given a counter that grows every four seconds, for a minute
        changes = second % 4 == 0 and second < 60
        total += 8 if changes else 0
        told.see(second * 1_000, {"a": total} if changes else {})
        told.confirm(second * 1_000)
        read.see(second * 1_000, {"a": total})
        rates = told.find("a"), read.find("a")
        assert (rates[0] is None) is (rates[1] is None)
        assert rates[0] is None or rates[0] == pytest.approx(rates[1], abs=0.5)
        if second >= 90 + WINDOW_MS // 1_000:
            assert rates == (0, 0)


def test_what_was_not_confirmed_for_long_is_unknown() -> None:
    rates = rates_of((0, {"a": 0}), (1_000, {"a": 5}))
    rates.confirm(2_000)
    assert rates.find("a") == 2.5
    rates.see(2_001 + STALE_MS, {"b": 1})
    assert rates.find("a") is None


def test_nothing_grows_between_what_was_confirmed_and_a_new_total() -> None:
    rates = rates_of((0, {"a": 0}))
    rates.confirm(WINDOW_MS)
    rates.see(WINDOW_MS + 1_000, {"a": 30})
    rates.confirm(WINDOW_MS + 1_000)
    assert rates.find("a") == 1
