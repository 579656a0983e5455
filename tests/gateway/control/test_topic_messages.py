"""Requirements of `gateway.control.topic_messages`: tag and filter of the list by time."""

from __future__ import annotations

import pytest

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
