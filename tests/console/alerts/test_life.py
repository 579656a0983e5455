"""Requirements of `console.alerts.life`."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from console.alerts.life import QUIET, Life, Limits, after_pause, step

LIMITS = Limits(is_above=True, limit=100, for_ms=10, no_data_after_ms=20)
OVER, UNDER = 101.0, 100.0
samples = st.lists(st.tuples(st.sampled_from([OVER, UNDER, None]), st.integers(1, 15)), max_size=40)


def after(*values: float | None, life: Life = QUIET, limits: Limits = LIMITS, begin: int = 1_000) -> Life:
    """Return the life after one sample every 5 ms."""
    for index, value in enumerate(values):
        life = step(life, value, begin + 5 * index, limits)
    return life


def test_a_value_at_the_limit_is_quiet_and_one_beyond_it_pends() -> None:
    assert after(UNDER) is QUIET
    assert after(OVER).word == "pending"


def test_it_fires_when_every_sample_of_its_time_was_beyond_the_limit() -> None:
    assert after(OVER, OVER).word == "pending"
    assert after(OVER, OVER, OVER) == Life("firing", 1_010, crossed_at=1_000, fired_at=1_010)
    assert after(OVER, OVER, UNDER, OVER).word == "pending"


def test_without_a_time_it_fires_at_once() -> None:
    assert after(OVER, limits=replace(LIMITS, for_ms=0)).word == "firing"


def test_below_is_the_other_side() -> None:
    below = replace(LIMITS, is_above=False, for_ms=0)
    assert [after(value, limits=below).word for value in (99.0, 100.0, 101.0)] == ["firing", "quiet", "quiet"]


def test_unknown_for_long_enough_is_no_data_and_known_again_is_what_it_was() -> None:
    firing = after(OVER, OVER, OVER)
    assert after(None, None, None, None, life=firing, begin=1_015).word == "firing"
    lost = after(None, None, None, None, None, life=firing, begin=1_015)
    assert (lost.word, lost.fired_at) == ("no_data", 1_010)
    assert after(OVER, life=lost, begin=1_040).word == "firing"
    assert after(UNDER, life=lost, begin=1_040).word == "quiet"


def test_a_rule_may_do_without_no_data() -> None:
    assert after(*[None] * 50, limits=replace(LIMITS, no_data_after_ms=None)).word == "quiet"


def test_unknown_spans_do_not_count_as_time_beyond_the_limit() -> None:
    assert after(OVER, None, None, OVER).word == "pending"
    assert after(OVER, None, None, OVER, OVER).word == "firing", "5 ms known before the gap, 5 after it"


def test_a_pause_of_the_sampler_does_not_count_either() -> None:
    paused = after_pause(after(OVER), 60_000)
    assert step(paused, OVER, 61_005, LIMITS).word == "pending"
    assert step(paused, OVER, 61_010, LIMITS).word == "firing"


@given(samples)
def test_unknown_resolves_nothing_and_known_good_ends_everything(given_samples: list[tuple[float | None, int]]) -> None:
    life, now = QUIET, 0
    for value, gap in given_samples:
        now += gap
        before, life = life, step(life, value, now, LIMITS)
        if value is None:
            assert life.fired_at == before.fired_at
            assert not (before.word != "quiet" and life.word == "quiet")
        elif value == UNDER:
            assert (life.word, life.crossed_at, life.fired_at, life.unknown_at) == ("quiet", None, None, None)
        else:
            assert life.word in ("pending", "firing")
            assert before.fired_at is None or life.word == "firing"
        assert step(life, value, now, LIMITS) == life or value is None, "the same sample again changes nothing"
        assert (life.word == "firing") <= (life.fired_at is not None)


@given(samples)
def test_it_fires_exactly_when_it_was_known_to_be_beyond_the_limit_for_its_time(
    given_samples: list[tuple[float | None, int]],
) -> None:
    life, now, known_over = QUIET, 0, 0
    previous: float | None = UNDER
    for value, gap in given_samples:
        now += gap
        known_over = 0 if value == UNDER else known_over + gap if previous == OVER else known_over
        had_fired = life.fired_at is not None
        life, previous = step(life, value, now, LIMITS), value
        if value == OVER:
            assert (life.word == "firing") == (had_fired or known_over >= LIMITS.for_ms)
