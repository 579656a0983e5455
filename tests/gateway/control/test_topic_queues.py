"""Requirements of `gateway.control.topic_queues`: changes broker by broker."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.client.admin.topics import Topic, TopicChange, TopicKind
from broker_core.protocol.bodies import TopicConfig
from broker_core.protocol.codes import PERM_READ
from gateway.control.topic_queue_shapes import planned
from tests.gateway.control.conftest import Control


def test_a_dry_run_says_what_a_change_does_and_changes_nothing(control: Control) -> None:
    name = control.topic(queues=4)
    change = {"brokers": [{"broker": "broker-a", "read_queues": 2, "permission": "r"}]}
    answer = control.change("PATCH", f"/topics/{name}/queues", json=change, params={"dry_run": "true"})
    assert answer.status_code == 200, answer.text
    shown = answer.json()
    [item] = shown["items"]
    assert (item["before"]["permission"], item["after"]["permission"], item["after"]["write_queues"]) == ("rw", "r", 4)
    assert item["effects"] == ["sends_stop", "queues_hidden", "queues_unread"]
    assert shown["brokers"] == []
    assert control.get(f"/topics/{name}")["permission"] == "rw"


def test_a_change_reaches_the_broker_and_an_old_version_is_refused(control: Control) -> None:
    name = control.topic(queues=1)
    read = control.call("GET", f"/topics/{name}/queues")
    assert read.json()["brokers"] == [
        {"broker": "broker-a", "read_queues": 1, "write_queues": 1, "permission": "rw"}
    ], "what can be changed"
    tag = read.headers["etag"]
    change = {"brokers": [{"broker": "broker-a", "read_queues": 3, "write_queues": 2}]}
    path = f"/topics/{name}/queues"
    made = control.call("PATCH", path, json=change, headers={"If-Match": tag})
    assert (made.status_code, made.json()["brokers"]) == (200, [{"broker": "broker-a", "done": True, "reason": None}])
    shown = control.get(f"/topics/{name}")
    assert (shown["read_queues"], shown["write_queues"], shown["permission"]) == (3, 2, "rw")
    again = control.call("PATCH", path, json=change, headers={"If-Match": tag})
    assert (again.status_code, again.json()["code"]) == (412, "PRECONDITION_FAILED")


@pytest.mark.parametrize(
    "brokers",
    [
        [],
        [{"broker": "broker-a"}],
        [{"broker": "mars", "read_queues": 1}],
        [{"broker": "broker-a", "read_queues": 1}, {"broker": "broker-a", "permission": "r"}],
        [{"broker": "broker-a", "queue_id": 1}],
    ],
)
def test_a_change_that_cannot_be_made_is_refused(control: Control, brokers: list[dict[str, Any]]) -> None:
    name = control.topic()
    answer = control.change("PATCH", f"/topics/{name}/queues", json={"brokers": brokers})
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["pointer"].startswith("#/brokers")


def test_only_the_named_brokers_are_in_the_plan() -> None:
    topic = Topic("orders", TopicKind.NORMAL, {name: TopicConfig("orders", 4, 4) for name in ("a", "b")})
    [item] = planned(topic, {"b": TopicChange(perm=PERM_READ)})
    assert (item.after.broker, item.after.permission, item.effects) == ("b", "r", ["sends_stop"])
