"""What an account may do."""

from __future__ import annotations

import pytest

from broker_core.broker.access.accounts import Account, Need, Right, need_group, need_topic
from broker_core.protocol.bodies.access import PlainAccessConfig

EITHER = Right.PUB | Right.SUB


def account(**fields: object) -> Account:
    return Account.of(PlainAccessConfig("orders-service", "a-secret-key", **fields))  # type: ignore[arg-type]


def publish(topic: str) -> Need:
    return need_topic(topic, Right.PUB)


def consume(topic: str) -> Need:
    return need_topic(topic, Right.SUB)


def test_without_rights_nothing_is_allowed() -> None:
    poor = account()
    assert not any(poor.may(need) for need in (publish("t"), consume("t"), need_group("g"), need_topic("t", EITHER)))


def test_a_listed_right_replaces_the_default() -> None:
    one = account(default_topic_perm="PUB|SUB", default_group_perm="SUB", topic_perms=["mine=PUB", "secret=DENY"])
    assert one.may(publish("mine"))
    assert not one.may(consume("mine"))
    assert not one.may(need_topic("secret", EITHER))
    assert one.may(publish("other"))
    assert one.may(consume("other"))
    assert one.may(need_group("g"))


def test_either_right_will_do_for_a_reading_of_offsets() -> None:
    assert account(topic_perms=["t=PUB"]).may(need_topic("t", EITHER))
    assert account(topic_perms=["t=SUB"]).may(need_topic("t", EITHER))


def test_a_retry_topic_is_its_group() -> None:
    one = account(group_perms=["billing=SUB"], default_topic_perm="PUB|SUB")
    assert one.may(consume("%RETRY%billing"))
    assert one.may(publish("%RETRY%billing"))
    assert not one.may(consume("%RETRY%other"))
    assert account(topic_perms=["%RETRY%billing=SUB"]).may(need_group("billing"))


def test_a_dead_letter_topic_is_its_group() -> None:
    one = account(group_perms=["billing=DENY"], default_topic_perm="PUB|SUB", default_group_perm="SUB")
    assert not one.may(consume("%DLQ%billing"))
    assert not one.may(publish("%DLQ%billing"))
    assert one.may(consume("%DLQ%other"))
    assert account(topic_perms=["%DLQ%billing=SUB"]).may(need_group("billing"))


def test_a_group_that_one_list_denies_stays_denied() -> None:
    for topics, groups in ((["%DLQ%g=DENY"], ["g=SUB"]), (["%RETRY%g=SUB"], ["g=DENY"])):
        assert not account(topic_perms=topics, group_perms=groups).may(need_group("g"))
    assert not account(topic_perms=["t=DENY", "t=PUB"]).may(publish("t"))


@pytest.mark.parametrize(
    "topic",
    [
        "SCHEDULE_TOPIC_XXXX",
        "rmq_sys_wheel_timer",
        "RMQ_SYS_TRANS_HALF_TOPIC",
        "RMQ_SYS_TRANS_OP_HALF_TOPIC",
        "TRANS_CHECK_MAX_TIME_TOPIC",
    ],
)
def test_a_topic_with_messages_of_all_others_must_be_listed(topic: str) -> None:
    default = account(default_topic_perm="PUB|SUB")
    assert not any(default.may(need) for need in (consume(topic), publish(topic), need_topic(topic, EITHER)))
    assert account(topic_perms=[f"{topic}=SUB"]).may(consume(topic))
    assert account(admin=True).may(consume(topic))
    assert not account(admin=True, default_topic_perm="SUB", topic_perms=["t=SUB"]).may(consume(topic))


def test_an_administrator_without_a_list_may_do_everything() -> None:
    assert account(admin=True).may(publish("t"))
    listed = account(admin=True, topic_perms=["t=SUB"])
    assert listed.may(consume("t"))
    assert not listed.may(publish("t"))
    assert not listed.may(consume("other"))


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"access_key": "short6"}, "accessKey must be longer than 6"),
        ({"secret_key": "short6"}, "secretKey must be longer than 6"),
        ({"secret_key": None}, "secretKey must be longer than 6"),
        ({"default_topic_perm": "ALL"}, "'ALL' is not a right"),
        ({"default_group_perm": "sub"}, "'sub' is not a right"),
        ({"topic_perms": ["orders"]}, "'orders' is not a topic and its right"),
        ({"topic_perms": ["=PUB"]}, "'=PUB' is not a topic and its right"),
        ({"group_perms": ["g=DENY|SUB"]}, "'DENY|SUB' is not a right"),
        ({"white_remote_address": "10.0.0.300"}, "has 300, which is too large"),
    ],
)
def test_what_is_no_account(fields: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=says.replace("|", r"\|")):
        Account.of(PlainAccessConfig(**({"access_key": "orders-service", "secret_key": "a-secret-key"} | fields)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "after", "loses"),
    [
        ({}, {}, False),
        ({}, {"topic_perms": ["t=PUB"]}, False),
        ({}, {"admin": True}, False),
        ({"topic_perms": ["t=PUB"]}, {"topic_perms": ["t=PUB|SUB", "u=DENY"]}, False),
        ({"topic_perms": ["t=DENY"]}, {"topic_perms": ["t=PUB"]}, False),
        ({"default_topic_perm": "PUB"}, {"default_topic_perm": "PUB|SUB"}, False),
        ({"topic_perms": ["t=PUB"]}, {"admin": True}, False),
        ({}, {"secret_key": "another-secret"}, True),
        ({}, {"white_remote_address": "10.0.0.1"}, True),
        ({"topic_perms": ["t=PUB|SUB"]}, {"topic_perms": ["t=SUB"]}, True),
        ({"topic_perms": ["t=PUB"]}, {"topic_perms": ["t=DENY"]}, True),
        ({"topic_perms": ["t=PUB"]}, {}, True),
        (
            {"topic_perms": ["TRANS_CHECK_MAX_TIME_TOPIC=SUB"], "default_topic_perm": "SUB"},
            {"default_topic_perm": "SUB"},
            True,
        ),
        ({"group_perms": ["g=SUB"]}, {"group_perms": ["h=SUB"]}, True),
        ({"default_topic_perm": "PUB|SUB"}, {"default_topic_perm": "SUB"}, True),
        ({"default_topic_perm": "SUB"}, {"default_topic_perm": "SUB", "topic_perms": ["t=DENY"]}, True),
        ({"default_group_perm": "SUB"}, {"default_group_perm": "DENY"}, True),
        ({"admin": True}, {}, True),
        ({"admin": True}, {"admin": True, "topic_perms": ["t=PUB|SUB"]}, True),
        ({"admin": True, "topic_perms": ["t=PUB"]}, {"topic_perms": ["t=PUB"]}, True),
    ],
)
def test_what_is_a_loss(before: dict[str, object], after: dict[str, object], loses: bool) -> None:
    changed = Account.of(PlainAccessConfig(**({"access_key": "orders-service", "secret_key": "a-secret-key"} | after)))  # type: ignore[arg-type]
    assert account(**before).loses_by(changed) == loses
    assert account(**before).loses_by(None)


def test_the_secret_is_not_shown() -> None:
    assert "a-secret-key" not in repr(account())
