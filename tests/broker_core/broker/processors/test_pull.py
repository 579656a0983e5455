"""Pulls over a real socket: every status, every check, and waiting for the first message."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from broker_core.broker import BrokerLimits
from broker_core.broker.processors.portions import PORTION
from broker_core.protocol import bodies
from broker_core.protocol.bodies.groups import SubscriptionGroupConfig
from broker_core.protocol.bodies.heartbeat import MessageModel
from broker_core.protocol.codes import PULL_COMMIT_OFFSET, RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.groups import CreateSubscriptionGroupRequest
from broker_core.protocol.headers.offsets import UpdateConsumerOffsetRequest
from broker_core.protocol.headers.pull import PullMessageRequest, PullMessageResponse
from broker_core.protocol.record import decode_many
from tests.support.broker import Wire, another_client, started
from tests.support.crowd import crowd, pull
from tests.support.wait import eventually

FAR_AHEAD = 4_000_000_000_000


async def filled(wire: Wire, count: int, topic: str = "orders", tag: str | None = None) -> None:
    for number in range(count):
        await wire.send(topic, b"%d" % number, properties={"TAGS": tag} if tag else {})


def position(answer: Command) -> tuple[int, int, int]:
    header = answer.header(PullMessageResponse)
    return header.next_begin_offset, header.min_offset, header.max_offset


# -- results of a read


async def test_found_messages_come_with_where_to_continue(wire: Wire) -> None:
    await filled(wire, 5)

    answer = await wire.try_pull("orders", 1, count=3)

    assert (answer.code, answer.remark) == (ResponseCode.SUCCESS, "FOUND")
    assert position(answer) == (4, 0, 5)
    assert [message.body for message in await wire.pull("orders", 1, count=3)] == [b"1", b"2", b"3"]


@pytest.mark.parametrize(
    ("offset", "code", "remark", "next_offset"),
    [
        (5, ResponseCode.PULL_NOT_FOUND, "OFFSET_OVERFLOW_ONE", 5),
        (6, ResponseCode.PULL_OFFSET_MOVED, "OFFSET_OVERFLOW_BADLY", 5),
        (-1, ResponseCode.PULL_OFFSET_MOVED, "OFFSET_TOO_SMALL", 0),
    ],
)
async def test_an_offset_outside_the_queue_is_put_right(
    wire: Wire, offset: int, code: ResponseCode, remark: str, next_offset: int
) -> None:
    await filled(wire, 5)

    answer = await wire.try_pull("orders", offset)

    assert (answer.code, answer.remark) == (code, remark)
    assert position(answer) == (next_offset, 0, 5)


@pytest.mark.parametrize(("offset", "code"), [(0, ResponseCode.PULL_NOT_FOUND), (3, ResponseCode.PULL_OFFSET_MOVED)])
async def test_an_empty_queue_has_nothing_or_never_had_it(wire: Wire, offset: int, code: ResponseCode) -> None:
    await wire.create_topic("orders")

    answer = await wire.try_pull("orders", offset)

    assert (answer.code, answer.remark) == (code, "NO_MESSAGE_IN_QUEUE")
    assert position(answer) == (0, 0, 0)


async def test_an_answer_has_at_most_32_messages(wire: Wire) -> None:
    await filled(wire, 40)

    assert len(await wire.pull("orders", 0, count=1_000)) == 32


async def test_the_first_message_comes_whatever_its_size(wire: Wire) -> None:
    await wire.send("orders", b"x" * 400_000)
    await wire.send("orders", b"y" * 400_000)

    assert [len(message.body) for message in await wire.pull("orders", 0)] == [400_000]


# -- filters


async def test_a_tag_filter_passes_what_it_wants_and_reports_its_progress(wire: Wire) -> None:
    await filled(wire, 3, tag="a")
    await wire.send("orders", b"b", properties={"TAGS": "b"})

    assert [message.body for message in await wire.pull("orders", 0, expression="b || c")] == [b"b"]
    answer = await wire.try_pull("orders", 0, expression="c")
    assert (answer.code, answer.remark) == (ResponseCode.PULL_RETRY_IMMEDIATELY, "NO_MATCHED_MESSAGE")
    assert position(answer)[0] == 4


@pytest.mark.parametrize("expression", ["*", "", None])
async def test_no_expression_wants_everything(wire: Wire, expression: str | None) -> None:
    await filled(wire, 1, tag="a")
    await filled(wire, 1)

    assert len(await wire.pull("orders", 0, subscription=expression)) == 2


async def test_an_expression_without_a_tag_cannot_be_read(wire: Wire) -> None:
    await filled(wire, 1)

    answer = await wire.try_pull("orders", 0, expression="||")

    assert answer.code == ResponseCode.SUBSCRIPTION_PARSE_FAILED


async def test_a_kind_of_filter_that_there_is_not_is_refused(wire: Wire) -> None:
    await filled(wire, 1)

    answer = await wire.try_pull("orders", 0, expression="a > 3", expression_type="XPATH")

    assert answer.code == ResponseCode.SYSTEM_ERROR
    assert "XPATH" in str(answer.remark)


async def test_an_sql_expression_that_does_not_compile_is_refused_with_its_place(wire: Wire) -> None:
    await filled(wire, 1)

    answer = await wire.try_pull("orders", 0, expression="a LIKE 'x%'", expression_type="SQL92")

    assert answer.code == ResponseCode.SUBSCRIPTION_PARSE_FAILED
    assert "'LIKE' does not belong here: the expression ends before it, at character 3" in str(answer.remark)


# -- checks


async def test_an_unknown_topic_is_named(wire: Wire) -> None:
    assert (await wire.try_pull("nothing", 0)).code == ResponseCode.TOPIC_NOT_EXIST


async def test_a_topic_without_read_permission_is_not_read(wire: Wire) -> None:
    await wire.create_topic("orders", perm=2)

    assert (await wire.try_pull("orders", 0)).code == ResponseCode.NO_PERMISSION


async def test_a_queue_beyond_the_topic_is_refused(wire: Wire) -> None:
    await wire.create_topic("orders", queues=2)

    assert (await wire.try_pull("orders", 0, queue_id=2)).code == ResponseCode.SYSTEM_ERROR


async def test_a_group_that_may_not_consume_gets_the_reason(wire: Wire) -> None:
    await filled(wire, 1)
    paused = SubscriptionGroupConfig("readers", consume_enable=False)
    await wire.ask(CreateSubscriptionGroupRequest(), bodies.encode(paused))

    assert (await wire.try_pull("orders", 0)).code == ResponseCode.NO_PERMISSION


async def test_without_a_subscription_in_the_pull_the_heartbeat_s_counts(wire: Wire) -> None:
    await filled(wire, 1, tag="a")
    await filled(wire, 1, tag="b")
    pull = PullMessageRequest("readers", "orders", 0, 0, 32, 0, sub_version=5)

    assert (await wire.ask(pull)).code == ResponseCode.SUBSCRIPTION_NOT_EXIST

    await wire.heartbeat("one", group="readers", topics={"bills": "*"}, version=5)
    assert (await wire.ask(pull)).code == ResponseCode.SUBSCRIPTION_NOT_EXIST

    await wire.heartbeat("one", group="readers", topics={"orders": "*"}, version=5)
    assert (await wire.ask(pull)).code == ResponseCode.SUCCESS
    assert (await wire.ask(replace(pull, sub_version=6))).code == ResponseCode.SUBSCRIPTION_NOT_LATEST


async def test_a_broadcasting_group_may_be_forbidden(wire: Wire) -> None:
    await filled(wire, 1)
    config = SubscriptionGroupConfig("readers", consume_broadcast_enable=False)
    await wire.ask(CreateSubscriptionGroupRequest(), bodies.encode(config))
    await wire.heartbeat("one", group="readers", topics={"orders": "*"}, model=MessageModel.BROADCASTING)

    assert (await wire.ask(PullMessageRequest("readers", "orders", 0, 0, 32, 0))).code == ResponseCode.NO_PERMISSION


async def test_a_pull_may_commit_the_offset_it_carries(wire: Wire) -> None:
    await filled(wire, 3)
    pull = PullMessageRequest("readers", "orders", 0, 3, 32, PULL_COMMIT_OFFSET | 4, commit_offset=2, subscription="*")

    await wire.ask(pull)

    assert wire.broker.components.offsets.find("readers", "orders", 0) == 2


async def test_the_code_of_newer_clients_is_the_same_pull(wire: Wire) -> None:
    await filled(wire, 1)
    pull = PullMessageRequest("readers", "orders", 0, 0, 32, 4, subscription="*")

    assert (await wire.ask(pull, code=RequestCode.LITE_PULL_MESSAGE)).code == ResponseCode.SUCCESS


# -- waiting


async def test_a_pull_waits_until_a_message_arrives(wire: Wire) -> None:
    await wire.create_topic("orders")
    waiting = asyncio.ensure_future(wire.try_pull("orders", 0, wait_ms=20_000))
    await eventually(wire.parked_pulls)

    await wire.send("orders", b"news")

    answer = await waiting
    assert (answer.code, answer.remark) == (ResponseCode.SUCCESS, "FOUND")
    assert position(answer) == (1, 0, 1)


async def test_other_requests_are_answered_while_a_pull_waits(wire: Wire) -> None:
    await wire.create_topic("orders")
    waiting = asyncio.ensure_future(wire.try_pull("orders", 0, wait_ms=20_000))
    await eventually(wire.parked_pulls)

    assert (await wire.heartbeat("one")).code == ResponseCode.SUCCESS
    assert not waiting.done()
    waiting.cancel()


async def test_a_wait_ends_when_its_time_is_over(wire: Wire) -> None:
    await wire.create_topic("orders")
    began = time.monotonic()

    answer = await wire.try_pull("orders", 0, wait_ms=200)

    assert answer.code == ResponseCode.PULL_NOT_FOUND
    assert time.monotonic() - began >= 0.2


async def test_a_message_that_the_filter_does_not_want_does_not_wake_a_pull(wire: Wire) -> None:
    await wire.create_topic("orders")
    waiting = asyncio.ensure_future(wire.try_pull("orders", 0, wait_ms=20_000, expression="b"))
    await eventually(wire.parked_pulls)

    await filled(wire, 3, tag="a")
    assert not waiting.done()
    await wire.send("orders", b"wanted", properties={"TAGS": "b"})

    assert position(await waiting) == (4, 0, 4)


async def test_a_wait_that_found_nothing_wanted_reports_how_far_it_looked(wire: Wire) -> None:
    await wire.create_topic("orders")
    waiting = asyncio.ensure_future(wire.try_pull("orders", 0, wait_ms=500, expression="b"))
    await eventually(wire.parked_pulls)

    await filled(wire, 3, tag="a")

    assert position(await waiting)[0] == 3


async def test_a_client_learns_soon_that_its_filter_passed_over_messages(
    wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker_core.broker.processors.pull.PROGRESS_MS", 100)
    await wire.create_topic("orders")
    waiting = asyncio.ensure_future(wire.try_pull("orders", 0, wait_ms=20_000, expression="b"))
    await eventually(wire.parked_pulls)

    await filled(wire, 3, tag="a")

    answer = await asyncio.wait_for(waiting, 10)
    assert (answer.code, position(answer)[0]) == (ResponseCode.PULL_NOT_FOUND, 3)


async def test_without_long_polling_a_pull_waits_for_a_short_time_only(wire: Wire) -> None:
    await wire.create_topic("orders")
    settings = {"longPollingEnable": "false", "shortPollingTimeMills": "50"}
    wire.broker.components.settings.update(settings, now=1)

    answer = await asyncio.wait_for(wire.try_pull("orders", 0, wait_ms=20_000), 10)

    assert answer.code == ResponseCode.PULL_NOT_FOUND


async def test_a_pull_gets_as_many_messages_as_is_set(wire: Wire) -> None:
    await filled(wire, 3)
    wire.broker.components.settings.update({"maxTransferCountOnMessageInMemory": "2"}, now=1)

    assert len(await wire.pull("orders", 0)) == 2


async def test_every_pull_that_waits_gets_the_message(wire: Wire) -> None:
    await wire.create_topic("orders")
    waiting = [asyncio.ensure_future(wire.pull("orders", 0, wait_ms=20_000, group=f"g{each}")) for each in range(5)]
    await eventually(wire.parked_pulls)

    await wire.send("orders", b"news")

    assert [[message.body for message in found] for found in await asyncio.gather(*waiting)] == [[b"news"]] * 5


async def test_a_pull_of_a_client_that_is_gone_waits_no_more(wire: Wire) -> None:
    await wire.create_topic("orders")
    other = another_client(wire)
    waiting = asyncio.ensure_future(other.try_pull("orders", 0, wait_ms=20_000))
    await eventually(wire.parked_pulls)
    await other.client.close()
    await asyncio.wait([waiting])
    assert waiting.exception() is not None

    await wire.send("orders", b"news")

    assert await wire.parked_pulls() == 0


async def test_one_pull_too_many_is_turned_away_by_name(tmp_path: Path) -> None:
    async with started(tmp_path, limits=BrokerLimits(parked_pulls=0)) as wire:
        await wire.create_topic("orders")
        answer = await wire.try_pull("orders", 0, wait_ms=5_000)

        assert answer.code == ResponseCode.SYSTEM_BUSY
        assert "parked_pulls=0" in str(answer.remark)


async def test_an_old_offset_beyond_a_new_queue_is_put_right(wire: Wire) -> None:
    await filled(wire, 1)
    await wire.ask(UpdateConsumerOffsetRequest("readers", "orders", 0, 99))

    assert position(await wire.try_pull("orders", 99))[0] == 1


# -- large answers


async def test_a_large_answer_is_read_after_its_file_was_deleted(wire: Wire) -> None:
    """It is sent from the mapped file, which is there until the last byte has left."""
    sent = [os.urandom(1 << 20) for _ in range(24)]
    for body in sent:
        await wire.send("orders", body)
    async with crowd(wire.address, 1) as [slow]:
        slow.transport.pause_reading()
        for offset in range(len(sent)):
            slow.post(pull("orders", 0, offset=offset))
        connections = [each for server in wire.broker._servers for each in server.connections]
        await eventually(lambda: any(each.held_bytes for each in connections))

        assert wire.broker.components.store.drop_expired(FAR_AHEAD, at_any_hour=True).segments > 0

        slow.transport.resume_reading()
        await eventually(lambda: len(slow.answers) == len(sent))
        found = [slow.answers[number + 1] for number in range(len(sent))]
    arrived = [message for answer in found for message in decode_many(answer.body, decompress=False)]
    assert {0, 1} <= {message.queue_offset for message in arrived}
    assert all(message.body == sent[message.queue_offset] for message in arrived)


async def test_a_crowd_whose_wait_ends_at_once_is_answered_to_the_last(wire: Wire) -> None:
    await wire.create_topic("orders")
    waiting = [asyncio.create_task(wire.try_pull("orders", 0, wait_ms=1_000)) for _ in range(2 * PORTION + 1)]
    answers = await asyncio.gather(*waiting)
    assert {answer.code for answer in answers} == {ResponseCode.PULL_NOT_FOUND}
    assert await wire.parked_pulls() == 0


async def test_one_message_wakes_a_crowd_to_the_last(wire: Wire) -> None:
    await wire.create_topic("orders")
    count = 2 * PORTION + 1
    waiting = [asyncio.create_task(wire.try_pull("orders", 0, wait_ms=30_000)) for _ in range(count)]

    async def all_wait() -> bool:
        return await wire.parked_pulls() == count

    await eventually(all_wait)
    await wire.send("orders", b"x")
    assert {(await each).code for each in waiting} == {ResponseCode.SUCCESS}
