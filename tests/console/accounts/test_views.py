"""Requirements of `console.accounts.views`: users, tokens and tickets over HTTP."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.utils import timezone
from rest_framework.test import APIClient

from console.accounts import tickets
from console.accounts.models import Token, User
from console.audit.models import AuditRecord
from console.fields import moment
from tests.support.cast import PASSWORD, Cast


def test_admins_add_change_and_remove_users(cast: Cast) -> None:
    admin = cast.browser("admin")
    made = admin.post(
        "/api/v1/users", {"username": "mia", "password": "correct horse", "role": "viewer"}, format="json"
    )
    assert made.status_code == 201, made.json()
    path = f"/api/v1/users/{made.json()['id']}"
    assert "password" not in made.json()
    changed = admin.patch(path, {"role": "operator"}, format="json", headers={"if-match": made.json()["etag"]})
    assert changed.json()["role"] == "operator"
    assert admin.get(path).json()["role"] == "operator"
    assert admin.delete(path, headers={"if-match": changed["ETag"]}).status_code == 204
    assert admin.get(path).status_code == 404
    recorded = AuditRecord.objects.filter(resource="users/mia").values_list("action", "actor")
    assert list(recorded) == [("user.delete", "admin"), ("user.update", "admin"), ("user.create", "admin")]


def test_a_name_is_taken_whatever_its_case(cast: Cast) -> None:
    body = {"username": "ADMIN", "password": "correct horse", "role": "viewer"}
    answer = cast.browser("admin").post("/api/v1/users", body, format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "ALREADY_EXISTS")


def test_an_admin_signs_somebody_out_everywhere_and_revokes_the_tokens(cast: Cast, stranger: Any) -> None:
    admin, program = cast.browser("admin"), cast.program("operator")
    here, other = APIClient(), APIClient()
    for client, name in ((here, "operator"), (other, "viewer")):
        signed = client.post("/api/v1/login", {"username": name, "password": PASSWORD}, format="json")
        assert signed.status_code == 200
    path = f"/api/v1/users/{cast['operator'].pk}"
    assert admin.patch(path, {"end_sessions": True}, format="json", headers=ANY).status_code == 200
    assert here.get("/api/v1/me").status_code == 401
    assert program.get("/api/v1/me").status_code == 200
    body = {"revoke_tokens": True, "password": "another horse battery"}
    assert admin.patch(path, body, format="json", headers=ANY).status_code == 200
    assert program.get("/api/v1/me").status_code == 401
    assert other.get("/api/v1/me").status_code == 200
    recorded = list(AuditRecord.objects.filter(actor="admin").values_list("action", flat=True))
    assert recorded[::-1] == ["user.update", "token.delete", "user.update"]


ANY = {"If-Match": "*"}


def test_a_name_that_looks_like_another_is_refused(cast: Cast) -> None:
    body = {"username": "\u0430dmin", "password": PASSWORD, "role": "viewer"}
    answer = cast.browser("admin").post("/api/v1/users", body, format="json")
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/username")


def test_the_last_admin_cannot_be_removed(cast: Cast) -> None:
    path = f"/api/v1/users/{cast['admin'].pk}"
    admin = cast.browser("admin")
    tag = {"if-match": admin.get(path)["ETag"]}
    assert admin.delete(path, headers=tag).status_code == 409
    assert admin.patch(path, {"role": "viewer"}, format="json", headers=tag).status_code == 409
    assert User.objects.get(pk=cast["admin"].pk).role == "admin"


def test_users_are_paged(cast: Cast) -> None:
    admin = cast.browser("admin")
    first = admin.get("/api/v1/users?limit=3").json()
    second = admin.get(f"/api/v1/users?limit=3&cursor={first['next_cursor']}").json()
    assert [row["username"] for row in first["items"] + second["items"]] == ["viewer", "developer", "operator", "admin"]
    assert second["next_cursor"] is None


def test_the_text_of_a_token_is_shown_once(cast: Cast, stranger: Any) -> None:
    browser = cast.browser("developer")
    body = {"name": "ci", "scopes": ["produce:orders-*", "read"]}
    made = browser.post("/api/v1/tokens", body, format="json")
    assert made.status_code == 201, made.json()
    text = made.json()["token"]
    assert text.startswith(made.json()["prefix"])
    listed = browser.get("/api/v1/tokens").json()["items"]
    assert [(row["name"], row["scopes"], row["last_used_at"]) for row in listed] == [("ci", body["scopes"], None)]
    assert text not in str(listed)
    # And it opens a socket
    stranger.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    assert stranger.get("/api/v1/me").json() | {"id": 0} == {
        "id": 0,
        "username": "developer",
        "role": "developer",
        "own_roles": [],
        "rights": ["produce", "read"],
        "language": None,
        "token_auth": True,
    }


def test_a_token_without_scopes_may_what_its_user_may(cast: Cast) -> None:
    made = cast.browser("developer").post("/api/v1/tokens", {"name": "all"}, format="json")
    assert made.json()["scopes"] == ["produce", "consume", "read", "bodies"]


@pytest.mark.parametrize(
    "body",
    [
        {"name": "x", "scopes": ["manage"]},
        {"name": "x", "scopes": ["read:"]},
        {"name": "x", "scopes": []},
        {"name": "x", "scopes": ["fly"]},
        {"name": ""},
        {"name": "x", "expires_at": "2020-01-01T00:00:00Z"},
        {"name": "x", "expires_at": "soon"},
    ],
)
def test_a_token_that_cannot_be_is_refused(cast: Cast, body: dict[str, Any]) -> None:
    answer = cast.browser("developer").post("/api/v1/tokens", body, format="json")
    assert answer.status_code == 422, answer.json()
    assert not Token.objects.exists()


def test_the_scope_that_is_wrong_is_pointed_at(cast: Cast) -> None:
    for scopes in (["read", "fly"], ["read", "manage"]):
        answer = cast.browser("developer").post("/api/v1/tokens", {"name": "x", "scopes": scopes}, format="json")
        assert [error["pointer"] for error in answer.json()["errors"]] == ["#/scopes/1"]


def test_a_refusal_is_a_sentence_of_its_own(cast: Cast) -> None:
    body = {"name": "x", "expires_at": "2020-01-01T00:00:00Z"}
    answer = cast.browser("developer").post("/api/v1/tokens", body, format="json").json()
    assert (answer["detail"], answer["errors"][0]["detail"]) == ("expires_at: is in the past.", "is in the past")
    gone = cast.browser("admin").get("/api/v1/users/999999")
    assert (gone.status_code, gone.json()["code"], gone.json()["detail"]) == (
        404, "NOT_FOUND", "There is no user '999999'.",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("header", "detail"),
    [
        ({}, "The request carries neither a bearer token nor a session."),
        ({"authorization": "Basic YTpi"}, "The Authorization header does not have the form `Bearer <token>`."),
        ({"authorization": "Bearer x"}, "The token is unknown, revoked or expired."),
    ],
)
def test_a_caller_who_is_not_known_learns_why(stranger: Any, header: dict[str, str], detail: str) -> None:
    answer = stranger.get("/api/v1/me", headers=header)
    assert (answer.status_code, answer.json()["code"], answer.json()["detail"]) == (401, "NOT_AUTHENTICATED", detail)


def test_a_token_may_end(cast: Cast) -> None:
    ends = timezone.now() + timedelta(days=1)
    body = {"name": "day", "expires_at": ends.isoformat()}
    made = cast.browser("viewer").post("/api/v1/tokens", body, format="json")
    assert made.json()["expires_at"] == moment(ends)


def test_tokens_are_their_holders_and_the_admins(cast: Cast) -> None:
    cast.token("developer")
    path = f"/api/v1/tokens/{Token.objects.get().pk}"
    viewer, admin = cast.browser("viewer"), cast.browser("admin")
    assert viewer.delete(path).status_code == 404
    assert viewer.get("/api/v1/tokens?all=true").json()["items"] == []
    assert admin.get("/api/v1/tokens").json()["items"] == []
    assert [row["user"] for row in admin.get("/api/v1/tokens?all=true").json()["items"]] == ["developer"]
    assert admin.delete(path).status_code == 204
    assert not Token.objects.exists()


def test_a_token_makes_no_wider_token(cast: Cast) -> None:
    narrow = cast.program("operator", "read")
    assert narrow.post("/api/v1/tokens", {"name": "wide"}, format="json").status_code == 403
    limited = cast.program("admin", "admin:orders*", name="limited")
    assert limited.post("/api/v1/tokens", {"name": "wide"}, format="json").status_code == 403


@pytest.mark.parametrize("header", ["Bearer", "Bearer nonsense", "Bearer gty_aaaaaaaaaaaa_" + "x" * 43])
def test_a_token_that_is_none_is_refused(stranger: Any, header: str) -> None:
    stranger.credentials(HTTP_AUTHORIZATION=header)
    answer = stranger.get("/api/v1/me")
    assert (answer.status_code, answer.json()["code"]) == (401, "NOT_AUTHENTICATED")


def test_a_ticket_opens_one_socket_with_the_rights_of_its_request(cast: Cast) -> None:
    program = cast.program("viewer", "read:orders*")
    made = program.post("/api/v1/ws-tickets")
    assert made.status_code == 201
    redeem = async_to_sync(tickets.redeem)
    assert redeem(made.json()["ticket"]) == tickets.Ticket(cast["viewer"].pk, Token.objects.get().pk)
    assert redeem(made.json()["ticket"]) is None
    assert redeem("guess") is None
    assert redeem("x" * 1000) is None
