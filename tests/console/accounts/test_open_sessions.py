"""Requirements of `console.accounts.session_views` and `console.accounts.open_sessions`."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from console.audit.models import AuditRecord
from tests.support.cast import PASSWORD, Cast

pytestmark = pytest.mark.django_db
MINE = "/api/v1/me/sessions"


def signed_in(name: str, agent: str) -> Any:
    client = APIClient(headers={"User-Agent": agent})
    answer = client.post("/api/v1/login", {"username": name, "password": PASSWORD}, format="json")
    assert answer.status_code == 200, answer.content
    return client


def sessions(client: Any, path: str = MINE) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = client.get(path).json()["items"]
    return items


@pytest.fixture
def desk(cast: Cast) -> Any:
    return signed_in("viewer", "Desk/1")


@pytest.fixture
def phone(cast: Cast) -> Any:
    return signed_in("viewer", "Phone/2")


def test_a_session_says_from_where_and_since_when_it_is_open(desk: Any, phone: Any) -> None:
    shown = {each["user_agent"]: each for each in sessions(desk)}
    assert set(shown) == {"Desk/1", "Phone/2"}
    assert [shown[name]["current"] for name in ("Desk/1", "Phone/2")] == [True, False]
    assert shown["Phone/2"]["address"] == "127.0.0.1"
    assert shown["Phone/2"]["since"] is not None
    # And its key, which would open it, is nowhere
    assert desk.session.session_key not in str(shown)


def test_one_session_is_ended_and_the_others_stay(desk: Any, phone: Any) -> None:
    ended = next(each["id"] for each in sessions(desk) if not each["current"])
    assert desk.delete(f"{MINE}/{ended}").status_code == 204
    assert phone.get("/api/v1/me").status_code == 401
    assert desk.get("/api/v1/me").status_code == 200
    assert desk.delete(f"{MINE}/{ended}").status_code == 404
    before = AuditRecord.objects.get(action="user.session_end").before or {}
    assert before["user_agent"] == "Phone/2"


def test_all_other_sessions_are_ended_at_once(desk: Any, phone: Any, cast: Cast) -> None:
    other = signed_in("operator", "Else/3")
    assert desk.post(f"{MINE}:end-others").json() == {"ended": 1}
    assert phone.get("/api/v1/me").status_code == 401
    assert len(sessions(desk)) == 1
    assert other.get("/api/v1/me").status_code == 200


def test_an_admin_sees_and_ends_the_sessions_of_all(desk: Any, cast: Cast) -> None:
    admin = signed_in("admin", "Admin/4")
    found = {each["user"]: each["id"] for each in sessions(admin, "/api/v1/sessions")}
    assert set(found) == {"viewer", "admin"}
    assert desk.get("/api/v1/sessions").status_code == 403
    assert desk.delete(f"{MINE}/{found['admin']}").status_code == 404
    assert admin.delete(f"/api/v1/sessions/{found['viewer']}").status_code == 204
    assert desk.get("/api/v1/me").status_code == 401


def test_a_new_password_ends_the_others_and_keeps_this_one(desk: Any, phone: Any) -> None:
    body = {"current": PASSWORD, "new": "another horse battery"}
    assert desk.post("/api/v1/me/password", body, format="json").status_code == 204
    assert [each["current"] for each in sessions(desk)] == [True]
    assert phone.get("/api/v1/me").status_code == 401


def test_the_last_use_is_kept_to_the_minute(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = sessions(desk)[0]["last_seen_at"]
    assert sessions(desk)[0]["last_seen_at"] == before
    later = timezone.now() + timedelta(minutes=5)
    monkeypatch.setattr(timezone, "now", lambda: later)
    desk.get("/api/v1/me")
    assert sessions(desk)[0]["last_seen_at"] > before


def test_a_token_without_admin_ends_no_session(cast: Cast) -> None:
    assert cast.program("viewer", "read").get(MINE).status_code == 403
