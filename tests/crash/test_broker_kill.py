"""Kill the real broker process under load, repeatedly: every acknowledged message is there, once and in order."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from broker_core.protocol.batch import encode_batch
from broker_core.protocol.codes import PULL_SUBSCRIPTION, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.messages import QueryMessageRequest
from broker_core.protocol.headers.pop import AckMessageRequest, PopMessageRequest, PopMessageResponse
from broker_core.protocol.headers.pull import PullMessageRequest, PullMessageResponse
from broker_core.protocol.headers.send import SendMessageResponse, SendMessageV2Request
from broker_core.protocol.message import Message, StoredMessage
from broker_core.protocol.properties import format_properties
from broker_core.protocol.record import decode_many
from broker_core.remoting import RemotingClient, RemotingError
from broker_core.store.reader import StoreReader
from broker_core.store.verify import verify
from tests.support.cluster import RunningBroker, broker
from tests.support.wait import eventually

pytestmark = pytest.mark.crash

KILLS_OF_EACH = 25
SENDERS = 8
BATCH = 5
QUEUES = 4
TOPIC = "orders"
GROUP = "billing"
TIMEOUT_MS = 60_000
# With these sizes a few hundred messages fill several files of each kind.
SMALL_FILES = (
    "--commit-log-file-size", str(256 * 1024),
    "--setting", f"mappedFileSizeConsumeQueue={20 * 200}",
    "--setting", "maxHashSlotNum=200",
    "--setting", "maxIndexNum=800",
)  # fmt: skip


@dataclass
class Ledger:
    """What the broker acknowledged: body by queue and offset, and the order of each sender's bodies."""

    stored: dict[tuple[int, int], bytes] = field(default_factory=dict)
    sent: int = 0

    def next_body(self, sender: int, size: int) -> bytes:
        self.sent += 1
        return b"%d-%d-" % (sender, self.sent) + b"x" * size


async def send_until_killed(client: RemotingClient, address: str, sender: int, ledger: Ledger) -> None:
    """Send one message after another, every fourth time a batch, until the broker ends."""
    queue_id = sender % QUEUES
    while True:
        bodies = [ledger.next_body(sender, random.randrange(2_000)) for _ in range(random.choice((1, 1, 1, BATCH)))]
        messages = [Message.create(TOPIC, body, keys=[key_of(body)]) for body in bodies]
        is_batch = len(messages) > 1
        text = "" if is_batch else format_properties(messages[0].properties)
        header = SendMessageV2Request(
            TOPIC, queue_id, 0, 0, 0, "producers", "TBW102", QUEUES, properties=text, batch=is_batch
        )
        request = Command.request(header, encode_batch(messages) if is_batch else bodies[0])
        try:
            answer = await client.invoke(address, request, TIMEOUT_MS)
        except RemotingError:
            return
        assert answer.code == ResponseCode.SUCCESS, answer.remark
        sent = answer.header(SendMessageResponse)
        for offset, body in enumerate(bodies, sent.queue_offset):
            assert ledger.stored.setdefault((sent.queue_id, offset), body) == body, "an offset was assigned twice"


def key_of(body: bytes) -> str:
    return body.rstrip(b"x-").decode()


async def kill_under_load(running: RunningBroker, ledger: Ledger) -> int:
    """Send from several tasks, kill the broker meanwhile; return how many messages it acknowledged."""
    before = len(ledger.stored)
    client = RemotingClient()
    senders = [
        asyncio.create_task(send_until_killed(client, running.address, sender, ledger)) for sender in range(SENDERS)
    ]
    wanted = before + random.randrange(20, 300)
    await eventually(lambda: len(ledger.stored) >= wanted or all(sender.done() for sender in senders))
    await asyncio.to_thread(running.stop, kill=True)
    await asyncio.gather(*senders)
    await client.close()
    return len(ledger.stored) - before


async def read_queue(client: RemotingClient, address: str, queue_id: int) -> list[StoredMessage]:
    messages: list[StoredMessage] = []
    offset = 0
    while True:
        header = PullMessageRequest("readers", TOPIC, queue_id, offset, 32, PULL_SUBSCRIPTION, subscription="*")
        answer = await client.invoke(address, Command.request(header), TIMEOUT_MS)
        if answer.code != ResponseCode.SUCCESS:
            assert answer.code == ResponseCode.PULL_NOT_FOUND, answer.remark
            return messages
        messages += decode_many(answer.body)
        offset = answer.header(PullMessageResponse).next_begin_offset


