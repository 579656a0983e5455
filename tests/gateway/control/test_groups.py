"""Requirements of `gateway.control.groups`."""

from __future__ import annotations

import pytest

from tests.gateway.control.conftest import Control
from tests.support.wait import wait_until


def test_a_created_group_is_shown_with_its_settings(control: Control) -> None:
    name = control.name("billing")
    made = control.call("POST", "/groups", json={"name": name, "retry_max_times": 3, "consume_enabled": False})
    assert made.status_code == 201
    config = control.get(f"/groups/{name}")["config"]
    assert (config["retry_max_times"], config["consume_enabled"]) == (3, False)


def test_a_name_that_is_taken_is_refused(control: Control) -> None:
    answer = control.call("POST", "/groups", json={"name": control.group()})
    assert (answer.status_code, answer.json()["code"]) == (409, "ALREADY_EXISTS")


def test_a_name_of_the_brokers_own_is_refused(control: Control) -> None:
    answer = control.call("POST", "/groups", json={"name": "CID_RMQ_SYS_mine"})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/name")


def test_a_group_that_nobody_made_is_not_there(control: Control) -> None:
    for method in ("GET", "PATCH", "DELETE"):
        answer = control.call(method, "/groups/nobody-made-this", json={} if method == "PATCH" else None)
        assert (answer.status_code, answer.json()["code"]) == (404, "GROUP_NOT_FOUND"), method


@pytest.mark.sample
def test_the_lag_of_a_group_is_what_it_has_not_consumed(control: Control) -> None:
    # Given a group that consumed two of five messages
    topic, group = control.topic(), control.group()
    control.produce(topic, *"abcde")
    control.consume(group, topic, 2)
    # Then its lag is three, over its queues and in its summary
    wait_until(lambda: control.get(f"/groups/{group}")["lag"] == 3)
    shown = control.get(f"/groups/{group}")
    assert [(q["topic"], q["broker_offset"], q["group_offset"], q["lag"]) for q in shown["queues"]] == [
        (topic, 5, 2, 3)
    ]
    assert shown["time_lag_ms"] > 0
    assert (shown["topics"], shown["unknown_reason"]) == ([topic], None)
    line = next(row for row in control.get("/groups", search=group)["items"] if row["name"] == group)
    assert line["lag"] == 3
    assert [row["name"] for row in control.get(f"/topics/{topic}/groups")["items"]] == [group]


@pytest.mark.gantry_only("leases")
def test_messages_that_are_out_are_counted(control: Control) -> None:
    topic, group = control.topic(), control.group()
    control.produce(topic, *"abcde")
    control.consume(group, topic, 1)
    path = f"/groups/{group}/topics/{topic}:receive"
    assert len(control.call("POST", path, json={"max_messages": 3, "lease_ms": 60_000}).json()["messages"]) == 3
    wait_until(lambda: control.get(f"/groups/{group}")["leases"] == 3)
    assert control.get(f"/groups/{group}")["lag"] == 4, "what is out is not consumed"


def test_a_change_keeps_what_it_does_not_name_and_heeds_what_was_read(control: Control) -> None:
    group = control.group()
    read = control.call("GET", f"/groups/{group}")
    tag = {"If-Match": read.headers["etag"]}
    changed = control.call("PATCH", f"/groups/{group}", json={"retry_max_times": 5}, headers=tag)
    assert changed.json()["config"] == {**read.json()["config"], "retry_max_times": 5}
    late = control.call("PATCH", f"/groups/{group}", json={"retry_max_times": 6}, headers=tag)
    assert (late.status_code, late.json()["code"]) == (412, "PRECONDITION_FAILED")
    # The settings are read again: the next change can follow at once.
    tag = {"If-Match": control.call("GET", f"/groups/{group}").headers["etag"]}
    assert control.call("PATCH", f"/groups/{group}", json={"retry_max_times": 7}, headers=tag).status_code == 200


@pytest.mark.gantry_only("leases")
def test_a_paused_group_gets_nothing_and_settles_what_it_has(control: Control) -> None:
    topic, group = control.topic(), control.group()
    control.produce(topic, "a", "b")
    path = f"/groups/{group}/topics/{topic}"
    one = {"max_messages": 1, "lease_ms": 60_000}
    (held,) = control.call("POST", f"{path}:receive", json=one).json()["messages"]
    # When the group is paused, twice
    for _ in range(2):
        paused = control.call("POST", f"/groups/{group}:pause")
        assert (paused.status_code, paused.json()["config"]["consume_enabled"]) == (200, False)
        assert paused.json()["delivery"] == "paused"
    # Then every view says so, the list as soon as it is read again
    assert control.get(f"/groups/{group}")["delivery"] == "paused"
    wait_until(lambda: [each["delivery"] for each in control.get("/groups", search=group)["items"]] == ["paused"])
    # And it is refused more messages, and may settle what it has
    assert control.call("POST", f"{path}:receive", json=one).status_code != 200
    assert control.call("POST", f"{path}:ack", json={"receipts": [held["receipt"]]}).status_code == 200
    # And it goes on where it stopped
    assert control.call("POST", f"/groups/{group}:resume").json()["delivery"] == "on"
    (next_,) = control.call("POST", f"{path}:receive", json=one).json()["messages"]
    assert next_["body"]["data"] == "b"
    assert control.call("POST", f"/groups/{group}:pause", role="viewer").status_code == 403
    assert control.call("POST", "/groups/nobody-made-this:pause").status_code == 404


