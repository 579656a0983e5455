"""Redriving dead letters over the API, with the program as the worker runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.gateway.control.conftest import Broker, Control
from tests.gateway.control.test_dead_letters import bury
from tests.gateway.installation import ROOT, Installation
from tests.support.wait import wait_until

_RUN = "import django, sys; django.setup(); from console.jobs import launcher; launcher.run(sys.argv[1], worker='w')"

RunJob = Callable[[str], dict[str, Any]]


@pytest.fixture
def run_job(control: Control, installation: Installation, broker: Broker, redis_url: str) -> RunJob:
    """Run a queued job to its end as a worker does; return it."""

    def run(job_id: str) -> dict[str, Any]:
        environment = {
            **os.environ, "PYTHONPATH": str(ROOT), "DJANGO_SETTINGS_MODULE": "gateway.settings",
            "GANTRY_DATA_DIR": str(installation.data), "GANTRY_REDIS_URL": redis_url,
            "GANTRY_NAME_SERVERS": broker.name_server,
        }  # fmt: skip
        subprocess.run([sys.executable, "-c", _RUN, job_id], env=environment, check=True)
        job: dict[str, Any] = control.as_("operator").get(f"/api/v1/jobs/{job_id}").json()
        return job

    return run


def redrive(control: Control, group: str, to: str = "failed_group", **others: Any) -> Any:
    """Ask for a redrive of everything; return the answer."""
    wanted = {"filter": {}, "target": {"to": to}, **others}
    return control.call("POST", f"/dead-letters/{group}:redrive", json=wanted)


@pytest.mark.gantry_only("reasons of dead letters")
def test_the_failed_group_alone_gets_its_dead_letters_back_and_each_only_once(
    control: Control, run_job: RunJob
) -> None:
    topic, group = control.topic(), control.group()
    bury(control, group, topic, "db down", "no rate", "db down")
    # When only one cause is wanted
    wanted: dict[str, Any] = {"filter": {"causes": ["db down"]}, "originals": "until_consumed"}
    preview = redrive(control, group, **wanted, dry_run=True).json()
    assert (preview["messages"], preview["causes"], preview["failing"], preview["skipped"]) == (2, 1, 0, 0)
    assert (preview["read"], preview["stored"], preview["complete"]) == (3, 3, True)
    assert [(each["name"], each["failed"]) for each in preview["groups"]] == [(group, True)]
    assert [each["cause"] for each in preview["first"]] == ["db down", "db down"]
    assert not preview["needs_allow_live_target"]
    answer = redrive(control, group, **wanted)
    assert (answer.status_code, answer.json()["type"]) == (202, "redrive")
    job_id = answer.json()["id"]
    assert answer.headers["location"] == f"/api/v1/jobs/{job_id}"
    busy = redrive(control, group)
    assert (busy.status_code, job_id in busy.json()["detail"]) == (409, True)
    job = run_job(job_id)
    # Then exactly those were sent, and the originals wait
    assert (job["state"], job["counters"]["written"], job["counters"]["failed"]) == ("succeeded", 2, 0)
    assert job["result"]["summary"] == "2 of 2 dead letters redriven; the originals are kept"
    assert {each["name"] for each in job["artefacts"]} == {"report.json", "outcomes.csv", "outcomes.jsonl"}
    path = f"/dead-letters/{group}/outcomes"
    shown = control.get(path, job=job_id)
    assert (shown["counts"], shown["total"]) == ({"redriven": 2, "failed": 0, "skipped": 0, "unknown": 0}, 2)
    assert {each["original"] for each in shown["items"]} <= {"waiting", "unknown"}
    # And the group consumes them as its retries; a consumer by lease has to ask for them, and the dry run said so
    retries = f"/groups/{group}/topics/%25RETRY%25{group}"
    assert f"%RETRY%{group}" in preview["warning"]
    received: list[dict[str, Any]] = []

    def receive() -> bool:
        answer = control.call("POST", f"{retries}:receive", json={"wait_ms": 1000, "max_messages": 8})
        received.extend(answer.json()["messages"])
        return len(received) >= 2

    wait_until(receive)
    assert {each["properties"]["GANTRY_JOB"] for each in received} == {job_id}
    receipts = [each["receipt"] for each in received]
    control.call("POST", f"{retries}:ack", json={"receipts": receipts})
    wait_until(lambda: {each["original"] for each in control.get(path, job=job_id)["items"]} == {"consumed"})
    assert control.get(f"/dead-letters/{group}/causes")["stored"] == 3
    # A second redrive sends the rest only
    again = redrive(control, group, dry_run=True).json()
    assert (again["messages"], again["skipped"]) == (1, 2)
    # What was sent before does not count for the limit
    one = redrive(control, group, limits={"max_messages": 1}, dry_run=True).json()
    assert (one["messages"], one["first"][0]["cause"]) == (1, "no rate")
    nothing = redrive(control, group, **wanted)
    assert (nothing.status_code, nothing.json()["code"]) == (422, "NO_EFFECT")


@pytest.mark.gantry_only("reasons of dead letters")
def test_a_redrive_to_the_origin_names_the_groups_that_will_see_it_again(control: Control, run_job: RunJob) -> None:
    topic, group, other = control.topic(), control.group(), control.group("shipping")
    bury(control, group, topic, "db down")
    control.consume(other, topic, 1)
    wait_until(lambda: len(redrive(control, group, "origin", dry_run=True).json()["groups"]) == 2)
    preview = redrive(control, group, "origin", dry_run=True).json()
    assert [(each["topic"], each["messages"], each["refused"]) for each in preview["topics"]] == [(topic, 1, None)]
    assert preview["needs_allow_live_target"]
    refused = redrive(control, group, "origin")
    assert (refused.status_code, other in refused.json()["detail"]) == (409, True)
    job = run_job(redrive(control, group, "origin", allow_live_target=True).json()["id"])
    assert job["state"] == "succeeded"
    newest = control.get(f"/topics/{topic}/messages")["items"][0]
    detail = control.get(f"/messages/{newest['message_id']}", topic=topic)
    assert detail["properties"]["GANTRY_SRC"].startswith(f"local/broker-a/%DLQ%{group}/")
    entry = control.as_("admin").get("/api/v1/audit", params={"limit": 20}).json()["items"]
    assert any(each["action"] == "redrive.start" and job["id"] in each["resource"] for each in entry)


@pytest.mark.gantry_only("reasons of dead letters")
def test_a_redrive_to_an_origin_that_one_may_not_produce_to_is_not_planned(control: Control) -> None:
    topic, group = control.topic(), control.group()
    bury(control, group, topic, "db down")
    headers = control.token("read", "bodies", "redrive", "produce:payments*")
    for dry_run in (True, False):
        body = {"filter": {}, "target": {"to": "origin"}, "dry_run": dry_run}
        answer = control.call("POST", f"/dead-letters/{group}:redrive", role="stranger", headers=headers, json=body)
        assert (answer.status_code, f"the right 'produce' on topic {topic!r}" in answer.text) == (403, True), (
            answer.text
        )


@pytest.mark.gantry_only("reasons of dead letters")
def test_what_became_of_dead_letters_is_not_told_of_a_topic_that_one_may_not_read(control: Control) -> None:
    topic, group, hidden = control.topic(), control.group("orders"), control.topic("payments")
    bury(control, group, topic, "db down")
    for target, status in ((topic, 200), (hidden, 404)):
        wanted = {"filter": {}, "target": {"to": "other", "topic": target}, "allow_live_target": True}
        job = control.call("POST", f"/dead-letters/{group}:redrive", json=wanted).json()
        assert control.as_("operator").post(f"/api/v1/jobs/{job['id']}:cancel").status_code == 202
        path = f"/dead-letters/{group}/outcomes"
        answer = control.call("GET", path, params={"job": job["id"]}, role="oncall")
        assert answer.status_code == status, answer.text
        if status == 404:
            unknown = control.call("GET", path, params={"job": "0" * 16}, role="oncall").json()["detail"]
            assert answer.json()["detail"].replace(job["id"], "0" * 16) == unknown


def test_only_who_may_see_bodies_sends_dead_letters_where_others_read_them(control: Control) -> None:
    topic, group = control.topic(), control.group()
    headers = control.token("read", "produce", "redrive")

    def asked(target: dict[str, str], *, dry_run: bool) -> tuple[int, str]:
        wanted = {"filter": {}, "target": target, "allow_live_target": target["to"] != "failed_group"}
        body = {**wanted, "dry_run": dry_run}
        answer = control.call("POST", f"/dead-letters/{group}:redrive", role="stranger", headers=headers, json=body)
        return answer.status_code, answer.json().get("detail", "")

    for target in ({"to": "other", "topic": topic}, {"to": "origin"}):
        for dry_run in (True, False):
            status, detail = asked(target, dry_run=dry_run)
            assert (status, f"the right 'bodies' on group {group!r}" in detail) == (403, True), detail
    # The group itself had them before; here there are none
    assert asked({"to": "failed_group"}, dry_run=True)[0] == 200
    assert asked({"to": "failed_group"}, dry_run=False)[0] == 422


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"target": {"to": "origin"}}, "#/filter"),
        ({"filter": {}, "target": {"to": "moon"}}, "#/target/to"),
        ({"filter": {}, "target": {"to": "other"}}, "#/target/topic"),
        ({"filter": {}, "target": {"to": "origin", "topic": "x"}}, "#/target/topic"),
        ({"filter": {"reason": "x"}, "target": {"to": "origin"}}, "#/filter/reason"),
        ({"filter": {"ids": []}, "target": {"to": "origin"}}, "#/filter/ids"),
        (
            {"filter": {}, "target": {"to": "origin"}, "limits": {"messages_per_second": 0}},
            "#/limits/messages_per_second",
        ),
        ({"filter": {}, "target": {"to": "origin"}, "originals": "removed"}, "#/originals"),
    ],
)
def test_a_redrive_that_cannot_be_served_is_refused_by_name(control: Control, body: Any, pointer: str) -> None:
    answer = control.call("POST", f"/dead-letters/{control.group()}:redrive", json=body)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer), answer.text


def test_who_may_not_change_the_group_or_produce_to_the_target_may_not_redrive(control: Control) -> None:
    group = control.group()
    wanted = {"filter": {}, "target": {"to": "other", "topic": "orders"}}
    path = f"/dead-letters/{group}:redrive"
    assert control.call("POST", path, role="viewer", json=wanted).status_code == 403
    assert control.call("POST", path, role="narrow", json=wanted).status_code == 403
    unknown = control.call(
        "POST", "/dead-letters/nobody:redrive", json={"filter": {}, "target": {"to": "failed_group"}}
    )
    assert (unknown.status_code, unknown.json()["code"]) == (404, "GROUP_NOT_FOUND")
    none = control.call("GET", f"/dead-letters/{group}/outcomes", params={"job": "x"})
    assert none.status_code == 404