async def read_all(address: str) -> dict[int, list[StoredMessage]]:
    client = RemotingClient()
    try:
        return {queue_id: await read_queue(client, address, queue_id) for queue_id in range(QUEUES)}
    finally:
        await client.close()


async def check_keys(address: str, ledger: Ledger) -> None:
    """Look some messages up by their keys."""
    client = RemotingClient()
    for body in random.sample(list(ledger.stored.values()), 100):
        header = QueryMessageRequest(TOPIC, key_of(body), 8, 0, 1 << 60)
        answer = await client.invoke(address, Command.request(header), TIMEOUT_MS)
        assert answer.code == ResponseCode.SUCCESS, answer.remark
        assert [message.body for message in decode_many(answer.body)] == [body]
    await client.close()


def check(ledger: Ledger, found: dict[int, list[StoredMessage]]) -> None:
    """Compare the contents of the queues with the acknowledged messages."""
    for (queue_id, offset), body in ledger.stored.items():
        assert found[queue_id][offset].body == body
    last_of: defaultdict[bytes, int] = defaultdict(int)
    for messages in found.values():
        assert [message.queue_offset for message in messages] == list(range(len(messages)))
        for message in messages:
            sender, number, _ = message.body.split(b"-", 2)
            assert int(number) > last_of[sender], "a message is there twice, or before one that was sent earlier"
            last_of[sender] = int(number)


@pytest.mark.parametrize("flush", ["sync", "async"])
async def test_every_acknowledged_message_survives_every_kill(tmp_path: Path, flush: str) -> None:
    """Both kinds of flush pass the same test: a killed process loses nothing that it has written to the system."""
    ledger = Ledger()
    async with broker(tmp_path, flush=flush, arguments=SMALL_FILES) as running:
        for _ in range(KILLS_OF_EACH):
            assert await kill_under_load(running, ledger) > 0
            await asyncio.to_thread(running.start)
        check(ledger, await read_all(running.address))
        await check_keys(running.address, ledger)
        status = await asyncio.to_thread(running.stop)
    assert status == 0
    with StoreReader.open(running.store) as reader:
        assert verify(reader).told == []
        assert len(reader.segments()) > 3


async def test_an_acknowledged_lease_is_not_redelivered_after_a_kill_and_an_open_one_is(tmp_path: Path) -> None:
    async with broker(tmp_path, arguments=SMALL_FILES) as running:
        client = RemotingClient()
        for number in range(60):
            header = SendMessageV2Request(TOPIC, number % QUEUES, 0, 0, 0, "producers", "TBW102", QUEUES)
            await client.invoke(running.address, Command.request(header, b"%d" % number), TIMEOUT_MS)
        acknowledged: set[bytes] = set()
        for _ in range(3):
            lent = await pop(client, running.address, lease_ms=500)
            for each in lent[::2]:
                await ack(client, running.address, each)
                acknowledged.add(each.message.body)
            await client.close()
            await asyncio.to_thread(running.restart, kill=True)
            client = RemotingClient()
        while lent := await pop(client, running.address, lease_ms=60_000, wait_ms=3_000):
            for each in lent:
                assert each.message.body not in acknowledged
                await ack(client, running.address, each)
                acknowledged.add(each.message.body)
        await client.close()
    assert acknowledged == {b"%d" % number for number in range(60)}


@dataclass(frozen=True)
class Lent:
    message: StoredMessage
    receipt: str


async def pop(client: RemotingClient, address: str, *, lease_ms: int, wait_ms: int = 0) -> list[Lent]:
    header = PopMessageRequest(GROUP, TOPIC, -1, 16, lease_ms, wait_ms, 0)
    answer = await client.invoke(address, Command.request(header), TIMEOUT_MS)
    if answer.code != ResponseCode.SUCCESS:
        return []
    said = answer.header(PopMessageResponse)
    return [
        Lent(message, f"0 {said.pop_time} {said.invisible_time} 0 0 broker-a {message.queue_id} {message.queue_offset}")
        for message in decode_many(answer.body)
    ]


async def ack(client: RemotingClient, address: str, lent: Lent) -> None:
    message = lent.message
    header = AckMessageRequest(GROUP, TOPIC, message.queue_id, lent.receipt, message.queue_offset)
    answer = await client.invoke(address, Command.request(header), TIMEOUT_MS)
    assert answer.code == ResponseCode.SUCCESS, answer.remark
