"""Requirements of `gateway.control.topic_note`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.gateway.control.conftest import Control


def path(topic: str) -> str:
    return f"/topics/{topic}/note"


@pytest.mark.sample
def test_a_note_is_written_shown_with_its_author_and_removed(control: Control) -> None:
    topic = control.topic()
    blank = control.get(path(topic))
    assert (blank["text"], blank["html"], blank["written_by"], blank["written_at"]) == ("", "", None, None)
    made = control.change("PUT", path(topic), json={"text": "Ask **Team Till**.\n"})
    assert made.status_code == 200
    shown = control.get(path(topic), role="viewer")
    assert shown == made.json()
    assert (shown["text"], shown["html"]) == ("Ask **Team Till**.\n", "<p>Ask <strong>Team Till</strong>.</p>\n")
    assert shown["written_by"] is not None
    gone = control.change("PUT", path(topic), json={"text": " \n"})
    assert gone.json() == blank


def test_of_several_writers_one_writes_and_the_others_are_told(control: Control) -> None:
    topic = control.topic()
    tag = control.call("GET", path(topic)).headers["etag"]

    def write(number: int) -> int:
        sent = {"text": f"note {number}"}
        return control.call("PUT", path(topic), json=sent, headers={"If-Match": tag}).status_code

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(write, range(4))) == [200, 412, 412, 412]
    assert control.call("PUT", path(topic), json={"text": "x"}).status_code == 428


def test_a_note_goes_with_its_topic(control: Control) -> None:
    topic = control.topic()
    assert control.change("PUT", path(topic), json={"text": "old"}).status_code == 200
    assert control.change("DELETE", f"/topics/{topic}").status_code == 204
    assert control.call("GET", path(topic)).status_code == 404
    assert control.call("POST", "/topics", json={"name": topic, "read_queues": 1, "write_queues": 1}).status_code == 201
    assert control.get(path(topic))["text"] == ""


def test_a_note_that_is_too_long_or_no_text_is_refused_and_named(control: Control) -> None:
    topic = control.topic()
    for body in ({"text": "x" * 10_001}, {"text": None}, {"text": 7}, {}):
        answer = control.change("PUT", path(topic), json=body)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (422, "#/text"), body


def test_every_change_is_in_the_audit(control: Control) -> None:
    topic = control.topic()
    for text in ("one", "two", ""):
        control.change("PUT", path(topic), json={"text": text})
    found = (
        control.as_("admin")
        .get("/api/v1/audit", params={"resource": f"{control.cluster}/topics/{topic}"})
        .json()["items"]
    )
    notes = [(each["action"], each["before"], each["after"]) for each in found if each["action"].startswith("note.")]
    assert notes == [
        ("note.delete", {"text": "two"}, {"text": ""}),
        ("note.update", {"text": "one"}, {"text": "two"}),
        ("note.update", None, {"text": "one"}),
    ]
