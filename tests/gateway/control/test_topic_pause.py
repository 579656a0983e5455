"""Requirements of `gateway.control.topic_pause`."""

from __future__ import annotations

import pytest

from tests.gateway.control.conftest import Control


@pytest.mark.parametrize(
    ("body", "permission", "effects"),
    [
        ({}, "w", ["delivery_stops"]),
        ({"stop": "sends"}, "r", ["sends_stop"]),
        ({"stop": "both"}, "none", ["sends_stop", "delivery_stops"]),
    ],
)
def test_a_paused_topic_stops_what_was_named_and_goes_on_when_it_is_resumed(
    control: Control, body: dict[str, str], permission: str, effects: list[str]
) -> None:
    name = control.topic()
    dry = control.call("POST", f"/topics/{name}:pause", json=body, params={"dry_run": "true"})
    assert (dry.status_code, dry.json()["items"][0]["effects"], dry.json()["brokers"]) == (200, effects, [])
    assert control.get(f"/topics/{name}")["permission"] == "rw"
    for _ in range(2):  # it may be repeated
        paused = control.call("POST", f"/topics/{name}:pause", json=body)
        assert paused.json()["brokers"] == [{"broker": "broker-a", "done": True, "reason": None}], paused.text
        assert control.get(f"/topics/{name}")["permission"] == permission
    resumed = control.call("POST", f"/topics/{name}:resume")
    assert resumed.json()["items"][0]["after"]["permission"] == "rw"
    assert control.get(f"/topics/{name}")["permission"] == "rw"


def test_a_topic_whose_sends_are_paused_stores_nothing(control: Control) -> None:
    name = control.topic()
    control.call("POST", f"/topics/{name}:pause", json={"stop": "sends"})
    sent = control.call("POST", f"/topics/{name}/messages", json={"body": {"encoding": "text", "data": "a"}})
    assert sent.status_code != 201, sent.text
    assert control.get(f"/topics/{name}/queues")["items"][0]["count"] == 0


def test_what_cannot_be_paused_is_refused_by_name(control: Control) -> None:
    odd = control.call("POST", f"/topics/{control.topic()}:pause", json={"stop": "everything"})
    assert (odd.status_code, odd.json()["errors"][0]["pointer"]) == (422, "#/stop")
    system = control.call("POST", "/topics/TBW102:pause", json={})
    assert (system.status_code, system.json()["code"]) == (409, "CONFLICT")
    assert control.call("POST", "/topics/nobody-made-this:resume").status_code == 404
