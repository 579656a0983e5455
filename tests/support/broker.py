"""A real broker with its name server on port 0, and a client that speaks single requests to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from broker_core.broker import Broker, BrokerConfig, BrokerLimits, Periods, TopicDefaults
from broker_core.broker.config import Identity
from broker_core.namesrv.config import NameServerConfig
from broker_core.namesrv.server import NameServer
from broker_core.protocol import bodies
from broker_core.protocol.bodies.heartbeat import (
    ConsumerData,
    ConsumeType,
    HeartbeatData,
    MessageModel,
    ProducerData,
    SubscriptionData,
)
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.routes import KVTable
from broker_core.protocol.bodies.stats import ConsumeStats
from broker_core.protocol.codes import PULL_SUBSCRIPTION, PULL_SUSPEND, RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.admin import GetBrokerRuntimeInfoRequest
from broker_core.protocol.headers.clients import HeartBeatRequest
from broker_core.protocol.headers.groups import GetConsumeStatsRequest
from broker_core.protocol.headers.pop import (
    AckMessageRequest,
    ChangeInvisibleTimeRequest,
    PopMessageRequest,
    PopMessageResponse,
)
from broker_core.protocol.headers.pull import PullMessageRequest
from broker_core.protocol.headers.send import SendMessageResponse, SendMessageV2Request
from broker_core.protocol.headers.topics import CreateTopicRequest
from broker_core.protocol.message import StoredMessage
from broker_core.protocol.properties import format_properties
from broker_core.protocol.record import decode_many
from broker_core.protocol.signature import Credentials
from broker_core.remoting import Dispatch, RemotingClient
from broker_core.store import StoreConfig

TIMEOUT_MS = 60_000
BORN = 1_700_000_000_000


def small_store(folder: Path, **changes: Any) -> StoreConfig:
    """Return the sizes of a store that tests can fill."""
    config = StoreConfig(
        folder,
        commit_log_file_size=4 * 1024 * 1024,
        consume_queue_file_units=1_000,
        index_slots=1_000,
        index_entries=4_000,
        delete_when=tuple(range(24)),
        forced_used_ratio=1.0,
        full_used_ratio=1.0,
        min_free_bytes=0,
    )
    return replace(config, **changes)


@dataclass(frozen=True, slots=True)
class Leased:
    """A message on lease, with what its receipt is made of."""

    message: StoredMessage
    pop_time: int
    invisible_ms: int

    @property
    def receipt(self) -> str:
        """The receipt as Java clients make it."""
        queue, offset = self.message.queue_id, self.message.queue_offset
        return f"{offset} {self.pop_time} {self.invisible_ms} 0 0 broker-a {queue} {offset}"


@dataclass
class Wire:
    """One started broker and one client; every call is one request over a real socket."""

    broker: Broker
    name_server: NameServer
    client: RemotingClient
    pushed: list[Command] = field(default_factory=list)
    answers: dict[int, Callable[[Command], Command]] = field(default_factory=dict)
    """What the client says to the broker's questions, by code; to any other it says b"from the client"."""
    credentials: Credentials | None = None
    """With which requests to the broker are signed."""

    @property
    def address(self) -> str:
        """Where the broker listens."""
        return self.broker.address

    async def ask(
        self, header: object, body: bytes = b"", *, code: int | None = None, version: int | None = None
    ) -> Command:
        """Return the broker's answer, of any code, to a client of this or another version."""
        request = Command.request(header, body, code=code)
        request.version = request.version if version is None else version
        if self.credentials is not None:
            self.credentials.sign(request)
        return await self.client.invoke(self.address, request, TIMEOUT_MS)

    async def ask_name_server(self, header: object) -> Command:
        """Return the name server's answer."""
        address = f"127.0.0.1:{self.name_server.port}"
        return await self.client.invoke(address, Command.request(header), TIMEOUT_MS)

    async def create_topic(self, topic: str, queues: int = 1, perm: int = 6) -> None:
        """Create a topic; nothing else may happen."""
        answer = await self.ask(CreateTopicRequest(topic, queues, queues, perm))
        assert answer.code == ResponseCode.SUCCESS, answer.remark

    async def try_send(
        self,
        topic: str,
        body: bytes,
        *,
        queue_id: int = 0,
        properties: Mapping[str, str] | None = None,
        code: int | None = None,
        **fields: Any,
    ) -> Command:
        """Send a message and return the answer, of any code."""
        header = SendMessageV2Request(
            topic,
            queue_id,
            0,
            BORN,
            0,
            "producers",
            "TBW102",
            4,
            properties=format_properties(properties or {}),
        )
        return await self.ask(replace(header, **fields), body, code=code)

    async def send(self, topic: str, body: bytes, **options: Any) -> SendMessageResponse:
        """Send a message that must be stored."""
        answer = await self.try_send(topic, body, **options)
        assert answer.code == ResponseCode.SUCCESS, answer.remark
        return answer.header(SendMessageResponse)

    async def fill(self, topic: str, *messages: bytes, queues: int = 1) -> None:
        """Send messages to a topic's queues in turn; a new topic is created with so many."""
        if self.broker.components.topics.find(topic) is None:
            await self.create_topic(topic, queues=queues)
        for number, body in enumerate(messages):
            await self.send(topic, body, queue_id=number % queues)

    async def lag_of(self, group: str, topic: str, queue_id: int = 0) -> tuple[int, int]:
        """Return a group's offset in a queue and the queue's end, as administration sees them."""
        answer = await self.ask(GetConsumeStatsRequest(group))
        queue = MessageQueue(topic, "broker-a", queue_id)
        each = bodies.decode(ConsumeStats, answer.body).offset_table[queue]
        return each.consumer_offset, each.broker_offset

    def due_again(self, group: str, topic: str, queue_id: int = 0) -> int:
        """Return how many messages of a queue wait to be lent again."""
        queue = self.broker.components.leases.find(group, topic, queue_id)
        return queue.due_count if queue is not None else 0

    async def try_pull(
        self,
        topic: str,
        offset: int,
        *,
        group: str = "readers",
        queue_id: int = 0,
        wait_ms: int = 0,
        count: int = 32,
        expression: str = "*",
        **fields: Any,
    ) -> Command:
        """Pull with the subscription in the request and return the answer, of any code."""
        sys_flag = PULL_SUBSCRIPTION | (PULL_SUSPEND if wait_ms else 0)
        header = PullMessageRequest(
            group,
            topic,
            queue_id,
            offset,
            count,
            sys_flag,
            suspend_timeout_millis=wait_ms,
            subscription=expression,
        )
        return await self.ask(replace(header, **fields))

    async def pull(self, topic: str, offset: int, **options: Any) -> list[StoredMessage]:
        """Return the messages from an offset on; none is no failure."""
        return decode_many((await self.try_pull(topic, offset, **options)).body)

    async def parked_pulls(self) -> int:
        """Return how many pulls wait at the broker."""
        return int((await self.runtime_info())["parkedPulls"])

    async def runtime_info(self) -> dict[str, str]:
        """Return the broker's figures."""
        answer = await self.ask(GetBrokerRuntimeInfoRequest())
        return bodies.decode(KVTable, answer.body).table

    async def try_pop(
        self,
        topic: str,
        *,
        group: str = "lessees",
        queue_id: int = -1,
        count: int = 32,
        lease_ms: int = 60_000,
        wait_ms: int = 0,
        expression: str = "*",
        **fields: Any,
    ) -> Command:
        """Pop and return the answer, of any code."""
        header = PopMessageRequest(
            group, topic, queue_id, count, lease_ms, wait_ms, BORN, exp_type="TAG", exp=expression
        )
        return await self.ask(replace(header, **fields))

    async def pop(self, topic: str, **options: Any) -> list[Leased]:
        """Return leased messages; none is no failure."""
        return leased_of(await self.try_pop(topic, **options))

    async def ack(self, leased: Leased, group: str = "lessees") -> Command:
        """Acknowledge and return the answer."""
        message = leased.message
        return await self.ask(
            AckMessageRequest(group, message.topic, message.queue_id, leased.receipt, message.queue_offset)
        )

    async def change(
        self,
        leased: Leased,
        lease_ms: int,
        group: str = "lessees",
        *,
        suspend: bool = False,
        failure: str | None = None,
    ) -> Command:
        """Change a lease and return the answer."""
        message = leased.message
        return await self.ask(
            ChangeInvisibleTimeRequest(
                group,
                message.topic,
                message.queue_id,
                leased.receipt,
                message.queue_offset,
                lease_ms,
                suspend=suspend,
                failure_reason=failure,
            )
        )

    async def heartbeat(
        self,
        client_id: str,
        *,
        group: str | None = None,
        topics: Mapping[str, str] | None = None,
        producer_group: str | None = None,
        model: MessageModel = MessageModel.CLUSTERING,
        version: int = 1,
    ) -> Command:
        """Say who this client is."""
        subscriptions = [
            SubscriptionData(topic, expression, sub_version=version) for topic, expression in (topics or {}).items()
        ]
        consumers = [ConsumerData(group, ConsumeType.CONSUME_PASSIVELY, model, None, subscriptions)] if group else []
        producers = [ProducerData(producer_group)] if producer_group else []
        return await self.ask(HeartBeatRequest(), bodies.encode(HeartbeatData(client_id, producers, consumers)))


