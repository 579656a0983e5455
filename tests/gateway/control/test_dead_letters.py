"""Requirements of `gateway.control.dead_letters`."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from typing import Any

import pytest

from tests.gateway.control.conftest import Control
from tests.gateway.installation import ROOT, Installation
from tests.support.wait import wait_until


def bury(control: Control, group: str, topic: str, *reasons: str | None) -> None:
    """Make one dead letter for each reason, and wait until they can be read."""
    control.produce(topic, *("x" for _ in reasons))
    path = f"/groups/{group}/topics/{topic}"
    for reason in reasons:
        received = control.call("POST", f"{path}:receive", json={"wait_ms": 5000, "max_messages": 1}).json()
        receipt = received["messages"][0]["receipt"]
        wanted = {"receipts": [receipt], "dead_letter": True} | ({"reason": reason} if reason else {})
        answer = control.call("POST", f"{path}:nack", json=wanted)
        assert answer.status_code == 200, answer.text
    wait_until(lambda: control.get(f"/dead-letters/{group}/causes")["read"] == len(reasons))


@pytest.mark.gantry_only("reasons of dead letters")
def test_dead_letters_are_counted_by_reason_and_those_without_one_apart(control: Control) -> None:
    topic, group = control.topic(), control.group()
    bury(control, group, topic, "db down", None, "db down")
    shown = control.get(f"/dead-letters/{group}/causes")
    assert [(each["reason"], each["count"]) for each in shown["items"]] == [("db down", 2), (None, 1)]
    assert shown["items"][0]["topics"] == [topic]
    assert (shown["read"], shown["stored"], shown["complete"]) == (3, 3, True)
    newest = control.get(f"/topics/%25DLQ%25{group}/messages")["items"][0]
    assert shown["items"][0]["last_message_id"] == newest["message_id"]
    # A part says that it is one.
    part = control.get(f"/dead-letters/{group}/causes", max_messages=1)
    assert (part["read"], part["stored"], part["complete"]) == (1, 3, False)


def test_a_group_without_dead_letters_has_no_causes_and_an_unknown_one_is_not_found(control: Control) -> None:
    shown = control.get(f"/dead-letters/{control.group()}/causes")
    assert shown == {"items": [], "read": 0, "stored": 0, "complete": True, "missing": [], "from_slaves": []}
    answer = control.call("GET", "/dead-letters/nobody/causes")
    assert (answer.status_code, answer.json()["code"]) == (404, "GROUP_NOT_FOUND")


_GONE = """
import sys, django
django.setup()
from django.utils import timezone
from console.clusters.models import Cluster, KnownBroker
cluster, now = Cluster.objects.get(name=sys.argv[1]), timezone.now()
KnownBroker.objects.create(cluster=cluster, name="broker-gone", first_seen_at=now, last_seen_at=now)
"""


@pytest.mark.gantry_only("reasons of dead letters")
def test_what_a_broker_has_that_no_name_server_lists_is_unknown(control: Control, installation: Installation) -> None:
    topic, group = control.topic(), control.group()
    bury(control, group, topic, "db down")
    wait_until(lambda: control.get(f"/dead-letters/{group}")["retries_waiting"] == 0)
    command = [sys.executable, "-c", _GONE, control.cluster]
    subprocess.run(command, env=dict(installation.environment), cwd=ROOT, check=True, capture_output=True)
    try:
        shown = control.get(f"/dead-letters/{group}")
        (listed,) = control.get("/dead-letters", search=group)["items"]
    finally:
        control.call("DELETE", "/brokers/broker-gone", role="admin").raise_for_status()
    for row in (shown, listed):
        assert (row["retries_waiting"], row["first_at"]) == (None, None)
        assert "broker-gone" in row["unknown_reason"]


@pytest.mark.gantry_only("reasons of dead letters")
def test_groups_with_dead_letters_are_listed_with_count_times_and_top_cause(control: Control) -> None:
    topic, group, without = control.topic(), control.group("dying"), control.group("dying")
    bury(control, group, topic, "db down", "db down", "no rate")

    def listed() -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = control.get("/dead-letters", search="DYING", sort="-messages")["items"]
        return [each for each in items if each["name"] in (group, without) and each["messages"] == 3]

    wait_until(listed)
    (row,) = listed()
    assert (row["name"], row["topics"], row["causes"], row["read"]) == (group, [topic], 2, 3)
    assert (row["top_cause"]["reason"], row["top_cause"]["count"]) == ("db down", 2)
    assert row["first_at"] <= row["last_at"]
    assert (row["retries_waiting"], row["unknown_reason"]) == (0, None)
    one = control.get(f"/dead-letters/{group}")
    assert (one["messages"], one["top_cause"]) == (3, row["top_cause"])
    none = control.get(f"/dead-letters/{without}")
    assert (none["messages"], none["read"], none["retries_waiting"], none["unknown_reason"]) == (0, 0, 0, None)
    assert control.call("GET", "/dead-letters/nobody").status_code == 404
    assert control.call("GET", "/dead-letters", role="stranger").status_code == 401
    # A token without the right on the group does not see it.
    assert control.get("/dead-letters", role="narrow", search="DYING")["items"] == []


@pytest.mark.gantry_only("reasons of dead letters")
def test_dead_letters_are_browsed_newest_first_page_by_page_and_by_filter(control: Control) -> None:
    topic, group = control.topic(), control.group()
    bury(control, group, topic, "db down", None, "db down", "no rate", "db down")
    path = f"/dead-letters/{group}/messages"
    whole = control.get(path)
    assert [each["cause"] for each in whole["items"]] == ["db down", "no rate", "db down", None, "db down"]
    assert (whole["read"], whole["stored"], whole["next_cursor"], whole["missing"]) == (5, 5, None, [])
    newest = whole["items"][0]
    assert (newest["origin_topic"], newest["cause_read_from"], newest["topic"]) == (topic, "reason", f"%DLQ%{group}")
    assert whole["items"][3]["cause_read_from"] == "none"
    # The pages of a filter show each message once, in the same order.
    offsets, cursor = [], None
    while True:
        page = control.get(path, cause="db down", limit=1, **({"cursor": cursor} if cursor else {}))
        offsets += [each["queue_offset"] for each in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert offsets == [each["queue_offset"] for each in whole["items"] if each["cause"] == "db down"]
    assert [each["cause"] for each in control.get(path, without_cause="true")["items"]] == [None]
    assert control.get(path, topic="elsewhere")["items"] == []
    oldest = whole["items"][-1]["stored_at"]
    assert control.get(path, to=oldest)["items"] == []
    assert control.get(path, from_=oldest)["items"] == whole["items"]


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"without_cause": "perhaps"}, "?without_cause"),
        ({"without_cause": "true", "cause": "x"}, "?without_cause"),
        ({"key": "k" * 1_001}, "?key"),
        ({"from": "yesterday"}, "?from"),
        ({"reason": "x"}, "?reason"),
    ],
)
def test_a_filter_that_cannot_be_served_is_refused_by_name(
    control: Control, query: dict[str, str], pointer: str
) -> None:
    answer = control.call("GET", f"/dead-letters/{control.group()}/messages", params=query)
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, pointer)


@pytest.mark.parametrize("limit", ["0", "2001", "many"])
def test_a_limit_out_of_range_is_refused_by_name(control: Control, limit: str) -> None:
    answer = control.call("GET", f"/dead-letters/{control.group()}/causes", params={"max_messages": limit})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "?max_messages")


@pytest.mark.gantry_only("reasons of dead letters")
def test_dead_letters_are_exported_as_csv_and_json_lines_with_bodies_only_on_request(control: Control) -> None:
    topic, group = control.topic(), control.group()
    bury(control, group, topic, "=1+1", None, "db down")
    path = f"/dead-letters/{group}/export"
    answer = control.call("GET", path)
    assert (answer.status_code, answer.headers["gantry-complete"]) == (200, "true")
    assert answer.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    # A spreadsheet would run a text that begins like a formula.
    assert [row["cause"] for row in rows] == ["db down", "", "'=1+1"]
    assert {row["origin_topic"] for row in rows} == {topic}
    assert "body" not in rows[0]
    lines = control.call("GET", path, params={"as": "jsonl", "bodies": "true", "cause": "db down"}).text.splitlines()
    (only,) = map(json.loads, lines)
    assert (only["message_id"], only["body_encoding"], only["body"]) == (rows[0]["message_id"], "text", "x")
    assert control.call("GET", f"/dead-letters/{control.group()}/export", params={"as": "jsonl"}).text == ""
    refused = control.call("GET", path, params={"as": "xls"})
    assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "?as")
    # More than may run at once can follow one another: each frees its place.
    assert [control.call("GET", path).status_code for _ in range(4)] == [200] * 4
