"""Requirements of `gateway.control.rates`; `tests/gateway/test_shared_rates.py` has those of several processes."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
import redis
from django.test import Client, RequestFactory
from rest_framework.request import Request
from rest_framework.views import APIView

from console.accounts.models import Token, User
from gateway.control import rates
from gateway.limits import GatewayLimits, RateLimit
from gateway.problems import RATE_LIMITED, ProblemError
from tests.gateway.control.conftest import Control
from tests.support.wait import wait_until

pytestmark = pytest.mark.gantry_only("no broker takes part")


@pytest.fixture
def of_two() -> Iterator[rates.ControlRates]:
    """Rates that let two requests of each caller and class pass."""
    limits = GatewayLimits(read=RateLimit("read", 0.001, 2), change=RateLimit("change", 0.001, 2))
    made = rates.ControlRates(limits)
    rates.use(made)
    yield made
    rates.use(None)


def passes(method: str, *, user: Any = None, token: Any = None, address: str = "10.0.0.1") -> bool:
    request = Request(RequestFactory().generic(method, "/api/v1/topics", REMOTE_ADDR=address))
    request.user, request.auth = user, token
    try:
        return rates.CallerRate().allow_request(request, cast("APIView", SimpleNamespace()))
    except ProblemError as problem:
        if problem.kind is RATE_LIMITED and problem.retry_after_s:
            return False
        raise


def test_reads_and_changes_have_rates_of_their_own(of_two: rates.ControlRates) -> None:
    user = User(pk=7)
    assert [passes(method, user=user) for method in ("GET", "HEAD", "GET")] == [True, True, False]
    assert [passes(method, user=user) for method in ("POST", "DELETE", "PATCH")] == [True, True, False]


def test_each_token_user_and_unknown_address_counts_by_itself(of_two: rates.ControlRates) -> None:
    user = User(pk=7)
    callers: list[dict[str, Any]] = [
        {"user": user, "token": Token(pk=1)},
        {"user": user, "token": Token(pk=2)},
        {"user": user},
        {"user": User(pk=8)},
        {"address": "10.0.0.2"},
        {"address": "10.0.0.3"},
    ]
    for caller in callers:
        assert [passes("GET", **caller) for _ in range(3)] == [True, True, False], caller


def test_an_address_without_a_token_or_with_a_wrong_one_is_counted(
    of_two: rates.ControlRates, client: Client, db: None
) -> None:
    answers = [client.get("/api/v1/me", headers=headers) for headers in ({}, {"Authorization": "Bearer gty_no"}, {})]
    assert [answer.status_code for answer in answers] == [401, 401, 429]
    assert answers[0]["RateLimit-Policy"] == answers[2]["RateLimit-Policy"] == '"read";q=2;w=2000'
    assert (answers[2].json()["code"], int(answers[2]["Retry-After"]) > 0) == ("RATE_LIMITED", True)
    assert client.get("/api/v1/me", REMOTE_ADDR="10.0.0.9").status_code == 401, "another address"


def test_answers_say_what_is_left_and_other_processes_learn_it(control: Control, redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as store:
        read = control.call("GET", "/topics")
        assert read.headers["ratelimit-policy"] == '"read";q=600;w=2'
        assert read.headers["ratelimit"].startswith('"read";r=')
        refused = control.call("POST", "/topics", json={"name": "two words"})
        assert (refused.status_code, refused.headers["ratelimit-policy"]) == (422, '"change";q=200;w=2')

        def is_shared() -> bool:
            control.call("GET", "/topics")
            return any(store.scan_iter("gantry:rate:read:t*"))

        wait_until(is_shared)
