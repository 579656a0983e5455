"""Every way in which the unmodified Java client sends, against Gantry and against Apache RocketMQ."""

from __future__ import annotations

import random
import time

import pytest

from tests.compat.driver import Driver, JavaError, JavaObject
from tests.compat.java_values import CALLBACK, JavaMessage, Queue, selector
from tests.compat.reading import Reader
from tests.compat.servers import SHARED, Server
from tests.support.wait import wait_until

pytestmark = pytest.mark.compat

SETTINGS = SHARED

COMPRESSED = 1
BY_HASH = "org.apache.rocketmq.client.producer.selector.SelectMessageQueueByHash"
SYSTEM_ERROR, MESSAGE_ILLEGAL, NO_ROUTE_OF_TOPIC, NO_ROUTE = 1, 13, 17, 10_005
READ, WRITE = 4, 2


@pytest.fixture
def producer(driver: Driver, server: Server) -> JavaObject:
    return driver.producer(server.name_server)


@pytest.mark.sample
def test_a_synchronous_send_is_answered_with_the_place_of_the_message(
    server: Server, producer: JavaObject, reader: Reader, name: str
) -> None:
    before = int(time.time() * 1000)
    # Given a message with everything that one can have
    message = JavaMessage(
        name, "Körper ☃".encode(), tag="order-created", keys="k1 k2", flag=7, properties={"trace id": "a=b;ü", "n": "1"}
    )
    # When it is sent
    sent = [producer.call("send", message) for _ in range(5)]
    # Then the answers name queue, queue offset and ids under which it is found as it was
    assert {row["status"] for row in sent} == {"SEND_OK"}
    found = {stored.offset_id: stored for stored in reader.read(name, 5)}
    assert set(found) == {row["offsetMsgId"] for row in sent}
    for row in sent:
        stored = found[row["offsetMsgId"]]
        assert (stored.queue, stored.queue_offset) == (Queue.of(row["queue"]), row["queueOffset"])
        assert (stored.body, stored.flag, stored.sys_flag) == (message.body, 7, 0)
        assert (stored.tag, stored.keys, stored.reconsume_times) == ("order-created", "k1 k2", 0)
        assert stored.properties["trace id"] == "a=b;ü"
        assert stored.properties["n"] == "1"
        assert stored.properties["UNIQ_KEY"] == row["msgId"]
        assert stored.properties["CLUSTER"] == "test"
        assert "WAIT" not in stored.properties
        assert stored.tree["storeHost"] == server.address
        assert stored.tree["bornHost"].startswith("127.0.0.1:")
        assert before <= stored.born_at <= stored.stored_at <= int(time.time() * 1000)


def test_an_asynchronous_send_tells_its_callback(producer: JavaObject, reader: Reader, name: str) -> None:
    sent = [producer.call("send", JavaMessage(name, b"%d" % n), CALLBACK, 3000) for n in range(20)]
    assert {row["status"] for row in sent} == {"SEND_OK"}
    found = {stored.offset_id: stored.body for stored in reader.read(name, 20)}
    assert [found[row["offsetMsgId"]] for row in sent] == [b"%d" % n for n in range(20)]


def test_a_one_way_send_arrives_without_an_answer(producer: JavaObject, reader: Reader, name: str) -> None:
    producer.call("send", JavaMessage(name, b"first"))
    for number in range(20):
        assert producer.call("sendOneway", JavaMessage(name, b"%d" % number, keys=f"k{number}")) is None
    bodies = {stored.body for stored in reader.read(name, 21)}
    assert bodies == {b"first"} | {b"%d" % number for number in range(20)}


@pytest.mark.sample
def test_a_batch_lies_side_by_side_in_one_queue(producer: JavaObject, reader: Reader, name: str) -> None:
    batch = [
        JavaMessage(name, b"%d" % n, tag=f"t{n % 2}", keys=f"k{n}", flag=n, properties={"n": str(n)})
        for n in range(100)
    ]
    # When two batches are sent, the second to a queue of our choice
    first = producer.call("send", batch)
    second = producer.call("send", batch, Queue(name, 2))
    for row in (first, second):
        ids = row["offsetMsgId"].split(",")
        assert len(set(ids)) == 100
        assert len(row["msgId"].split(",")) == 100
        # Then each answer names the place of its first message, and the others follow it
        stored = [message for message in reader.read(name, 200) if message.offset_id in ids]
        assert [message.queue for message in stored] == [Queue.of(row["queue"])] * 100
        assert [message.queue_offset for message in stored] == [row["queueOffset"] + n for n in range(100)]
        for n, message in enumerate(stored):
            assert (message.body, message.flag, message.tag, message.keys) == (b"%d" % n, n, f"t{n % 2}", f"k{n}")
            assert message.properties["n"] == str(n)
            assert message.properties["UNIQ_KEY"] == row["msgId"].split(",")[n]
    assert Queue.of(second["queue"]) == Queue(name, 2)


def test_a_message_goes_to_the_chosen_queue(producer: JavaObject, name: str) -> None:
    producer.call("send", JavaMessage(name))
    for queue_id in (3, 0, 3):
        sent = producer.call("send", JavaMessage(name), Queue(name, queue_id))
        assert Queue.of(sent["queue"]) == Queue(name, queue_id)
    # And a queue that the topic does not have is refused
    with pytest.raises(JavaError, match=r"queueId\[4\]") as refused:
        producer.call("send", JavaMessage(name), Queue(name, 4))
    assert refused.value.code == SYSTEM_ERROR


