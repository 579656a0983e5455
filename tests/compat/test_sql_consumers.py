"""Every consumer of the unmodified Java client that selects by SQL92, against Gantry and against Apache RocketMQ."""

from __future__ import annotations

import pytest

from tests.compat.driver import Driver, JavaError, JavaObject
from tests.compat.java_values import Queue, Received, sql
from tests.compat.reading import messages_of
from tests.compat.sending import OVER_29, QUEUES, numbers_of, send_amounts
from tests.compat.servers import Server
from tests.support.wait import wait_until

pytestmark = pytest.mark.compat

# It is always on in Gantry.
APACHE_SETTINGS = {"enablePropertyFilter": "true"}


@pytest.mark.sample
def test_a_push_consumer_selects_by_properties(driver: Driver, server: Server, name: str) -> None:
    producer = driver.producer(server.name_server)
    send_amounts(producer, name, range(40))
    consumer = driver.push_consumer(server.name_server, name, {name: sql(OVER_29)})
    wait_until(lambda: sorted(numbers_of(consumer.received)) == [30, 32, 34, 36, 38])
    # And what comes while it waits, wanted or not
    send_amounts(producer, name, range(40, 60))
    wait_until(lambda: len(consumer.received) == 15)
    assert sorted(numbers_of(consumer.received)) == list(range(30, 60, 2))


def test_a_lite_pull_consumer_selects_by_properties(driver: Driver, server: Server, name: str) -> None:
    send_amounts(driver.producer(server.name_server), name, range(40))
    consumer = driver.lite_consumer(server.name_server, name, consumeFromWhere="CONSUME_FROM_FIRST_OFFSET")
    consumer.call("subscribe", name, sql(OVER_29))
    consumer.call("start")
    found: list[int] = []

    def has_all() -> bool:
        found.extend(numbers_of(map(Received.of, consumer.call("poll", 100))))
        return len(found) >= 5

    wait_until(has_all)
    assert sorted(found) == [30, 32, 34, 36, 38]


def test_a_pull_selects_by_properties(driver: Driver, server: Server, name: str) -> None:
    send_amounts(driver.producer(server.name_server), name, range(40))
    consumer = driver.old_consumer(server.name_server, name)
    consumer.call("fetchSubscribeMessageQueues", name)
    # Before its first heartbeat the client does not know the version of the broker, and refuses
    wait_until(lambda: can_pull(consumer, name))
    pulled = [consumer.call("pull", Queue(name, number), sql(OVER_29), 0, 32) for number in range(QUEUES)]
    assert [numbers_of(messages_of(each)) for each in pulled] == [[32, 36], [], [30, 34, 38], []]
    assert [(each["status"], each["next"]) for each in pulled] == [("FOUND", 10), ("NO_MATCHED_MSG", 10)] * 2


def can_pull(consumer: JavaObject, topic: str) -> bool:
    try:
        consumer.call("pull", Queue(topic, 0), sql(OVER_29), 0, 32)
    except JavaError as error:
        if "does not upgrade to support" not in error.message:
            raise
        return False
    return True


@pytest.mark.parametrize("expression", ["amount >", "amount > 'x'", "amount = NULL", "amount IN (1)", "amount = 0.0"])
def test_what_does_not_compile_is_refused_with_code_23(
    driver: Driver, server: Server, name: str, expression: str
) -> None:
    send_amounts(driver.producer(server.name_server), name, range(4))
    with pytest.raises(JavaError) as refused:
        driver.push_consumer(server.name_server, name, {name: sql(expression)})
    assert refused.value.code == 23