@pytest.mark.gantry_only("leases")
def test_the_impact_of_a_deletion_names_what_it_hits(control: Control) -> None:
    # Given a group that holds two of three messages
    topic, group = control.topic(), control.group()
    control.produce(topic, *"abc")
    path = f"/groups/{group}/topics/{topic}"
    held = control.call("POST", f"{path}:receive", json={"max_messages": 2, "lease_ms": 60_000}).json()["messages"]
    assert len(held) == 2
    wait_until(lambda: [each["in_flight"] for each in control.get(f"/groups/{group}")["lease_consumers"]] == [2])
    wait_until(lambda: control.get(f"/groups/{group}")["leases"] == 2)
    # Then the impact says so, and its tag allows the deletion
    impact = control.call("GET", f"/groups/{group}/impact")
    assert impact.status_code == 200
    shown = impact.json()
    assert (shown["clients"], shown["lease_consumers"], shown["leases"]) == (0, 1, 2)
    assert (shown["lag"], shown["topics"]) == (3, [topic])
    assert shown["kept"] == [{"name": f"%RETRY%{group}", "messages": 0, "unknown_reason": None}]
    assert control.call("GET", f"/groups/{group}/impact", role="viewer").status_code == 403
    headers = {"If-Match": impact.headers["etag"]}
    assert control.call("DELETE", f"/groups/{group}", headers=headers).status_code == 204
    assert control.call("GET", f"/groups/{group}/impact").status_code == 404


def test_a_deleted_group_is_gone(control: Control) -> None:
    group = control.group()
    assert control.change("DELETE", f"/groups/{group}").status_code == 204
    assert control.call("GET", f"/groups/{group}").status_code == 404


def test_a_group_of_the_brokers_cannot_be_deleted(control: Control) -> None:
    answer = control.call("DELETE", "/groups/TOOLS_CONSUMER")
    assert (answer.status_code, answer.json()["code"]) == (409, "CONFLICT")


def test_a_group_without_clients_has_none(control: Control) -> None:
    group = control.group()
    assert control.get(f"/groups/{group}/clients") == {"items": [], "missing": [], "callers_known": True}
    assert control.get(f"/groups/{group}/subscriptions") == {
        "items": [],
        "consistent": True,
        "silent": [],
        "missing": [],
    }


@pytest.mark.gantry_only("leases")
def test_whoever_receives_over_http_is_a_client_of_the_group(control: Control) -> None:
    topic, group = control.topic(), control.group()
    control.produce(topic, "a", "b")
    path = f"/groups/{group}/topics/{topic}:receive"
    assert len(control.call("POST", path, json={"max_messages": 2, "lease_ms": 60_000}).json()["messages"]) == 2
    wait_until(lambda: [each["in_flight"] for each in control.get(f"/groups/{group}")["lease_consumers"]] == [2])
    state = control.get(f"/groups/{group}")
    (consumer,) = state["lease_consumers"]
    assert (consumer["caller"], consumer["user"], consumer["kind"]) == ("all", "operator", "token")
    assert not state["clients"], "none of them is a native client"
    (row,) = control.get("/groups", search=group)["items"]
    assert row["lease_consumers"][0]["caller"] == "all"
    (client,) = control.get(f"/groups/{group}/clients")["items"]
    assert client == {
        "client_id": "all",
        "protocol": "http_lease",
        **{name: consumer[name] for name in ("address", "user", "since", "in_flight")},
        "last_receive_at": client["last_receive_at"],
        "language": None,
        "version": None,
        "queues": None,
    }


def test_history_has_a_value_or_a_gap_for_every_step(control: Control) -> None:
    group = control.group()
    for wanted, points in (("15m", 900), ("1h", 720), ("6h", 360), ("24h", 720), ("7d", 672)):
        history = control.get(f"/groups/{group}/lag/history", range_=wanted)
        assert {name: len(values) for name, values in history["series"].items()} == dict.fromkeys(
            ("lag", "in_rate", "out_rate"), points
        )
    assert control.call("GET", f"/groups/{group}/lag/history", params={"range": "2h"}).status_code == 422
