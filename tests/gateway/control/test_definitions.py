"""Requirements of `gateway.control.definitions`: what there is as one file, compared and applied."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gateway.control.conftest import Control
from tests.gateway.installation import PASSWORD, Installation

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


@pytest.mark.gantry_only("message types")
def test_the_file_has_the_settings_of_what_users_made_and_nothing_that_brokers_made(control: Control) -> None:
    topic, group = control.name(), control.group()
    made = {"name": topic, "read_queues": 3, "write_queues": 2, "permission": "r", "message_type": "fifo"}
    assert control.call("POST", "/topics", json=made).status_code == 201

    file = export(control, cluster=control.cluster)

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
    file = export(control, role="viewer", cluster=control.cluster)
    assert file["roles"] is None
    assert [(each["section"], each["code"]) for each in file["remarks"] if each["name"] is None] == [
        ("roles", "not_allowed")
    ]
    mine = export(control, role="narrow", cluster=control.cluster)
    assert control.topic("unrelated") not in items(mine, "topics")


def test_an_unknown_section_or_cluster_is_refused_by_name(control: Control) -> None:
    refused = control.as_("admin").get(PATH, params={"sections": "topics,users"})
    assert refused.status_code == 422
    assert "users" in refused.json()["errors"][0]["detail"]
    assert control.as_("admin").get(PATH, params={"cluster": "mars"}).json()["code"] == "CLUSTER_NOT_FOUND"


def the_file(control: Control, **sections: Any) -> dict[str, Any]:
    """Return a file with these sections; topics and groups are those of the cluster."""
    part = {name: sections.pop(name) for name in ("topics", "groups") if name in sections}
    return {
        "format": "gantry.definitions/1",
        "clusters": [{"name": control.cluster, **part}] if part else [],
        **sections,
    }


def diff(control: Control, file: Any, *, role: str = "admin", **options: Any) -> Any:
    """Return what a file would change."""
    answer = control.as_(role).post(f"{PATH}:diff", json={"definitions": file, **options})
    assert answer.status_code == 200, answer.text
    return answer


def apply(control: Control, file: Any, *, role: str = "admin", tag: str = "*", **options: Any) -> Any:
    """Apply a file, of whatever version of what there is."""
    body = {"definitions": file, **options}
    return control.as_(role).post(f"{PATH}:apply", json=body, headers={"If-Match": tag})


def test_what_was_saved_changes_nothing(control: Control) -> None:
    control.topic()
    control.group()
    plan = diff(control, export(control)).json()
    assert plan["items"] == []
    assert (plan["counts"]["same"] > 1, plan["counts"]["kept"]) == (True, 0)


@pytest.mark.gantry_only("message types")
def test_a_file_creates_and_changes_what_the_comparison_said_and_removes_nothing(control: Control) -> None:
    # Given a topic with other settings, one that the file does not have, and a new one
    old, kept, new, group = control.topic(), control.topic(), control.name(), control.name("billing")
    file = the_file(
        control,
        topics=[{"name": old, "read_queues": 3}, {"name": new, "permission": "w", "message_type": "delay"}],
        groups=[{"name": group, "retry_max_times": 3}],
    )

    # When it is compared and applied
    compared = diff(control, file)
    applied = apply(control, file, tag=compared.headers["etag"])

    # Then exactly that was done
    planned = [(each["name"], each["action"]) for each in compared.json()["items"]]
    assert planned == [(old, "change"), (new, "create"), (group, "create")]
    assert compared.json()["items"][0]["changes"] == [{"field": "read_queues", "before": 1, "after": 3}]
    assert (applied.status_code, applied.json()["counts"]["done"]) == (200, 3), applied.text
    now = items(export(control, cluster=control.cluster), "topics")
    assert (now[old]["read_queues"], now[old]["write_queues"]) == (3, 1)
    assert (now[new]["permission"], now[new]["message_type"], now[new]["read_queues"]) == ("w", "delay", 4)
    assert kept in now
    assert control.get(f"/groups/{group}")["config"]["retry_max_times"] == 3
    # And a second time there is nothing to do
    assert diff(control, file).json()["items"] == []


def test_records_of_the_console_are_created_and_changed(control: Control) -> None:
    role, rule, hook = control.name("team"), control.name("rule"), control.name("hook")
    made = {"name": hook, "kind": "webhook", "url": "https://example.org/hook"}
    assert control.as_("operator").post("/api/v1/alert-channels", json=made).status_code == 201
    source, target = control.topic(), control.name()
    job = {"type": "replay", "cluster": control.cluster, "source": {"topic": source}, "target": {"topic": target}}
    nightly: dict[str, Any] = {"name": control.name("nightly"), "cron": "0 3 * * *", "job": job, "enabled": False}
    first = {"name": rule, "metric": "group_lag", "limit": 5, "channels": [hook]}
    rules = [{"kind": "topic", "pattern": "orders-*", "allow": ["read"]}]
    file = the_file(
        control,
        topics=[{"name": target}],  # the schedule needs it
        roles=[{"name": role, "rules": rules}],
        alert_rules=[first],
        schedules=[nightly],
    )
    applied = apply(control, file)
    assert applied.status_code == 200, applied.text
    assert apply(control, the_file(control, alert_rules=[{**first, "limit": 7}])).json()["counts"]["done"] == 1

    now = export(control)
    assert items(now, "roles")[role]["rules"] == [{**rules[0], "refuse": []}]
    assert (items(now, "alert_rules")[rule]["limit"], items(now, "alert_rules")[rule]["channels"]) == (7, [hook])
    assert items(now, "schedules")[nightly["name"]]["job"]["target"] == {"topic": target}
    assert diff(control, now).json()["items"] == []


@pytest.mark.gantry_only("message types")
def test_what_cannot_be_done_is_refused_item_by_item_with_the_reason(control: Control) -> None:
    typed = control.name()
    assert control.call("POST", "/topics", json={"name": typed, "message_type": "fifo"}).status_code == 201
    file = the_file(
        control,
        topics=[{"name": "no blanks"}, {"name": typed, "message_type": "delay"}],
        alert_rules=[{"name": control.name("rule"), "metric": "group_lag", "limit": 5, "channels": ["nobody"]}],
        schedules=[{"name": control.name("never"), "cron": "0 0 31 2 *", "job": {"type": "replay"}}],
    )
    found = {each["name"]: each for each in diff(control, file).json()["items"]}
    assert {each["action"] for each in found.values()} == {"refused"}
    reasons = [each["reason"] for each in found.values()]
    for words, reason in zip(("name", "declared", "'nobody'", "cron"), reasons, strict=True):
        assert words in reason
    applied = apply(control, file)
    assert (applied.status_code, applied.json()["counts"]["refused"]) == (207, 4)


def test_each_item_needs_the_right_on_its_name(control: Control) -> None:
    mine, other = control.name("orders"), control.name("payments")
    file = the_file(control, topics=[{"name": mine}, {"name": other}], roles=[{"name": control.name("r"), "rules": []}])
    found = {each["name"]: each["action"] for each in diff(control, file, role="oncall").json()["items"]}
    assert (found[mine], found[other]) == ("create", "refused")
    applied = apply(control, file, role="oncall")
    assert [each["result"] for each in applied.json()["items"]] == ["refused", "done", "refused"]
    assert control.call("GET", f"/topics/{other}").status_code == 404


def test_a_file_only_finds_the_name_of_a_hidden_schedule_taken(control: Control, installation: Installation) -> None:
    # Given somebody who may run every job, on some topics alone, and a schedule of others
    stem, admin = control.name("mine"), control.as_("admin")
    every = [("job", "*", ["read", "jobs"]), ("schedule", "*", ["read", "jobs"])]
    names = [("topic", f"{stem}*", ["read", "manage", "produce", "bodies"])]
    rules = [{"kind": kind, "pattern": pattern, "allow": verbs, "refuse": []} for kind, pattern, verbs in every + names]
    user = {"username": stem, "password": PASSWORD, "role": None, "own_roles": [stem]}
    assert admin.post("/api/v1/roles", json={"name": stem, "rules": rules}).status_code == 201
    assert admin.post("/api/v1/users", json=user).status_code == 201
    nightly = {"name": stem, "cron": "0 3 * * *"}
    hidden = {"type": "reconcile", "left": {"topic": control.topic()}, "right": {"topic": control.topic()}}
    made = admin.post("/api/v1/schedules", json={**nightly, "job": hidden})
    assert made.status_code == 201, made.text
    # When a file has a schedule of that name
    seen = {"type": "reconcile", "left": {"topic": control.topic(stem)}, "right": {"topic": control.topic(stem)}}
    file = the_file(control, schedules=[{**nightly, "job": seen}])
    with installation.client(None) as mia:
        assert mia.post("/api/v1/login", json={"username": stem, "password": PASSWORD}).status_code == 200
        mia.headers["X-CSRFToken"] = mia.cookies["csrftoken"]
        for action, status, headers in (("diff", 200, {}), ("apply", 207, {"If-Match": "*"})):
            answer = mia.post(f"{PATH}:{action}", json={"definitions": file}, headers=headers)
            assert answer.status_code == status, answer.text
            # Then it is neither compared nor changed
            [item] = answer.json()["items"]
            assert item["reason"] == "name: another schedule has this name"
    assert admin.get(f"/api/v1/schedules/{made.json()['id']}").json()["job"]["left"] == hidden["left"]


def test_a_file_is_applied_to_what_was_compared_and_to_another_cluster_by_its_name(control: Control) -> None:
    file = the_file(control, topics=[{"name": control.name()}])
    compared = diff(control, file)
    missing = control.as_("admin").post(f"{PATH}:apply", json={"definitions": file})
    assert (missing.status_code, missing.json()["code"]) == (428, "PRECONDITION_REQUIRED")
    assert apply(control, file).status_code == 200
    late = apply(control, file, tag=compared.headers["etag"])
    assert (late.status_code, late.json()["code"]) == (412, "PRECONDITION_FAILED")

    file["clusters"][0] |= {"name": "staging", "topics": [{"name": control.name()}]}
    (refused,) = diff(control, file).json()["items"]
    assert "'staging'" in refused["reason"]
    (there,) = diff(control, file, cluster=control.cluster).json()["items"]
    assert (there["action"], there["cluster"]) == ("create", control.cluster)
    assert diff(control, file, cluster=control.cluster, sections=["roles"]).json()["items"] == []


def test_a_field_that_is_not_known_and_a_name_twice_are_refused_by_name(control: Control) -> None:
    for file, pointer in (
        (the_file(control, topics=[{"name": "a", "retention": 5}]), "#/definitions/clusters/0/topics/0/retention"),
        (the_file(control, users=[]), "#/definitions/users"),
        ({**the_file(control), "format": "gantry.definitions/2"}, "#/definitions/format"),
        (the_file(control, groups=[{"name": "a"}, {"name": "a"}]), "#/definitions/clusters/0/groups"),
    ):
        answer = control.as_("admin").post(f"{PATH}:diff", json={"definitions": file})
        assert answer.status_code == 422, answer.text
        assert pointer in [each["pointer"] for each in answer.json()["errors"]], answer.text


def test_topics_of_a_cluster_that_does_not_answer_are_unknown_and_not_to_be_created(control: Control) -> None:
    silent = control.name("silent")
    made = control.as_("admin").post("/api/v1/clusters", json={"name": silent, "name_servers": ["127.0.0.1:1"]})
    assert made.status_code == 201, made.text
    try:
        file = export(control, cluster=silent, sections="topics")
        assert (file["clusters"][0]["topics"], file["remarks"][0]["code"]) == (None, "unreachable")
        (found,) = diff(control, the_file(control, topics=[{"name": "orders"}]), cluster=silent).json()["items"]
        assert (found["action"], found["reason"]) == ("refused", file["remarks"][0]["text"])
    finally:
        control.as_("admin").delete(f"/api/v1/clusters/{silent}", headers={"If-Match": "*"})
