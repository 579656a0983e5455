"""`mqadmin` about topics and single messages, against Gantry and Apache RocketMQ alike."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.compat.driver import Driver, JavaError, JavaObject
from tests.compat.java_values import JavaMessage, Queue
from tests.compat.printed import pairs, row, rows
from tests.compat.servers import PLAIN, Server
from tests.support.wait import wait_until

SETTINGS = PLAIN

BUILT_IN = {
    "SCHEDULE_TOPIC_XXXX", "test", "test_REPLY_TOPIC", "BenchmarkTest", "OFFSET_MOVED_EVENT", "broker-a", "TBW102",
    "SELF_TEST_TOPIC",
}  # fmt: skip


class Tool:
    """`mqadmin` on the topics of one server."""

    def __init__(self, driver: Driver, server: Server) -> None:
        self._driver = driver
        self._server = server

    def __call__(self, command: str, *words: str) -> str:
        return self._driver.mqadmin(command, "-n", self._server.name_server, *words)

    def make(self, topic: str, queues: int = 2) -> None:
        self("updateTopic", "-c", "test", "-t", topic, "-r", str(queues), "-w", str(queues))

    def topics(self) -> set[str]:
        return set(self("topicList").split())

    def queue_data(self, topic: str) -> dict[str, int]:
        """Return the one broker's queues in the topic's route."""
        found = re.search(r'"queueDatas":(\[.*\])', re.sub(r"\s", "", self("topicRoute", "-t", topic)))
        assert found is not None
        (queues,) = json.loads(found[1])
        return {name: queues[name] for name in ("perm", "readQueueNums", "writeQueueNums")}


@pytest.fixture
def tool(driver: Driver, server: Server) -> Tool:
    return Tool(driver, server)


def sent(driver: Driver, server: Server, topic: str, count: int, queue: int = 0) -> list[dict[str, Any]]:
    """Send messages with the keys ``key-0`` … and the tag TagA to one queue."""
    producer: JavaObject = driver.producer(server.name_server)
    to = Queue(topic, queue)
    return [
        producer.call("send", JavaMessage(topic, b"body-%d" % each, tag="TagA", keys=f"key-{each}"), to)
        for each in range(count)
    ]


# -- topics


def test_a_new_broker_has_the_same_topics(tool: Tool) -> None:
    assert tool.topics() >= BUILT_IN


@pytest.mark.sample
def test_a_topic_is_made_and_changed(tool: Tool, server: Server, name: str) -> None:
    made = tool("updateTopic", "-b", server.address, "-t", name, "-r", "3", "-w", "2", "-p", "6")

    assert f"create topic to {server.address} success." in made
    assert f"TopicConfig [topicName={name}, readQueueNums=3, writeQueueNums=2, perm=RW-, " in made
    assert tool.queue_data(name) == {"perm": 6, "readQueueNums": 3, "writeQueueNums": 2}
    tool("updateTopic", "-b", server.address, "-t", name, "-r", "5", "-w", "4", "-p", "4")
    assert tool.queue_data(name) == {"perm": 4, "readQueueNums": 5, "writeQueueNums": 4}
    assert name in tool.topics()
    assert tool("topicClusterList", "-t", name).split() == ["test"]


def test_an_ordered_topic_is_made(tool: Tool, name: str) -> None:
    printed = tool("updateTopic", "-c", "test", "-t", name, "-r", "2", "-w", "2", "-o", "true")

    assert "set cluster orderConf. isOrder=true, orderConf=[broker-a:2]" in printed
    order = tool("updateOrderConf", "-t", name, "-m", "get")
    assert order.strip() == f"get orderConf success. topic=[{name}], orderConf=[broker-a:2]"


def test_a_topic_that_belongs_to_the_broker_is_not_changed(tool: Tool, server: Server) -> None:
    with pytest.raises(JavaError) as refused:
        tool("updateTopic", "-b", server.address, "-t", "TBW102", "-r", "1", "-w", "1")

    assert refused.value.code == 1
    assert "The topic[TBW102] is conflict with system topic." in str(refused.value)


def test_the_permission_of_a_topic_is_changed(tool: Tool, server: Server, name: str) -> None:
    tool.make(name)

    printed = tool("updateTopicPerm", "-b", server.address, "-t", name, "-p", "4")

    assert f"update topic perm from 6 to 4 in {server.address} success." in printed
    assert tool.queue_data(name)["perm"] == 4
    assert "update topic perm from 4 to 6" in tool("updateTopicPerm", "-c", "test", "-t", name, "-p", "6")


def test_a_topic_is_deleted(tool: Tool, driver: Driver, server: Server, name: str) -> None:
    tool.make(name)
    sent(driver, server, name, 3)

    printed = tool("deleteTopic", "-c", "test", "-t", name)

    assert printed.splitlines()[0] == f"delete topic [{name}] from cluster [test] success."
    assert printed.splitlines()[1] == f"delete topic [{name}] from NameServer success."
    assert name not in tool.topics()
    with pytest.raises(JavaError) as missing:
        tool("topicRoute", "-t", name)
    assert missing.value.code == 17


def test_a_topic_that_was_deleted_and_made_again_begins_at_zero(
    tool: Tool, driver: Driver, server: Server, name: str
) -> None:
    tool.make(name)
    sent(driver, server, name, 3)
    tool("deleteTopic", "-c", "test", "-t", name)
    tool.make(name)

    assert [words[1:4] for words in rows(tool("topicStatus", "-t", name))] == [["0", "0", "0"], ["1", "0", "0"]]
    assert sent(driver, server, name, 1)[0]["queueOffset"] == 0


def test_the_queues_of_a_topic_are_told_with_their_ranges(
    tool: Tool, driver: Driver, server: Server, name: str
) -> None:
    tool.make(name)
    sent(driver, server, name, 3, queue=1)
    wait_until(lambda: rows(tool("topicStatus", "-t", name))[1][3] == "3")

    first, second = rows(tool("topicStatus", "-t", name))

    assert first == ["broker-a", "0", "0", "0"]  # and no time
    assert second[:4] == ["broker-a", "1", "0", "3"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}", " ".join(second[4:]))


def test_a_topic_that_is_not_there_has_no_status(tool: Tool, name: str) -> None:
    with pytest.raises(JavaError) as missing:
        tool("topicStatus", "-t", name)

    assert missing.value.code == 17


def test_queues_are_allotted_on_paper(tool: Tool, name: str) -> None:
    tool.make(name, 4)

    allotted = json.loads(tool("allocateMQ", "-t", name, "-i", "10.0.0.1,10.0.0.2"))["result"]

    assert {address: len(queues) for address, queues in allotted.items()} == {"10.0.0.1": 2, "10.0.0.2": 2}


def test_topics_are_listed_with_their_readers(tool: Tool, driver: Driver, server: Server, name: str) -> None:
    tool.make(name)
    group = f"{name}_g"
    driver.push_consumer(server.name_server, group, {name: "*"})

    def readers() -> list[list[str]]:
        return [words[2:] for words in rows(tool("topicList", "-c")) if words[1] == name]

    wait_until(lambda: readers() == [[group]])


# -- messages


def test_a_message_is_sent_by_the_tool(tool: Tool, name: str) -> None:
    tool.make(name)

    words = row(
        tool("sendMessage", "-t", name, "-p", "hello", "-k", "k1", "-c", "TagB", "-b", "broker-a", "-i", "1"),
        "broker-a",
    )

    assert words[1:3] == ["1", "SEND_OK"]
    printed = tool("queryMsgByOffset", "-t", name, "-b", "broker-a", "-i", "1", "-o", "0")
    told = pairs(printed)
    assert (told["Tags"], told["Keys"], told["Topic"]) == ("[TagB]", "[k1]", name)


def test_a_message_is_found_by_its_offset_id(tool: Tool, driver: Driver, server: Server, name: str) -> None:
    tool.make(name)
    answer = sent(driver, server, name, 2)[1]

    told = pairs(tool("queryMsgById", "-i", answer["offsetMsgId"]))

    assert told["OffsetID"] == answer["offsetMsgId"]
    assert told["Store Host"] == server.address
    assert [told[key] for key in ("Topic", "Tags", "Keys", "Queue ID", "Queue Offset", "Reconsume Times")] == [
        name, "[TagA]", "[key-1]", "0", "1", "0",
    ]  # fmt: skip


def test_an_offset_id_that_leads_nowhere_finds_nothing(tool: Tool, driver: Driver, server: Server, name: str) -> None:
    tool.make(name)
    answer = sent(driver, server, name, 1)[0]

    with pytest.raises(JavaError) as missing:
        tool("queryMsgById", "-i", answer["offsetMsgId"][:16] + "0000000000FFFFFF")

    assert missing.value.code in (1, 208)


@pytest.mark.sample
def test_a_message_is_found_by_its_key(tool: Tool, driver: Driver, server: Server, name: str) -> None:
    tool.make(name)
    answer = sent(driver, server, name, 3)[2]
    wait_until(lambda: len(rows(tool("queryMsgByKey", "-t", name, "-k", "key-2"))) == 1)

    assert rows(tool("queryMsgByKey", "-t", name, "-k", "key-2")) == [[answer["msgId"], "0", "2"]]


def test_a_key_that_no_message_has_finds_nothing(tool: Tool, driver: Driver, server: Server, name: str) -> None:
    tool.make(name)
    sent(driver, server, name, 1)

    with pytest.raises(JavaError) as missing:
        tool("queryMsgByKey", "-t", name, "-k", "none")

    assert missing.value.code == 208


def test_a_message_is_found_by_its_unique_id(tool: Tool, driver: Driver, server: Server, name: str) -> None:
    tool.make(name)
    answer = sent(driver, server, name, 1)[0]

    def found() -> str:
        try:
            return tool("queryMsgByUniqueKey", "-t", name, "-i", answer["msgId"])
        except JavaError:
            return ""  # not in the index yet

    wait_until(lambda: "Queue Offset" in found())
    told = pairs(found())
    assert (told["Topic"], told["Keys"], told["Queue Offset"]) == (name, "[key-0]", "0")


def test_a_message_is_found_by_queue_and_offset(tool: Tool, driver: Driver, server: Server, name: str) -> None:
    tool.make(name)
    sent(driver, server, name, 2, queue=1)

    told = pairs(tool("queryMsgByOffset", "-t", name, "-b", "broker-a", "-i", "1", "-o", "1"))

    assert (told["Keys"], told["Queue ID"], told["Queue Offset"]) == ("[key-1]", "1", "1")
    assert "MAX_OFFSET=2" in told["Properties"]
    assert "CLUSTER=test" in told["Properties"]


def test_a_topic_is_printed_message_by_message(tool: Tool, driver: Driver, server: Server, name: str) -> None:
    tool.make(name)
    sent(driver, server, name, 3)

    printed = tool("printMsg", "-t", name, "-d", "true", "-c", "UTF-8")

    assert re.findall(r"BODY: (\S+)", printed) == ["body-0", "body-1", "body-2"]
    assert f"minOffset=0, maxOffset=3, MessageQueue [topic={name}, brokerName=broker-a, queueId=0]" in printed


def test_a_queue_is_printed_message_by_message(tool: Tool, driver: Driver, server: Server, name: str) -> None:
    tool.make(name)
    sent(driver, server, name, 2, queue=1)

    printed = tool("printMsgByQueue", "-t", name, "-a", "broker-a", "-i", "1", "-p", "true", "-d", "true")

    assert re.findall(r"BODY: (\S+)", printed) == ["body-0", "body-1"]


def test_a_topic_is_consumed_by_the_tool(tool: Tool, driver: Driver, server: Server, name: str) -> None:
    tool.make(name)
    sent(driver, server, name, 2)

    printed = tool("consumeMessage", "-t", name, "-b", "broker-a", "-i", "0", "-o", "0", "-c", "2")

    assert re.findall(r"BODY: (\S+)", printed) == ["body-0", "body-1"]


def test_the_entries_of_a_consume_queue_are_told(tool: Tool, driver: Driver, server: Server, name: str) -> None:
    tool.make(name)
    sent(driver, server, name, 3)

    def queue(*more: str) -> str:
        return tool("queryCq", "-q", "0", "-t", name, "-b", server.address, *more)

    printed = queue("-i", "1", "-c", "5")

    assert "max: 3, min: 0" in printed
    assert re.findall(r"idx: (\d)", printed) == ["1", "2"]
    assert re.findall(r"tagsCode=(\d+)", printed) == ["2598919"] * 2  # the hash of TagA
    assert re.findall(r"eval=(\w+), msg='(\w+)'", printed) == [("false", "null")] * 2
    assert re.findall(r"idx: (\d)", queue("-i", "0", "-c", "1")) == ["0"]


def test_a_consume_queue_that_is_not_there_is_said_so(tool: Tool, server: Server, name: str) -> None:
    printed = tool("queryCq", "-q", "7", "-t", name, "-i", "0", "-c", "5", "-b", server.address)

    assert f"CODE: 1  DESC: 7@{name} is not exist!" in printed
