"""Requirements of `gateway.control.resend`."""

from __future__ import annotations

from typing import Any

import pytest

from tests.gateway.control.conftest import Control


def sent(control: Control, topic: str, **entry: Any) -> dict[str, Any]:
    """Store one message; return its result."""
    body = {"encoding": "json", "data": {"id": "A17"}}
    message = {"keys": ["A17"], "tag": "created", "properties": {"source": "web"}, "body": body, **entry}
    answer = control.call("POST", f"/topics/{topic}/messages", json=message)
    assert answer.status_code == 201, answer.text
    result: dict[str, Any] = answer.json()["results"][0]
    return result


def resend(control: Control, message_id: str, *, role: str = "operator", **wanted: Any) -> Any:
    return control.call("POST", f"/messages/{message_id}:resend", role=role, json=wanted)


@pytest.mark.sample
def test_a_copy_is_the_message_and_says_where_it_comes_from(control: Control) -> None:
    topic = control.topic()
    original = sent(control, topic)
    answer = resend(control, original["message_id"], topic=topic)
    assert answer.status_code == 201, answer.text
    copy = control.get(f"/messages/{answer.json()['message_id']}", topic=topic)
    first = control.get(f"/messages/{original['message_id']}", topic=topic)
    assert copy["message_id"] != first["message_id"]
    for field in ("keys", "tag", "body"):
        assert copy[field] == first[field]
    assert copy["properties"]["source"] == "web"
    assert copy["properties"]["GANTRY_SRC"] == f"{control.cluster}/broker-a/{topic}/0/0"
    assert copy["properties"]["GANTRY_SRC_ID"] == original["message_id"]
    assert copy["properties"]["GANTRY_BY"] == "operator"
    assert (answer.json()["queue_id"], answer.json()["offset"], answer.json()["flushed"]) == (0, 1, True)


def test_what_is_given_replaces_what_the_original_has(control: Control) -> None:
    topic, target = control.topic(), control.topic("copies")
    original = sent(control, topic)
    answer = resend(
        control,
        original["message_id"],
        topic=topic,
        target_topic=target,
        keys=["B1", "B2"],
        tag="",
        properties={"why": "again"},
        body={"encoding": "json", "data": '{"n":1.10,"big":12345678901234567890123}'},
    )
    assert answer.status_code == 201, answer.text
    copy = control.get(f"/messages/{answer.json()['message_id']}", topic=target)
    assert (copy["keys"], copy["tag"]) == (["B1", "B2"], None)
    assert copy["body"]["text"] == '{"n":1.10,"big":12345678901234567890123}', "numbers stay as they were written"
    assert copy["properties"]["why"] == "again"
    assert "source" not in copy["properties"]
    changes = control.as_("admin").get("/api/v1/audit", params={"action": "message.resend"}).json()["items"]
    ours = next(each for each in changes if target in each["resource"])
    assert ours["after"]["changed"] == ["body", "keys", "properties", "tag", "target_topic"]


def test_a_copy_of_a_copy_says_where_it_comes_from_itself(control: Control) -> None:
    topic = control.topic()
    first = resend(control, sent(control, topic)["message_id"], topic=topic).json()
    shown = control.get(f"/messages/{first['message_id']}", topic=topic)["properties"]
    copied = {name: value for name, value in shown.items() if name == "source" or name.startswith("GANTRY_")}
    again = resend(control, first["message_id"], topic=topic, properties=copied)
    assert again.status_code == 201, again.text
    found = control.get(f"/messages/{again.json()['message_id']}", topic=topic)["properties"]
    assert (found["GANTRY_SRC_ID"], found["source"]) == (first["message_id"], "web")
    forged = resend(control, first["message_id"], topic=topic, properties={**copied, "GANTRY_JOB": "j"})
    assert forged.json()["errors"][0]["pointer"] == "#/properties/GANTRY_JOB"


@pytest.mark.gantry_only("leases")
def test_a_dead_letter_goes_back_to_the_topic_it_came_from(control: Control) -> None:
    topic, group = control.topic(), control.group()
    sent(control, topic)
    path = f"/groups/{group}/topics/{topic}"
    message = control.call("POST", f"{path}:receive", json={"wait_ms": 5000}).json()["messages"][0]
    buried = control.call("POST", f"{path}:nack", json={"receipts": [message["receipt"]], "dead_letter": True})
    assert buried.status_code == 200, buried.text
    dead = control.get(f"/topics/%25DLQ%25{group}/messages")["items"][0]
    answer = resend(control, dead["message_id"], topic=f"%DLQ%{group}")
    assert (answer.status_code, answer.json()["topic"]) == (201, topic), answer.text


@pytest.mark.parametrize(
    ("wanted", "status", "pointer"),
    [
        ({"body": {"encoding": "json", "data": "{"}}, 422, "#/body/data"),
        ({"body": {"encoding": "base64", "data": "?"}}, 422, "#/body/data"),
        ({"keys": ["a b"]}, 422, "#/keys/0"),
        ({"tag": "a||b"}, 422, "#/tag"),
        ({"queue": 1}, 422, "#/queue"),
        ({"properties": {"DELAY": "3"}}, 422, "#/properties/DELAY"),
        ({"properties": {"UNIQ_KEY": "1"}}, 422, "#/properties/UNIQ_KEY"),
        ({"target_topic": "nowhere"}, 404, None),
        ({"target_topic": "TBW102"}, 422, None),
    ],
)
def test_what_cannot_be_sent_is_refused_by_name(
    control: Control, wanted: dict[str, Any], status: int, pointer: str | None
) -> None:
    topic = control.topic()
    original = sent(control, topic)
    answer = resend(control, original["message_id"], topic=topic, **wanted)
    assert answer.status_code == status, answer.text
    if pointer is not None:
        assert [each["pointer"] for each in answer.json()["errors"]] == [pointer]


def test_it_needs_the_right_to_read_there_and_to_produce_here(control: Control) -> None:
    topic = control.topic()
    original = sent(control, topic)
    assert resend(control, original["message_id"], role="viewer", topic=topic).status_code == 403
    assert resend(control, original["message_id"], role="stranger", topic=topic).status_code == 401
    assert resend(control, "0" * 32, topic=topic).status_code == 404


@pytest.mark.parametrize("topic", [{}, {"topic": None}, {"topic": ""}, {"topic": ["orders"]}])
def test_a_resend_without_the_topic_of_the_original_is_refused_by_name(control: Control, topic: dict[str, Any]) -> None:
    answer = resend(control, "0A0000010001AAAA0000000000000013", **topic)

    assert answer.status_code == 422, answer.text
    assert [each["pointer"] for each in answer.json()["errors"]] == ["#/topic"]
    # Who may see no body at all learns that.
    assert resend(control, "0A0000010001AAAA0000000000000013", role="viewer", **topic).status_code == 403


def test_the_right_is_that_for_the_topic_that_is_used(control: Control) -> None:
    topic = control.topic()
    original = sent(control, topic)
    headers = control.token(f"bodies:{topic}-not", "read:*", "produce:*")

    for name in (topic, f" {topic}", f"{topic}\n"):
        wish = {"topic": name}
        path = f"/messages/{original['message_id']}:resend"
        answer = control.call("POST", path, json=wish, role="stranger", headers=headers)
        assert (answer.status_code, f"topic '{topic}'" in answer.json()["detail"]) == (403, True), answer.text
