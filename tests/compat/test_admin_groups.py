"""`mqadmin` about groups: settings, members and progress, against Gantry and Apache RocketMQ alike."""

from __future__ import annotations

import re

import pytest

from tests.compat.driver import Driver, JavaError
from tests.compat.group_tool import MESSAGES, GroupTool
from tests.compat.java_values import JavaMessage, Queue
from tests.compat.printed import pairs, row, rows
from tests.compat.servers import PLAIN, Server
from tests.support.wait import wait_until

SETTINGS = PLAIN


@pytest.fixture
def tool(driver: Driver, server: Server, name: str) -> GroupTool:
    return GroupTool(driver, server, name)


# -- settings


@pytest.mark.sample
def test_a_group_is_made_and_changed(tool: GroupTool, server: Server) -> None:
    made = tool("updateSubGroup", "-b", server.address, "-g", tool.group, "-r", "3", "-q", "2", "-s", "false")

    assert f"create subscription group to {server.address} success." in made
    assert f"SubscriptionGroupConfig [groupName={tool.group}, consumeEnable=false, " in made
    told = pairs(tool("getConsumerConfig", "-g", tool.group))
    assert (told["retryMaxTimes"], told["retryQueueNums"], told["consumeEnable"]) == ("3", "2", "false")
    tool("updateSubGroup", "-c", "test", "-g", tool.group, "-r", "5", "-s", "true")
    told = pairs(tool("getConsumerConfig", "-g", tool.group))
    assert (told["retryMaxTimes"], told["retryQueueNums"], told["consumeEnable"]) == ("5", "1", "true")


def test_a_group_is_deleted_and_keeps_its_offsets(tool: GroupTool) -> None:
    tool.read_and_gone()

    printed = tool("deleteSubGroup", "-c", "test", "-g", tool.group)

    assert f"delete subscription group [{tool.group}] from broker [{tool.server.address}]" in printed
    assert f"delete topic [%RETRY%{tool.group}] from cluster [test] success." in printed
    assert tool.group not in tool("getConsumerConfig", "-g", tool.group)
    consumer = tool.consumer()
    tool.send(2)
    wait_until(lambda: len(consumer.received) == 2)


def test_a_group_is_deleted_with_its_offsets(tool: GroupTool) -> None:
    tool.read_and_gone()

    tool("deleteSubGroup", "-b", tool.server.address, "-g", tool.group, "-r", "true")

    consumer = tool.consumer()
    wait_until(lambda: len(consumer.received) == MESSAGES)


# -- members


def test_the_members_of_a_group_and_what_they_read_are_told(tool: GroupTool) -> None:
    consumer = tool.consumer("TagA || TagB")
    client_id = consumer.call("buildMQClientId")

    printed = tool("consumerConnection", "-g", tool.group)

    assert row(printed, client_id)[2:] == ["JAVA", "V4_9_8"]
    assert row(printed, tool.topic) == [tool.topic, "TagA", "||", "TagB"]
    assert row(printed, f"%RETRY%{tool.group}")[1] == "*"
    assert "ConsumeType: CONSUME_PASSIVELY\nMessageModel: CLUSTERING\n" in printed
    assert "ConsumeFromWhere: CONSUME_FROM_FIRST_OFFSET" in printed


def test_a_group_without_members_is_said_so(tool: GroupTool) -> None:
    tool.read_and_gone()

    with pytest.raises(JavaError) as offline:
        tool("consumerConnection", "-g", tool.group)

    assert offline.value.code == 206


def test_the_members_of_a_producer_group_are_told(tool: GroupTool) -> None:
    with pytest.raises(JavaError) as unknown:
        tool("producerConnection", "-g", f"{tool.topic}_p", "-t", tool.topic)
    assert unknown.value.code == 1
    tool.send()

    def told() -> list[list[str]]:
        try:
            return rows(tool("producerConnection", "-g", f"{tool.topic}_p", "-t", tool.topic))
        except JavaError:
            return []  # it has sent no heartbeat yet

    wait_until(lambda: len(told()) == 1)
    number, _client, _address, *rest = told()[0]
    assert (number, rest) == ("0001", ["JAVA", "V4_9_8"])


def test_a_member_tells_of_its_inside(tool: GroupTool) -> None:
    tool.send()
    consumer = tool.consumer()
    wait_until(lambda: len(consumer.received) == MESSAGES)

    printed = tool("consumerStatus", "-g", tool.group, "-i", consumer.call("buildMQClientId"))

    assert re.search(rf"{tool.topic} +broker-a +0 +3 ", printed)
    assert "#Consumer Subscription#" in printed


