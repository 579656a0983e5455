"""Recorded figures: totals at once, rates from samples."""

from __future__ import annotations

import pytest

from broker_core.broker.stats import (
    BROKER_GET_NUMS,
    BROKER_PUT_NUMS,
    DAY_MS,
    GROUP_GET_NUMS,
    TOPIC_PUT_NUMS,
    TOPIC_PUT_SIZE,
    Counter,
    Stats,
)


def stats_after(seconds: int, *, per_second: int) -> Stats:
    stats = Stats("local", 0)
    for second in range(1, seconds + 1):
        stats.count_put("orders", per_second, per_second * 100)
        stats.step(second * 1_000)
    return stats


def test_rates_are_reported_for_ten_sixty_and_six_hundred_seconds() -> None:
    stats = stats_after(60, per_second=6)
    for second in range(61, 71):
        stats.step(second * 1_000)

    ten, sixty, life = stats.put.per_second()

    assert ten == 0
    assert sixty == pytest.approx(5)
    assert life == pytest.approx(360 / 70)


def test_a_broker_that_is_master_no_more_stores_nothing_per_second() -> None:
    stats = Stats("C", 0)
    for second in range(1, 21):
        stats.follow_role(second * 1000, is_master=True)
        stats.count_put("T", 10, 100)
        stats.step(second * 1000)
    assert stats.put.per_second()[0] == pytest.approx(10)
    stats.follow_role(20_500, is_master=False)
    stats.step(21_000)
    assert stats.put.per_second() == (0, 0, 0)
    assert stats.put.total == 200
    # When it is master again, then its time as a slave does not count
    stats.follow_role(60_000, is_master=True)
    stats.count_put("T", 10, 100)
    stats.step(61_000)
    assert stats.put.per_second() == (10, 10, 10)


def test_a_broker_without_a_sample_has_no_rate() -> None:
    assert Stats("local", 5).put.per_second() == (0.0, 0.0, 0.0)


def test_a_topic_has_sums_of_the_last_minute() -> None:
    stats = stats_after(120, per_second=6)

    nums, sizes = stats.find(TOPIC_PUT_NUMS, "orders"), stats.find(TOPIC_PUT_SIZE, "orders")

    assert nums is not None
    assert sizes is not None
    assert nums[0].sum == 58 * 6  # its oldest sample is of second 62
    assert nums[0].tps == pytest.approx(6)
    assert sizes[0].avgpt == pytest.approx(600)


def test_the_broker_itself_is_counted_under_its_cluster() -> None:
    windows = stats_after(60, per_second=2).find(BROKER_PUT_NUMS, "local")

    assert windows is not None
    assert windows[0].sum == 116  # its oldest sample is of second 2


def test_the_first_messages_of_a_topic_count_at_once() -> None:
    stats = Stats("local", 0)
    stats.count_put("orders", 5, 500)
    stats.step(1_000)

    nums = stats.find(TOPIC_PUT_NUMS, "orders")

    assert nums is not None
    assert [window.sum for window in nums] == [5, 5, 5]
    assert nums[0].tps == pytest.approx(0.5)


def test_no_sum_waits_for_the_next_sample_of_its_window() -> None:
    stats = Stats("local", 0)
    for second in (1, 2, 3):
        stats.count_put("orders", 5, 500)
        stats.step(second * 1_000)

    nums = stats.find(TOPIC_PUT_NUMS, "orders")

    assert nums is not None
    assert [window.sum for window in nums] == [15, 15, 15]


def test_the_sums_are_those_of_50_to_60_seconds_50_to_60_minutes_and_23_to_24_hours() -> None:
    counter, spans = Counter(), set()
    for second in range(1, 26 * 3_600):
        counter.sum = counter.times = second
        counter.step(second * 1_000)
        if second > 24 * 3_600:
            spans.add(tuple(window.sum for window in counter.windows()))

    minutes, hours, days = zip(*spans, strict=True)

    assert (min(minutes), max(minutes)) == (50, 59)
    assert (min(hours), max(hours)) == (50 * 60, 60 * 60 - 1)
    assert (min(days), max(days)) == (23 * 3_600, 24 * 3_600 - 1)


def test_what_was_never_counted_is_not_found() -> None:
    assert Stats("local", 0).find(GROUP_GET_NUMS, "orders@nobody") is None


def test_a_group_has_a_rate_of_what_it_got() -> None:
    stats = Stats("local", 0)
    for second in range(1, 62):
        stats.count_got("billing", "orders", 3, 300)
        stats.step(second * 1_000)

    assert stats.consume_tps("billing", "orders") == pytest.approx(3)
    assert stats.consume_tps("audit", "orders") == 0


def test_what_a_tool_reads_is_not_delivered_to_a_group() -> None:
    stats = Stats("local", 0)
    stats.count_got("billing", "orders", 3, 300)
    stats.count_got("TOOLS_CONSUMER", "orders", 40, 4_000)
    stats.step(60_000)

    assert stats.got.total == 3
    delivered, read = stats.find(BROKER_GET_NUMS, "local"), stats.find(GROUP_GET_NUMS, "orders@TOOLS_CONSUMER")
    assert delivered is not None
    assert read is not None
    assert (delivered[0].sum, read[0].sum) == (3, 40)


def test_totals_are_noted_at_midnight() -> None:
    stats = stats_after(10, per_second=1)
    stats.step(DAY_MS)
    stats.count_put("orders", 5, 5)
    stats.step(2 * DAY_MS)

    assert stats.put.today_morning == 15
    assert stats.put.yesterday_morning == 10


def test_the_counters_of_a_deleted_topic_are_forgotten() -> None:
    stats = stats_after(5, per_second=1)

    stats.forget(["orders"])

    assert stats.find(TOPIC_PUT_NUMS, "orders") is None
    stats.count_put("orders", 1, 1)
    assert stats.find(TOPIC_PUT_NUMS, "orders") is not None
