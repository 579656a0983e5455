"""What is denied in its topic cannot be had from the broker's own topics, in which it waits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Final

import pytest

from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.messages import QueryMessageRequest, ViewMessageByIdRequest
from broker_core.protocol.headers.pop import PeekMessageRequest
from broker_core.protocol.headers.timers import ListTimersRequest
from broker_core.protocol.signature import Credentials
from tests.broker_core.broker.access.conftest import ADMIN
from tests.broker_core.broker.access.test_check import assert_refused
from tests.support.broker import BORN, Wire, another_client, started

WIDE: Final = Credentials("wide-account", "secret-of-wide")
FILE: Final = """\
accounts:
- {accessKey: administrator, secretKey: secret-of-admin, admin: true}
- accessKey: wide-account
  secretKey: secret-of-wide
  defaultTopicPerm: PUB|SUB
  defaultGroupPerm: SUB
  topicPerms: [secret=DENY]
  groupPerms: [victims=DENY]
"""
SECRETS: Final = {
    "RMQ_SYS_TRANS_HALF_TOPIC": {"TRAN_MSG": "true", "PGROUP": "payers", "UNIQ_KEY": "half", "KEYS": "k"},
    "rmq_sys_wheel_timer": {"TIMER_DELAY_SEC": "3600", "UNIQ_KEY": "timed", "KEYS": "k"},
    "SCHEDULE_TOPIC_XXXX": {"DELAY": "18", "UNIQ_KEY": "late", "KEYS": "k"},
}


@pytest.fixture
async def wide(tmp_path: Path) -> AsyncIterator[Wire]:
    """A client that may do nearly everything; each internal topic has a message of a topic that it may not read."""
    config = tmp_path / "store" / "config"
    config.mkdir(parents=True)
    (config / "plain_acl.yml").write_text(FILE)
    async with started(tmp_path / "store", access_control=True) as wire:
        wire.credentials = ADMIN
        await wire.create_topic("secret")
        for properties in SECRETS.values():
            await wire.send("secret", b"a secret", properties=properties)
        other = another_client(wire)
        other.credentials = WIDE
        yield other
        await other.client.close()


READS: Final[list[Callable[[Wire, str], Awaitable[Command]]]] = [
    lambda wire, topic: wire.try_pull(topic, 0),
    lambda wire, topic: wire.try_pop(topic),
    lambda wire, topic: wire.ask(PeekMessageRequest("lessees", topic, 0, 32)),
    lambda wire, topic: wire.ask(QueryMessageRequest(topic, "k", 32, 0, BORN * 2)),
    lambda wire, topic: wire.heartbeat("wide@1", group="readers", topics={topic: "*"}),
]


@pytest.mark.parametrize("topic", [*SECRETS, "RMQ_SYS_TRANS_OP_HALF_TOPIC", "TRANS_CHECK_MAX_TIME_TOPIC"])
async def test_no_way_of_reading_leads_to_them(wide: Wire, topic: str) -> None:
    for read in READS:
        assert_refused(await read(wide, topic), f"No default permission for topic:{topic}")


async def test_replies_between_other_clients_are_not_for_every_account(wide: Wire) -> None:
    answer = await wide.try_pull("local_REPLY_TOPIC", 0)
    assert_refused(answer, "No default permission for topic:local_REPLY_TOPIC")


async def test_waiting_messages_are_listed_by_topic(wide: Wire) -> None:
    for everything in (ListTimersRequest(), ListTimersRequest(topic="")):
        answer = await wide.ask(everything)
        assert_refused(answer, "No default permission for topic:rmq_sys_wheel_timer")
    assert_refused(await wide.ask(ListTimersRequest(topic="secret")), "No default permission for topic:secret")
    assert (await wide.ask(ListTimersRequest(topic="open"))).code == ResponseCode.SUCCESS


async def test_a_transaction_that_was_given_up_belongs_to_its_topic(wide: Wire) -> None:
    components = wide.broker.components
    (half,) = components.transactions.table
    components.transactions.give_up(half)
    components.arrivals.settle()
    (unit,) = wide.broker.store.units("TRANS_CHECK_MAX_TIME_TOPIC", 0, 0, 1)

    answer = await wide.ask(ViewMessageByIdRequest(unit.log_offset))

    assert_refused(answer, "No default permission for topic:secret")


async def test_dead_letters_belong_to_their_group(wide: Wire) -> None:
    wide.credentials = ADMIN
    await wide.create_topic("%DLQ%victims")
    await wide.create_topic("%DLQ%others")

    wide.credentials = WIDE
    for answer in (await wide.try_send("%DLQ%victims", b"x"), await wide.try_pull("%DLQ%victims", 0)):
        assert_refused(answer, "No default permission for group:victims")
    assert (await wide.try_pull("%DLQ%others", 0, group="others")).code != ResponseCode.SYSTEM_ERROR
