"""Requirements of `console.accounts.sessions` and `login_limit`."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
import redis
from django.contrib.auth.hashers import MD5PasswordHasher
from django.contrib.sessions.models import Session
from django.test import RequestFactory
from django.utils import timezone
from pytest_django import Settings
from rest_framework.exceptions import Throttled
from rest_framework.test import APIClient

from console.accounts import hashing, login_limit, open_sessions
from console.accounts.addresses import address_of
from console.audit.models import AuditRecord
from console.audit.refusals import refusals
from tests.support.cast import PASSWORD, Cast
from tests.support.wait import wait_until


@pytest.fixture(autouse=True)
def few_guesses(redis_of_test: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No guesses before, and three guesses are the limit: each one takes as long as hashing a password."""
    with redis.Redis.from_url(redis_of_test) as store:
        store.flushdb()
    refusals._recorded.clear()
    login_limit._own.__init__()  # type: ignore[misc]
    monkeypatch.setattr(login_limit, "PER_NAME", 3)


def sign_in(client: Any, username: str, password: str = PASSWORD) -> Any:
    return client.post("/api/v1/login", {"username": username, "password": password}, format="json")


def test_who_signs_in_is_told_what_that_one_may_do(cast: Cast, stranger: Any) -> None:
    answer = sign_in(stranger, "developer")
    assert answer.status_code == 200
    assert answer.json() == {
        "id": cast["developer"].pk,
        "username": "developer",
        "role": "developer",
        "own_roles": [],
        "rights": ["produce", "consume", "read", "bodies"],
        "language": None,
        "token_auth": False,
    }
    session = answer.cookies["gantry_session"]
    assert (session["httponly"], session["samesite"]) == (True, "Lax")
    assert stranger.get("/api/v1/me").json() == answer.json()


def test_behind_https_cookies_travel_over_https_alone(cast: Cast, stranger: Any, settings: Settings) -> None:
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    answer = sign_in(stranger, "viewer")
    assert answer.cookies["gantry_session"]["secure"]
    assert answer.cookies["csrftoken"]["secure"]


def test_a_stranger_is_told_to_sign_in_and_given_the_cookie_for_it(stranger: Any) -> None:
    answer = stranger.get("/api/v1/me")
    assert (answer.status_code, answer.json()["code"]) == (401, "NOT_AUTHENTICATED")
    assert "csrftoken" in answer.cookies
    assert "csrftoken" in stranger.get("/api/v1/csrf").cookies


def test_a_wrong_password_and_a_wrong_name_are_refused_alike(cast: Cast, stranger: Any) -> None:
    wrong, unknown = sign_in(stranger, "viewer", "guess"), sign_in(stranger, "nobody", "guess")
    assert wrong.status_code == unknown.status_code == 401
    assert wrong.json()["detail"] == unknown.json()["detail"]
    recorded = AuditRecord.objects.filter(action="session.login").values_list("actor", "result")
    assert list(recorded) == [("nobody", "refused"), ("viewer", "refused")]


def test_one_who_left_the_house_cannot_come_in(cast: Cast, stranger: Any) -> None:
    cast["viewer"].is_active = False
    cast["viewer"].save()
    assert sign_in(stranger, "viewer").status_code == 401


def test_guessing_is_stopped_for_the_guesser_and_for_no_one_else(cast: Cast, stranger: Any) -> None:
    for _ in range(login_limit.PER_NAME):
        assert sign_in(stranger, "viewer", "guess").status_code == 401
    stopped = sign_in(stranger, "viewer")
    assert (stopped.status_code, stopped.json()["code"]) == (429, "RATE_LIMITED")
    assert int(stopped["Retry-After"]) > 0
    elsewhere = APIClient(REMOTE_ADDR="192.0.2.7")
    assert sign_in(elsewhere, "viewer").status_code == 200
    assert sign_in(stranger, "operator").status_code == 200


def test_the_right_password_forgives_the_wrong_ones(cast: Cast, stranger: Any) -> None:
    for _ in range(login_limit.PER_NAME - 1):
        sign_in(stranger, "viewer", "guess")
    assert sign_in(stranger, "viewer").status_code == 200
    assert sign_in(stranger, "viewer", "guess").status_code == 401
    assert sign_in(stranger, "viewer").status_code == 200


def test_of_60_guesses_at_once_no_more_are_looked_at_than_may_be(redis_of_test: str) -> None:
    with ThreadPoolExecutor(60) as threads:
        waits = list(threads.map(lambda _: login_limit.reserve("viewer", "192.0.2.1"), range(60)))
    assert waits.count(None) == login_limit.PER_NAME
    assert all(1 <= wait <= 2 for wait in waits if wait is not None)


