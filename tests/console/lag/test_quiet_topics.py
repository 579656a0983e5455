"""Requirements of `console.lag.quiet_topics`."""

from __future__ import annotations

from console.lag.quiet_topics import SEARCH_ROUNDS, QuietTopics


def rounds(quiet: QuietTopics, seconds: range, *, stored: int, seen: int) -> list[bool]:
    """Let a broker store this many messages per second, of which some are seen; return the seconds with a search."""
    searches = []
    for second in seconds:
        quiet.count(seen)
        searches.append(quiet.is_searching(second * 1_000, second * stored))
    return searches


def test_growth_that_is_seen_is_not_looked_for() -> None:
    assert not any(rounds(QuietTopics(), range(60), stored=100, seen=100))
    assert not any(rounds(QuietTopics(), range(60), stored=100, seen=95)), "counters are read at different moments"
    assert not any(rounds(QuietTopics(), range(60), stored=0, seen=0))


def test_growth_that_nobody_saw_is_looked_for_in_every_topic_once() -> None:
    searches = rounds(QuietTopics(), range(45), stored=117, seen=100)
    assert searches.index(True) <= 10
    assert sum(searches) == SEARCH_ROUNDS, "what is not found is given a rest"


def test_a_broker_that_began_to_count_anew_or_counts_nothing_starts_no_search() -> None:
    quiet = QuietTopics()
    assert not quiet.is_searching(0, 1_000_000)
    assert not quiet.is_searching(20_000, 5)
    assert not quiet.is_searching(21_000, None)
    assert not quiet.is_searching(40_000, 900)