def test_members_say_where_they_are(tool: GroupTool) -> None:
    tool.send()
    consumer = tool.consumer()
    wait_until(lambda: len(consumer.received) == MESSAGES)
    admin = tool.driver.admin(tool.server.name_server)
    client_id = consumer.call("buildMQClientId")

    def positions(client: str) -> list[tuple[str, list[tuple[int, int]]]]:
        table = admin.call("getConsumeStatus", tool.topic, tool.group, client)
        return [
            (client, sorted((queue["queueId"], offset) for queue, offset in queues)) for client, queues in table.items()
        ]

    wait_until(lambda: positions("") == [(client_id, [(0, 3), (1, 3)])])
    assert positions(client_id) == positions("")
    assert positions("nobody") == []


# -- progress


@pytest.mark.sample
def test_the_progress_of_a_group_is_told_by_queue(tool: GroupTool) -> None:
    tool.read_and_gone()
    tool.send(2)

    wait_until(lambda: tool.progress() == [["0", "4", "3", "1"], ["1", "4", "3", "1"]])
    printed = tool("consumerProgress", "-g", tool.group)

    assert pairs(printed)["Diff Total"] == "2"
    last_read = [words[6:] for words in rows(printed) if words[0] == tool.topic]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", " ".join(words)) for words in last_read)


def test_the_progress_of_all_groups_is_told(tool: GroupTool) -> None:
    tool.read_and_gone()
    tool.send(2)
    wait_until(lambda: tool.progress() == [["0", "4", "3", "1"], ["1", "4", "3", "1"]])
    assert row(tool("consumerProgress"), tool.group) == [tool.group, "0", "OFFLINE", "0", "2"]

    tool.wait_until_at(4, 4, by=tool.consumer())

    words = row(tool("consumerProgress"), tool.group)
    assert (words[1:5], words[-1]) == (["1", "V4_9_8", "PUSH", "CLUSTERING"], "0")


def test_who_reads_a_queue_is_told(tool: GroupTool) -> None:
    tool.send()
    consumer = tool.consumer()
    tool.wait_until_at(3, 3, by=consumer)

    printed = tool("consumerProgress", "-g", tool.group, "-s", "true")

    address = consumer.call("buildMQClientId").partition("@")[0]
    assert [words[5] for words in rows(printed) if words[0] == tool.topic] == [address] * 2


def test_messages_that_a_filter_passes_over_do_not_stay_as_lag(tool: GroupTool) -> None:
    tool.send(2, tag="TagA")
    consumer = tool.consumer("TagA")
    wait_until(lambda: len(consumer.received) == 2)

    tool.send(4, tag="TagB")

    wait_until(lambda: tool.is_at(3, 3))  # told with its next pull


def test_the_progress_of_every_group_of_a_broker_is_told(tool: GroupTool) -> None:
    tool.read_and_gone()
    tool.send(2)
    wait_until(lambda: tool.progress() == [["0", "4", "3", "1"], ["1", "4", "3", "1"]])

    printed = tool("brokerConsumeStats", "-b", tool.server.address)

    own = [words[1:7] for words in rows(printed) if words[0] == tool.topic]
    assert own == [[tool.group, "broker-a", queue_id, "4", "3", "1"] for queue_id in ("0", "1")]
    assert int(pairs(printed)["Diff Total"]) >= 2


def test_what_went_in_and_out_is_told_by_topic(tool: GroupTool) -> None:
    tool.send()
    tool.wait_until_at(3, 3, by=tool.consumer())

    def figures() -> list[str]:
        return row(tool("statsAll", "-t", tool.topic), tool.topic)

    wait_until(lambda: figures()[-1] == str(MESSAGES))
    group, lag, in_rate, out_rate, into, out_of = figures()[1:]
    assert (group, lag, into, out_of) == (tool.group, "0", str(MESSAGES), str(MESSAGES))
    assert float(in_rate) > 0
    assert float(out_rate) > 0


# -- a message and a group


def test_whether_a_group_has_read_a_message_is_told(tool: GroupTool) -> None:
    producer = tool.driver.producer(tool.server.name_server)
    answer = producer.call("send", JavaMessage(tool.topic, b"x"), Queue(tool.topic, 0))
    tool.wait_until_at(1, 0, by=tool.consumer())

    printed = tool("queryMsgById", "-i", answer["offsetMsgId"])

    assert f"MessageTrack [consumerGroup={tool.group}, trackType=CONSUMED, exceptionDesc=null]" in printed


def test_a_message_is_consumed_once_more_by_a_chosen_member(tool: GroupTool) -> None:
    producer = tool.driver.producer(tool.server.name_server)
    answer = producer.call("send", JavaMessage(tool.topic, b"x"), Queue(tool.topic, 0))
    consumer = tool.consumer()
    wait_until(lambda: len(consumer.received) == 1)

    printed = tool(
        "queryMsgById", "-i", answer["offsetMsgId"], "-g", tool.group, "-d", consumer.call("buildMQClientId")
    )

    assert "consumeResult=CR_SUCCESS" in printed
    assert consumer.bodies == [b"x", b"x"]
