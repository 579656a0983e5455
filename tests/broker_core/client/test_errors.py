"""Refusals become errors that describe what happened."""

from __future__ import annotations

import pytest

from broker_core.client import errors
from broker_core.client.errors import ClientError, refusal
from broker_core.protocol.codes import ResponseCode

ADDR = "10.0.0.5:10911"


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (ResponseCode.SYSTEM_BUSY, errors.BrokerBusy),
        (ResponseCode.FLOW_CONTROL, errors.BrokerBusy),
        (ResponseCode.SERVICE_NOT_AVAILABLE, errors.BrokerUnavailable),
        (ResponseCode.NO_PERMISSION, errors.NoPermission),
        (ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST, errors.GroupNotFound),
        (ResponseCode.CONSUMER_NOT_ONLINE, errors.GroupOffline),
        (ResponseCode.SUBSCRIPTION_NOT_LATEST, errors.SubscriptionRefused),
        (ResponseCode.REQUEST_CODE_NOT_SUPPORTED, errors.NotSupported),
        (ResponseCode.SYSTEM_ERROR, errors.BrokerRefused),
        (9999, errors.BrokerRefused),
    ],
)
def test_a_code_has_its_error(code: int, kind: type[ClientError]) -> None:
    error = refusal(code, "because", ADDR)

    assert type(error) is kind
    assert isinstance(error, errors.BrokerRefused)
    assert (error.code, error.remark, error.addr) == (code, "because", ADDR)
    assert "because" in str(error)
    assert ADDR in str(error)


def test_a_broker_that_filters_by_tags_alone_is_told_from_its_other_failures() -> None:
    remark = "The broker does not support consumer to filter message by SQL92"
    error = refusal(ResponseCode.SYSTEM_ERROR, remark, ADDR)

    assert type(error) is errors.FilterNotServed
    assert isinstance(error, errors.NotSupported)


def test_an_unknown_topic_names_the_topic() -> None:
    error = refusal(ResponseCode.TOPIC_NOT_EXIST, "no route", ADDR, topic="orders")

    assert isinstance(error, errors.TopicNotFound)
    assert error.topic == "orders"


def test_a_time_out_may_have_reached_the_peer() -> None:
    assert errors.TimedOut(ADDR, 300).was_sent
    assert not errors.TimedOut(ADDR, 300, was_sent=False).was_sent
    assert not errors.Unreachable(ADDR, "refused").was_sent


def test_a_lease_that_is_over_says_which_and_why() -> None:
    assert str(errors.LeaseExpired("orders", 1, 2, "the receipt is void")) == (
        "topic 'orders' queue 1 offset 2: the receipt is void"
    )
    assert str(errors.LeaseExpired("orders", 1, 2)).endswith("has ended")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("No accessKey is configured", "it requires an access key"),
        ("No acl config for orders-service", "it knows no account orders-service"),
        ("Check signature failed for accessKey=orders-service", "the secret key of account orders-service is wrong"),
        (
            "Need admin permission for request code=17, but accessKey=orders-service is not",
            "account orders-service is not an administrator, which request 17 requires",
        ),
        ("No default permission for topic:orders", "the account has no right for topic orders"),
        ("No default permission for group:billing", "the account has no right for group billing"),
        ("something of a later version", "something of a later version"),
    ],
)
def test_access_control_says_what_is_lacking(text: str, reason: str) -> None:
    begin = "org.apache.rocketmq.acl.common.AclException: "
    java = ", org.apache.rocketmq.acl.plain.PlainPermissionManager.validate(PlainPermissionManager.java:662)"
    for remark in (begin + text, begin + text + java):
        error = refusal(ResponseCode.SYSTEM_ERROR, remark, ADDR)
        assert isinstance(error, errors.AccessDenied)
        assert isinstance(error, errors.NoPermission)
        assert error.reason == reason
