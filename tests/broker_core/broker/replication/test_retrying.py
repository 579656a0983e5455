"""When to try again."""

from __future__ import annotations

from broker_core.broker.replication.retrying import Retrying


def pauses(retrying: Retrying, now: int, count: int) -> list[int]:
    """Fail as often, as soon as it may be tried; return how long it had to wait."""
    found = []
    for _ in range(count):
        retrying.failed(now)
        wait = 0
        while not retrying.is_due(now + wait):
            wait += 1
        found.append(wait)
        now += wait
    return found


def test_the_pauses_double_up_to_the_most_and_begin_anew_when_it_worked() -> None:
    retrying = Retrying(2, 9)
    assert retrying.is_due(-1_000)
    assert pauses(retrying, 5, 5) == [2, 4, 8, 9, 9]
    retrying.worked()
    assert pauses(retrying, 100, 2) == [2, 4]
