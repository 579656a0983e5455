"""An orderly member is killed while it holds its queues: another one takes them over, Java's from ours and the reverse.

Neither broker frees the locks of a connection that ends; they are free when nobody has renewed them for their life.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from broker_core.broker.queue_locks import LOCK_LIFE_MS
from broker_core.client.consumer.push import PushConsumer
from broker_core.client.producer import Producer
from broker_core.client.session import Session
from broker_core.protocol.message import Message, StoredMessage
from tests.compat.driver import Driver, started_driver
from tests.compat.driver import PushConsumer as JavaConsumer
from tests.compat.orderly_member import CONFIG, HELD, QUEUES
from tests.compat.servers import KINDS, Server
from tests.support.apache import SMALL_JVM, ApacheBroker
from tests.support.cluster import ROOT, create_topic
from tests.support.wait import eventually

pytestmark = pytest.mark.compat

SHORT_LIFE_MS = 20_000
"""Of Apache RocketMQ's locks here; Gantry's have one life only."""
SLACK_SECONDS = 15
EACH = 5
"""So many messages of a queue are handled before the kill; as many are in hand, or wait, when it comes."""
LAST = 2 * EACH - 1
FOR_EVER_MS = 600_000
JAVAS = ("java_to_java", "java_to_ours")
OURS = ("ours_to_java", "ours_to_ours")
"""Groups, by who is killed and who stays."""


@pytest.fixture(scope="module", params=sorted(KINDS, reverse=True))
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A broker with its name server; Apache RocketMQ's with locks that live shorter than usual."""
    folder = tmp_path_factory.mktemp(request.param)
    short = (*SMALL_JVM, f"-Drocketmq.broker.rebalance.lockMaxLiveTime={SHORT_LIFE_MS}")
    server = ApacheBroker(folder, options=short) if request.param == "apache" else KINDS[request.param](folder)
    try:
        server.start()
        yield server
    finally:
        server.stop(kill=True)


def life_of_locks(server: Server) -> float:
    """Return in seconds how long a lock lives that is not renewed."""
    return (SHORT_LIFE_MS if isinstance(server, ApacheBroker) else LOCK_LIFE_MS) / 1000


@dataclass(frozen=True)
class Delivery:
    """A message that a member began to handle, and when."""

    queue_id: int
    offset: int
    at: float


@dataclass
class Survivor:
    """A member that stays when the other one of its group is killed."""

    deliveries: Callable[[], list[Delivery]]
    queues: Callable[[], set[int]]
    victim_has_begun: Callable[[], set[tuple[int, int]]] = set
    """Queue and offset of what the other one has begun to handle."""
    kept: set[int] = field(default_factory=set)
    """The queues that were its own before the kill."""

    @property
    def lost(self) -> set[int]:
        """The queues of the other one."""
        return set(range(QUEUES)) - self.kept

    def shares(self) -> bool:
        """Say whether it has half of the queues."""
        self.kept = self.queues()
        return len(self.kept) == QUEUES // 2

    def of(self, queue_id: int) -> list[Delivery]:
        """Return what it got of a queue, in its order."""
        return [delivery for delivery in self.deliveries() if delivery.queue_id == queue_id]

    def is_at(self, offset: int, queue_ids: Collection[int]) -> bool:
        """Say whether it has begun the message at an offset of all these queues."""
        return all(offset in [delivery.offset for delivery in self.of(queue_id)] for queue_id in queue_ids)

    def victim_is_at(self, offset: int) -> bool:
        """Say whether the other one has begun the message at an offset of all its queues."""
        return {(queue_id, offset) for queue_id in self.lost} <= self.victim_has_begun()


@dataclass
class OurVictims:
    """Our members in a process of their own."""

    process: subprocess.Popen[bytes]
    output: Path

    def are_ready(self) -> bool:
        """Say whether they have all queues."""
        return self.output.read_text().startswith("ready\n")

    def begun(self, group: str) -> set[tuple[int, int]]:
        """Return queue and offset of what the member of a group has begun to handle."""
        lines = [line.split() for line in self.output.read_text().splitlines(keepends=True) if line.endswith("\n")]
        return {(int(words[1]), int(words[2])) for words in lines if words[0] == group}

    def kill(self) -> None:
        """End them as ``kill -9`` does."""
        self.process.kill()
        self.process.wait()


