"""Requirements of `console.audit.views`."""

from __future__ import annotations

from typing import Any

import pytest

from console.audit.record import Actor, record
from tests.support.cast import Cast


@pytest.fixture
def operator(cast: Cast) -> Any:
    """A user who may read the audit, after a few changes."""
    for number in range(3):
        record(Actor("mia", token="ci", request_id=f"r{number}"), "topic.create", f"local/topics/t{number}")
    record(Actor("leo"), "group.delete", "local/groups/billing", result="failed", before={"retry_max_times": 16})
    return cast.browser("operator")


def found(client: Any, query: str) -> list[tuple[str, str]]:
    return [(row["actor"], row["resource"]) for row in client.get(f"/api/v1/audit?{query}").json()["items"]]


def test_a_record_is_shown_whole(operator: Any) -> None:
    [row] = operator.get("/api/v1/audit?actor=leo").json()["items"]
    assert (row["action"], row["result"], row["before"], row["after"]) == (
        "group.delete", "failed", {"retry_max_times": 16}, None,
    )  # fmt: skip
    [row] = operator.get("/api/v1/audit?resource=local/topics/t0").json()["items"]
    assert (row["token"], row["request_id"]) == ("ci", "r0")


def test_records_are_found_by_who_what_and_the_beginning_of_it(operator: Any) -> None:
    topics = [("mia", f"local/topics/t{number}") for number in (2, 1, 0)]
    assert found(operator, "action=topic.*") == topics
    assert found(operator, "resource=local/*") == [("leo", "local/groups/billing"), *topics]
    assert found(operator, "actor=mia&limit=1") == topics[:1]
    assert found(operator, "actor=m") == []


def test_records_are_paged_newest_first(operator: Any) -> None:
    first = operator.get("/api/v1/audit?actor=mia&limit=2").json()
    second = operator.get(f"/api/v1/audit?actor=mia&limit=2&cursor={first['next_cursor']}").json()
    assert [row["resource"][-2:] for row in first["items"] + second["items"]] == ["t2", "t1", "t0"]
    assert second["next_cursor"] is None


def test_the_audit_is_not_for_everybody(cast: Cast) -> None:
    assert cast.browser("viewer").get("/api/v1/audit").status_code == 403
    assert cast.browser("developer").get("/api/v1/audit").status_code == 403
