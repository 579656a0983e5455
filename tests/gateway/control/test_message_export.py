"""Requirements of `gateway.control.message_export` and `message_body`: messages and bodies as files."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import httpx
import pytest

from tests.gateway.control.conftest import Control

EXACT = '{"price": 1.10, "id": 12345678901234567890123}'


@pytest.fixture(scope="module")
def topic(control: Control) -> str:
    """A topic with three paid messages and one that looks like a formula."""
    topic = control.topic("exported", queues=2)
    for n in range(3):
        body = {"encoding": "json", "data": json.loads(EXACT)}
        entry: dict[str, Any] = {"body": body, "tag": "paid", "keys": ["A17"], "properties": {"n": str(n)}}
        answer = control.call(
            "POST", f"/topics/{topic}/messages", headers={"Content-Type": "application/json"},
            content=json.dumps(entry).replace(json.dumps(body["data"]), EXACT),
        )  # fmt: skip
        assert answer.status_code == 201, answer.text
    control.produce(topic, "=1+1", tag="odd")
    return topic


def rows(answer: httpx.Response) -> list[dict[str, str]]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["gantry-complete"] == "true"
    return list(csv.DictReader(io.StringIO(answer.text)))


def test_what_a_filter_finds_is_a_file(control: Control, topic: str) -> None:
    answer = control.call("GET", f"/topics/{topic}/messages:export", params={"tag": "paid", "filter": "$.price = 1.1"})
    assert answer.headers["content-disposition"] == f'attachment; filename="messages-{topic}.csv"'
    listed = control.get(f"/topics/{topic}/messages", tag="paid")["items"]
    assert [row["message_id"] for row in rows(answer)] == [item["message_id"] for item in listed]
    found = rows(control.call("GET", f"/topics/{topic}/messages:export", params={"sql": "n BETWEEN 1 AND 2"}))
    assert [row["message_id"] for row in found] == [item["message_id"] for item in listed[:2]]
    # And nothing in it is a formula for a spreadsheet
    [row] = rows(control.call("GET", f"/topics/{topic}/messages:export?tag=odd&bodies=true"))
    assert row["body"] == "'=1+1"
    # nor anything at which its reader would cut a text.
    control.produce(topic, "a\0b", tag="nul")
    [row] = rows(control.call("GET", f"/topics/{topic}/messages:export?tag=nul&bodies=true"))
    assert row["body"] == '\'"a\\u0000b"'


@pytest.mark.parametrize("path", ["/topics/{topic}/messages:export?tag=paid", "/messages:export?topic={topic}&key=A17"])
def test_a_line_of_json_has_the_body_to_the_letter(control: Control, topic: str, path: str) -> None:
    answer = control.call("GET", f"{path.format(topic=topic)}&as=jsonl&bodies=true")
    lines = answer.text.splitlines()
    assert [json.loads(line)["properties"]["n"] for line in lines] == ["2", "1", "0"]
    assert all(EXACT in line for line in lines)


def test_a_file_with_contents_needs_the_right_to_read_them(control: Control, topic: str) -> None:
    for query in ("bodies=true", "filter=body contains x"):
        assert control.call("GET", f"/topics/{topic}/messages:export?{query}", role="viewer").status_code == 403
    assert control.call("GET", f"/topics/{topic}/messages:export", role="viewer").status_code == 200
    assert control.call("GET", f"/topics/{topic}/messages:export?queue=9").status_code == 422
    assert control.call("GET", f"/topics/{control.name('none')}/messages:export").status_code == 404


@pytest.mark.parametrize(
    ("wanted", "status", "found", "place"),
    [
        (None, 200, EXACT, None),
        ("bytes=0-9", 206, EXACT[:10], f"bytes 0-9/{len(EXACT)}"),
        ("bytes=40-", 206, EXACT[40:], f"bytes 40-{len(EXACT) - 1}/{len(EXACT)}"),
        ("bytes=-3", 206, EXACT[-3:], f"bytes {len(EXACT) - 3}-{len(EXACT) - 1}/{len(EXACT)}"),
        ("bytes=900-999", 416, None, None),
        ("bytes=0-1,4-5", 422, None, None),
    ],
)
def test_a_body_is_read_whole_or_in_parts(
    control: Control, topic: str, wanted: str | None, status: int, found: str | None, place: str | None
) -> None:
    message_id = control.get(f"/topics/{topic}/messages", tag="paid")["items"][0]["message_id"]
    headers = {} if wanted is None else {"Range": wanted}
    answer = control.call("GET", f"/messages/{message_id}/body?topic={topic}", headers=headers)
    assert (answer.status_code, answer.headers.get("content-range")) == (status, place)
    if found is not None:
        assert answer.text == found
        # A page that somebody stored is not shown as one of this origin
        assert answer.headers["content-type"] == "application/octet-stream"
        assert answer.headers["content-disposition"].startswith("attachment")
