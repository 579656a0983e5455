"""Requirements of `gateway.control.topic_messages`: tag and filter of the list by time."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime

import pytest

from console.moments import rfc3339
from tests.gateway.control.conftest import Control


@pytest.fixture(scope="module")
def topic(control: Control) -> str:
    """A topic with eight messages, four of them with the tag `paid`."""
    topic = control.topic("browsed", queues=2)
    for n in range(4):
        control.produce(topic, f'{{"n": {n}}}', tag="paid", keys=[f"P{n}"], properties={"source": "web"})
        control.produce(topic, "hello", tag="open", keys=[f"O{n}"])
    return topic


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"tag": "paid"}, ["P3", "P2", "P1", "P0"]),
        ({"filter": "$.n >= 1 and tag = paid"}, ["P3", "P2", "P1"]),
        ({"tag": "open", "filter": "key = O2"}, ["O2"]),
        ({"filter": "body contains ell", "tag": "open", "queue": 9}, None),
        ({"filter": "property.source exists and $.n < 2"}, ["P1", "P0"]),
        ({"sql": "source = 'web'", "filter": "$.n < 2"}, ["P1", "P0"]),
        ({"sql": "source IS NULL AND KEYS <> 'O1'", "tag": "open"}, ["O3", "O2", "O0"]),
    ],
)
def test_only_what_fulfils_tag_and_filter_is_listed_page_by_page(
    control: Control, topic: str, query: dict[str, str], found: list[str] | None
) -> None:
    if found is None:
        answer = control.call("GET", f"/topics/{topic}/messages", params=query)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "?queue")
        return
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = control.get(f"/topics/{topic}/messages", limit=2, **query, **cursor)
        seen += [item["keys"][0] for item in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert seen == found
    back, last = list[str](), len(page["items"])
    while page["prev_cursor"] is not None:
        page = control.get(f"/topics/{topic}/messages", limit=2, **query, cursor=page["prev_cursor"])
        back = [item["keys"][0] for item in page["items"]] + back
    assert back == seen[: len(seen) - last]
    if page["next_cursor"] is not None and back:
        again = control.get(f"/topics/{topic}/messages", limit=2, **query, cursor=page["next_cursor"])
        assert [item["keys"][0] for item in again["items"]] == seen[len(page["items"]) :][:2]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"filter": "colour = red"}, "character 1: expected tag"),
        ({"filter": "tag = a", "tag": "b"}, "condition on the tag already"),
        ({"sql": "source >"}, '"pointer":"?sql"'),
        ({"sql": "source >"}, "is needed here, at character 9."),
        ({"sql": "a = 1".ljust(1_025)}, "has more than 1,024 characters"),
    ],
)
def test_what_is_no_filter_is_refused_with_the_place(
    control: Control, topic: str, query: dict[str, str], words: str
) -> None:
    answer = control.call("GET", f"/topics/{topic}/messages", params=query)
    assert answer.status_code == 422
    assert words in answer.text


def test_a_filter_of_contents_needs_the_right_to_read_them(control: Control, topic: str) -> None:
    assert control.call("GET", f"/topics/{topic}/messages?tag=paid", role="viewer").status_code == 200
    for query in ({"filter": "$.n = 1"}, {"sql": "source = 'web'"}):
        refused = control.call("GET", f"/topics/{topic}/messages", role="viewer", params=query)
        assert refused.status_code == 403
        assert "bodies" in refused.json()["detail"]


def after(moment: str, ms: int) -> str:
    return rfc3339(int(datetime.fromisoformat(moment).timestamp() * 1000 + 0.5) + ms)


def test_ranges_that_follow_each_other_have_each_message_once(control: Control) -> None:
    topic = control.topic("windows")
    ids = [control.produce(topic, "x", keys=["W"])[0]["message_id"] for _ in range(3)]
    (stored,) = control.get(f"/topics/{topic}/messages", limit=1)["items"]
    bound = stored["stored_at"]  # of the last one, so that it is exactly between two ranges
    ranges = [{"from": after(bound, -60_000), "to": bound}, {"from": bound, "to": after(bound, 60_000)}]

    def lines(path: str, window: dict[str, str], **query: str) -> list[str]:
        answer = control.call("GET", path, params={**query, **window, "as": "jsonl"})
        assert answer.status_code == 200, answer.text
        return [json.loads(line)["message_id"] for line in answer.text.splitlines()]

    def listed(path: str, window: dict[str, str], **query: str) -> list[str]:
        answer = control.call("GET", path, params={**query, **window})
        return [item["message_id"] for item in answer.json()["items"]]

    def posted(path: str, window: dict[str, str], **body: object) -> list[str]:
        answer = control.call("POST", path, json={**body, **window})
        assert answer.status_code == 200, answer.text
        found = answer.json()
        rows = [each for key in found["found"] for each in key["items"]] if "found" in found else found["items"]
        return [each["message_id"] for each in rows]

    of_key = {"topic": topic, "key": "W"}
    looks: list[Callable[[dict[str, str]], list[str]]] = [
        lambda window: listed(f"/topics/{topic}/messages", window),
        lambda window: lines(f"/topics/{topic}/messages:export", window),
        lambda window: listed("/messages:search", window, **of_key),
        lambda window: lines("/messages:export", window, **of_key),
        lambda window: posted("/messages:search", window, topic=topic, keys=["W"]),
        lambda window: posted(f"/topics/{topic}/messages:scan", window, key="W"),
    ]
    for look in looks:
        earlier, later = (look(window) for window in ranges)
        assert ids[-1] in later
        assert ids[-1] not in earlier
        assert sorted(earlier + later) == sorted(ids)


@pytest.mark.parametrize("path", ["/topics/{topic}/messages", "/topics/{topic}/messages:export"])
def test_a_range_that_ends_where_it_begins_is_refused(control: Control, topic: str, path: str) -> None:
    moment = "2026-05-01T08:00:00Z"
    answer = control.call("GET", path.format(topic=topic), params={"from": moment, "to": moment})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "?to")
