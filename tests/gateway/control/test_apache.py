"""Requirements of the control plane on an Apache RocketMQ 4.9 cluster: what it lacks is refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from broker_core.client.admin import Admin
from broker_core.client.blocking import BlockingSession
from broker_core.protocol.headers.send import ConsumerSendMessageBackRequest
from tests.gateway.control.conftest import APACHE, Control
from tests.support.wait import wait_until

pytestmark = [pytest.mark.sample, pytest.mark.parametrize("cluster", [APACHE], indirect=True, scope="session")]


def test_it_says_what_it_can_do(control: Control) -> None:
    shown = control.get("")
    able = {each["name"]: (each["state"], each["value"]) for each in shown["capabilities"]}
    assert able == {
        "lease": ("no", None),
        "batch_ack": ("no", None),
        "timer": ("partly", "18"),
        "scheduled": ("no", None),
        "transaction": ("yes", None),
        "sql": ("no", None),
        "index": ("yes", None),
        "message_type": ("no", None),
        "producers": ("yes", None),
        "purge": ("no", None),
        "replicas": ("no", "1"),
    }
    assert shown["kind"] == "rocketmq"


@pytest.mark.parametrize(
    ("method", "path", "body", "capability"),
    [
        ("POST", "/groups/{group}/topics/{topic}:receive", {"max_messages": 1}, "lease"),
        ("GET", "/scheduled", None, "scheduled"),
        ("GET", "/scheduled/summary", None, "scheduled"),
        ("GET", "/scheduled/C000", None, "scheduled"),
        ("PATCH", "/scheduled/C000", {"delay_ms": 5}, "scheduled"),
        ("DELETE", "/scheduled/C000", None, "scheduled"),
    ],
)
def test_what_it_lacks_is_refused_and_named(
    control: Control, method: str, path: str, body: Any, capability: str
) -> None:
    answer = control.call(method, path.format(topic=control.topic(), group=control.group()), json=body)
    refused = answer.json()
    assert (answer.status_code, refused["code"], refused["capability"]) == (422, "NOT_SERVED_BY_BROKER", capability)


def test_a_topic_with_a_message_type_is_not_created(control: Control) -> None:
    name = control.name()
    refused = control.call("POST", "/topics", json={"name": name, "message_type": "fifo"})
    assert (refused.status_code, refused.json()["code"]) == (422, "NOT_SERVED_BY_BROKER")
    assert refused.json()["capability"] == "message_type"
    assert control.call("GET", f"/topics/{name}").status_code == 404


def test_a_delay_is_one_of_its_levels_or_refused(control: Control) -> None:
    topic = control.topic()
    for delay, status in ((1_000, 201), (1_500, 422)):
        body = {"body": {"encoding": "text", "data": "later"}, "delay_ms": delay}
        answer = control.call("POST", f"/topics/{topic}/messages", json=body)
        assert answer.status_code == status, answer.text
    assert answer.json()["code"] == "DELAY_NOT_SERVED"
    assert "1000, 5000" in answer.json()["detail"]


def test_the_leases_of_a_group_are_unknown(control: Control) -> None:
    shown = control.get(f"/groups/{control.group()}")
    assert (shown["lease_consumers"], shown["leases"]) == ([], None)


def test_what_it_does_not_tell_is_unknown(control: Control) -> None:
    topic = control.topic()
    control.produce(topic, "a", keys=["A17"])
    shown = control.get(f"/topics/{topic}")
    assert (shown["size_bytes"], shown["message_type"]) == (None, None)
    found = control.get("/messages:search", topic=topic, key="A17")
    assert (found["verdict"], len(found["items"])) == ("match", 1)
    assert (found["searched"]["index_files"], found["searched"]["entries_visited"]) == (None, None)


def test_a_dead_letter_of_a_native_client_is_shown_without_a_reason_and_can_go_back(control: Control) -> None:
    topic, group = control.topic(), control.group()
    control.produce(topic, "hopeless", keys=["A17"])
    with BlockingSession(control.broker.config) as session:
        session.run(_give_up(session.admin, control, group, topic))
    wait_until(lambda: control.get(f"/dead-letters/{group}/causes")["read"] == 1)
    (cause,) = control.get(f"/dead-letters/{group}/causes")["items"]
    assert (cause["reason"], cause["count"], cause["topics"]) == (None, 1, [topic])
    dry = control.call("POST", f"/dead-letters/{group}:redrive", json={
        "filter": {}, "target": {"to": "failed_group"}, "dry_run": True,
    })  # fmt: skip
    assert dry.status_code == 200, dry.text
    assert (dry.json()["messages"], dry.json()["complete"]) == (1, True)


async def _give_up(admin: Admin, control: Control, group: str, topic: str) -> None:
    """Send the first message of a topic back as a member does that gives it up: the delay level -1."""
    (message,) = (await admin.messages.browse(topic, limit=1)).messages
    header = ConsumerSendMessageBackRequest(
        offset=message.message.log_offset,
        group=group,
        delay_level=-1,
        origin_msg_id=message.message.message_id,
        origin_topic=topic,
        max_reconsume_times=16,
    )
    await admin.clusters.try_request(control.broker.address, header)
