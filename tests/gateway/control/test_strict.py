"""Requirements of the control plane for unknown input, on every route of the OpenAPI document."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
import pytest

from tests.gateway.control.conftest import Control

pytestmark = pytest.mark.gantry_only("no broker takes part")

Operation = tuple[str, str, dict[str, Any]]
# Streams and paths of the data plane, which has its own tests.
WITH_BODY = {"POST", "PUT", "PATCH"}


@pytest.fixture(scope="module")
def operations(control: Control) -> list[Operation]:
    """Method, path and description of every operation, for existing resources where possible."""
    document = control.as_("admin").get("/api/v1/openapi.json").json()
    names = {
        "cluster": "local", "topic": control.topic(), "group": control.group(), "queue_id": "0",
        "user_id": "999999", "token_id": "999999", "search_id": "999999", "broker": "nobody",
        "replica": "999999",
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
        ({"on_error": "record"}, "#/on_error"),
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
    # Tokens and sessions never change, preferences belong to their user, and neither a remembered broker nor a message
    # is a setting. The rate of a job is set while its numbers change: the last word counts, also of two.
    assert changing - asking == {
        "updateMe", "deleteToken", "endMySession", "endSession", "forgetBroker", "rescheduleMessage", "recallMessage",
        "updateJob",
    }  # fmt: skip
    for kind in ("topics", "groups"):
        name = control.topic() if kind == "topics" else control.group()
        for method in ("PATCH", "DELETE"):
            answer = control.call(method, f"/{kind}/{name}", json={} if method == "PATCH" else None)
            assert (answer.status_code, answer.json()["code"]) == (428, "PRECONDITION_REQUIRED")
            late = control.call(
                method, f"/{kind}/{name}", json={} if method == "PATCH" else None, headers={"If-Match": '"old"'}
            )
            assert (late.status_code, late.json()["code"]) == (412, "PRECONDITION_FAILED")


def test_a_request_that_compares_no_version_refuses_the_name_of_one(
    control: Control, operations: list[Operation]
) -> None:
    """docs/http-api.md: a request that does not compare versions refuses `If-Match` by name."""
    others = [
        (method, path)
        for method, path, operation in operations
        if method != "GET" and all(each["name"] != "If-Match" for each in operation.get("parameters", []))
    ]
    assert len(others) > 50
    for method, path in others:
        answer = control.as_("admin").request(method, path, headers={"If-Match": "*"})
        assert "If-Match" in pointers(answer), f"{method} {path}"


@pytest.mark.parametrize("name", ["from", "to"])
def test_a_moment_in_the_query_has_a_zone(control: Control, name: str) -> None:
    topic = control.topic()
    answer = control.call("GET", f"/topics/{topic}/messages", params={name: "2026-05-01T08:00:00"})
    assert pointers(answer) == [f"?{name}"]
    assert "no time zone" in answer.json()["detail"]
    assert control.get(f"/topics/{topic}/messages", **{f"{name}_": "2026-05-01T08:00:00+02:00"})["items"] == []


def test_a_read_takes_no_body(control: Control, operations: list[Operation]) -> None:
    paths = [(method, path) for method, path, operation in operations if "requestBody" not in operation]
    assert {method for method, _ in paths} >= {"GET", "DELETE", "POST"}
    for method, path in paths:
        for body in (b'{"nonsense": 1}', b"[]", b"null", b"x") if method in WITH_BODY else (b"{}", b"x"):
            answer = control.as_("admin").request(
                method, path, content=body, headers={"Content-Type": "application/json"}
            )
            assert pointers(answer) == ["#"], f"{method} {path}"


def test_an_action_without_a_body_takes_an_empty_object(control: Control, operations: list[Operation]) -> None:
    """docs/http-api.md: an empty JSON object is as good as no body where a `POST` takes none."""
    actions = [path for method, path, each in operations if method == "POST" and "requestBody" not in each]
    # What would change something that exists is left alone.
    of_nothing = [path for path in actions if "/nothing" in path or "/999999" in path]
    assert {"/api/v1/jobs/nothing:pause", "/api/v1/jobs/nothing:cancel", "/api/v1/jobs/nothing:resume"} <= set(
        of_nothing
    )
    for path in of_nothing:
        answer = control.as_("admin").post(path, json={})
        assert not (answer.status_code == 422 and answer.json()["code"] == "INVALID"), f"{path}: {answer.text}"


@pytest.mark.parametrize("name", ["Idempotency-Key", "If-Match", "Content-Type", "Authorization"])
def test_a_header_with_one_value_stands_once(control: Control, name: str) -> None:
    topic = control.name()
    headers = [(name, "application/json"), (name, "text/plain")]
    answer = control.call("POST", "/topics", content=b'{"name": "%s"}' % topic.encode(), headers=headers)
    assert pointers(answer) == [name.lower()]
    assert control.call("GET", f"/topics/{topic}").status_code == 404


def test_an_encoded_body_is_not_served(control: Control) -> None:
    body = {"name": control.name()}
    answer = control.call("POST", "/topics", json=body, headers={"Content-Encoding": "gzip"})
    assert (answer.status_code, answer.json()["code"]) == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert control.call("POST", "/topics", json=body, headers={"Content-Encoding": "identity"}).status_code == 201


def test_a_body_in_chunks_is_read(control: Control) -> None:
    name = control.name()
    chunks = iter([b'{"name": ', b'"%s"}' % name.encode()])
    made = control.call("POST", "/topics", content=chunks, headers={"Content-Type": "application/json"})
    assert (made.status_code, made.json()["name"]) == (201, name)


@pytest.mark.parametrize(
    "path",
    ["/api/v1/audit?actor=%00", "/api/v1/audit?action=a%00*", "/api/v1/clusters/local/topics?search=%00",
     "/api/v1/clusters/local/messages:search?topic=%00&key=k", "/api/v1/clusters/local/groups?search=%00"],
)  # fmt: skip
def test_a_parameter_with_nul_is_refused(control: Control, path: str) -> None:
    assert len(pointers(control.as_("admin").get(path))) == 1


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ('{"name": "dup1", "name": "dup2"}', ["#/name"]),
        ('{"name": "dup1", "read_queues": 4, "read_queues": 4, "name": "dup1"}', ["#/read_queues", "#/name"]),
        ('{"name": "dup1", "inner": [{"a/b": 1, "a/b": 1}]}', ["#/inner/0/a~1b"]),
    ],
)
def test_a_member_of_a_body_stands_once(control: Control, body: str, wrong: list[str]) -> None:
    answer = control.call("POST", "/topics", content=body, headers={"Content-Type": "application/json"})
    assert pointers(answer) == wrong
    assert {error["code"] for error in answer.json()["errors"]} == {"REPEATED_FIELD"}
    for name in ("dup1", "dup2"):
        assert control.call("GET", f"/topics/{name}").status_code == 404


@pytest.mark.parametrize(
    ("path", "body", "pointer", "words"),
    [
        ("/topics", {"name": "typed\n"}, "#/name", "name must match ^[A-Za-z0-9_-]{1,127}$; 'typed\\n' does not."),
        ("/topics", {"name": " typed"}, "#/name", "must match"),
        ("/topics", {"name": 1}, "#/name", "name must be a text, not the number 1."),
        ("/topics", {"name": True}, "#/name", "not true"),
        ("/topics", {"name": "typed", "read_queues": 1.0}, "#/read_queues", "a whole number, not 1.0"),
        ("/topics", {"name": "typed", "read_queues": "1"}, "#/read_queues", "a whole number, not the text '1'"),
        ("/topics", {"name": "typed", "read_queues": True}, "#/read_queues", "a whole number, not true"),
        ("/topics", {"name": "typed", "permission": "x"}, "#/permission", "must be one of rw, r, w, not 'x'"),
        ("/topics", {"name": "typed", "permission": ["r"]}, "#/permission", "must be a text, not a list"),
        ("/topics", [], "#", "The body must be an object, not a list."),
        ("/topics", None, "#", "The body must be an object, not null."),
        ("/groups", {"name": "typed", "consume_enabled": "yes"}, "#/consume_enabled", "true or false, not the text"),
        ("/groups", {"name": "typed", "consume_enabled": 1}, "#/consume_enabled", "true or false, not the number 1"),
        ("/groups", {"name": "typed", "retry_max_times": "9"}, "#/retry_max_times", "a whole number"),
    ],
)
def test_a_value_of_another_type_is_not_converted(
    control: Control, path: str, body: Any, pointer: str, words: str
) -> None:
    content = json.dumps(body)
    answer = control.call("POST", path, content=content, headers={"Content-Type": "application/json"})
    assert pointers(answer) == [pointer]
    assert words in answer.json()["detail"]
    assert control.call("GET", f"{path}/typed").status_code == 404


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        ("/clusters", {"name": "mars\n", "name_servers": ["127.0.0.1:1"]}, "#/name"),
        ("/clusters", {"name": "mars", "name_servers": "127.0.0.1:1"}, "#/name_servers"),
        ("/clusters", {"name": "mars", "name_servers": [1]}, "#/name_servers/0"),
        ("/users", {"username": "ann ", "password": "correct horse battery", "role": "viewer"}, "#/username"),
        ("/users", {"username": "ann", "password": 12345678901, "role": "viewer"}, "#/password"),
        ("/users", {"username": "ann", "password": "correct horse battery", "role": "boss"}, "#/role"),
        ("/tokens", {"name": "shop", "scopes": ["read", 5]}, "#/scopes/1"),
        ("/schedules:preview", {"cron": "0 0 * * *", "count": "2"}, "#/count"),
        ("/jobs", {"type": "replay", "source": "orders", "target": {"topic": 5}}, "#/source"),
    ],
)
def test_a_field_elsewhere_has_its_type_too(control: Control, path: str, body: Any, pointer: str) -> None:
    assert pointers(control.as_("admin").post(f"/api/v1{path}", json=body))[0] == pointer


def test_a_body_that_is_not_utf_8_is_called_so(control: Control) -> None:
    answer = control.call("POST", "/topics", content=b'{"name": "\xff"}', headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (400, "MALFORMED")
    assert answer.json()["detail"] == "The body is not UTF-8: byte 0xff at 10."


def test_json_in_another_charset_is_refused_by_name(control: Control) -> None:
    headers = {"Content-Type": "application/json; charset=utf-16"}
    answer = control.as_("admin").post(f"{control.path}/topics", content=b"{}", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert "'utf-16'" in answer.json()["detail"]


@pytest.mark.parametrize("name", ["from", "to"])
def test_a_moment_behind_the_calendar_is_told_so_everywhere(control: Control, name: str) -> None:
    admin, late, topic = control.as_("admin"), "9999-12-31T23:59:59-14:00", f"{control.path}/topics/{control.topic()}"
    answers = [
        admin.get("/api/v1/audit", params={name: late}),
        admin.get(f"{topic}/messages", params={name: late}),
        admin.post(f"{topic}/messages:scan", json={name: late}),
    ]
    for answer in answers:
        assert [name in each for each in pointers(answer)] == [True]
        assert "is after the end of the year 9999 in UTC" in answer.json()["errors"][0]["detail"]


def test_a_number_of_a_path_is_written_in_one_way(control: Control) -> None:
    admin, topic = control.as_("admin"), control.topic()
    known = admin.get("/api/v1/users").json()["items"][0]["id"]
    assert admin.get(f"/api/v1/users/{known}").status_code == 200
    queue = f"{control.path}/topics/{topic}/queues"
    assert admin.get(f"{queue}/0/messages?offset=0").status_code == 200
    for path in (f"/api/v1/users/0{known}", f"{queue}/00/messages?offset=0", "/api/v1/users/-0", "/api/v1/users/+1"):
        answer = admin.get(path)
        assert (answer.status_code, answer.json()["code"]) == (404, "NOT_FOUND"), path


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        ("/tokens", {"name": "ci", "scopes": ["read", "read"]}, "#/scopes/1"),
        ("/tokens", {"name": "ci\r\nadmin"}, "#/name"),
        ("/users", {"username": "eve\n", "password": "correct horse battery", "role": "viewer"}, "#/username"),
        (
            "/users",
            {"username": "eve", "password": "correct horse battery", "own_roles": ["oncall"] * 2},
            "#/own_roles/1",
        ),
        ("/roles", {"name": "on\ncall", "rules": []}, "#/name"),
        ("/alert-rules", {"name": "a\tb"}, "#/name"),
        ("/alert-channels", {"name": "a\x1bb"}, "#/name"),
        ("/schedules", {"name": "a\x00b"}, "#/name"),
        ("/schedules", {"name": "a\x07b"}, "#/name"),
        ("/jobs", {"type": "replay", "name": "a\nb"}, "#/name"),
        ("/me/searches", {"name": "a\u2028b"}, "#/name"),
    ],
)
def test_a_name_is_one_line_and_a_list_has_each_item_once(
    control: Control, path: str, body: dict[str, Any], pointer: str
) -> None:
    answer = control.as_("admin").post(f"/api/v1{path}", json=body)
    assert pointer in pointers(answer), answer.text