def test_each_guess_beyond_the_free_ones_waits_longer(redis_of_test: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(login_limit, "PER_NAME", 1)
    waits = []
    for guesses in range(3):
        assert login_limit.reserve("viewer", "192.0.2.1") is None
        waits.append(login_limit.reserve("viewer", "192.0.2.1"))
        with redis.Redis.from_url(redis_of_test) as store:  # the wait is over
            (pair,) = (key for key in store.scan_iter("gantry:login:*") if store.type(key) == b"hash")
            store.hset(pair, "until", 0)
            assert store.hget(pair, "guesses") == str(guesses + 1).encode()
    assert waits == [pytest.approx(2 ** (n + 1), abs=1) for n in range(3)]


def test_an_address_that_guesses_at_many_keeps_out_nobody_who_knows_the_password(cast: Cast, stranger: Any) -> None:
    # Given an address with guesses at fifty accounts
    address = "127.0.0.1"
    for number in range(login_limit.CROWD):
        assert login_limit.reserve(f"user-{number}", address) is None
    # Then it has one free guess at each account, but not a second one
    assert login_limit.reserve("someone", address) is None
    assert login_limit.reserve("someone", address) is not None
    assert sign_in(stranger, "viewer").status_code == 200
    # And the owner of an account at which many addresses guess can sign in
    for number in range(login_limit.CROWD):
        assert login_limit.reserve("operator", f"192.0.2.{number}") is None
    assert sign_in(stranger, "operator").status_code == 200


def test_what_a_proxy_says_of_the_client_counts_only_from_proxies_that_are_known(settings: Settings) -> None:
    def seen(forwarded: str, remote: str = "10.0.0.1") -> str:
        return address_of(RequestFactory().get("/", REMOTE_ADDR=remote, HTTP_X_FORWARDED_FOR=forwarded))

    settings.GANTRY_PROXIES = []
    assert seen("203.0.113.9") == "10.0.0.1"
    settings.GANTRY_PROXIES = ["10.0.0.0/8"]
    assert seen("203.0.113.9") == "203.0.113.9"
    assert seen("198.51.100.1, 203.0.113.9, 10.0.0.2") == "203.0.113.9"
    assert seen("203.0.113.9", remote="192.0.2.1") == "192.0.2.1"
    assert seen("nonsense") == "10.0.0.1"
    assert seen("") == "10.0.0.1"


def test_so_many_hash_at_once_and_no_more() -> None:
    with ExitStack() as others:
        for _ in range(hashing.AT_ONCE):
            others.enter_context(hashing.hashing("10.0.0.1"))
        waiting = [threading.Thread(target=_hash, args=(f"10.0.1.{n}",)) for n in range(hashing.WAITING)]
        for thread in waiting:
            thread.start()
        wait_until(lambda: hashing._inside.total() == hashing.AT_ONCE + hashing.WAITING)
        with pytest.raises(Throttled), hashing.hashing("10.0.0.2"):
            pass
    for thread in waiting:
        thread.join(10)
    _hash("10.0.0.2")
    assert not hashing._inside


def test_who_guesses_at_many_names_leaves_places_for_other_addresses() -> None:
    with ExitStack() as turns:
        for _ in range(hashing.AT_ONCE):
            turns.enter_context(hashing.hashing("10.0.0.1"))
        crowd = [
            threading.Thread(target=_hash, args=("10.0.0.1",)) for _ in range(hashing.PER_ADDRESS - hashing.AT_ONCE)
        ]
        for thread in crowd:
            thread.start()
        wait_until(lambda: hashing._inside["10.0.0.1"] == hashing.PER_ADDRESS)
        # Then it gets no further place, and another address does
        with pytest.raises(Throttled), hashing.hashing("10.0.0.1"):
            pass
        other = threading.Thread(target=_hash, args=("10.0.0.2",))
        other.start()
        wait_until(lambda: hashing._inside["10.0.0.2"] == 1)
    for thread in [*crowd, other]:
        thread.join(10)


def _hash(address: str) -> None:
    with hashing.hashing(address):
        pass


def test_an_unknown_name_costs_as_much_as_a_known_one(
    cast: Cast, stranger: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    cast["operator"].is_active = False
    cast["operator"].save()
    hashed: list[str] = []
    encode = MD5PasswordHasher.encode

    def counting(self: MD5PasswordHasher, password: str, salt: str) -> str:
        hashed.append(password)
        return encode(self, password, salt)

    monkeypatch.setattr(MD5PasswordHasher, "encode", counting)
    for name in ("viewer", "nobody", "operator"):
        sign_in(stranger, name, f"guess {name}")
    assert hashed == ["guess viewer", "guess nobody", "guess operator"]


def test_guesses_are_counted_even_without_redis(cast: Cast, stranger: Any, settings: Settings) -> None:
    settings.GANTRY_REDIS_URL = f"unix:///{uuid4().hex}.sock"
    for _ in range(login_limit.PER_NAME):
        assert sign_in(stranger, "viewer", "guess").status_code == 401
    assert sign_in(stranger, "viewer").status_code == 429


def test_a_change_by_session_needs_its_csrf_token(cast: Cast) -> None:
    client = APIClient(enforce_csrf_checks=True)
    sign_in(client, "viewer")
    refused = client.patch("/api/v1/me", {"language": "zh"}, format="json")
    assert (refused.status_code, refused.json()["code"]) == (403, "CSRF_FAILED")
    token = client.cookies["csrftoken"].value
    done = client.patch("/api/v1/me", {"language": "zh"}, format="json", headers={"x-csrftoken": token})
    assert (done.status_code, done.json()["language"]) == (200, "zh")


def test_who_signs_in_again_ends_the_session_before(cast: Cast, stranger: Any) -> None:
    first = sign_in(stranger, "viewer").cookies["gantry_session"].value
    second = sign_in(stranger, "viewer").cookies["gantry_session"].value
    assert stranger.get("/api/v1/me").status_code == 200
    assert first != second
    stranger.cookies["gantry_session"] = first
    assert stranger.get("/api/v1/me").status_code == 401


def test_a_user_has_so_many_sessions_and_the_oldest_gives_way(
    cast: Cast, stranger: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_sessions, "MAX_SESSIONS", 2)
    other = type(stranger)()
    assert sign_in(other, "developer").status_code == 200
    clients = [type(stranger)() for _ in range(3)]
    for client in clients:
        assert sign_in(client, "viewer").status_code == 200
    assert [client.get("/api/v1/me").status_code for client in (*clients, other)] == [401, 200, 200, 200]
    # Those that have expired leave the table
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert sign_in(stranger, "viewer").status_code == 200
    assert Session.objects.count() == 1


def test_who_went_out_is_a_stranger(cast: Cast) -> None:
    browser = cast.browser("viewer")
    assert browser.post("/api/v1/logout").status_code == 204
    assert browser.get("/api/v1/me").status_code == 401


def test_going_out_wrong_passwords_and_waiting_guessers_are_written_down(cast: Cast, stranger: Any) -> None:
    browser = cast.browser("viewer")
    body = {"current": "guess", "new": "another horse battery"}
    assert browser.post("/api/v1/me/password", body, format="json").status_code == 422
    assert browser.post("/api/v1/logout").status_code == 204
    for _ in range(login_limit.PER_NAME + 2):
        sign_in(stranger, "operator", "guess")
    recorded = AuditRecord.objects.filter(address="127.0.0.1").values_list("actor", "action", "result", "after")
    assert list(recorded)[::-1] == [
        ("viewer", "user.password", "refused", None),
        ("viewer", "session.logout", "ok", None),
        *[("operator", "session.login", "refused", None)] * login_limit.PER_NAME,
        ("operator", "session.login", "refused", {"reason": "too many wrong passwords"}),
    ]


def test_a_new_password_ends_all_sessions_but_this_one(cast: Cast) -> None:
    here, there = cast.browser("viewer"), cast.browser("viewer")
    body = {"current": PASSWORD, "new": "another horse battery"}
    assert here.post("/api/v1/me/password", body, format="json").status_code == 204
    assert here.get("/api/v1/me").status_code == 200
    assert there.get("/api/v1/me").status_code == 401


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"current": "guess", "new": "another horse battery"}, "#/current"),
        ({"current": PASSWORD, "new": "short"}, "#/new"),
        ({"current": PASSWORD}, "#/new"),
    ],
)
def test_a_password_that_cannot_be_is_pointed_at(cast: Cast, body: dict[str, str], pointer: str) -> None:
    answer = cast.browser("viewer").post("/api/v1/me/password", body, format="json")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == pointer


def test_a_token_cannot_change_the_password(cast: Cast) -> None:
    body = {"current": PASSWORD, "new": "another horse battery"}
    assert cast.program("operator").post("/api/v1/me/password", body, format="json").status_code == 403
