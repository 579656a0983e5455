"""Requirements of roles over HTTP: `console.accounts.role_views` and `console.accounts.check_views`."""

from __future__ import annotations

from typing import Any

import pytest

from console.accounts.models import Role, User
from console.audit.models import AuditRecord
from tests.support.cast import Cast

pytestmark = pytest.mark.django_db

RULES = [
    {"kind": "topic", "pattern": "orders*", "allow": ["read", "bodies"], "refuse": []},
    {"kind": "topic", "pattern": "orders-secret", "allow": [], "refuse": ["bodies"]},
]


@pytest.fixture
def admin(cast: Cast) -> Any:
    return cast.browser("admin")


def made(admin: Any, name: str = "oncall", rules: list[dict[str, Any]] = RULES) -> dict[str, Any]:
    answer = admin.post("/api/v1/roles", {"name": name, "rules": rules}, format="json")
    assert answer.status_code == 201, answer.content
    shown: dict[str, Any] = answer.json()
    return shown


def test_a_role_is_made_shown_changed_and_removed(admin: Any) -> None:
    role = made(admin)
    assert (role["rules"], role["members"], role["built_in"]) == (RULES, [], False)
    path = "/api/v1/roles/oncall"
    assert admin.get(path).json() == role
    # A change names the version that was read
    assert admin.patch(path, {"rules": []}, format="json").status_code == 428
    assert admin.patch(path, {"rules": []}, format="json", headers={"If-Match": '"old"'}).status_code == 412
    changed = admin.patch(path, {"description": "nights"}, format="json", headers={"If-Match": role["etag"]}).json()
    assert (changed["description"], changed["rules"]) == ("nights", RULES)
    assert admin.delete(path, headers={"If-Match": changed["etag"]}).status_code == 204
    assert admin.get(path).status_code == 404
    # And each change is recorded with what it was before
    actions = AuditRecord.objects.filter(resource="roles/oncall").order_by("pk").values_list("action", flat=True)
    assert list(actions) == ["role.create", "role.update", "role.delete"]


def test_built_in_roles_are_shown_with_their_rules_and_stay(admin: Any, cast: Cast) -> None:
    listed = admin.get("/api/v1/roles").json()
    viewer = next(role for role in listed["items"] if role["name"] == "viewer")
    assert (viewer["built_in"], viewer["members"]) == (True, ["viewer"])
    assert {rule["kind"]: rule["allow"] for rule in viewer["rules"]}["topic"] == ["read"]
    assert {each["kind"] for each in listed["kinds"]} == {"topic", "group", "job", "schedule", "cluster"}
    changes = {"description": "mine"}
    assert admin.patch("/api/v1/roles/viewer", changes, format="json", headers={"If-Match": "*"}).status_code == 409
    assert admin.delete("/api/v1/roles/viewer", headers={"If-Match": "*"}).status_code == 409
    assert admin.post("/api/v1/roles", {"name": "viewer", "rules": []}, format="json").status_code == 422


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        ({"kind": "topic", "pattern": "a[b]", "allow": ["read"]}, "pattern"),
        ({"kind": "topic", "pattern": "a,,b", "allow": ["read"]}, "pattern"),
        ({"kind": "topic", "pattern": "a", "allow": ["offsets"]}, "allow"),
        ({"kind": "topic", "pattern": "a", "allow": ["read"], "refuse": ["read"]}, "refuse"),
        ({"kind": "queue", "pattern": "a", "allow": ["read"]}, "kind"),
        ({"kind": "topic", "pattern": "a", "permit": ["read"]}, "permit"),
    ],
)
def test_a_rule_that_means_nothing_is_refused_by_name(admin: Any, rule: dict[str, Any], field: str) -> None:
    answer = admin.post("/api/v1/roles", {"name": "odd", "rules": [rule]}, format="json")
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == f"#/rules/0/{field}"


