"""Requirement of the audit: each thing that somebody changes is recorded once, and reading is not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.gateway.control.conftest import Control
from tests.gateway.control.needs import NEEDS, operations
from tests.gateway.control.successes import CHANGES_NOTHING, NOT_RECORDED, OPERATIONS, Records, Successes, Wish
from tests.gateway.installation import Installation

pytestmark = [pytest.mark.gantry_only("the audit is of all clusters"), pytest.mark.usefixtures("documented")]

RECORDED_READS = {"exportAudit"}


@pytest.fixture(scope="module")
def document(control: Control) -> Any:
    """The served OpenAPI document."""
    return control.as_("admin").get("/api/v1/openapi.json").json()


@pytest.fixture(scope="module")
def successes(control: Control, installation: Installation, redis_url: str) -> Iterator[Successes]:
    """A request that succeeds for each operation."""
    before = clusters(control)
    made = Successes(control, installation, redis_url)
    yield made
    made.close()
    # They answer nobody, and other tests ask all clusters.
    for name in clusters(control) - before:
        gone = control.as_("admin").delete(f"/api/v1/clusters/{name}", headers={"If-Match": "*"})
        assert gone.status_code == 204, gone.text


def clusters(control: Control) -> set[str]:
    """Return the names of all clusters."""
    return {each["name"] for each in control.as_("admin").get("/api/v1/clusters").json()["items"]}


def left(control: Control, request_id: str) -> list[dict[str, Any]]:
    """Return what the audit has of a request."""
    page = control.as_("admin").get("/api/v1/audit", params={"request_id": request_id, "limit": 100}).json()
    rows: list[dict[str, Any]] = page["items"]
    return rows


def ask(control: Control, document: Any, name: str, wish: Wish, request_id: str) -> httpx.Response:
    """Send the request of a wish."""
    [(method, path, operation)] = [
        (method.upper(), path, each)
        for path, methods in document["paths"].items()
        for method, each in methods.items()
        if each["operationId"] == name
    ]
    arguments = {"cluster": "local", **wish.path}
    path = re.sub(r"{(\w+)}", lambda found: arguments[found[1]], path)
    headers = {"X-Request-Id": request_id}
    if any(each["name"] == "If-Match" for each in operation.get("parameters", ())):
        headers["If-Match"] = _tag(control, name, wish)
    if any(each["name"] == "Idempotency-Key" for each in operation.get("parameters", ())):
        headers["Idempotency-Key"] = f"{name}-key"
    options = {} if wish.json is None else {"json": wish.json}
    client = wish.client or control.as_("admin")
    return client.request(method, path, headers=headers, params=wish.query, **options)


def _tag(control: Control, name: str, wish: Wish) -> str:
    """Return the condition; a file of definitions is applied as it was compared."""
    if name != "applyDefinitions":
        return "*"
    return control.as_("admin").post("/api/v1/definitions:diff", json=wish.json).headers["etag"]


def test_every_change_of_the_document_is_here(document: Any) -> None:
    changes = {each.name for each in operations(document) if each.method != "GET"}
    assert changes == OPERATIONS | CHANGES_NOTHING | NOT_RECORDED
    assert not OPERATIONS & (CHANGES_NOTHING | NOT_RECORDED)


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_a_change_is_recorded_once_with_who_what_whence_and_the_request(
    control: Control, document: Any, successes: Successes, name: str
) -> None:
    wish, request_id = successes.of(name), f"once-{name}"
    answer = ask(control, document, name, wish, request_id)
    assert answer.status_code < 300, answer.text
    rows = left(control, request_id)
    expected = _filled(wish.records, answer)
    assert sorted((row["action"], row["resource"]) for row in rows) == sorted(expected)
    assert {(row["actor"], row["address"], row["result"]) for row in rows} == {(wish.actor, "127.0.0.1", "ok")}
    # When a client that lost the answer sends the request again, then nothing is done, and nothing recorded
    if "Idempotency-Key" in answer.request.headers:
        again = ask(control, document, name, wish, f"again-{name}")
        assert again.headers.get("idempotency-replayed") == "true" or again.status_code == 409, again.text
        assert left(control, f"again-{name}") == []


def _filled(records: Records, answer: httpx.Response) -> Records:
    """Return the records with the fields of the answer in their places."""
    body = answer.json() if answer.content else {}
    return [(action, re.sub(r"{(\w+)}", lambda found: str(body[found[1]]), resource)) for action, resource in records]


def test_whoever_only_reads_leaves_no_record(control: Control, document: Any) -> None:
    control.topic("nothing")
    for each in operations(document, topic="orders", group="billing"):
        if each.method == "GET" and each.name not in RECORDED_READS:
            asked = control.as_("admin").get(each.path, headers={"X-Request-Id": f"read-{each.name}"})
            assert asked.status_code < 500 or asked.status_code == 503, asked.text
    assert left(control, "read-*") == []
    assert set(NEEDS) >= RECORDED_READS