@contextmanager
def our_victims(server: Server, folder: Path, topic: str, groups: Collection[str]) -> Iterator[OurVictims]:
    """Start them, and end them with the block."""
    command = [sys.executable, "-m", "tests.compat.orderly_member", server.name_server, topic, *groups]
    output = folder / "ours.output"
    with output.open("wb") as writing:
        victims = OurVictims(subprocess.Popen(command, cwd=ROOT, stdout=writing), output)
    try:
        yield victims
    finally:
        victims.kill()


def java_member(driver: Driver, server: Server, group: str, topic: str) -> JavaConsumer:
    return driver.push_consumer(server.name_server, group, {topic: "*"}, orderly=True)


def java_queues(consumer: JavaConsumer, topic: str) -> set[int]:
    return {queue_id for of, _, queue_id in consumer.queues() if of == topic}


def java_deliveries(consumer: JavaConsumer) -> list[Delivery]:
    messages = [(event["message"], event["at"] / 1000) for event in list(consumer.events)]
    return [Delivery(message["queueId"], message["queueOffset"], at) for message, at in messages]


def begun_by(consumer: JavaConsumer) -> Callable[[], set[tuple[int, int]]]:
    return lambda: {(delivery.queue_id, delivery.offset) for delivery in java_deliveries(consumer)}


def java_survivor(driver: Driver, server: Server, group: str, topic: str) -> Survivor:
    consumer = java_member(driver, server, group, topic)
    return Survivor(lambda: java_deliveries(consumer), lambda: java_queues(consumer, topic))


@asynccontextmanager
async def our_survivor(session: Session, group: str, topic: str) -> AsyncIterator[Survivor]:
    """Start one of ours, and have it leave with the block."""
    seen: list[Delivery] = []

    async def handle(message: StoredMessage) -> None:
        seen.append(Delivery(message.queue_id, message.queue_offset, time.time()))

    consumer = PushConsumer(session, group, handle, CONFIG)
    consumer.subscribe(topic)
    async with consumer:
        yield Survivor(lambda: seen, lambda: {each.queue_id for each in consumer.assigned if each.topic == topic})


async def fill(session: Session, topic: str, body: bytes) -> None:
    """Send as many messages to each queue."""
    async with Producer(session) as producer:
        for queue in await producer.queues(topic):
            for _ in range(EACH):
                await producer.send(Message(topic, body), queue=queue)


async def test_queues_of_killed_members_are_taken_over_in_order(
    server: Server, driver: Driver, name: str, tmp_path: Path
) -> None:
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(server.session())
        await create_topic(session, name, queues=QUEUES)
        begin = time.time()
        # Given members that have all queues of their groups, in a JVM and in a process of ours
        jvm = stack.enter_context(started_driver(tmp_path / "dies"))
        javas = {group: java_member(jvm, server, group, name) for group in JAVAS}
        ours = stack.enter_context(our_victims(server, tmp_path, name, OURS))
        await eventually(lambda: all(len(java_queues(java, name)) == QUEUES for java in javas.values()))
        await eventually(ours.are_ready)
        # And another one of each group, with which they share
        survivors: list[Survivor] = []
        for group in (*javas, *OURS):
            survivor = (
                java_survivor(driver, server, group, name)
                if group.endswith("java")
                else await stack.enter_async_context(our_survivor(session, group, name))
            )
            survivor.victim_has_begun = begun_by(javas[group]) if group in javas else partial(ours.begun, group)
            survivors.append(survivor)
        await eventually(lambda: all(survivor.shares() for survivor in survivors))
        await fill(session, name, b"handled")
        await eventually(
            lambda: all(each.victim_is_at(EACH - 1) and each.is_at(EACH - 1, each.kept) for each in survivors)
        )
        # When they are killed with a message of each queue in hand
        for java in javas.values():
            java.behave("succeed", wait=FOR_EVER_MS)
        await fill(session, name, HELD)
        await eventually(lambda: all(each.victim_is_at(EACH) for each in survivors))
        jvm.kill()
        ours.kill()
        # Then the others get everything of all queues
        within = life_of_locks(server) + SLACK_SECONDS
        await eventually(lambda: all(each.is_at(LAST, range(QUEUES)) for each in survivors), within=within)
    for survivor in survivors:
        for queue_id in survivor.kept:
            assert [each.offset for each in survivor.of(queue_id)] == list(range(LAST + 1))
        # And of those of the dead what was in hand too, in order, and not before their locks were free
        for queue_id in survivor.lost:
            offsets = [each.offset for each in survivor.of(queue_id)]
            assert offsets == list(range(min(offsets), LAST + 1))
            assert min(offsets) <= EACH
            assert survivor.of(queue_id)[0].at >= begin + life_of_locks(server)