def test_a_user_may_have_roles_of_ones_own_with_or_without_a_built_in_one(admin: Any) -> None:
    made(admin)
    body = {"username": "mia", "password": "correct horse battery", "role": None, "own_roles": ["oncall"]}
    mia = admin.post("/api/v1/users", body, format="json").json()
    assert (mia["role"], mia["own_roles"]) == (None, ["oncall"])
    path, tag = f"/api/v1/users/{mia['id']}", {"If-Match": mia["etag"]}
    # The last role cannot be taken, nor one that nobody made be given
    assert admin.patch(path, {"own_roles": []}, format="json", headers=tag).status_code == 409
    assert admin.patch(path, {"own_roles": ["king"]}, format="json", headers=tag).status_code == 422
    assert admin.post("/api/v1/users", {**body, "username": "ann", "own_roles": []}, format="json").status_code == 422
    both = admin.patch(path, {"role": "viewer"}, format="json", headers=tag).json()
    assert (both["role"], both["own_roles"]) == ("viewer", ["oncall"])
    # And a role that somebody has stays
    assert admin.delete("/api/v1/roles/oncall", headers={"If-Match": "*"}).status_code == 409
    assert admin.get("/api/v1/roles/oncall").json()["members"] == ["mia"]


def test_the_answer_names_the_rule_that_decides(admin: Any, cast: Cast) -> None:
    made(admin)
    cast["viewer"].own_roles.set(Role.objects.all())
    asked = {"user": "viewer", "verb": "bodies", "kind": "topic", "resource": "orders-secret"}
    no = admin.post("/api/v1/access:check", asked, format="json").json()
    assert (no["allowed"], no["decided_by"]["role"], no["decided_by"]["number"]) == (False, "oncall", 2)
    assert "refuses it" in no["reason"]
    assert [each["why"] for each in no["weighed"]] == [
        "decides", "a refusal wins over it", "says nothing about this right"
    ]  # fmt: skip
    # As if rules were saved that are not
    unsaved = {"role": "oncall", "rules": RULES[:1]}
    yes = admin.post("/api/v1/access:check", {**asked, "unsaved": unsaved}, format="json").json()
    assert (yes["allowed"], yes["decided_by"]["number"]) == (True, 1)
    # And nothing was saved
    assert not admin.post("/api/v1/access:check", asked, format="json").json()["allowed"]


def test_only_who_may_admin_asks_about_others(cast: Cast) -> None:
    viewer = cast.browser("viewer")
    asked = {"verb": "read", "kind": "topic", "resource": "orders"}
    assert viewer.post("/api/v1/access:check", asked, format="json").json()["allowed"]
    assert viewer.post("/api/v1/access:check", {**asked, "user": "admin"}, format="json").status_code == 403
    unsaved = {"role": "oncall", "rules": []}
    assert viewer.post("/api/v1/access:check", {**asked, "unsaved": unsaved}, format="json").status_code == 403
    narrow = cast.program("viewer", "read:payments")
    answer = narrow.post("/api/v1/access:check", asked, format="json").json()
    assert (answer["allowed"], answer["decided_by"]["text"]) == (False, "read:payments")
    token = cast["viewer"].tokens.get().pk
    assert not viewer.post("/api/v1/access:check", {**asked, "token": token}, format="json").json()["allowed"]
    assert cast.browser("operator").post(
        "/api/v1/access:check", {**asked, "token": token}, format="json"
    ).status_code == 404  # fmt: skip


def test_a_question_that_means_nothing_is_refused(admin: Any) -> None:
    asked = {"verb": "offsets", "kind": "topic", "resource": "orders"}
    answer = admin.post("/api/v1/access:check", asked, format="json")
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/verb")


def test_a_user_with_a_role_of_ones_own_is_told_what_it_may(admin: Any) -> None:
    made(admin)
    mia = User.objects.create(username="mia", role="")
    mia.own_roles.set(Role.objects.all())
    cast = Cast({"mia": mia})
    me = cast.browser("mia").get("/api/v1/me").json()
    assert (me["role"], me["own_roles"], me["rights"]) == (None, ["oncall"], ["read", "bodies"])


def test_patterns_are_counted_over_the_names_that_the_caller_may_read(admin: Any, cast: Cast) -> None:
    patterns = [{"kind": "job", "pattern": "re*"}, {"kind": "cluster", "pattern": "x"}]
    items = admin.post("/api/v1/access:coverage", {"patterns": patterns}, format="json").json()["items"]
    assert [(each["count"], each["names"]) for each in items] == [(3, ["reconcile", "redrive", "replay"]), (0, [])]
    narrow = cast.program("viewer", "read:orders")
    items = narrow.post("/api/v1/access:coverage", {"patterns": patterns}, format="json").json()["items"]
    assert items[0]["count"] == 0
