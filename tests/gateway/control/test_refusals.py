"""Requirement of the audit: a change that is refused for a missing right is recorded once, whichever it is."""

from __future__ import annotations

from typing import Any

import pytest

from console.audit.refusals import PER_CALLER
from tests.gateway.control.conftest import Control
from tests.gateway.control.needs import Operation, operations

pytestmark = pytest.mark.gantry_only("no broker takes part")

# Its refusals are noted by the action, and without the request: `tests/gateway/data` has them.
DATA_PLANE = {
    *("produceMessages", "receiveMessages", "ackMessages", "nackMessages", "extendLeases"),
    *("commitTransaction", "rollbackTransaction"),
}


@pytest.fixture(scope="module")
def changes(control: Control) -> list[Operation]:
    """Every operation of the document that needs a right other than to read, and is not a GET."""
    document = control.as_("admin").get("/api/v1/openapi.json").json()
    return [
        each
        for each in operations(document)
        if each.method != "GET" and each.need.verb not in (None, "read") and each.name not in DATA_PLANE
    ]


def test_every_refused_change_is_recorded_once_with_who_whence_what_and_why(
    control: Control, changes: list[Operation]
) -> None:
    assert len(changes) > 50
    admin = control.as_("admin")
    # Nobody fills the audit with refusals, so a caller is a new token after some.
    for begin in range(0, len(changes), PER_CALLER):
        name = control.name("refused")
        made = admin.post("/api/v1/tokens", json={"name": name, "scopes": ["read:nothing"]})
        assert made.status_code == 201, made.text
        headers = {"Authorization": f"Bearer {made.json()['token']}"}
        expected = {}
        for each in changes[begin : begin + PER_CALLER]:
            body: dict[str, Any] = {} if each.method == "DELETE" else {"json": {}}
            answer = admin.request(each.method, each.path, headers=headers, **body)
            assert answer.status_code == 403, (each.name, answer.status_code, answer.text)
            problem = answer.json()
            key = (f"access.{each.method.lower()}", each.path)
            expected[key] = (problem["request_id"], {"reason": problem["detail"]})
        rows = admin.get("/api/v1/audit", params={"token": name, "limit": 500}).json()["items"]
        assert len(rows) == len(expected)
        assert {(row["action"], row["resource"]): (row["request_id"], row["after"]) for row in rows} == expected
        assert {(row["actor"], row["result"], row["address"]) for row in rows} == {("admin", "refused", "127.0.0.1")}
