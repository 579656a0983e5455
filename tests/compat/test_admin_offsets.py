"""`mqadmin` about where groups are: back in time, forward, and after another, against both servers alike."""

from __future__ import annotations

import time

import pytest

from tests.compat.driver import Driver, JavaError
from tests.compat.group_tool import MESSAGES, GroupTool
from tests.compat.printed import rows
from tests.compat.servers import PLAIN, Server
from tests.support.wait import wait_until

SETTINGS = PLAIN


def now_ms() -> int:
    return int(time.time() * 1000)


@pytest.fixture
def tool(driver: Driver, server: Server, name: str) -> GroupTool:
    return GroupTool(driver, server, name)


@pytest.fixture
def other(driver: Driver, server: Server, name: str) -> GroupTool:
    return GroupTool(driver, server, f"{name}_other")


def test_groups_that_are_online_go_back_and_forward(tool: GroupTool, other: GroupTool) -> None:
    tool.send()
    consumer = tool.consumer()
    tool.wait_until_at(3, 3, by=consumer)
    other.read_and_gone()
    stubborn = other.consumer()
    stubborn.behave("later")  # what it gets now stays unread
    other.send(2)
    wait_until(lambda: len(stubborn.received) >= 2)

    back = tool("resetOffsetByTime", "-g", tool.group, "-t", tool.topic, "-s", "0")
    skipped = tool("skipAccumulatedMessage", "-g", other.group, "-t", other.topic)

    for printed, offset in ((back, "0"), (skipped, "4")):
        told = sorted(words for words in rows(printed) if words[0] == "broker-a")
        assert told == [["broker-a", "0", offset], ["broker-a", "1", offset]]
    # The Java client waits ten seconds before it goes there.
    wait_until(lambda: len(consumer.received) == 2 * MESSAGES)
    other.wait_until_at(4, 4, by=stubborn)


@pytest.mark.sample
def test_a_group_that_is_offline_goes_back_in_time(tool: GroupTool) -> None:
    tool.read_and_gone()

    printed = tool("resetOffsetByTime", "-g", tool.group, "-t", tool.topic, "-s", "0")

    assert sorted(words for words in rows(printed) if words[0] == "broker-a") == [
        ["broker-a", "0", "3", "3", "0", "0"],
        ["broker-a", "1", "3", "3", "0", "0"],
    ]
    assert tool.is_at(0, 0)
    consumer = tool.consumer()
    wait_until(lambda: len(consumer.received) == MESSAGES)


def test_a_group_that_is_offline_goes_to_a_time_between(tool: GroupTool) -> None:
    tool.read_and_gone()
    between = now_ms() + 10
    wait_until(lambda: now_ms() > between + 10)
    tool.send()

    tool("resetOffsetByTime", "-g", tool.group, "-t", tool.topic, "-s", str(between))

    told = [int(words[2]) for words in tool.progress()]
    assert all(offset in (2, 3) for offset in told)  # the nearest message, on either side


def test_a_group_that_is_offline_skips_what_it_has_not_read(tool: GroupTool) -> None:
    tool.read_and_gone()
    tool.send(2)

    printed = tool("skipAccumulatedMessage", "-g", tool.group, "-t", tool.topic)

    assert sorted(words for words in rows(printed) if words[0] == "broker-a") == [
        ["broker-a", "0", "4", "3", "4", "4"],
        ["broker-a", "1", "4", "3", "4", "4"],
    ]
    assert tool.is_at(4, 4)


def test_a_group_that_never_read_cannot_go_back_online(tool: GroupTool) -> None:
    consumer = tool.consumer()
    wait_until(lambda: len(consumer.queues()) >= 2)

    with pytest.raises(JavaError) as unknown:
        tool("resetOffsetByTime", "-g", tool.group, "-t", tool.topic, "-s", "0")

    assert unknown.value.code == 1
    assert f"THe consumer group <{tool.group}> not exist" in str(unknown.value)


def test_a_group_takes_over_the_offsets_of_another(tool: GroupTool) -> None:
    tool.read_and_gone()
    heir = f"{tool.group}_heir"
    tool("updateSubGroup", "-c", "test", "-g", heir)

    printed = tool("cloneGroupOffset", "-s", tool.group, "-d", heir, "-t", tool.topic, "-o", "true")

    assert f"clone group offset success. srcGroup[{tool.group}], destGroup=[{heir}], topic[{tool.topic}]" in printed
    consumer = tool.driver.push_consumer(tool.server.name_server, heir, {tool.topic: "*"})
    tool.send(2)
    wait_until(lambda: len(consumer.received) == 2)
    assert sorted(consumer.bodies) == [b"body-0", b"body-1"]
