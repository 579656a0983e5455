"""Controllers in name servers on this machine, and brokers that ask them, for tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from broker_core.controller.config import ControllerConfig
from broker_core.controller.server import Controller
from broker_core.namesrv.config import NameServerConfig
from broker_core.namesrv.server import NameServer
from broker_core.protocol import Command, ResponseCode, bodies
from broker_core.protocol.bodies.controller import NameState, decode_state
from broker_core.protocol.bodies.replicas import SyncStateSet
from broker_core.protocol.headers import controller as headers
from broker_core.remoting import Connection, Dispatch, RemotingClient
from tests.support.wait import eventually

TIMEOUT_MS: Final = 10_000


@dataclass
class Hosted:
    """A running controller, and the client of its brokers."""

    controller: Controller
    address: str
    client: RemotingClient

    async def ask(self, header: object, body: bytes = b"", *, client: RemotingClient | None = None) -> Command:
        return await (client or self.client).invoke(self.address, Command.request(header, body), TIMEOUT_MS)

    async def state(self, name: str = "b") -> NameState:
        answer = await self.ask(headers.NameStateRequest(name))
        assert answer.code == ResponseCode.SUCCESS, answer.remark
        return decode_state(answer.body)

    async def until(self, condition: Callable[[NameState], bool], name: str = "b") -> NameState:
        """Return the state once it is as a test waits for."""
        found: list[NameState] = []

        async def look() -> bool:
            found[:] = [await self.state(name)]
            return condition(found[0])

        await eventually(look)
        return found[0]


@asynccontextmanager
async def hosted(folder: Path, **config: Any) -> AsyncIterator[Hosted]:
    """Start a controller with the file engine in a name server."""
    chosen = replace(ControllerConfig(folder, cluster="C"), **config)
    controller = await Controller.open(chosen, who="n1")
    server = NameServer(NameServerConfig(port=0, settings_file=folder / "kvConfig.json"), guests=controller.table())
    client = RemotingClient()
    await server.start()
    await controller.start()
    try:
        yield Hosted(controller, f"127.0.0.1:{server.port}", client)
    finally:
        await client.close()
        await controller.close()
        await server.close()


@dataclass
class Broker:
    """A replica with a connection of its own, which beats while it runs and takes what it is told."""

    hosted: Hosted
    id: int
    life: str = "1-a"
    address: str = "127.0.0.1:1"
    end: int = 100
    last_epoch: int = 0
    name: str = "b"
    view: tuple[int, int] = (0, 0)
    told: list[NameState] = field(default_factory=list)
    answers: list[headers.BrokerHeartbeatResponse] = field(default_factory=list)
    hand_over: int = ResponseCode.SUCCESS
    handed_over: list[headers.HandOverRequest] = field(default_factory=list)

    def __post_init__(self) -> None:
        dispatch = Dispatch()
        dispatch.register(9001, self._state)
        dispatch.register(9003, self._hand_over)
        self.client = RemotingClient(on_request=dispatch)
        self._beating: asyncio.Task[None] | None = None

    async def ask(self, header: object, body: bytes = b"") -> Command:
        return await self.hosted.ask(header, body, client=self.client)

    async def apply(self) -> Command:
        return await self.ask(headers.ApplyBrokerIdRequest("C", self.name, self.id, f"check{self.id}"))

    async def register(self, *, clean: bool = True, cluster: str = "C") -> Command:
        return await self.ask(
            headers.RegisterReplicaRequest(
                cluster, self.name, self.id, self.address, self.life, self.address, f"check{self.id}",
                clean=clean, last_epoch=self.last_epoch, max_offset=self.end, view_epoch=self.view[0],
                view_version=self.view[1],
            )
        )  # fmt: skip

    async def beat(self) -> Command:
        answer = await self.ask(
            headers.BrokerHeartbeatRequest(
                "C", self.name, self.id, self.address, self.view[0], self.end, self.end, life=self.life,
                last_epoch=self.last_epoch, view_epoch=self.view[0], view_version=self.view[1],
            )
        )  # fmt: skip
        if answer.code == ResponseCode.SUCCESS:
            self.answers.append(answer.header(headers.BrokerHeartbeatResponse))
            if answer.body:
                self._take(answer.body)
        return answer

    async def join(self, *, clean: bool = True) -> None:
        """Take the id, register and beat."""
        for answer in (await self.apply(), await self.register(clean=clean)):
            assert answer.code == ResponseCode.SUCCESS, answer.remark
        self.begin()

    def begin(self) -> None:
        """Beat from now on."""
        self._beating = asyncio.create_task(self._beat())

    async def leave_beating(self) -> None:
        """Beat no more, as a process that is stopped; the connection stays open."""
        if self._beating is not None:
            self._beating.cancel()
            await asyncio.gather(self._beating, return_exceptions=True)

    async def leave(self) -> None:
        """Beat no more, and close the connection."""
        await self.leave_beating()
        await self.client.close()

    async def alter(self, state: NameState, *members: int, **changed: Any) -> Command:
        assert state.master is not None
        lives = {each: state.replicas[each].life for each in members if each in state.replicas}
        header = replace(headers.AlterSyncStateSetRequest(self.name, self.id, state.epoch, self.life), **changed)
        body = bodies.encode_strict(SyncStateSet(list(members), state.set_version, lives))
        return await self.ask(header, body)

    async def _beat(self) -> None:
        while True:
            await self.beat()
            await asyncio.sleep(0.05)

    def _take(self, body: bytes) -> None:
        state = decode_state(body)
        if state.view > self.view:
            self.view = state.view
            self.told.append(state)

    def _state(self, request: Command, _: Connection) -> Command | None:
        if request.body:
            self._take(request.body)
            return None
        if not self.told:
            return Command.response(ResponseCode.CONTROLLER_BROKER_METADATA_NOT_EXIST)
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode_strict(self.told[-1]))

    def _hand_over(self, request: Command, _: Connection) -> Command:
        self.handed_over.append(request.header(headers.HandOverRequest))
        return Command.response(self.hand_over, remark="replica 2 is 7 bytes behind")


@asynccontextmanager
async def brokers(hosted: Hosted, *ids: int, **config: Any) -> AsyncIterator[list[Broker]]:
    """Start replicas of one name; the first one is the first of the in-sync set."""
    running = [Broker(hosted, each, **config) for each in ids]
    try:
        for each in running:
            await each.join()
        yield running
    finally:
        for each in running:
            await each.leave()
