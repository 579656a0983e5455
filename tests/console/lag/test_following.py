"""Requirements of `console.lag.following` and of states that are carried along: a real broker that tells changes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from broker_core.client.admin import Admin
from broker_core.client.admin.clusters import BrokerAddress
from broker_core.client.config import ClientConfig
from broker_core.client.errors import MalformedAnswer
from broker_core.client.producer import Producer
from broker_core.client.session import Session
from broker_core.protocol.bodies import MessageQueue
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.half_records import PROGRESS_GROUP
from broker_core.protocol.headers.progress import GetProgressRequest
from broker_core.protocol.message import Message
from broker_core.protocol.signature import Credentials
from broker_core.protocol.topics import HALF_TOPIC, OP_HALF_TOPIC
from console.lag.facts import BrokerFacts
from console.lag.following import Following
from console.lag.reading import Reader
from console.lag.shapes import GroupState, TopicState
from console.lag.state import ClusterState, StateBuilder
from tests.console.lag.figures import InProcess
from tests.support.cluster import create_topic, several_brokers
from tests.support.scripted import scripted_cluster, succeed
from tests.support.wait import eventually

PATIENT = 20.0
AT = 1_800_000_000_000


class Watched:
    """A cluster read step by step by two builders: one is told what changed, the other makes everything anew."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.admin = Admin(session)
        self.calls: Counter[str] = Counter()
        self.reader = Reader(self.admin, InProcess(), patience=PATIENT, first_patience=PATIENT)
        self.now = AT
        self._builders = StateBuilder(), StateBuilder()
        self._call = session.call
        session.call = self._counted  # type: ignore[method-assign]

    async def _counted(self, addr: str, header: object, *rest: Any, **options: Any) -> Any:
        self.calls[type(header).__name__] += 1
        return await self._call(addr, header, *rest, **options)

    async def step(self, seconds: float = 1) -> tuple[ClusterState, ClusterState]:
        self.now += int(seconds * 1_000)
        reading = await self.reader.step(self.now)
        carried = self._builders[0].step(reading)
        reading.changed = None
        return carried, self._builders[1].step(reading)

    async def round(self) -> Counter[str]:
        """Take a step; return the calls that it made, by header."""
        self.calls.clear()
        await self.step()
        return Counter(self.calls)


@asynccontextmanager
async def watched(data: Path, names: tuple[str, ...] = ("broker-a",)) -> AsyncIterator[Watched]:
    async with several_brokers(data, names=names) as cluster, cluster.session() as session:
        found = Watched(session)
        # A broker has its own group when its transactions were looked at first: a second after its start.
        for broker in cluster.brokers.values():
            offsets = broker.components.offsets
            await eventually(lambda of=offsets: of.find(PROGRESS_GROUP, OP_HALF_TOPIC, 0) is not None)
        try:
            yield found
        finally:
            await found.reader.close()


async def make(cluster: Watched, numbers: range) -> None:
    """Create topics, each with two queues and a group that consumed nothing of them."""
    for number in numbers:
        await create_topic(cluster.session, f"t{number}", queues=2)
        await cluster.admin.groups.create(f"g{number}")
        queues = (await cluster.session.routes.get(f"t{number}")).write_queues
        await cluster.admin.offsets.set(f"g{number}", dict.fromkeys(queues, 0))


async def send(cluster: Watched, topic: str, count: int = 1) -> None:
    producer = Producer(cluster.session)
    await producer.start()
    for _ in range(count):
        await producer.send(Message(topic, b"{}"))
    await producer.close()


async def test_a_round_asks_a_broker_as_often_for_sixty_groups_as_for_three(tmp_path: Path) -> None:
    async with watched(tmp_path) as cluster:
        await make(cluster, range(3))
        await cluster.round()
        few = await cluster.round()
        await make(cluster, range(3, 60))
        for number in range(30):
            await send(cluster, f"t{number}")
        await cluster.step(60)
        await cluster.round()
        many = await cluster.round()
        assert few == many
        assert many[GetProgressRequest.__name__] == 1
        assert many.total() <= 2


