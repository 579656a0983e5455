"""Requirements of cloning a group."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.gateway.control.conftest import Control
from tests.support.wait import wait_until


def positions(control: Control, group: str) -> list[tuple[Any, ...]]:
    return [
        (each["topic"], each["queue_id"], each["group_offset"]) for each in control.get(f"/groups/{group}")["queues"]
    ]


@pytest.mark.gantry_only("leases")
def test_a_clone_has_the_settings_and_continues_where_the_other_group_is(control: Control) -> None:
    # Given a group with settings of its own that consumed two of five messages
    topic, source, name = control.topic(), control.group(), control.name("clone")
    control.produce(topic, *"abcde")
    control.consume(source, topic, 2)
    assert control.change("PATCH", f"/groups/{source}", json={"retry_max_times": 3}).status_code == 200
    # When it is cloned
    made = control.call("POST", f"/groups/{source}:clone", json={"name": name})
    # Then the answer says what was copied, and the clone goes on with the third message
    assert made.status_code == 201, made.text
    assert made.json()["offsets"] == [{"topic": topic, "queues": 1, "copied": 1, "reason": None}]
    assert (made.json()["unknown"], made.json()["config"]["retry_max_times"]) == ([], 3)
    wait_until(lambda: positions(control, name) == [(topic, 0, 2)])
    path = f"/groups/{name}/topics/{topic}:receive"
    (message,) = control.call("POST", path, json={"max_messages": 1, "lease_ms": 60_000, "wait_ms": 5000}).json()[
        "messages"
    ]
    assert message["body"]["data"] == "c"
    # And the other group stays where it is, and a second clone of the name is refused
    assert positions(control, source) == [(topic, 0, 2)]
    again = control.call("POST", f"/groups/{source}:clone", json={"name": name})
    assert (again.status_code, again.json()["code"]) == (409, "ALREADY_EXISTS")
    (entry,) = (
        control.as_("admin")
        .get("/api/v1/audit", params={"resource": f"local/groups/{name}", "action": "group.clone"})
        .json()["items"]
    )
    assert (entry["result"], entry["after"]["from"]) == ("ok", source)


def test_a_clone_without_offsets_has_none(control: Control) -> None:
    topic, source, name = control.topic(), control.group(), control.name("clone")
    control.produce(topic, "a")
    control.consume(source, topic, 1)
    made = control.call("POST", f"/groups/{source}:clone", json={"name": name, "offsets": False})
    assert (made.status_code, made.json()["offsets"]) == (201, [])
    assert control.get(f"/groups/{name}")["queues"] == []


def test_what_cannot_be_cloned_is_refused_by_name(control: Control) -> None:
    source = control.group()
    reserved = control.call("POST", f"/groups/{source}:clone", json={"name": "CID_RMQ_SYS_mine"})
    assert (reserved.status_code, reserved.json()["errors"][0]["pointer"]) == (422, "#/name")
    strange = control.call("POST", f"/groups/{source}:clone", json={"name": control.name(), "topics": ["a"]})
    assert (strange.status_code, strange.json()["errors"][0]["pointer"]) == (422, "#/topics")
    nobody = control.call("POST", "/groups/nobody-made-this:clone", json={"name": control.name()})
    assert (nobody.status_code, nobody.json()["code"]) == (404, "GROUP_NOT_FOUND")


def test_a_clone_needs_the_rights_on_its_own_name(control: Control) -> None:
    # Given a role with all rights on orders* alone
    source = control.group("orders")
    for name, status in ((control.name("orders"), 201), (control.name("payments"), 403)):
        answer = control.call("POST", f"/groups/{source}:clone", role="oncall", json={"name": name})
        assert answer.status_code == status, answer.text


def test_a_clone_has_no_offsets_in_topics_that_the_caller_may_not_read(control: Control) -> None:
    group, seen, hidden = control.group("orders"), control.topic("orders"), control.topic("payments")
    for topic in (seen, hidden):
        control.produce(topic, "a", "b")
        control.consume(group, topic, 1)
    name = control.name("orders")
    made = control.call("POST", f"/groups/{group}:clone", role="oncall", json={"name": name})
    assert (made.status_code, made.json()["topics_hidden"]) == (201, True), made.text
    assert ([each["topic"] for each in made.json()["offsets"]], hidden in made.text) == ([seen], False)
    # Then neither the group nor the audit tells of the other one
    wait_until(lambda: positions(control, name) == [(seen, 0, 1)])
    audit = control.as_("oncall").get("/api/v1/audit", params={"resource": f"local/groups/{name}"})
    assert (audit.json()["items"][0]["action"], hidden in audit.text) == ("group.clone", False)


def test_a_clone_names_a_broker_whose_offsets_nobody_could_read(control: Control, gone: Callable[..., None]) -> None:
    topic, source, name = control.topic(), control.group(), control.name("clone")
    gone(topic, source)
    made = control.call("POST", f"/groups/{source}:clone", json={"name": name})
    assert made.status_code == 207, made.text
    assert [each["broker"] for each in made.json()["unknown"]] == ["broker-gone"]
