"""Kill the real broker while messages wait and fall due: each acknowledged one comes once, or was recalled."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from pathlib import Path

import pytest

from broker_core.clock import now_ms
from broker_core.protocol.codes import PULL_SUBSCRIPTION, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.pull import PullMessageRequest, PullMessageResponse
from broker_core.protocol.headers.send import SendMessageResponse, SendMessageV2Request
from broker_core.protocol.headers.timers import RecallMessageRequest
from broker_core.protocol.message import StoredMessage
from broker_core.protocol.properties import format_properties
from broker_core.protocol.record import decode_many
from broker_core.remoting import RemotingClient, RemotingError
from tests.support.cluster import RunningBroker, broker
from tests.support.wait import eventually

pytestmark = pytest.mark.crash

KILLS = 4
SENDERS = 4
MANY = 4_000
TOPIC = "orders"
TIMEOUT_MS = 60_000


class Ledger:
    """What the broker acknowledged, and what it said was recalled; an unanswered recall may be either."""

    def __init__(self) -> None:
        self.sent: set[bytes] = set()
        self.recalled: set[bytes] = set()
        self.doubtful: set[bytes] = set()
        self.number = 0


async def send_until_killed(client: RemotingClient, address: str, ledger: Ledger) -> None:
    while True:
        ledger.number += 1
        body = b"%d" % ledger.number
        properties = {"UNIQ_KEY": f"ID{ledger.number}", "TIMER_DELAY_MS": str(random.randrange(1, 1_500))}
        header = SendMessageV2Request(
            TOPIC, 0, 0, 0, 0, "producers", "TBW102", 1, properties=format_properties(properties)
        )
        try:
            answer = await client.invoke(address, Command.request(header, body), TIMEOUT_MS)
            assert answer.code == ResponseCode.SUCCESS, answer.remark
            ledger.sent.add(body)
            if ledger.number % 5 == 0:
                ledger.doubtful.add(body)
                handle = answer.header(SendMessageResponse).recall_handle
                assert handle is not None
                recall = await client.invoke(address, Command.request(RecallMessageRequest(TOPIC, handle)), TIMEOUT_MS)
                ledger.doubtful.discard(body)
                if recall.code == ResponseCode.SUCCESS:
                    ledger.recalled.add(body)
                else:
                    assert recall.code == ResponseCode.ILLEGAL_OPERATION, recall.remark
        except RemotingError:
            return


async def kill_under_load(running: RunningBroker, ledger: Ledger) -> None:
    client = RemotingClient()
    senders = [asyncio.create_task(send_until_killed(client, running.address, ledger)) for _ in range(SENDERS)]
    wanted = len(ledger.sent) + random.randrange(50, 400)
    await eventually(lambda: len(ledger.sent) >= wanted or all(sender.done() for sender in senders))
    await asyncio.to_thread(running.stop, kill=True)
    await asyncio.gather(*senders)
    await client.close()


async def read_topic(address: str) -> list[bytes]:
    return [message.body for message in await read_messages(address)]


async def read_messages(address: str) -> list[StoredMessage]:
    client = RemotingClient()
    found: list[StoredMessage] = []
    while True:
        header = PullMessageRequest("readers", TOPIC, 0, len(found), 32, PULL_SUBSCRIPTION, subscription="*")
        answer = await client.invoke(address, Command.request(header), TIMEOUT_MS)
        if answer.code != ResponseCode.SUCCESS:
            await client.close()
            return found
        assert answer.header(PullMessageResponse).next_begin_offset > len(found)
        found += decode_many(answer.body)


async def test_messages_that_wait_come_once_over_many_kills(tmp_path: Path) -> None:
    async with broker(tmp_path) as running:
        ledger = Ledger()
        for number in range(KILLS):
            await kill_under_load(running, ledger)
            if number == KILLS // 2:
                for path in (running.store / "timer").iterdir():
                    path.unlink()
            await asyncio.to_thread(running.start)

        async def all_came() -> bool:
            return ledger.sent - ledger.recalled - ledger.doubtful <= set(await read_topic(running.address))

        await eventually(all_came)
        found = Counter(await read_topic(running.address))
        assert not ledger.recalled & set(found)
        assert [body for body, times in found.items() if times > 1 and body in ledger.sent] == []


async def park(client: RemotingClient, address: str, number: int, due: int) -> None:
    """Store a message that waits."""
    properties = {"UNIQ_KEY": f"MANY{number}", "TIMER_DELIVER_MS": str(due)}
    header = SendMessageV2Request(TOPIC, 0, 0, 0, 0, "producers", "TBW102", 1, properties=format_properties(properties))
    answer = await client.invoke(address, Command.request(header, b"%d %d" % (number, due)), TIMEOUT_MS)
    assert answer.code == ResponseCode.SUCCESS, answer.remark
    assert answer.header(SendMessageResponse).recall_handle is not None


async def test_thousands_that_wait_come_once_and_not_early_after_kills_before_and_between_their_times(
    tmp_path: Path,
) -> None:
    async with broker(tmp_path) as running:
        client = RemotingClient()
        first = now_ms() + 15_000
        dues = [first + random.randrange(4_000) for _ in range(MANY)]
        for begin in range(0, MANY, 250):
            parked = (
                park(client, running.address, begin + at, due) for at, due in enumerate(dues[begin : begin + 250])
            )
            await asyncio.gather(*parked)
        await client.close()
        assert now_ms() < first, "this machine was too slow to store them all before the first is due"

        # Before any is due
        await asyncio.to_thread(running.restart, kill=True)
        # While they fall due
        for part in (0, MANY // 3):

            async def has_come(count: int = part) -> bool:
                return len(await read_topic(running.address)) > count

            await eventually(has_come)
            await asyncio.to_thread(running.restart, kill=True)

        async def all_came() -> bool:
            return len(await read_topic(running.address)) >= MANY

        await eventually(all_came)
        assert Counter(await read_topic(running.address)) == Counter(b"%d %d" % pair for pair in enumerate(dues))
        found = await read_messages(running.address)
        assert [each.body for each in found if each.store_timestamp < int(each.body.split()[1])] == []
