"""Requirements of `gateway.control.group_bulk`."""

from __future__ import annotations

from typing import Any

from tests.gateway.control.conftest import Control


def dry(control: Control, action: str, names: list[str], *, role: str = "operator") -> Any:
    """Return the answer to a dry run."""
    return control.call("POST", f"/groups:{action}", role=role, json={"groups": names}, params={"dry_run": "true"})


def make(control: Control, action: str, names: list[str], tag: str) -> Any:
    """Return the answer to the change that was previewed."""
    return control.call("POST", f"/groups:{action}", json={"groups": names}, headers={"If-Match": tag})


def test_many_groups_are_paused_resumed_and_deleted_with_one_preview_each(control: Control) -> None:
    # Given a group with a lag, one that never consumed, one of the brokers' own and one that is not there
    topic, behind, idle = control.topic(), control.group(), control.group()
    control.produce(topic, *"abc")
    control.consume(behind, topic, 1)
    names = [behind, "TOOLS_CONSUMER", idle, "nobody-made-this"]
    for action, enabled in (("pause", False), ("resume", True)):
        # When a change of all is previewed
        preview = dry(control, action, names)
        # Then it says what is hit, refuses the others by name, and changes nothing
        assert [each["outcome"] for each in preview.json()["items"]] == ["planned", "refused", "planned", "refused"]
        assert preview.json()["items"][0]["topics"] == [topic]
        assert preview.json()["items"][0]["consume_enabled"] is not enabled
        assert "belongs to the brokers" in preview.json()["items"][1]["reason"]
        # And each group has its outcome when it is made
        made = make(control, action, names, preview.headers["etag"])
        assert made.status_code == 207, made.text
        assert [each["outcome"] for each in made.json()["items"]] == ["done", "refused", "done", "refused"]
        assert control.get(f"/groups/{behind}")["config"]["consume_enabled"] is enabled
    preview = dry(control, "delete", [behind, idle])
    assert make(control, "delete", [behind, idle], preview.headers["etag"]).status_code == 200
    assert control.call("GET", f"/groups/{behind}").status_code == 404


def test_a_preview_of_groups_that_changed_since_is_refused(control: Control) -> None:
    group = control.group()
    preview = dry(control, "delete", [group])
    assert control.call("POST", f"/groups/{group}:pause").status_code == 200
    late = make(control, "delete", [group], preview.headers["etag"])
    assert (late.status_code, late.json()["code"]) == (412, "PRECONDITION_FAILED")
    untagged = control.call("POST", "/groups:delete", json={"groups": [group]})
    assert untagged.status_code == 428


def test_groups_that_a_role_may_not_change_are_refused_one_by_one(control: Control) -> None:
    shown, hidden = control.group("orders"), control.group("payments")
    items = dry(control, "delete", [shown, hidden], role="oncall").json()["items"]
    assert [each["outcome"] for each in items] == ["planned", "refused"]
    assert "This needs the right" in items[1]["reason"]
    assert dry(control, "pause", [shown], role="viewer").status_code == 403


def test_a_list_of_groups_has_a_limit_and_no_name_twice(control: Control) -> None:
    for names in ([], ["a", "a"], [f"g{n}" for n in range(201)]):
        answer = dry(control, "pause", names)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/groups")