def leased_of(answer: Command) -> list[Leased]:
    """Return the messages of a pop's answer."""
    if answer.code != ResponseCode.SUCCESS:
        return []
    header = answer.header(PopMessageResponse)
    return [Leased(message, header.pop_time, header.invisible_time) for message in decode_many(answer.body)]


def bodies_of(leased: Iterable[Leased]) -> list[bytes]:
    """Return the bodies of leased messages."""
    return [each.message.body for each in leased]


def another_client(wire: Wire) -> Wire:
    """Return a second client of the same broker, with a connection of its own; close its `client` afterwards."""
    return _client_of(wire.broker, wire.name_server)


def _client_of(broker: Broker, name_server: NameServer) -> Wire:
    dispatch = Dispatch()
    wire = Wire(broker, name_server, RemotingClient(on_request=dispatch))

    def keep(request: Command, _: object) -> Command | None:
        wire.pushed.append(request)
        if request.code in wire.answers:
            return wire.answers[request.code](request)
        return None if request.is_one_way else Command.response(ResponseCode.SUCCESS, body=b"from the client")

    for code in RequestCode:
        dispatch.register(code, keep)
    return wire


@asynccontextmanager
async def started(
    folder: Path,
    *,
    store: StoreConfig | None = None,
    port: int = 0,
    limits: BrokerLimits | None = None,
    periods: Periods | None = None,
    topics: TopicDefaults | None = None,
    access_control: bool = False,
    settings: Mapping[str, str] | None = None,
    broker_id: int = 0,
) -> AsyncIterator[Wire]:
    """Start a name server and a broker on `folder`, and stop both at the end."""
    name_server = NameServer(NameServerConfig(port=0))
    await name_server.start()
    config = BrokerConfig(
        store=store or small_store(folder),
        name_servers=(f"127.0.0.1:{name_server.port}",),
        port=port,
        limits=limits or BrokerLimits(),
        periods=periods or Periods(),
        topics=topics or TopicDefaults(),
        access_control=access_control,
        settings=({"brokerRole": "SLAVE"} if broker_id else {}) | dict(settings or {}),
        identity=Identity(broker_id=broker_id),
    )
    try:
        broker = await Broker.open(config)
        wire = _client_of(broker, name_server)
        try:
            yield wire
        finally:
            await wire.client.close()
            await broker.close()
    finally:
        await name_server.close()