async def test_settings_that_changed_twice_within_seconds_are_those_of_the_next_state(tmp_path: Path) -> None:
    async with watched(tmp_path) as cluster:
        await make(cluster, range(1))
        assert (await cluster.step())[0].groups["g0"].delivery == "on"
        for word, enabled in (("paused", False), ("on", True), ("paused", False)):
            await cluster.admin.groups.create("g0", consume_enable=enabled)
            assert [shown.groups["g0"].delivery for shown in await cluster.step(4)] == [word, word]


async def test_a_backlog_is_timed_and_every_topic_measured_in_the_same_round(tmp_path: Path) -> None:
    async with watched(tmp_path) as cluster:
        await make(cluster, range(20))
        for number in range(20):
            await send(cluster, f"t{number}", 2)
        shown, _ = await cluster.step()
        assert {shown.topics[f"t{number}"].messages for number in range(20)} == {2}
        assert (shown.overview.groups_behind, shown.overview.groups_timed) == (20, 20)
        assert all(group.clients == 0 for group in shown.groups.values())


async def test_what_is_carried_along_is_what_would_be_made_anew(tmp_path: Path) -> None:
    chance = random.Random(7)
    async with watched(tmp_path, ("broker-a", "broker-b")) as cluster:
        await make(cluster, range(6))
        for step in range(60):
            for number in chance.sample(range(4), 2):
                if step < 30:
                    await send(cluster, f"t{number}")
                    await advance(cluster, number, chance)
            carried, anew = await cluster.step()
            assert (carried.changed is None) is (step == 0)
            for name, group in anew.groups.items():
                assert comparable(carried.groups[name]) == comparable(group), (step, name)
            for name, topic in anew.topics.items():
                assert comparable(carried.topics[name]) == comparable(topic), (step, name)
        # After five quiet minutes the trends are the same too
        for _ in range(12):
            await cluster.step(1)
        for _ in range(70):
            carried, anew = await cluster.step(5)
        assert carried.groups == anew.groups
        assert carried.topics == anew.topics
        # And what did not differ was not called changed
        assert carried.changed is not None
        assert carried.changed.topics == set()


async def test_the_rate_of_a_topic_that_only_the_broker_itself_reads_becomes_known(tmp_path: Path) -> None:
    async with watched(tmp_path) as cluster:
        carried, _ = await cluster.step()
        queue = MessageQueue(HALF_TOPIC, "broker-a", 0)
        assert carried.topics[HALF_TOPIC].groups == 0
        await cluster.admin.offsets.set(PROGRESS_GROUP, {queue: 0})
        for _ in range(70):
            carried, anew = await cluster.step(5)
        assert (carried.topics[HALF_TOPIC].out_rate, anew.topics[HALF_TOPIC].out_rate) == (0.0, 0.0)


async def advance(cluster: Watched, number: int, chance: random.Random) -> None:
    """Let a group consume to the end of one of its queues."""
    queue: MessageQueue = chance.choice((await cluster.session.routes.get(f"t{number}")).write_queues)
    await cluster.admin.offsets.set(f"g{number}", {queue: await cluster.admin.offsets.max(queue)})


def comparable(state: GroupState | TopicState) -> dict[str, Any]:
    """Return a state without rates and trend and what follows from them: their points lie a few seconds apart."""
    settling = {"lag_per_second", "in_rate", "out_rate", "drain_eta_ms", "drain_unknown", "state"}
    return {name: getattr(state, name) for name in state.__struct_fields__ if name not in settling}


async def test_what_a_broker_calls_its_session_is_not_signed_unless_it_is_one() -> None:
    account = Credentials("gateway-account", "secret-of-gateway")
    body = b'{"session":"trueevilsecret1","version":1,"isLast":false}'
    async with scripted_cluster() as cluster:
        peer = cluster["broker-a"]
        peer.on(RequestCode.GET_PROGRESS, succeed(lambda _: Command.response(ResponseCode.SUCCESS, body=body)))
        config = ClientConfig([cluster.name_server.addr], credentials=account)
        async with Session(config) as session:
            following = Following(Admin(session), BrokerAddress("test", "broker-a", 0, peer.addr), BrokerFacts())
            for _ in range(2):
                with pytest.raises(MalformedAnswer, match="session is 'trueevilsecret1'"):
                    await following.step(AT)

        asked = [each.header(GetProgressRequest).session for each in peer.asked(RequestCode.GET_PROGRESS)]
        assert asked == ["", ""]
