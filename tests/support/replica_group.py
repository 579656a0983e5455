"""Replicas of one broker name with their name server and its controller, all in this process and on real sockets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from broker_core.broker import Broker, BrokerConfig, Periods
from broker_core.broker.config import FailoverSettings, Identity
from broker_core.broker.role import RoleKind
from broker_core.controller.config import ControllerConfig
from broker_core.controller.server import hosted
from broker_core.namesrv.config import NameServerConfig
from broker_core.namesrv.server import NameServer
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.controller import AcceptLossRequest
from broker_core.protocol.headers.pull import PullMessageRequest
from broker_core.protocol.headers.send import SendMessageV2Request
from broker_core.protocol.headers.topics import CreateTopicRequest
from broker_core.protocol.record import decode_many
from broker_core.protocol.signature import Credentials
from broker_core.remoting import RemotingClient
from tests.support.broker import BORN, TIMEOUT_MS, small_store
from tests.support.ports import free_ports
from tests.support.wait import eventually

PORTS = 4
"""Fast port, one between, main port, port for slaves."""


@dataclass
class ReplicaGroup:
    """Brokers by the number of their folder; a stopped one has none."""

    folder: Path
    name_server: str
    client: RemotingClient
    settings: FailoverSettings
    flush: str = "async"
    ports: dict[int, int] = field(default_factory=dict)
    brokers: dict[int, Broker] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the configuration of each broker."""
    accounts: str = ""
    """The file of accounts of each broker."""
    credentials: Credentials | None = None
    """With which the client signs."""

    async def start(self, number: int) -> Broker:
        """Start the broker of a folder, at the port that it had."""
        port = self.ports.setdefault(number, free_ports(PORTS) + 2)
        config = BrokerConfig(
            store=small_store(self.folder / f"b{number}", flush=self.flush),
            name_servers=(self.name_server,),
            port=port,
            identity=Identity("C", "b"),
            periods=Periods(flush=20),
            failover=replace(self.settings, controllers=(self.name_server,)),
        )
        if self.accounts:
            config.config_folder.mkdir(parents=True, exist_ok=True)
            (config.config_folder / "plain_acl.yml").write_text(self.accounts)
        self.brokers[number] = await Broker.open(replace(config, **self.more))
        return self.brokers[number]

    async def stop(self, number: int) -> None:
        """Stop a broker."""
        await self.brokers.pop(number).close()

    def masters(self) -> list[int]:
        """Return the numbers of those that are master."""
        return [number for number, broker in self.brokers.items() if broker.components.roles.now.is_master]

    async def master(self) -> Broker:
        """Return the one master, when there is one that takes messages."""

        def is_there() -> bool:
            return any(self._takes_messages(self.brokers[number]) for number in self.masters())

        await eventually(is_there)
        return self.brokers[self.masters()[-1]]

    @staticmethod
    def _takes_messages(broker: Broker) -> bool:
        return broker.failover is not None and broker.failover.refusal() is None

    def slaves(self) -> list[Broker]:
        """Return those that follow a master."""
        return [each for each in self.brokers.values() if each.components.roles.now.kind is RoleKind.SLAVE]

    async def lose(self) -> list[int]:
        """Let one of three replicas miss messages, and make it master by accepting their loss; return who has them.

        They are stopped, and so held when they are started again.
        """
        late, *others = self.brokers
        if late in self.masters():
            late, others = others[0], [late, *others[1:]]
        late_id = self.brokers[late].components.roles.now.broker_id
        assert (await self.send(await self.master(), b"on all")).code == ResponseCode.SUCCESS
        await self.stop(late)
        master = await self.master()
        await eventually(lambda: late_id not in in_sync_set(master))
        assert (await self.send(master, b"acknowledged" * 20)).code == ResponseCode.SUCCESS
        end = master.store.appended_log_offset
        await eventually(lambda: all(self.brokers[each].store.confirmed_log_offset == end for each in others))
        for number in others:
            await self.stop(number)
        await self.start(late)
        await eventually(lambda: self._accepts_loss(late_id))
        await self.master()
        return others

    async def _accepts_loss(self, replica: int) -> bool:
        request = Command.request(AcceptLossRequest("b", replica))
        return (await self.client.invoke(self.name_server, request, TIMEOUT_MS)).code == ResponseCode.SUCCESS

    async def ask(self, broker: Broker, header: object, body: bytes = b"") -> Command:
        """Return the answer of a broker, of any code."""
        request = Command.request(header, body)
        if self.credentials is not None:
            self.credentials.sign(request)
        return await self.client.invoke(broker.address, request, TIMEOUT_MS)

    async def send(self, broker: Broker, body: bytes, **fields: object) -> Command:
        """Send a message to topic T and return the answer, of any code."""
        header = SendMessageV2Request("T", 0, 0, BORN, 0, "producers", "TBW102", 4, properties="")
        return await self.ask(broker, replace(header, **fields), body)  # type: ignore[arg-type]

    async def read(self, broker: Broker, offset: int = 0) -> list[bytes]:
        """Return the bodies of what readers see in queue 0 of topic T."""
        header = PullMessageRequest("readers", "T", 0, offset, 32, 4, subscription="*", suspend_timeout_millis=0)
        answer = await self.ask(broker, header)
        return [message.body for message in decode_many(answer.body)] if answer.code == ResponseCode.SUCCESS else []


@asynccontextmanager
async def replica_group(
    folder: Path, count: int = 2, settings: FailoverSettings | None = None, **more: Any
) -> AsyncIterator[ReplicaGroup]:
    """Run a controller and `count` replicas with topic T, and stop them; all are in the in-sync set."""
    async with AsyncExitStack() as running:
        controller = await running.enter_async_context(hosted(ControllerConfig(folder / "controller", "C"), "n1"))
        assert controller is not None
        name_server = NameServer(NameServerConfig(port=0), guests=controller.table())
        await name_server.start()
        running.push_async_callback(name_server.close)
        await controller.start()
        client = RemotingClient()
        running.push_async_callback(client.close)
        asked = settings or FailoverSettings(is_on=True, heartbeat_ms=100, gone_ms=500)
        group = ReplicaGroup(folder, f"127.0.0.1:{name_server.port}", client, asked, **more)
        for number in range(1, count + 1):
            await group.start(number)
            running.push_async_callback(_stop, group, number)
        master = await group.master()
        await group.ask(master, CreateTopicRequest("T", 1, 1, 6))
        await eventually(lambda: len(in_sync_set(master)) == count)
        yield group


async def _stop(group: ReplicaGroup, number: int) -> None:
    if number in group.brokers:
        await group.stop(number)


def in_sync_set(broker: Broker) -> list[int]:
    """Return the ids of the in-sync set as a replica knows it."""
    failover = broker.failover
    assert failover is not None
    view = failover.replica.view
    return view.in_sync if view is not None else []
