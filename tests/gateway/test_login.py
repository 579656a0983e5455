"""Requirement of the login on a real gateway: many guesses at once are counted, and keep nobody else waiting."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from console.accounts.login_limit import PER_NAME
from tests.gateway.installation import Installation

GUESSES = 60


def test_60_guesses_at_once_are_counted_and_others_are_answered_meanwhile(installation: Installation) -> None:
    def guess(number: int) -> int:
        with installation.client(None) as stranger:
            body = {"username": "guessed-at", "password": f"guess {number}"}
            return stranger.post("/api/v1/login", json=body).status_code

    with ThreadPoolExecutor(GUESSES) as threads, installation.client() as admin:
        guesses = [threads.submit(guess, number) for number in range(GUESSES)]
        assert admin.get("/healthz").status_code == 200
        assert admin.get("/api/v1/clusters/local/topics").status_code == 200
        statuses = [each.result() for each in guesses]
    # A wait may have ended meanwhile, so that one or two more were looked at.
    assert PER_NAME <= statuses.count(401) <= PER_NAME + 2
    assert statuses.count(429) == GUESSES - statuses.count(401)
