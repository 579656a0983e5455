"""Requirements of `gateway.control.definitions`: what there is as one file, compared and applied."""

from __future__ import annotations

from typing import Any

from tests.gateway.control.conftest import Control

PATH = "/api/v1/definitions"


def export(control: Control, *, role: str = "admin", **query: str) -> Any:
    """Return the file for one of the cast."""
    answer = control.as_(role).get(PATH, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def items(file: Any, section: str) -> dict[str, Any]:
    """Return the items of a section by name, of the only cluster if it is one of a cluster."""
    part = file["clusters"][0] if section in ("topics", "groups") else file
    return {each["name"]: each for each in part[section]}


def test_the_file_has_the_settings_of_what_users_made_and_nothing_that_brokers_made(control: Control) -> None:
    topic, group = control.name(), control.group()
    made = {"name": topic, "read_queues": 3, "write_queues": 2, "permission": "r", "message_type": "fifo"}
    assert control.call("POST", "/topics", json=made).status_code == 201

    file = export(control, cluster="local")

    assert file["format"] == "gantry.definitions/1"
    assert items(file, "topics")[topic] == made
    assert items(file, "groups")[group] == {
        "name": group, "retry_max_times": 16, "consume_enabled": True, "consume_broadcast_enabled": True,
    }  # fmt: skip
    assert not {name for name in items(file, "topics") if name.startswith(("%", "TBW102", "RMQ_SYS"))}
    assert "TOOLS_CONSUMER" not in items(file, "groups")


def test_records_of_the_console_are_in_the_file_without_ids(control: Control) -> None:
    role, rule = control.name("team"), control.name("rule")
    rules = [{"kind": "topic", "pattern": "orders-*", "allow": ["read"], "refuse": []}]
    assert control.as_("admin").post("/api/v1/roles", json={"name": role, "rules": rules}).status_code == 201
    hook = {"name": control.name("hook"), "kind": "webhook", "url": "https://example.org/hook"}
    channel = control.as_("operator").post("/api/v1/alert-channels", json=hook).json()
    wanted = {"name": rule, "metric": "group_lag", "subject": "billing", "limit": 5, "channels": [channel["id"]]}
    assert control.as_("operator").post("/api/v1/alert-rules", json=wanted).status_code == 201

    file = export(control, sections="roles,alert_rules")

    assert (file["clusters"], file["schedules"]) == ([], None)
    assert items(file, "roles")[role] == {"name": role, "description": "", "rules": rules}
    found = items(file, "alert_rules")[rule]
    assert (found["channels"], found["limit"], found["cluster"]) == ([hook["name"]], 5, "*")
    assert "id" not in found


def test_what_a_caller_may_not_read_is_left_out_and_named(control: Control) -> None:
    file = export(control, role="viewer")
    assert file["roles"] is None
    assert [(each["section"], each["code"]) for each in file["remarks"] if each["name"] is None] == [
        ("roles", "not_allowed")
    ]
    mine = export(control, role="narrow", cluster="local")
    assert control.topic("unrelated") not in items(mine, "topics")


def test_an_unknown_section_or_cluster_is_refused_by_name(control: Control) -> None:
    refused = control.as_("admin").get(PATH, params={"sections": "topics,users"})
    assert refused.status_code == 422
    assert "users" in refused.json()["errors"][0]["detail"]
    assert control.as_("admin").get(PATH, params={"cluster": "mars"}).json()["code"] == "CLUSTER_NOT_FOUND"
