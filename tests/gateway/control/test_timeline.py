"""Requirements of `gateway.control.timeline`."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.client.blocking import BlockingSession
from broker_core.protocol.message import Message
from tests.gateway.control.conftest import Control
from tests.gateway.control.test_transactions import decided, prepared
from tests.support.wait import wait_until


def timeline(control: Control, stored: dict[str, Any], topic: str, role: str = "operator") -> Any:
    return control.get(f"/messages/{stored['message_id']}/timeline", topic=topic, role=role)


def kinds(shown: Any) -> list[str]:
    return [event["kind"] for event in shown["events"]]


def receive(control: Control, group: str, topic: str) -> str:
    path = f"/groups/{group}/topics/{topic}:receive"
    answer = control.call("POST", path, json={"max_messages": 1, "wait_ms": 5000})
    receipt: str = answer.json()["messages"][0]["receipt"]
    return receipt


@pytest.mark.gantry_only("leases")
def test_a_message_tells_when_it_was_stored_and_which_groups_had_it(control: Control) -> None:
    topic, done, waiting = control.topic(), control.group(), control.group()
    [stored] = control.produce(topic, "a")
    control.consume(done, topic, 1)
    receive(control, waiting, topic)
    shown = timeline(control, stored, topic)
    assert kinds(shown)[:2] == ["sent", "stored"]
    assert {group["group"]: group["state"] for group in shown["groups"]}[done] == "consumed"
    consumed = [event for event in shown["events"] if event["kind"] == "consumed"]
    assert (done, None) in [(event["group"], event["at"]) for event in consumed]
    assert shown["complete"]
    assert any("do not record when" in each for each in shown["not_known"])


@pytest.mark.gantry_only("levels alone delay a message of Apache RocketMQ 4.9")
def test_a_message_with_a_delay_says_until_when_it_waited(control: Control) -> None:
    topic = control.topic()
    late = {"messages": [{"body": {"encoding": "text", "data": "a"}, "delay_ms": 1_500}]}
    [stored] = control.call("POST", f"/topics/{topic}/messages", json=late).json()["results"]
    wait_until(lambda: control.call("GET", f"/messages/{stored['message_id']}", params={"topic": topic}).is_success)
    events = timeline(control, stored, topic)["events"]
    assert [event["kind"] for event in events] == ["sent", "due", "stored"]
    assert events[1]["at"] <= events[2]["at"]


@pytest.mark.gantry_only("brokers of Apache RocketMQ show no decisions")
def test_a_committed_message_says_that_it_was_a_half_message(control: Control) -> None:
    topic = control.topic()
    half = prepared(control, topic)
    assert decided(control, half, "commit").status_code == 200
    wait_until(lambda: control.call("GET", f"/messages/{half['message_id']}", params={"topic": topic}).is_success)
    events = timeline(control, half, topic)["events"]
    assert [event["kind"] for event in events] == ["sent", "committed", "stored"]
    assert (events[1]["group"], events[1]["at"]) == ("payments", events[2]["at"])


@pytest.mark.gantry_only("leases")
def test_a_dead_letter_and_the_copies_that_were_sent_again_are_in_its_life(control: Control) -> None:
    topic, other, group = control.topic("orders"), control.topic("payments"), control.group("orders")
    [stored] = control.produce(topic, "a", keys=["A17"])
    # Given a message that a group gave up
    receipt = receive(control, group, topic)
    nack = {"receipts": [receipt], "reason": "smtp 451", "dead_letter": True}
    assert control.call("POST", f"/groups/{group}/topics/{topic}:nack", json=nack).status_code == 200
    # And that was sent again, into its own topic and into another one
    for target in (topic, other):
        again = {"topic": topic, "target_topic": target}
        sent = control.call("POST", f"/messages/{stored['message_id']}:resend", json=again)
        assert sent.status_code == 201, sent.text
    # Then its life has all of it, in order and once
    wait_until(lambda: "dead" in kinds(timeline(control, stored, topic)))
    shown = timeline(control, stored, topic)
    assert kinds(shown)[:5] == ["sent", "stored", "dead", "sent_again", "sent_again"]
    dead, *copies = shown["events"][2:5]
    assert (dead["group"], dead["reason"], dead["topic"]) == (group, "smtp 451", f"%DLQ%{group}")
    assert [(copy["topic"], copy["by"]) for copy in copies] == [(topic, "operator"), (other, "operator")]
    assert {each["group"]: each["state"] for each in shown["groups"]}[group] == "dead"
    # And whoever may not read the other topic does not see that copy
    assert other not in [event["topic"] for event in timeline(control, stored, topic, role="narrow")["events"]]
    # And a copy says where it comes from
    copy = timeline(control, {"message_id": copies[1]["message_id"]}, other)
    assert (copy["events"][0]["kind"] in ("copied_from", "sent"), "copied_from" in kinds(copy)) == (True, True)


def test_a_copy_does_not_name_a_source_or_a_job_that_one_may_not_read(control: Control) -> None:
    topic, hidden = control.topic("orders"), control.topic("payments")
    origin = {"GANTRY_SRC": f"local/broker-a/{hidden}/0/0", "GANTRY_SRC_ID": "A1", "GANTRY_JOB": "nobody-made-it"}
    with BlockingSession(control.broker.config) as session:
        sent = session.run(session.producer().send(Message.create(topic, b"x", properties=origin)))
    stored = {"message_id": sent.message_id}
    wait_until(lambda: control.call("GET", f"/messages/{sent.message_id}", params={"topic": topic}).status_code == 200)
    for role, seen in (("operator", (hidden, "A1", None)), ("narrow", (None, None, None))):
        shown = timeline(control, stored, topic, role=role)
        (copied,) = [event for event in shown["events"] if event["kind"] == "copied_from"]
        assert (copied["topic"], copied["message_id"], copied["job"]) == seen
