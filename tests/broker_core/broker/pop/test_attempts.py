"""Attempts are remembered until their leases end, up to a limit."""

from __future__ import annotations

from broker_core.broker.pop.attempts import Attempt, Attempts

KEY = ("billing", "orders", "c0ffee")


def test_an_attempt_is_found_while_its_messages_are_on_lease() -> None:
    attempts = Attempts(10)
    attempt = Attempt(100, 200, ((0, (5, 6)),))
    attempts.remember(KEY, attempt)

    assert attempts.find(KEY, now=199) is attempt
    assert attempts.find(KEY, now=200) is None
    assert len(attempts) == 0


def test_the_oldest_attempts_are_forgotten_first() -> None:
    attempts = Attempts(2)
    for number in range(3):
        attempts.remember(("billing", "orders", str(number)), Attempt(100, 200, ()))

    assert attempts.find(("billing", "orders", "0"), now=100) is None
    assert attempts.find(("billing", "orders", "2"), now=100) is not None
