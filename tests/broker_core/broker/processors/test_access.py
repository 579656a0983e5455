"""Requests for features that the broker lacks are refused with a reason."""

from __future__ import annotations

import pytest

from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.headers import admin as headers
from tests.support.broker import Wire


@pytest.mark.parametrize(
    ("header", "code"),
    [
        (headers.CreateAccessConfigRequest("rocketmq", "12345678"), 209),
        (headers.DeleteAccessConfigRequest("rocketmq"), 210),
        (headers.UpdateGlobalWhiteAddrsRequest("10.0.0.1"), 211),
        (headers.GetBrokerAccessInfoRequest(), ResponseCode.SYSTEM_ERROR),
    ],
)
async def test_access_control_is_said_to_be_off(wire: Wire, header: object, code: int) -> None:
    answer = await wire.ask(header)

    assert answer.code == code
    assert "access control is off (aclEnable=false)" in (answer.remark or "")


async def test_the_whole_configuration_of_access_control_is_not_there(wire: Wire) -> None:
    question = headers.GetBrokerAccessInfoRequest()  # it has no fields either
    answer = await wire.ask(question, code=RequestCode.GET_BROKER_CLUSTER_ACL_CONFIG)

    assert answer.code == ResponseCode.SYSTEM_ERROR
    assert "access control is off (aclEnable=false)" in (answer.remark or "")
