"""Requirements of `gateway.control.scan` and its views."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateway.control.scan_limits import AT_ONCE
from tests.gateway.control.conftest import Control
from tests.support.wait import wait_until

LINES = {"Accept": "application/x-ndjson"}


@pytest.fixture(scope="module")
def topic(control: Control) -> str:
    """A topic with thirty orders in three queues."""
    topic = control.topic("scans", queues=3)
    for first in range(0, 30, 10):
        messages = [
            {
                "keys": [f"K{n}"],
                "tag": "odd" if n % 2 else "even",
                "properties": {"region": "eu" if n < 20 else "us"} | ({"amount": str(n)} if n < 10 else {}),
                "body": {"encoding": "json", "data": {"n": n, "price": n / 10, "who": [{"name": f"u{n % 3}"}]}},
            }
            for n in range(first, first + 10)
        ]
        answer = control.call("POST", f"/topics/{topic}/messages", json={"messages": messages})
        assert answer.status_code == 201, answer.text
    wait_until(lambda: len(scan(control, topic)["items"]) == 30)
    return topic


def scan(control: Control, topic: str, **wanted: Any) -> Any:
    answer = control.call("POST", f"/topics/{topic}/messages:scan", json=wanted)
    assert answer.status_code == 200, answer.text
    return answer.json()


def numbers(page: Any) -> set[int]:
    return {int(item["keys"][0][1:]) for item in page["items"]}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"tags": ["odd"]}, set(range(1, 30, 2))),
        ({"key": "K7"}, {7}),
        ({"text": '"price":1.7'}, {17}),
        ({"properties": [{"name": "region", "operator": "ne", "value": "eu"}]}, set(range(20, 30))),
        ({"fields": [{"path": "$.price", "operator": "ge", "value": 2.5}]}, set(range(25, 30))),
        (
            {"fields": [{"path": "$.who[*].name", "operator": "eq", "value": "u0"}], "tags": ["even"]},
            {0, 6, 12, 18, 24},
        ),
        ({"fields": [{"path": "$.gone", "operator": "exists"}]}, set()),
        ({"sql": "amount >= 7"}, {7, 8, 9}),
        ({"sql": "NOT (amount < 7)"}, {7, 8, 9}),
        ({"sql": "region = 'eu' AND amount IS NULL", "tags": ["odd"]}, set(range(11, 20, 2))),
    ],
)
def test_a_scan_finds_what_fulfils_all_conditions(
    control: Control, topic: str, wanted: dict[str, Any], found: set[int]
) -> None:
    page = scan(control, topic, **wanted)
    assert numbers(page) == found
    assert (page["end"], page["complete"], page["next_cursor"]) == ("end", True, None)
    assert (page["scanned"]["read"], page["scanned"]["matched"]) == (30, len(found))


@pytest.mark.parametrize("steps", [{"limit": 2}, {"max_read": 7}, {"limit": 3, "max_read": 5}])
def test_a_scan_goes_on_where_it_ended_and_shows_each_match_once(
    control: Control, topic: str, steps: dict[str, int]
) -> None:
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = scan(control, topic, tags=["even"], sql="region IN ('eu', 'us')", **steps, **cursor)
        seen += [item["message_id"] for item in page["items"]]
        if page["next_cursor"] is None:
            break
        assert page["end"] in ("limit", "budget")
        assert not page["complete"]
        cursor = {"cursor": page["next_cursor"]}
    assert len(seen) == len(set(seen)) == 15


def test_matches_and_progress_come_as_lines_and_the_last_one_says_how_it_ended(control: Control, topic: str) -> None:
    wanted = {"key": "K11", "bodies": True}
    answer = control.call("POST", f"/topics/{topic}/messages:scan", json=wanted, headers=LINES)
    assert answer.headers["content-type"] == "application/x-ndjson"
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert [line["type"] for line in lines] == ["match", "end"]
    assert lines[0]["message"]["body"]["data"]["n"] == 11
    assert lines[0]["message"]["properties"]["region"] == "eu"
    assert lines[1]["complete"]


def test_bodies_are_shown_only_if_they_are_wanted(control: Control, topic: str) -> None:
    [item] = scan(control, topic, key="K11")["items"]
    assert (item["body"], item["properties"]) == (None, None)


def test_a_client_that_leaves_frees_the_place_of_its_scan(control: Control, topic: str) -> None:
    client = control.as_("operator")
    for _ in range(2 * AT_ONCE):
        with client.stream(
            "POST", f"{control.path}/topics/{topic}/messages:scan", json={"bodies": True}, headers=LINES
        ) as answer:
            assert answer.status_code in (200, 429)
    wait_until(lambda: control.call("POST", f"/topics/{topic}/messages:scan", json={}).status_code == 200)


@pytest.mark.parametrize(
    ("wanted", "pointer"),
    [
        ({"fields": [{"path": "a b", "operator": "eq", "value": 1}]}, "#/fields/0/path"),
        ({"fields": [{"path": "$.a", "operator": "eq", "value": [1]}]}, "#/fields/0/value"),
        ({"fields": [{"path": "$.a", "operator": "ge", "value": True}]}, "#/fields/0/value"),
        ({"fields": [{"path": "$.a", "operator": "lt", "value": None}]}, "#/fields/0/value"),
        ({"fields": [{"path": "$.a", "operator": "prefix", "value": 17}]}, "#/fields/0/value"),
        ({"fields": [{"path": "$.a", "operator": "like", "value": "x"}]}, "#/fields/0/operator"),
        ({"properties": [{"name": "a", "operator": "exists", "value": "x"}]}, "#/properties/0/value"),
        ({"properties": [{"name": "a", "operator": "eq"}]}, "#/properties/0/value"),
        ({"properties": [{"name": "a", "operator": "exists"}] * 17}, "#/properties"),
        ({"sql": "amount LIKE '1%'"}, "#/sql"),
        ({"sql": "a = 1".ljust(1_025)}, "#/sql"),
        ({"limit": 10_001}, "#/limit"),
        ({"filter": "x"}, "#/filter"),
    ],
)
def test_what_is_no_scan_is_refused_by_name(control: Control, topic: str, wanted: dict[str, Any], pointer: str) -> None:
    answer = control.call("POST", f"/topics/{topic}/messages:scan", json=wanted)
    assert answer.status_code == 422, answer.text
    assert [each["pointer"] for each in answer.json()["errors"]] == [pointer]


def test_a_cursor_serves_its_own_scan_alone(control: Control, topic: str) -> None:
    cursor = scan(control, topic, tags=["even"], limit=1)["next_cursor"]
    answer = control.call("POST", f"/topics/{topic}/messages:scan", json={"tags": ["odd"], "cursor": cursor})
    assert (answer.status_code, answer.json()["code"]) == (410, "CURSOR_GONE")


def test_it_needs_the_right_to_read_the_topic(control: Control, topic: str) -> None:
    for role, status in (("narrow", 403), ("stranger", 401)):
        assert control.call("POST", f"/topics/{topic}/messages:scan", role=role, json={}).status_code == status
    assert control.call("POST", "/topics/nowhere/messages:scan", json={}, headers=LINES).status_code == 404


@pytest.mark.parametrize(
    ("value", "found"), [(9007199254740993, 1), (9007199254740992, 0), (12345678901234567890123, 1), (None, 1)]
)
def test_numbers_are_compared_to_the_last_digit(control: Control, value: int | None, found: int) -> None:
    topic = control.topic("exact")
    control.produce(topic, "1e99999999999999999999", '{"n": 9007199254740993}', '{"n": 12345678901234567890123}')
    control.produce(topic, '{"n": null}')
    condition = {"path": "$.n", "operator": "eq", "value": value}
    page = scan(control, topic, fields=[condition], limit=1)
    assert len(page["items"]) == found
    if page["next_cursor"] is not None:
        rest = scan(control, topic, fields=[condition], limit=1, cursor=page["next_cursor"])
        assert rest["items"] == []
