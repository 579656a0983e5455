"""Requirements of `gateway.control.topic_bulk`."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gateway.control.conftest import Control
from tests.support.wait import wait_until


def dry(control: Control, action: str, **body: Any) -> Any:
    """Return the answer to a dry run."""
    return control.call("POST", f"/topics:{action}", json=body, params={"dry_run": "true"})


def test_many_topics_are_deleted_with_one_preview_and_an_outcome_each(control: Control) -> None:
    # Given two topics, one of the brokers' own and one that is not there
    full, empty = control.topic(), control.topic()
    control.produce(full, "a", "b")
    names = [full, "TBW102", empty, "nobody-made-this"]
    wait_until(lambda: dry(control, "delete", topics=[full]).json()["items"][0]["messages"] == 2)
    # When the deletion is previewed
    preview = dry(control, "delete", topics=names)
    # Then it says what goes, refuses the others by name, and deletes nothing
    assert [each["outcome"] for each in preview.json()["items"]] == ["planned", "refused", "planned", "refused"]
    assert "belongs to the brokers" in preview.json()["items"][1]["reason"]
    assert control.get(f"/topics/{full}")["name"] == full
    # When it is made with the tag of the preview
    made = control.call("POST", "/topics:delete", json={"topics": names}, headers={"If-Match": preview.headers["etag"]})
    # Then each topic has its outcome
    assert made.status_code == 207, made.text
    assert [each["outcome"] for each in made.json()["items"]] == ["done", "refused", "done", "refused"]
    assert control.call("GET", f"/topics/{full}").status_code == 404


def test_many_topics_get_the_same_settings(control: Control) -> None:
    names = [control.topic(queues=2), control.topic(queues=4)]
    change = {"topics": names, "write_queues": 3, "permission": "r"}
    preview = dry(control, "update", **change)
    effects = [each["changes"][0]["effects"] for each in preview.json()["items"]]
    assert effects == [["sends_stop", "queues_added", "queues_unread"], ["sends_stop"]]
    made = control.call("POST", "/topics:update", json=change, headers={"If-Match": preview.headers["etag"]})
    assert (made.status_code, [each["outcome"] for each in made.json()["items"]]) == (200, ["done", "done"])
    shown = [control.get(f"/topics/{name}") for name in names]
    assert [(each["read_queues"], each["write_queues"], each["permission"]) for each in shown] == [
        (2, 3, "r"),
        (4, 3, "r"),
    ]
    # and a preview of what has changed since is refused
    again = control.call("POST", "/topics:update", json=change, headers={"If-Match": preview.headers["etag"]})
    assert (again.status_code, again.json()["code"]) == (412, "PRECONDITION_FAILED")


def test_topics_that_a_role_may_not_delete_are_refused_one_by_one(control: Control) -> None:
    allowed, secret = control.topic("orders"), control.topic("orders-secret")
    answer = control.call(
        "POST",
        "/topics:delete",
        role="oncall",
        json={"topics": [allowed, secret]},
        params={"dry_run": "true"},
    )
    items = answer.json()["items"]
    assert [each["outcome"] for each in items] == ["planned", "refused"]
    assert "This needs the right 'delete'" in items[1]["reason"]


def test_a_preview_counts_the_groups_that_one_may_not_see_without_naming_them(control: Control) -> None:
    topic, seen, hidden = control.topic("orders"), control.group("orders"), control.group("payments")
    control.produce(topic, "a")
    for group in (seen, hidden):
        control.consume(group, topic, 1)

    def previewed(role: str) -> Any:
        return control.call(
            "POST", "/topics:delete", role=role, json={"topics": [topic]}, params={"dry_run": "true"}
        ).json()["items"][0]

    wait_until(lambda: len(previewed("admin")["groups"] or ()) == 2)
    item = previewed("oncall")
    assert (item["groups"], item["hidden_groups"]) == ([seen], 1)
    assert hidden not in str(item)


@pytest.mark.parametrize(
    ("action", "body"),
    [
        ("delete", {}),
        ("delete", {"topics": []}),
        ("delete", {"topics": ["a", "a"]}),
        ("delete", {"topics": [f"t{n}" for n in range(201)]}),
        ("update", {"topics": ["a"]}),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(control: Control, action: str, body: dict[str, Any]) -> None:
    answer = dry(control, action, **body)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/topics"), answer.text


def test_a_deletion_without_a_preview_is_not_made(control: Control) -> None:
    name = control.topic()
    answer = control.call("POST", "/topics:delete", json={"topics": [name]})
    assert (answer.status_code, answer.json()["code"]) == (428, "PRECONDITION_REQUIRED")
    assert control.get(f"/topics/{name}")["name"] == name
