"""Requirements of the control plane for unknown input, on every route of the OpenAPI document."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from tests.gateway.control.conftest import Control

Operation = tuple[str, str, dict[str, Any]]
# Streams and paths of the data plane, which has its own tests.
WITH_BODY = {"POST", "PUT", "PATCH"}


@pytest.fixture(scope="module")
def operations(control: Control) -> list[Operation]:
    """Method, path and description of every operation, for existing resources where possible."""
    document = control.as_("admin").get("/api/v1/openapi.json").json()
    names = {
        "cluster": "local", "topic": control.topic(), "group": control.group(), "queue_id": "0",
        "user_id": "999999", "token_id": "999999", "broker": "nobody",
    }  # fmt: skip
    return [
        (method.upper(), re.sub(r"{(\w+)}", lambda found: names.get(found[1], "nothing"), path), operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


def pointers(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 422, f"{answer.request.method} {answer.request.url}: {answer.text}"
    assert answer.json()["code"] == "INVALID"
    return [error["pointer"] for error in answer.json()["errors"]]


def test_every_parameter_nobody_declared_is_refused_by_name(control: Control, operations: list[Operation]) -> None:
    for method, path, _ in operations:
        if method == "GET":
            assert "?nonsense" in pointers(control.as_("admin").get(path, params={"nonsense": "1"})), path


def test_every_field_nobody_declared_is_refused_by_name(control: Control, operations: list[Operation]) -> None:
    for method, path, operation in operations:
        if method in WITH_BODY:
            answer = control.as_("admin").request(method, path, json={"nonsense": 1})
            assert [each for each in pointers(answer) if "nonsense" in each or each == "#"], f"{method} {path}"
            assert "requestBody" in operation or pointers(answer) == ["#"], path


def test_a_deletion_takes_no_body(control: Control, operations: list[Operation]) -> None:
    for method, path, _ in operations:
        if method == "DELETE":
            assert pointers(control.as_("admin").request("DELETE", path, json={"dry_run": True})) == ["#"], path


def test_a_parameter_stands_once(control: Control) -> None:
    answer = control.as_("admin").get("/api/v1/jobs?state=running&state=failed")
    assert pointers(answer) == ["?state"]


@pytest.mark.parametrize("text", ["yes", "1", "TRUE", ""])
def test_a_dry_run_that_is_not_understood_deletes_nothing(control: Control, text: str) -> None:
    topic = control.topic()
    answer = control.change("DELETE", f"/topics/{topic}", params={"dry_run": text})
    assert pointers(answer) == ["?dry_run"]
    assert control.get(f"/topics/{topic}")["name"] == topic


@pytest.mark.parametrize(
    ("extra", "pointer"),
    [
        ({"dry_run": True}, "#/dry_run"),
        ({"target": {"topic": "copy", "cluster": "mars"}}, "#/target/cluster"),
        ({"source": {"topic": "orders", "tags": ["a"]}}, "#/source/tags"),
        ({"limits": {"rate": 5}}, "#/limits/rate"),
        ({"max_messages": 5}, "#/max_messages"),
        ({"a/b~c": 1}, "#/a~1b~0c"),
    ],
)
def test_a_job_with_a_field_that_is_not_served_never_starts(
    control: Control, extra: dict[str, Any], pointer: str
) -> None:
    source, target = control.topic(), control.topic()
    wanted: dict[str, Any] = {"type": "replay", "source": {"topic": source}, "target": {"topic": target}}
    answer = control.as_("operator").post("/api/v1/jobs", json={**wanted, **extra})
    assert pointers(answer) == [pointer]
    assert not [job for job in control.as_("operator").get("/api/v1/jobs").json()["items"] if source in str(job)]
    # A schedule contains the same request
    job = {"name": control.name(), "cron": "* * * * *", "job": {**wanted, **extra}}
    scheduled = control.as_("operator").post("/api/v1/schedules", json=job)
    assert pointers(scheduled) == [pointer.replace("#", "#/job")]


def test_every_change_of_a_configuration_says_which_one_was_read(control: Control, operations: list[Operation]) -> None:
    asking = {
        operation["operationId"]
        for _, _, operation in operations
        if any(each["name"] == "If-Match" for each in operation.get("parameters", []))
    }
    changing = {operation["operationId"] for method, _, operation in operations if method in ("PUT", "PATCH", "DELETE")}
    # Tokens never change, preferences belong to their user, and a remembered broker is not a setting.
    assert changing - asking == {"updateMe", "deleteToken", "forgetBroker"}
    for kind in ("topics", "groups"):
        name = control.topic() if kind == "topics" else control.group()
        for method in ("PATCH", "DELETE"):
            answer = control.call(method, f"/{kind}/{name}", json={} if method == "PATCH" else None)
            assert (answer.status_code, answer.json()["code"]) == (428, "PRECONDITION_REQUIRED")
            late = control.call(
                method, f"/{kind}/{name}", json={} if method == "PATCH" else None, headers={"If-Match": '"old"'}
            )
            assert (late.status_code, late.json()["code"]) == (412, "PRECONDITION_FAILED")


@pytest.mark.parametrize("name", ["from", "to"])
def test_a_moment_in_the_query_has_a_zone(control: Control, name: str) -> None:
    topic = control.topic()
    answer = control.call("GET", f"/topics/{topic}/messages", params={name: "2026-05-01T08:00:00"})
    assert pointers(answer) == [f"?{name}"]
    assert "no time zone" in answer.json()["detail"]
    assert control.get(f"/topics/{topic}/messages", **{f"{name}_": "2026-05-01T08:00:00+02:00"})["items"] == []
