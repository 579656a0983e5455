"""Requirements of the settings of a broker: shown, checked, changed, read back, undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.gateway.control.conftest import Control

CONFIG = "/brokers/broker-a/config"


def setting(answer: Any, name: str) -> Any:
    return next(row for row in answer["settings"] if row["name"] == name)


@pytest.mark.gantry_only("its settings")
def test_every_setting_is_shown_with_what_is_known_of_it(control: Control) -> None:
    shown = control.get(CONFIG, role="viewer")

    assert shown["product"] == "gantry"
    assert setting(shown, "fileReservedTime") == {
        "name": "fileReservedTime",
        "value": "72",
        "default": "72",
        "unit": "h",
        "accepts": "a number from 0 to 1,000,000",
        "effect": "live",
        "risk": "removes_messages",
        "fixed": None,
    }
    assert setting(shown, "brokerName")["fixed"] == "fixed"


@pytest.mark.gantry_only("its settings")
def test_a_change_is_previewed_made_read_back_recorded_and_undone(control: Control) -> None:
    body = {"settings": {"shortPollingTimeMills": "0900", "flushIntervalCommitLog": "500"}}

    planned = control.call("POST", f"{CONFIG}:preview", role="admin", json=body).json()["changes"]
    assert [(each["name"], each["before"], each["wanted"], each["result"]) for each in planned] == [
        ("shortPollingTimeMills", "1000", "900", "changed"),
        ("flushIntervalCommitLog", "500", "500", "same"),
    ]
    before = control.get(CONFIG)
    answer = control.call("PATCH", CONFIG, role="admin", headers={"If-Match": before["etag"]}, json=body)
    assert answer.status_code == 200, answer.text
    changed = answer.json()
    assert setting(changed, "shortPollingTimeMills")["value"] == "900"
    assert changed["undo"] == {"shortPollingTimeMills": "1000"}
    assert control.get(CONFIG)["etag"] == changed["etag"] != before["etag"]

    tag = {"If-Match": changed["etag"]}
    undone = control.call("PATCH", CONFIG, role="admin", headers=tag, json={"settings": changed["undo"]})
    assert setting(undone.json(), "shortPollingTimeMills")["value"] == "1000"
    records = control.as_("admin").get("/api/v1/audit", params={"resource": "local/brokers/broker-a"}).json()["items"]
    assert [(each["before"], each["after"]) for each in records if each["action"] == "broker.update"][:2] == [
        ({"shortPollingTimeMills": "900"}, {"shortPollingTimeMills": "1000"}),
        ({"shortPollingTimeMills": "1000"}, {"shortPollingTimeMills": "900"}),
    ]


def test_nothing_is_changed_when_one_setting_cannot_be(control: Control) -> None:
    body = {"settings": {"shortPollingTimeMills": "7", "deleteWhen": "noon", "brokerName": "b", "nonsense": "1"}}

    answer = control.call("PATCH", CONFIG, role="admin", headers={"If-Match": "*"}, json=body)

    assert answer.status_code == 422
    assert {each["pointer"]: each["code"] for each in answer.json()["errors"]} == {
        "#/settings/deleteWhen": "INVALID",
        "#/settings/brokerName": "SETTING_FIXED",
        "#/settings/nonsense": "SETTING_FIXED",
    }
    assert setting(control.get(CONFIG), "shortPollingTimeMills")["value"] == "1000"


def test_a_change_names_the_version_that_was_read(control: Control) -> None:
    body = {"settings": {"shortPollingTimeMills": "900"}}

    assert control.call("PATCH", CONFIG, role="admin", json=body).status_code == 428
    late = control.call("PATCH", CONFIG, role="admin", headers={"If-Match": '"old"'}, json=body)
    assert late.status_code == 412


def test_only_administrators_change_settings(control: Control) -> None:
    body = {"settings": {"shortPollingTimeMills": "900"}}

    assert control.call("PATCH", CONFIG, headers={"If-Match": "*"}, json=body).status_code == 403
    assert control.call("POST", f"{CONFIG}:preview", json=body).status_code == 403


def test_the_settings_of_a_broker_that_is_away_are_unknown(control: Control, gone: Callable[[str], None]) -> None:
    gone("orders")
    answer = control.call("GET", "/brokers/broker-gone/config")
    assert (answer.status_code, answer.json()["code"]) == (503, "BROKER_UNREACHABLE"), answer.text
    assert "broker-gone is not listed by any name server" in answer.json()["detail"]
    assert control.call("GET", "/brokers/broker-gone/config", params={"broker_id": 1}).status_code == 404


def test_a_broker_that_is_not_listed_is_not_found(control: Control) -> None:
    answer = control.call("GET", "/brokers/nobody/config")

    assert (answer.status_code, "'nobody'" in answer.json()["detail"]) == (404, True)
    assert control.call("GET", f"{CONFIG}?broker_id=3").status_code == 404


def test_a_value_that_is_no_text_is_refused_by_name(control: Control) -> None:
    answer = control.call(
        "PATCH", CONFIG, role="admin", headers={"If-Match": "*"}, json={"settings": {"shortPollingTimeMills": 900}}
    )

    assert answer.status_code == 422
    assert answer.json()["errors"][0]["pointer"] == "#/settings/shortPollingTimeMills"


@pytest.mark.gantry_only("its settings")
def test_a_cluster_says_what_its_brokers_can_do(control: Control) -> None:
    shown = control.get("", role="viewer")

    able = {each["name"]: (each["state"], each["value"]) for each in shown["capabilities"]}
    assert (able["lease"], able["sql"], able["replicas"]) == (("yes", None), ("yes", None), ("no", "1"))


def test_a_connection_is_tried_before_a_cluster_is_added(control: Control) -> None:
    servers = control.get("")["name_servers"]
    admin = control.as_("admin")

    report = admin.post("/api/v1/clusters:probe", json={"name_servers": servers}).json()
    assert {each["step"]: each["state"] for each in report["steps"]}["reach"] == "passed"
    assert control.as_("operator").post("/api/v1/clusters:probe", json={"name_servers": servers}).status_code == 403
    wrong = admin.post("/api/v1/clusters:probe", json={"name_servers": servers, "address_map": {"x": "y:1"}})
    assert wrong.status_code == 422


def test_an_address_map_is_kept_changed_and_refused_for_jobs(control: Control) -> None:
    admin, name = control.as_("admin"), control.name("east")
    body = {"name": name, "name_servers": ["127.0.0.1:1"], "address_map": {"10.0.0.1:10911": "127.0.0.1:1"}}
    made = admin.post("/api/v1/clusters", json=body)
    assert (made.status_code, made.json()["address_map"]) == (201, body["address_map"])
    path, tag = f"/api/v1/clusters/{name}", {"If-Match": made.json()["etag"]}
    part = {"topic": "orders", "from": "2026-05-01T00:00:00Z", "to": "2026-05-02T00:00:00Z"}
    job = {"type": "replay", "name": "copy", "cluster": name, "source": part, "target": {"topic": "copies"}}
    refused = admin.post("/api/v1/jobs", json=job)
    assert (refused.status_code, "address map" in refused.text) == (422, True)
    assert admin.patch(path, headers=tag, json={}).status_code == 422
    changed = admin.patch(path, headers=tag, json={"address_map": {}})
    assert (changed.json()["address_map"], changed.json()["name_servers"]) == ({}, ["127.0.0.1:1"])
    assert admin.delete(path, headers={"If-Match": changed.json()["etag"]}).status_code == 204
