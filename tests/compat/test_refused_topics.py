"""A broker that makes no topics by itself says so to the Java client; so does Apache RocketMQ."""

from __future__ import annotations

import pytest

from tests.compat.conftest import Server
from tests.compat.driver import Driver, JavaError
from tests.compat.java_values import JavaMessage, Queue

pytestmark = pytest.mark.compat

SETTINGS = {"autoCreateTopicEnable": "false", "autoCreateSubscriptionGroup": "false"}

TOPIC_NOT_EXIST, GROUP_NOT_EXIST, NO_ROUTE = 17, 26, 10_005


def test_an_unknown_topic_has_no_route(driver: Driver, server: Server, name: str) -> None:
    producer = driver.producer(server.name_server)
    with pytest.raises(JavaError, match="No route info of this topic") as refused:
        producer.call("send", JavaMessage(name))
    assert refused.value.code == NO_ROUTE


def test_the_broker_refuses_an_unknown_topic_itself(driver: Driver, server: Server, name: str) -> None:
    # Given a producer that knows the broker by a topic that was made for it
    driver.admin(server.name_server).call(
        "createAndUpdateTopicConfig", server.address, {"topicName": name, "readQueueNums": 2, "writeQueueNums": 2}
    )
    producer = driver.producer(server.name_server, retryTimesWhenSendFailed=0)
    assert producer.call("send", JavaMessage(name))["status"] == "SEND_OK"
    # When it sends to a queue of a topic that nobody made
    with pytest.raises(JavaError, match="not exist, apply first please!") as refused:
        producer.call("send", JavaMessage(f"{name}-unknown"), Queue(f"{name}-unknown", 0))
    assert refused.value.code == TOPIC_NOT_EXIST


def test_a_group_that_nobody_made_may_not_pull(driver: Driver, server: Server, name: str) -> None:
    admin = driver.admin(server.name_server)
    admin.call("createAndUpdateTopicConfig", server.address, {"topicName": name, "readQueueNums": 1})
    consumer = driver.old_consumer(server.name_server, name)
    with pytest.raises(JavaError) as refused:
        consumer.call("pull", Queue(name, 0), "*", 0, 32)
    assert refused.value.code == GROUP_NOT_EXIST
    # And once it is made, it may
    admin.call("createAndUpdateSubscriptionGroupConfig", server.address, {"groupName": name})
    assert consumer.call("pull", Queue(name, 0), "*", 0, 32)["status"] == "NO_NEW_MSG"
