"""What a broker sends to a client on behalf of somebody else has nothing of whoever asked but the question."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from broker_core.protocol.codes import SERIALIZER_BINARY, SERIALIZER_JSON, RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers import clients as headers
from broker_core.protocol.headers.offsets import ResetOffsetRequest, UpdateConsumerOffsetRequest
from broker_core.protocol.headers.send import SendMessageV2Request
from broker_core.protocol.properties import format_properties
from broker_core.protocol.signature import Credentials
from tests.broker_core.broker.access.conftest import ADMIN
from tests.support.broker import BORN, TIMEOUT_MS, Wire, another_client
from tests.support.wait import eventually

# A client id that an attacker chooses so that the values of the question are those of another request.
CLIENT = "evil1234trueevilsecret1"
OF_ACCOUNTS = {"accesskey", "signature", "securitytoken"}
WITH_TOKEN = Credentials(ADMIN.access_key, ADMIN.secret_key, "a-token-of-the-administrator")
SMUGGLED = {"accessKEY": ADMIN.access_key, "SIGNATURE": "c2lnbmF0dXJl", "securityToken": "a-token", "more": "text"}


@dataclass
class Asker:
    """An administrator and a member of a group whose pushes are looked at."""

    admin: Wire
    member: Wire
    extra: dict[str, str]
    serializer: int

    async def ask(self, header: object, body: bytes = b"", code: int | None = None) -> Command:
        """Send one signed request, in the given form and with further fields."""
        request = Command.request(header, body, code=code)
        request.ext_fields |= self.extra
        request.serializer = self.serializer
        return await self.admin.client.invoke(self.admin.address, WITH_TOKEN.sign(request), TIMEOUT_MS)

    def pushed(self, code: RequestCode) -> list[Command]:
        return [each for each in self.member.pushed if each.code == code]


@pytest.fixture(
    params=[({}, SERIALIZER_JSON), (SMUGGLED, SERIALIZER_JSON), (SMUGGLED, SERIALIZER_BINARY)],
    ids=["our-client", "raw-json", "raw-binary"],
)
async def asker(request: pytest.FixtureRequest, guarded: Wire) -> AsyncIterator[Asker]:
    member = another_client(guarded)
    member.credentials = ADMIN
    await member.heartbeat(CLIENT, group="billing", topics={"orders": "*"}, producer_group="askers")
    extra, serializer = request.param
    yield Asker(guarded, member, extra, serializer)
    await member.client.close()


def reply(properties: dict[str, str]) -> SendMessageV2Request:
    return SendMessageV2Request(
        "local_REPLY_TOPIC", 0, 0, BORN, 0, "answerers", "TBW102", 4, properties=format_properties(properties)
    )


async def test_no_credentials_reach_a_client(asker: Asker) -> None:
    sent = await asker.admin.send("orders", b"hello")
    await asker.ask(UpdateConsumerOffsetRequest("billing", "orders", 0, 1))
    relays: list[tuple[RequestCode, object, int | None]] = [
        (RequestCode.GET_CONSUMER_RUNNING_INFO, headers.GetConsumerRunningInfoRequest("billing", CLIENT), None),
        (
            RequestCode.CONSUME_MESSAGE_DIRECTLY,
            headers.ConsumeMessageDirectlyRequest("billing", CLIENT, sent.msg_id, topic="orders"),
            None,
        ),
        (
            RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT,
            headers.GetConsumerStatusRequest("orders", "billing", CLIENT),
            None,
        ),
        (RequestCode.RESET_CONSUMER_CLIENT_OFFSET, ResetOffsetRequest("orders", "billing", 0, True), None),
        (
            RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT,
            reply({"REPLY_TO_CLIENT": CLIENT}),
            RequestCode.SEND_REPLY_MESSAGE_V2,
        ),
    ]

    for pushed, question, code in relays:
        answer = await asker.ask(question, code=code)
        assert answer.code == ResponseCode.SUCCESS, (pushed, answer.remark)
        await eventually(lambda code=pushed: len(asker.pushed(code)) == 1)

    assert {each.code for each in asker.member.pushed} >= {pushed for pushed, _, _ in relays}
    for each in asker.member.pushed:
        told = f"{each.ext_fields} {each.remark} {each.body!r}"
        assert not {name.lower() for name in each.ext_fields} & OF_ACCOUNTS, each
        assert not any(value in told for value in (ADMIN.access_key, "c2lnbmF0dXJl", "a-token", "more")), each


async def test_a_client_is_asked_all_that_the_question_says(asker: Asker) -> None:
    sent = await asker.admin.send("orders", b"hello")
    await asker.ask(headers.GetConsumerRunningInfoRequest("billing", CLIENT, jstack_enable=True), b"ignored")
    await asker.ask(headers.ConsumeMessageDirectlyRequest("billing", CLIENT, sent.msg_id, topic="orders"))

    (info,) = asker.pushed(RequestCode.GET_CONSUMER_RUNNING_INFO)
    (consume,) = asker.pushed(RequestCode.CONSUME_MESSAGE_DIRECTLY)
    assert (info.ext_fields, info.body) == (
        {"consumerGroup": "billing", "clientId": CLIENT, "jstackEnable": "true"},
        b"",
    )
    assert consume.ext_fields == {
        "consumerGroup": "billing",
        "clientId": CLIENT,
        "msgId": sent.msg_id,
        "brokerName": "broker-a",
        "topic": "orders",
    }
