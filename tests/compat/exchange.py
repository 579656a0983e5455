"""What is written to a broker before its folder goes to another one, and what is read of it before and after."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from broker_core.client.admin import Admin
from broker_core.client.producer import Producer
from broker_core.client.session import Session
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import PULL_SUBSCRIPTION, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.pull import PullMessageRequest, PullMessageResponse
from broker_core.protocol.message import Message, StoredMessage
from broker_core.protocol.record import decode_many
from broker_core.remoting import RemotingClient
from tests.support.apache import ApacheBroker
from tests.support.cluster import RunningBroker
from tests.support.wait import eventually

Server: TypeAlias = RunningBroker | ApacheBroker

TOPIC = "orders"
QUEUES = 3
GROUP = "billing"
BATCH = 10
TIMEOUT_MS = 60_000
# A level whose messages the writer itself delivers, one for the next broker, and one for nobody in this test.
SOON, LATER, MUCH_LATER = 1, 2, 3
SIZES = {
    "mappedFileSizeCommitLog": str(64 * 1024),
    "mappedFileSizeConsumeQueue": str(20 * 100),
    "maxHashSlotNum": "100",
    "maxIndexNum": "400",
    "messageDelayLevel": "1s 5s 1h",
    # Apache RocketMQ loses keys at a kill without it.
    "messageIndexSafe": "true",
    "maxMessageSize": str(32 * 1024),
}


@dataclass
class Seen:
    """Everything a client can see of a topic and a group."""

    messages: dict[int, list[StoredMessage]] = field(default_factory=dict)
    ranges: dict[int, tuple[int, int]] = field(default_factory=dict)
    committed: dict[int, int | None] = field(default_factory=dict)
    by_key: dict[str, list[str]] = field(default_factory=dict)
    """By keys and by unique ids: a delayed message has its id a second time if a kill came just after its delivery."""
    by_offset_id: dict[str, str] = field(default_factory=dict)
    by_time: dict[int, int] = field(default_factory=dict)

    @property
    def bodies(self) -> list[bytes]:
        """All bodies, queue by queue."""
        return [message.body for messages in self.messages.values() for message in messages]


async def write(session: Session, name: str, count: int) -> None:
    """Send messages with keys, tags, properties and batches, one per queue of each delay level, and set offsets."""
    async with Producer(session) as producer:
        for begin in range(0, count, 100):
            results = await producer.send_many(message(name, number) for number in range(begin, begin + 100))
            assert all(not isinstance(result, Exception) for result in results), results
        queues = await producer.queues(TOPIC)
        for queue in queues:
            batch = [Message.create(TOPIC, b"%s batch %d" % (name.encode(), number), keys=[f"{name}-b{number}"])
                     for number in range(BATCH)]  # fmt: skip
            await producer.send_batch(TOPIC, batch, queue=queue)
        for level in (SOON, LATER, MUCH_LATER):
            for queue in queues:
                body = b"%s delayed %d" % (name.encode(), level)
                delayed = Message.create(TOPIC, body, keys=[f"{name}-d{level}"], properties={"DELAY": str(level)})
                await producer.send(delayed, queue=queue)
        await Admin(session).offsets.set(GROUP, {queue: 7 + 11 * queue.queue_id + len(name) for queue in queues})


def message(name: str, number: int) -> Message:
    """Return a message of which all parts differ from those of its neighbours."""
    return Message.create(
        TOPIC,
        b"%s %d " % (name.encode(), number) + bytes([number % 251]) * (number * 37 % 900),
        keys=[f"{name}{number}", f"every{number % 10}"],
        tag=("TagA", "order-created", "中文")[number % 3],
        properties={"colour": "red" if number % 2 else "blau grün"},
    )


async def look(server: Server, session: Session, sample: list[StoredMessage] | None = None) -> Seen:
    """Read the whole topic, and look up every 40th message, or those of `sample`, in all ways there are."""
    seen, admin = Seen(), Admin(session)
    queues = [MessageQueue(TOPIC, server.broker_name, queue_id) for queue_id in range(QUEUES)]
    for queue in queues:
        await eventually(lambda queue=queue: _read_queue(server, admin, queue, seen))
        seen.committed[queue.queue_id] = await admin.offsets.find(GROUP, queue)
    if sample is None:
        sample = [each for messages in seen.messages.values() for each in messages[::40]]
    for each in sample:
        for key in (*each.keys[:1], each.unique_id):
            assert key is not None
            found = await admin.messages.search(TOPIC, key)
            seen.by_key[key] = sorted(placed.message.offset_id for placed in found.messages)
        placed_at = await admin.messages.find_by_offset_id(each.offset_id)
        seen.by_offset_id[each.offset_id] = placed_at.message.body.hex() if placed_at else ""
    for queue in queues:
        # Before everything: within a queue of several files Apache RocketMQ goes by when these were last modified, and
        # is not exact.
        seen.by_time[queue.queue_id] = await admin.offsets.by_time(queue, 1)
    return seen


async def _read_queue(server: Server, admin: Admin, queue: MessageQueue, seen: Seen) -> bool:
    """Read a queue and its range; return False when a delayed message came between the two, which would not agree."""
    messages = seen.messages[queue.queue_id] = await pull_all(server.address, TOPIC, queue.queue_id)
    low, high = seen.ranges[queue.queue_id] = (await admin.offsets.min(queue), await admin.offsets.max(queue))
    return high - low == len(messages)


async def arrived(server: Server, name: str, level: int) -> int:
    """Return how many of the delayed messages of a part are in the queues where they wanted to go."""
    body = b"%s delayed %d" % (name.encode(), level)
    queues = [await pull_all(server.address, TOPIC, queue_id) for queue_id in range(QUEUES)]
    return sum(message.body == body for messages in queues for message in messages)


async def pull_all(address: str, topic: str, queue_id: int) -> list[StoredMessage]:
    """Return all messages of a queue, as records say them."""
    client = RemotingClient()
    found: list[StoredMessage] = []
    offset = 0
    try:
        while True:
            header = PullMessageRequest("readers", topic, queue_id, offset, 32, PULL_SUBSCRIPTION, subscription="*")
            answer = await client.invoke(address, Command.request(header), TIMEOUT_MS)
            if answer.code == ResponseCode.SUCCESS:
                found += decode_many(answer.body, decompress=False)
            elif answer.code not in (ResponseCode.PULL_OFFSET_MOVED, ResponseCode.PULL_RETRY_IMMEDIATELY):
                assert answer.code == ResponseCode.PULL_NOT_FOUND, answer.remark
                return found
            offset = answer.header(PullMessageResponse).next_begin_offset
    finally:
        await client.close()
