"""Requirements of `console.etags` on the resources that the console keeps itself."""

from __future__ import annotations

from typing import Any

import pytest

from console.clusters import views
from console.clusters.services import ensure_embedded
from console.jobs.models import Schedule
from tests.support.cast import Cast


def made(cast: Cast, kind: str) -> str:
    """Create a resource; return its path."""
    admin = cast.browser("admin")
    if kind == "users":
        return f"/api/v1/users/{cast['viewer'].pk}"
    if kind == "clusters":
        body: dict[str, Any] = {"name": "mars", "name_servers": ["127.0.0.1:1"]}
        assert admin.post("/api/v1/clusters", body, format="json").status_code == 201
        return "/api/v1/clusters/mars"
    ensure_embedded()
    schedule = Schedule.objects.create(name="nightly", cron="0 2 * * *", job={"type": "replay"})
    return f"/api/v1/schedules/{schedule.pk}"


CHANGES: dict[str, dict[str, Any]] = {
    "users": {"role": "operator"},
    "clusters": {"name_servers": ["127.0.0.1:2"]},
    "schedules": {"enabled": False},
}


@pytest.fixture(autouse=True)
def _unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection to a cluster is looked up in another thread, which cannot read the database of a test."""
    monkeypatch.setattr(views, "capabilities", lambda *_: [])


@pytest.mark.parametrize("kind", CHANGES)
def test_a_change_names_what_was_read(cast: Cast, kind: str) -> None:
    path, admin = made(cast, kind), cast.browser("admin")
    read = admin.get(path)
    [listed] = [row for row in admin.get(f"/api/v1/{kind}").json()["items"] if row["etag"] == read["ETag"]]
    assert listed["etag"] == read.json()["etag"]
    # Without a tag nothing changes
    for send in (admin.patch, admin.delete):
        answer = send(path, CHANGES[kind] if send == admin.patch else None, format="json")
        assert (answer.status_code, answer.json()["code"]) == (428, "PRECONDITION_REQUIRED")
    # With it the change is made, and the tag is a new one
    changed = admin.patch(path, CHANGES[kind], format="json", headers={"if-match": read["ETag"]})
    assert changed.status_code == 200, changed.content
    assert changed["ETag"] not in (read["ETag"], None)
    # A caller that read it before is refused
    for send in (admin.patch, admin.delete):
        answer = send(
            path, CHANGES[kind] if send == admin.patch else None, format="json", headers={"if-match": read["ETag"]}
        )
        assert (answer.status_code, answer.json()["code"]) == (412, "PRECONDITION_FAILED")
    # A proxy that compresses marks tags as weak
    assert admin.delete(path, headers={"if-match": f"W/{changed['ETag']}"}).status_code == 204
    assert admin.get(path).status_code == 404


@pytest.mark.parametrize("condition", ["x", '"unclosed', "*, *", '*, "a"', '"a" "b"', '"a b"', 'w/"a"', ",", ", ,"])
def test_a_condition_that_is_no_tag_is_called_so(cast: Cast, condition: str) -> None:
    path, admin = made(cast, "users"), cast.browser("admin")
    for send in (admin.patch, admin.delete):
        answer = send(path, {} if send == admin.patch else None, format="json", headers={"if-match": condition})
        assert (answer.status_code, answer.json()["code"]) == (422, "INVALID")
        assert [error["pointer"] for error in answer.json()["errors"]] == ["If-Match"]
        assert answer.json()["detail"].startswith("If-Match must be an ETag in quotation marks")


def test_one_of_several_tags_may_be_the_present_one(cast: Cast) -> None:
    path, admin = made(cast, "users"), cast.browser("admin")
    condition = f'"old,older" , W/{admin.get(path)["ETag"]}'
    assert admin.patch(path, CHANGES["users"], format="json", headers={"if-match": condition}).status_code == 200


@pytest.mark.parametrize("form", ["{},,", ",{}", '"a",, ,\t{} ,', "{} , "])
def test_empty_elements_of_a_condition_are_ignored(cast: Cast, form: str) -> None:
    """RFC 9110, 5.6.1: who reads a list ignores its empty elements."""
    path, admin = made(cast, "users"), cast.browser("admin")
    condition = form.format(admin.get(path)["ETag"])
    assert admin.patch(path, CHANGES["users"], format="json", headers={"if-match": condition}).status_code == 200
    answer = admin.patch(path, CHANGES["users"], format="json", headers={"if-match": form.format('"x"')})
    assert (answer.status_code, answer.json()["code"]) == (412, "PRECONDITION_FAILED")