def test_a_selector_brings_one_order_into_one_queue(producer: JavaObject, name: str) -> None:
    sent = [producer.call("send", JavaMessage(name), selector(BY_HASH), f"order-{n % 5}") for n in range(20)]
    queues = [row["queue"]["queueId"] for row in sent]
    assert all(queues[n] == queues[n % 5] for n in range(20))


@pytest.mark.sample
def test_a_delay_level_holds_a_message_back(producer: JavaObject, reader: Reader, name: str) -> None:
    producer.call("send", JavaMessage(name, b"at once"))
    # When messages of every level are sent, one of them above the highest
    sent = {
        level: producer.call("send", JavaMessage(name, b"%d" % level, tag="t", keys="k", delay_level=level))
        for level in (4, 1, 9)
    }
    assert {row["status"] for row in sent.values()} == {"SEND_OK"}
    found = {message.body: message for message in reader.read(name, 4)}
    # Then each comes after its level's delay, and says what it was
    for level, delay in ((1, 1000), (4, 2000), (9, 3000)):
        message = found[b"%d" % level]
        assert delay <= message.stored_at - message.born_at
        assert (message.tag, message.keys, message.reconsume_times) == ("t", "k", 0)
        assert message.properties["UNIQ_KEY"] == sent[level]["msgId"]
        assert message.properties["REAL_TOPIC"] == name
        assert message.properties["REAL_QID"] == str(sent[level]["queue"]["queueId"])
        assert message.properties["DELAY"] == str(min(level, 5))
        assert message.queue.id == sent[level]["queue"]["queueId"]


def test_a_large_body_travels_compressed_and_arrives_whole(
    driver: Driver, server: Server, reader: Reader, name: str
) -> None:
    producer = driver.producer(server.name_server, compressMsgBodyOverHowmuch=1000)
    body = random.Random(4).randbytes(1000) * 20
    for _ in range(3):
        producer.call("send", JavaMessage(name, body))
    producer.call("send", JavaMessage(name, b"small"))
    found = [(len(stored.body), stored.body == body, stored.sys_flag & COMPRESSED) for stored in reader.read(name, 4)]
    assert sorted(found) == [(5, False, 0), *[(20_000, True, COMPRESSED)] * 3]


@pytest.mark.parametrize(("wanted", "given"), [(2, 2), (8, 8), (50, 8)])
def test_an_unknown_topic_is_created_by_the_first_send(
    driver: Driver, server: Server, name: str, wanted: int, given: int
) -> None:
    admin, topic = driver.admin(server.name_server), f"{name}-{wanted}"
    driver.producer(server.name_server, defaultTopicQueueNums=wanted).call("send", JavaMessage(topic))
    # Then it has as many queues as the producer wants, up to what the broker's template allows
    config = admin.call("examineTopicConfig", server.address, topic)
    assert (config["readQueueNums"], config["writeQueueNums"], config["perm"]) == (given, given, READ | WRITE)
    # The original answers the send before its name server knows the topic
    wait_until(lambda: told_queues(admin, topic) != [])
    assert told_queues(admin, topic) == [given]


def told_queues(admin: JavaObject, topic: str) -> list[int]:
    """Return the write queues that each broker has in the topic's route: none before there is a route."""
    try:
        route = admin.call("examineTopicRouteInfo", topic)
    except JavaError as error:
        if error.code != NO_ROUTE_OF_TOPIC:
            raise
        return []
    return [data["writeQueueNums"] for data in route["queueDatas"]]


def test_what_may_not_be_stored_is_refused_by_its_name(
    driver: Driver, server: Server, producer: JavaObject, name: str
) -> None:
    producer.call("send", JavaMessage(name))
    # A body over the broker's limit, when the client lets it pass
    generous = driver.producer(server.name_server, maxMessageSize=16 * 1024 * 1024, compressMsgBodyOverHowmuch=2**30)
    with pytest.raises(JavaError) as too_large:
        generous.call("send", JavaMessage(name, bytes(4 * 1024 * 1024 + 1)))
    assert too_large.value.code == MESSAGE_ILLEGAL
    # Properties longer than a record can hold
    with pytest.raises(JavaError) as too_many:
        producer.call("send", JavaMessage(name, properties={"p": "x" * 32_768}))
    assert too_many.value.code == MESSAGE_ILLEGAL
    # And the broker goes on
    assert producer.call("send", JavaMessage(name))["status"] == "SEND_OK"


def test_a_topic_without_the_right_to_write_is_no_choice_for_producers(
    driver: Driver, server: Server, producer: JavaObject, name: str
) -> None:
    producer.call("send", JavaMessage(name))
    config = {"topicName": name, "readQueueNums": 4, "writeQueueNums": 4, "perm": READ}
    driver.admin(server.name_server).call("createAndUpdateTopicConfig", server.address, config)
    with pytest.raises(JavaError, match="No route info") as refused:
        driver.producer(server.name_server).call("send", JavaMessage(name))
    assert refused.value.code == NO_ROUTE
