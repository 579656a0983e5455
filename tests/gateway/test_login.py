"""Requirement of the login on a real gateway: concurrent guesses are counted, and do not delay other users."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from console.accounts.login_limit import PER_NAME
from tests.gateway.installation import Installation

GUESSES = 60


def test_60_guesses_at_once_are_counted_and_others_are_answered_meanwhile(installation: Installation) -> None:
    with (
        installation.client(None) as stranger,
        installation.client() as admin,
        ThreadPoolExecutor(GUESSES) as threads,
    ):

        def guess(number: int) -> int:
            body = {"username": "guessed-at", "password": f"guess {number}"}
            return stranger.post("/api/v1/login", json=body).status_code

        guesses = [threads.submit(guess, number) for number in range(GUESSES)]
        assert admin.get("/healthz").status_code == 200
        assert admin.get("/api/v1/clusters/local/topics").status_code == 200
        statuses = [each.result() for each in guesses]
    # Some waits may have ended, so that more guesses were checked: the fifth of them waits a minute.
    assert PER_NAME <= statuses.count(401) <= PER_NAME + 5
    assert statuses.count(429) == GUESSES - statuses.count(401)
