"""Which failures are a no, and which leave the outcome unknown."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.controller.etcd.errors import Code, Declined, EtcdError, Unanswered, error_of

AT = "http://h1:2379"


@pytest.mark.parametrize(
    ("status", "body", "kind", "says"),
    [
        (
            503,
            {"error": "etcdserver: no leader", "message": "etcdserver: no leader", "code": 14},
            Unanswered,
            "no leader",
        ),
        (504, {"error": "x", "code": 4}, Unanswered, "x"),
        (500, {"error": "x", "code": 2}, Unanswered, "x"),
        (403, {"error": "x", "message": "etcdserver: permission denied", "code": 7}, Declined, "permission denied"),
        (429, {"error": "x", "code": 8}, Declined, "x"),
        (200, {"error": {"grpc_code": 14, "message": "gone"}}, Unanswered, "gone"),
        (200, {"error": {"grpc_code": 16, "message": "token"}}, Declined, "token"),
        (400, None, Declined, "HTTP 400: CommonName of client"),
        (404, None, Declined, "HTTP 404"),
        (502, None, Unanswered, "HTTP 502"),
    ],
)
def test_an_error_is_known_by_its_code(
    status: int, body: dict[str, Any] | None, kind: type[EtcdError], says: str
) -> None:
    error = error_of(AT, status, body, "CommonName of client\n")
    assert type(error) is kind
    assert says in str(error)


@pytest.mark.parametrize(
    ("code", "message", "wants"),
    [
        (Code.UNAUTHENTICATED, "etcdserver: invalid auth token", True),
        (Code.INVALID, "etcdserver: revision of auth store is old", True),
        (Code.INVALID, "etcdserver: authentication failed, invalid user ID or password", False),
        (Code.DENIED, "etcdserver: permission denied", False),
    ],
)
def test_a_login_that_ended_is_made_again(code: Code, message: str, wants: bool) -> None:
    assert Declined(message, code).wants_login is wants
