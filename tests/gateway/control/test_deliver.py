"""Requirements of `gateway.control.deliver`."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from broker_core.client.admin import Admin
from broker_core.client.admin.placed import PlacedMessage
from broker_core.client.config import ClientConfig, PushConfig
from broker_core.client.consumer.push import PushConsumer
from broker_core.client.errors import BrokerRefused
from broker_core.client.session import Session
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.message import StoredMessage
from gateway.control.deliver import _deliver
from gateway.problems import TIMED_OUT, ProblemError
from tests.gateway.control.conftest import Broker, Control


@pytest.mark.sample
async def test_one_client_handles_a_message_now_and_its_result_is_shown(control: Control, broker: Broker) -> None:
    topic, group = control.topic(), control.group()
    [stored] = control.produce(topic, "for one")
    seen: list[bytes] = []

    async def handle(message: StoredMessage) -> None:
        seen.append(message.body)
        if len(seen) > 1:
            raise ValueError("no more of this")

    async with Session(ClientConfig([broker.name_server])) as session:
        # Given a client of the group that reads other messages
        consumer = PushConsumer(session, group, handle, PushConfig(start_from="last"))
        consumer.subscribe(control.topic())
        async with consumer:
            path, body = f"/messages/{stored['message_id']}:deliver", {"topic": topic, "group": group}
            # When the message is delivered to the group, and then to the client by name
            first = await asyncio.to_thread(control.call, "POST", path, json=body)
            named = {**body, "client_id": session.client_id}
            second = await asyncio.to_thread(control.call, "POST", path, json=named)
    # Then the client's own results are the answers
    assert (first.status_code, second.status_code) == (200, 200), (first.text, second.text)
    assert (first.json()["result"], first.json()["client_id"]) == ("success", session.client_id)
    assert second.json()["result"] in ("later", "exception")
    assert seen == [b"for one", b"for one"]
    # And both are in the audit
    entries = control.as_("admin").get("/api/v1/audit", params={"limit": 20}).json()["items"]
    mine = [
        each
        for each in entries
        if each["resource"] == f"{control.cluster}/groups/{group}" and "deliver" in each["action"]
    ]
    assert [each["after"]["result"] for each in mine] == [second.json()["result"], "success"]


def test_a_delivery_that_cannot_be_made_is_refused_by_name(control: Control) -> None:
    topic, group = control.topic(), control.group()
    [stored] = control.produce(topic, "a")
    path = f"/messages/{stored['message_id']}:deliver"

    def refusal(role: str = "operator", **body: Any) -> tuple[int, str]:
        answer = control.call("POST", path, json={"topic": topic, **body}, role=role)
        return answer.status_code, answer.json()["code"]

    assert refusal(group=group) == (409, "CONFLICT")
    assert refusal(group=group, client_id="nobody") == (404, "NOT_FOUND")
    assert refusal() == (422, "INVALID")
    for body in ({"group": group}, {"group": group, "topic": None}, {"group": group, "topic": " "}, ["no object"]):
        answer = control.call("POST", path, json=body)
        assert answer.status_code == 422, answer.text
        assert "topic" in answer.text or isinstance(body, list)
    assert refusal("developer", group=group) == (403, "FORBIDDEN")
    # The client would get a body that this token may not see
    headers = control.token("read", "manage")
    wish = {"topic": topic, "group": group}
    answer = control.call("POST", path, json=wish, role="stranger", headers=headers)
    assert (answer.status_code, "'bodies'" in answer.json()["detail"]) == (403, True)


async def test_a_broker_that_gave_up_waiting_for_the_client_is_no_refusal() -> None:
    """Brokers wait longer for a client than the console waits for them, so only their answer is made here."""

    async def deliver(*_: object) -> None:
        raise BrokerRefused(ResponseCode.CONSUME_MSG_TIMEOUT, "no answer", "10.0.0.7:10911")

    admin = cast(Admin, SimpleNamespace(messages=SimpleNamespace(deliver=deliver)))
    with pytest.raises(ProblemError, match="got the message and gave no result") as caught:
        await _deliver(admin, cast(PlacedMessage, None), "billing", "10.0.0.7@4711")
    assert caught.value.kind is TIMED_OUT
