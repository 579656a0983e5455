"""What changes the broker is taken without fields of other requests, whose signature might be used for it."""

from __future__ import annotations

import pytest

from broker_core.broker.access.fields import FIELDS
from broker_core.broker.access.needs import ADMINS_ONLY
from broker_core.protocol.codes import RequestCode as Code
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.admin import CreateAccessConfigRequest, GetBrokerAccessConfigRequest
from broker_core.protocol.headers.clients import GetConsumerRunningInfoRequest
from broker_core.protocol.headers.topics import CreateTopicRequest, GetTopicStatsInfoRequest
from broker_core.protocol.signature import Credentials
from tests.broker_core.broker.access.conftest import ADMIN, STRANGER
from tests.broker_core.broker.access.test_check import assert_refused
from tests.support.broker import TIMEOUT_MS, Wire

# As mqadmin 4.9.8 and 5.3.3 send them.
OF_TOOLS = [
    (
        Code.UPDATE_AND_CREATE_ACL_CONFIG,
        {
            "accessKey": "another-account",
            "secretKey": "a-secret-key",
            "whiteRemoteAddress": "",
            "admin": "false",
            "defaultTopicPerm": "DENY",
            "defaultGroupPerm": "SUB",
            "topicPerms": "orders=PUB",
            "groupPerms": "billing=SUB",
        },
    ),
    (Code.DELETE_ACL_CONFIG, {"accessKey": "stranger-account"}),
    (Code.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG, {"globalWhiteAddrs": "10.7.7.7"}),
    (Code.GET_BROKER_CLUSTER_ACL_CONFIG, {}),
    (
        Code.UPDATE_AND_CREATE_TOPIC,
        {
            "topic": "paid",
            "defaultTopic": "TBW102",
            "readQueueNums": "1",
            "writeQueueNums": "1",
            "perm": "6",
            "topicFilterType": "SINGLE_TAG",
            "topicSysFlag": "0",
            "order": "false",
            "attributes": "",
            "force": "false",
        },
    ),
    (Code.DELETE_TOPIC_IN_BROKER, {"topic": "orders"}),
    (Code.DELETE_SUBSCRIPTIONGROUP, {"groupName": "billing", "removeOffset": "false"}),
    (Code.DELETE_SUBSCRIPTIONGROUP, {"groupName": "billing", "cleanOffset": "false"}),
    (Code.CLEAN_EXPIRED_CONSUMEQUEUE, {}),
    (Code.CLEAN_UNUSED_TOPIC, {}),
    (Code.DELETE_EXPIRED_COMMITLOG, {}),
]


async def raw(wire: Wire, code: int, fields: dict[str, str]) -> Command:
    """Ask without the client's own signature."""
    return await wire.client.invoke(wire.address, Command(code, dict(fields)), TIMEOUT_MS)


def test_every_request_of_administrators_has_its_fields() -> None:
    assert FIELDS.keys() == ADMINS_ONLY


@pytest.mark.parametrize(("code", "fields"), OF_TOOLS, ids=lambda each: each.name if isinstance(each, Code) else "")
async def test_the_tools_of_rocketmq_go_on_working(guarded: Wire, code: Code, fields: dict[str, str]) -> None:
    answer = await raw(guarded, code, ADMIN.sign(Command(code, dict(fields))).ext_fields)

    assert answer.code == ResponseCode.SUCCESS, answer.remark


@pytest.mark.parametrize("name", ["consumerGroup", "Accesskey", "zzz", "SecurityToken"])
async def test_a_field_of_another_request_is_refused(guarded: Wire, name: str) -> None:
    for code in sorted(ADMINS_ONLY):
        answer = await raw(guarded, code, ADMIN.sign(Command(code, {name: "left over"})).ext_fields)

        assert_refused(
            answer,
            f"The field {name!r} is not one of request code={code}: with access control, what changes the broker is "
            "taken without fields of other requests",
        )


async def test_the_signature_of_a_question_does_not_make_an_account(guarded: Wire) -> None:
    # Given a signed question whose values begin as those of an account
    question = ADMIN.sign(
        Command.request(GetConsumerRunningInfoRequest("gmine", "evil1234trueevilsecret1", jstack_enable=False))
    )
    forged = {
        "AccessKey": ADMIN.access_key,
        "accessKey": "evil1234",
        "admin": "true",
        "secretKey": "evilsecret1",
        "zzz": "gminefalse",
        "Signature": question.ext_fields["Signature"],
    }

    answer = await raw(guarded, Code.UPDATE_AND_CREATE_ACL_CONFIG, forged)

    assert answer.code == ResponseCode.SYSTEM_ERROR
    access = guarded.broker.components.access
    assert access is not None
    assert "evil1234" not in access.table.accounts


async def test_our_client_sends_no_other_fields(guarded: Wire) -> None:
    for header in (
        CreateTopicRequest("paid", 1, 1, 6),
        CreateAccessConfigRequest("another-account", "a-secret-key"),
        GetBrokerAccessConfigRequest(),
    ):
        assert (await guarded.ask(header)).code == ResponseCode.SUCCESS


async def test_questions_for_figures_may_have_any_field(guarded: Wire) -> None:
    request = Command.request(GetTopicStatsInfoRequest("orders"))
    request.ext_fields |= {"bname": "broker-a", "nsd": "false"}

    assert (await raw(guarded, request.code, STRANGER.sign(request).ext_fields)).code == ResponseCode.SUCCESS


async def test_who_is_no_administrator_learns_that_first(guarded: Wire) -> None:
    signed = Credentials(STRANGER.access_key, STRANGER.secret_key).sign(Command(Code.CLEAN_UNUSED_TOPIC, {"x": "y"}))

    answer = await raw(guarded, Code.CLEAN_UNUSED_TOPIC, signed.ext_fields)

    assert "Need admin permission" in (answer.remark or "")
