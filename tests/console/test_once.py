"""Requirements of `console.once`: Idempotency-Key on the POSTs of the control plane."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
import redis

from console import once
from console.accounts.models import Token, User
from console.idempotency import KEEP_MS
from tests.support.cast import Cast

MIA = {"username": "mia", "password": "correct horse", "role": "viewer"}


@pytest.fixture
def store(redis_of_test: str) -> Any:
    """The Redis in which answers are kept, without those of other tests."""
    with redis.Redis.from_url(redis_of_test) as opened:
        for key in opened.scan_iter("gantry:once:*"):
            opened.delete(key)
        yield opened


def post(client: Any, path: str, body: Any = None, *, key: str = "k1") -> Any:
    return client.post(path, body, format="json", headers={"idempotency-key": key})


def test_the_same_request_is_done_once(cast: Cast, store: Any) -> None:
    admin = cast.browser("admin")
    first = post(admin, "/api/v1/users", MIA)
    again = post(admin, "/api/v1/users", dict(reversed(MIA.items())))
    assert (first.status_code, again.status_code) == (201, 201)
    assert (first.json(), first["ETag"]) == (again.json(), again["ETag"])
    assert (first.get("Idempotency-Replayed"), again["Idempotency-Replayed"]) == (None, "true")
    assert User.objects.filter(username="mia").count() == 1
    assert KEEP_MS - 60_000 < max(store.pttl(key) for key in store.scan_iter("gantry:once:*")) <= KEEP_MS


def test_a_refusal_is_given_again_too(cast: Cast, store: Any) -> None:
    admin = cast.browser("admin")
    taken = {**MIA, "username": "viewer"}
    assert post(admin, "/api/v1/users", taken).status_code == 409
    again = post(admin, "/api/v1/users", taken)
    assert (again.status_code, again["Idempotency-Replayed"]) == (409, "true")
    assert again["Content-Type"] == "application/problem+json"


def test_another_request_under_the_key_is_refused(cast: Cast, store: Any) -> None:
    admin = cast.browser("admin")
    assert post(admin, "/api/v1/users", MIA).status_code == 201
    other = post(admin, "/api/v1/users", {**MIA, "username": "noa"})
    assert (other.status_code, other.json()["code"]) == (422, "IDEMPOTENCY_MISMATCH")
    assert not User.objects.filter(username="noa").exists()


def test_a_key_belongs_to_caller_and_route(cast: Cast, store: Any) -> None:
    admin = cast.browser("admin")
    assert post(admin, "/api/v1/users", MIA).status_code == 201
    assert post(admin, "/api/v1/clusters", {"name": "mars", "name_servers": ["a:1"]}).status_code == 201
    assert post(admin, "/api/v1/tokens", {"name": "ci"}).status_code == 201
    assert post(cast.browser("viewer"), "/api/v1/tokens", {"name": "ci"}).status_code == 201
    assert Token.objects.count() == 2


def test_while_the_first_one_runs_the_second_waits(cast: Cast, store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    admin, seen = cast.browser("admin"), list[Any]()
    ending = once.KeyedRequest.end

    def end(keyed: once.KeyedRequest, response: Any) -> None:
        if not seen:
            seen.append(None)
            seen.append(post(cast.browser("admin"), "/api/v1/users", MIA))
        ending(keyed, response)

    monkeypatch.setattr(once.KeyedRequest, "end", end)
    assert post(admin, "/api/v1/users", MIA).status_code == 201
    busy = seen[1]
    assert (busy.status_code, busy.json()["code"], busy["Retry-After"]) == (409, "IN_PROGRESS", "1")
    assert busy.json()["retryable"]


def test_what_failed_on_our_side_may_be_tried_again(cast: Cast, store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    admin = cast.browser("admin")
    with monkeypatch.context() as broken:
        broken.setattr("console.accounts.services.add_user", lambda *_, **__: 1 / 0)
        assert post(admin, "/api/v1/users", MIA).status_code == 500
    assert post(admin, "/api/v1/users", MIA).status_code == 201


def test_secrets_do_not_lie_in_redis(cast: Cast, store: Any) -> None:
    admin = cast.browser("admin")
    made = post(admin, "/api/v1/tokens", {"name": "ci"})
    assert post(admin, "/api/v1/tokens", {"name": "ci"}).json() == made.json()
    assert post(admin, "/api/v1/users", MIA).status_code == 201
    kept = {key: store.get(key) for key in store.scan_iter("gantry:once:*")}
    assert not [key for key, value in kept.items() if b"correct horse" in value]
    [answer] = [key for key, value in kept.items() if made.json()["token"].encode() in value]
    assert 0 < store.pttl(answer) <= once.SECRET_MS
    # After it has expired, no second token is created
    store.delete(answer)
    late = post(admin, "/api/v1/tokens", {"name": "ci"})
    assert (late.status_code, late.json()["code"]) == (409, "CONFLICT")
    assert "not kept" in late.json()["detail"]
    assert Token.objects.count() == 1


@pytest.mark.parametrize(("path", "key"), [("/api/v1/users", "x" * 256), ("/api/v1/users", ""), ("/api/v1/login", "k")])
def test_a_key_that_cannot_be_kept_is_refused_by_name(cast: Cast, store: Any, path: str, key: str) -> None:
    body = MIA if path.endswith("users") else {"username": "admin", "password": "x"}
    answer = post(cast.browser("admin"), path, body, key=key)
    assert answer.status_code == 422
    assert [error["pointer"] for error in orjson.loads(answer.content)["errors"]] == ["Idempotency-Key"]


def test_without_redis_nothing_is_done_under_a_key(cast: Cast, settings: Any) -> None:
    admin = cast.browser("admin")
    settings.GANTRY_REDIS_URL = "redis://127.0.0.1:1/0"
    answer = post(admin, "/api/v1/users", MIA)
    assert (answer.status_code, answer.json()["code"]) == (503, "REDIS_UNREACHABLE")
    assert not User.objects.filter(username="mia").exists()
