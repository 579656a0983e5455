"""Transactional messages of the Java client: commit, rollback, checks, and producers that come back later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.compat.driver import Driver, JavaObject
from tests.compat.java_values import JavaMessage, made
from tests.compat.reading import Reader
from tests.compat.servers import Server
from tests.support.wait import wait_until

pytestmark = pytest.mark.compat

# Apache RocketMQ looks at open transactions every `transactionCheckInterval`, Gantry when each is due.
SETTINGS = {"transactionTimeOut": "200", "transactionCheckInterval": "500", "transactionCheckMax": "100"}
PRODUCER = "org.apache.rocketmq.client.producer.TransactionMQProducer"


def transaction_producer(driver: Driver, server: Server, group: str) -> JavaObject:
    producer = driver.client(
        PRODUCER, server.name_server, group, sendMsgTimeout=30_000, transactionListener=made("gantry.Decider")
    )
    producer.call("start")
    return producer


def create_topic(driver: Driver, server: Server, topic: str) -> None:
    driver.mqadmin("updateTopic", "-n", server.name_server, "-b", server.address, "-t", topic, "-r", "2", "-w", "2")


def send_in_transaction(
    producer: JavaObject, topic: str, body: str, *, execute: str, check: str = "UNKNOW", **more: str
) -> Any:
    properties: Mapping[str, str] = {"execute": execute, "check": check} | more
    return producer.call("sendMessageInTransaction", JavaMessage(topic, body.encode(), properties=properties), None)


def checked(producer: JavaObject) -> list[str]:
    return list(producer.call("getTransactionListener.getChecked"))


def bodies(reader: Reader, topic: str) -> list[str]:
    return sorted(message.body.decode() for message in reader.read(topic, 0))


def test_only_what_is_committed_is_seen(driver: Driver, server: Server, reader: Reader, name: str) -> None:
    create_topic(driver, server, name)
    producer = transaction_producer(driver, server, f"{name}-payers")

    sent = send_in_transaction(producer, name, "committed", execute="COMMIT_MESSAGE", KEYS="A17")
    send_in_transaction(producer, name, "rolled back", execute="ROLLBACK_MESSAGE")
    wait_until(lambda: bodies(reader, name) == ["committed"])

    assert (sent["status"], sent["state"]) == ("SEND_OK", "COMMIT_MESSAGE")
    (message,) = reader.read(name, 1)
    assert message.properties["TRAN_MSG"] == "true"
    assert message.properties["KEYS"] == "A17"


@pytest.mark.sample
def test_a_producer_is_asked_what_it_did_not_tell(driver: Driver, server: Server, reader: Reader, name: str) -> None:
    create_topic(driver, server, name)
    producer = transaction_producer(driver, server, f"{name}-payers")

    send_in_transaction(producer, name, "unknown first", execute="UNKNOW", check="COMMIT_MESSAGE")
    send_in_transaction(producer, name, "it threw", execute="THROW", check="COMMIT_MESSAGE")
    send_in_transaction(producer, name, "gone", execute="UNKNOW", check="ROLLBACK_MESSAGE")
    open_one = send_in_transaction(producer, name, "open", execute="UNKNOW", check="THROW")

    wait_until(lambda: bodies(reader, name) == ["it threw", "unknown first"])
    wait_until(lambda: sum(told.startswith(f"open {open_one['msgId']}") for told in checked(producer)) >= 2)
    assert sum(told.startswith("gone ") for told in checked(producer)) == 1
    assert bodies(reader, name) == ["it threw", "unknown first"]


def test_another_producer_of_the_group_answers_for_one_that_died(
    driver: Driver, server: Server, reader: Reader, name: str
) -> None:
    create_topic(driver, server, name)
    first = transaction_producer(driver, server, f"{name}-payers")
    send_in_transaction(
        first, name, "left behind", execute="UNKNOW", check="COMMIT_MESSAGE", CHECK_IMMUNITY_TIME_IN_SECONDS="3"
    )
    first.shutdown()
    assert bodies(reader, name) == []

    later = transaction_producer(driver, server, f"{name}-payers")
    send_in_transaction(later, name, "so that it knows the broker", execute="ROLLBACK_MESSAGE")

    wait_until(lambda: bodies(reader, name) == ["left behind"])
