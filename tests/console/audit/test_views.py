"""Requirements of `console.audit.views`."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from console.audit import export
from console.audit.models import AuditRecord
from console.audit.record import Actor, record
from tests.support.answers import streamed
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


def test_a_resource_is_found_with_all_below_it_and_without_its_neighbours(operator: Any) -> None:
    for resource in ("local/brokers/a", "local/brokers/a/replicas/2", "local/brokers/ab"):
        record(Actor("leo"), "broker.policy", resource)
    below = [("leo", "local/brokers/a/replicas/2"), ("leo", "local/brokers/a")]
    assert found(operator, "resource=local/brokers/a/*") == below
    assert found(operator, "resource=local/brokers/a") == below[1:]


def test_records_are_paged_newest_first(operator: Any) -> None:
    first = operator.get("/api/v1/audit?actor=mia&limit=2").json()
    second = operator.get(f"/api/v1/audit?actor=mia&limit=2&cursor={first['next_cursor']}").json()
    assert [row["resource"][-2:] for row in first["items"] + second["items"]] == ["t2", "t1", "t0"]
    assert second["next_cursor"] is None
    assert first["prev_cursor"] is None
    again = operator.get(f"/api/v1/audit?actor=mia&limit=1&cursor={second['prev_cursor']}").json()
    assert [row["resource"][-2:] for row in again["items"]] == ["t1"]
    newest = operator.get(f"/api/v1/audit?actor=mia&limit=1&cursor={again['prev_cursor']}").json()
    assert ([row["resource"][-2:] for row in newest["items"]], newest["prev_cursor"]) == (["t2"], None)
    assert (
        operator.get(f"/api/v1/audit?actor=mia&limit=1&cursor={newest['next_cursor']}").json()["items"]
        == again["items"]
    )


def test_whoever_may_not_read_the_audit_sees_the_own_records(cast: Cast) -> None:
    viewer, name = cast["viewer"], cast["viewer"].get_username()
    record(Actor(name), "search.create", "searches/1")
    record(Actor(name, token="narrow"), "access.post", "/api/v1/topics", result="refused")
    record(Actor(name, token="other"), "access.post", "/api/v1/groups", result="refused")
    record(Actor("mia"), "topic.create", "local/topics/secret")
    # In person all of them, by a token those of the token
    mine = cast.browser("viewer").get("/api/v1/audit?q=s").json()
    assert (len(mine["items"]), mine["limited"]) == (3, True)
    assert "secret" not in str(mine)
    program = cast.program("viewer", "read")
    viewer.tokens.update(name="narrow")
    by_token = program.get("/api/v1/audit").json()
    assert [row["resource"] for row in by_token["items"]] == ["/api/v1/topics"]
    # Whatever is asked for, and in the file too
    assert program.get("/api/v1/audit?actor=mia").json()["items"] == []
    lines = exported(cast.browser("viewer"), "as=jsonl")
    assert lines.count("\n") == 3
    assert "secret" not in lines
    assert not cast.browser("operator").get("/api/v1/audit").json()["limited"]


@pytest.mark.parametrize(
    ("query", "resources"),
    [
        ("q=BILLING", ["billing"]),
        ("q=mia+t1", ["t1"]),
        ("q=retry_max_times+16", ["billing"]),
        ("q=r0", ["t0"]),
        ("q=订单", ["gx"]),
        ("q=ledger", []),
        ("result=failed", ["billing"]),
        ("address=10.0.*", ["gx"]),
        ("token=ci", ["t2", "t1", "t0"]),
        ("request_id=r2", ["t2"]),
    ],
)
def test_records_are_found_by_words_result_and_address(operator: Any, query: str, resources: list[str]) -> None:
    record(Actor("zoe", address="10.0.0.9"), "group.update", "local/groups/gx", after={"note": '订单 "a"'})
    assert [resource.rpartition("/")[2] for _, resource in found(operator, query)] == resources


def test_records_are_found_by_time_from_a_moment_to_before_another(operator: Any) -> None:
    moments = [row["at"] for row in operator.get("/api/v1/audit?actor=mia").json()["items"]]
    AuditRecord.objects.bulk_create(
        AuditRecord(at=f"2026-05-0{day}T08:00:00Z", actor="old", action="topic.create", resource=str(day), result="ok")
        for day in (1, 2, 3)
    )
    span = "from=2026-05-01T08:00:00Z&to=2026-05-03T10:00:00%2B02:00"
    assert found(operator, span) == [("old", "2"), ("old", "1")]
    assert len(found(operator, f"from={min(moments)}")) == 4


@pytest.mark.parametrize(
    "query",
    [
        "from=yesterday",
        "from=2026-05-01T08:00:00",
        "from=2026-05-02T08:00:00Z&to=2026-05-01T08:00:00Z",
        "result=good",
        f"q={'a' * 201}",
        "q=a+b+c+d+e+f+g+h+i+j+k",
        "when=today",
    ],
)
def test_a_question_that_is_not_served_is_refused_by_name(operator: Any, query: str) -> None:
    for path in ("audit", "audit:export"):
        answer = operator.get(f"/api/v1/{path}?{query}")
        assert (answer.status_code, answer.json()["code"]) == (422, "INVALID"), answer.content


def exported(client: Any, query: str) -> str:
    answer = client.get(f"/api/v1/audit:export?{query}")
    assert answer.status_code == 200, answer.content
    return streamed(answer).decode()


def test_what_was_found_is_saved_as_json_lines_page_by_page(operator: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "_PAGE", 2)
    rows = [json.loads(line) for line in exported(operator, "as=jsonl&actor=mia").splitlines()]
    assert rows == operator.get("/api/v1/audit?actor=mia").json()["items"]
    # Then the export is in the audit, but not in itself
    assert "audit.export" not in exported(operator, "as=jsonl&action=topic.*")
    [newest, *_] = operator.get("/api/v1/audit?action=audit.export").json()["items"]
    assert newest["after"] == {"query": {"as": "jsonl", "action": "topic.*"}}


def test_a_cell_of_the_csv_is_never_a_formula(operator: Any) -> None:
    record(Actor("=cmd|' /C calc'!A0"), "topic.create", 'local/topics/"q"', after={"n": 1})
    text = exported(operator, "action=topic.create&result=ok")
    assert text.startswith("\ufeffid,at,actor,")
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))
    assert (rows[0]["actor"], rows[0]["resource"], rows[0]["after"]) == (
        "'=cmd|' /C calc'!A0", 'local/topics/"q"', '{"n":1}',
    )  # fmt: skip
    assert len(rows) == 4


def test_a_file_may_be_asked_for_by_its_type(operator: Any) -> None:
    answer = operator.get("/api/v1/audit:export?as=jsonl", headers={"accept": "application/x-ndjson"})
    assert answer["Content-Type"] == "application/x-ndjson; charset=utf-8"
    assert operator.get("/api/v1/audit:export?as=xml", headers={"accept": "text/csv"}).status_code == 422
