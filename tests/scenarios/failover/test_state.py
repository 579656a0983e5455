"""A master is killed: its transactions, waiting messages and leases go on at the next one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from broker_core.client.admin import Admin
from broker_core.client.session import Session
from broker_core.errors import GantryError
from broker_core.protocol.codes import PULL_SUBSCRIPTION, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.pop import AckMessageRequest, PopMessageRequest, PopMessageResponse
from broker_core.protocol.headers.pull import PullMessageRequest
from broker_core.protocol.headers.send import SendMessageResponse, SendMessageV2Request
from broker_core.protocol.headers.timers import RecallMessageRequest
from broker_core.protocol.headers.topics import CreateTopicRequest
from broker_core.protocol.headers.transactions import EndTransactionRequest
from broker_core.protocol.message_id import parse_offset_id
from broker_core.protocol.properties import format_properties
from broker_core.protocol.record import decode_many
from broker_core.protocol.sys_flag import TRANSACTION_COMMIT
from broker_core.remoting import RemotingClient
from tests.scenarios.failover.cluster import BROKER_NAME, Group, Replica, failover_group
from tests.support.broker import BORN, TIMEOUT_MS
from tests.support.wait import eventually

pytestmark = pytest.mark.scenario


@pytest.fixture
def group(tmp_path: Path) -> Iterator[Group]:
    with failover_group(tmp_path, replicas=2, min_in_sync=1) as made:
        yield made


@dataclass
class Scene:
    """Single requests to whoever is the master."""

    group: Group
    session: Session
    client: RemotingClient
    master: Replica

    async def ask(self, header: object, body: bytes = b"") -> Command:
        """Return the master's answer, of any code."""
        return await self.client.invoke(self.master.address, Command.request(header, body), TIMEOUT_MS)

    async def done(self, header: object, body: bytes = b"") -> Command:
        """Return the master's answer, asked again until it is a success: a new master needs a moment."""
        answer = Command(-1)

        async def is_done() -> bool:
            nonlocal answer
            try:
                answer = await self.ask(header, body)
            except GantryError:
                return False
            return answer.code == ResponseCode.SUCCESS

        await eventually(is_done, within=60.0)
        return answer

    async def send(self, body: bytes, **properties: str) -> SendMessageResponse:
        """Send a message to topic T that must be stored."""
        header = SendMessageV2Request(
            "T", 0, 0, BORN, 0, "producers", "TBW102", 1, properties=format_properties(properties)
        )
        return (await self.done(header, body)).header(SendMessageResponse)

    async def read(self) -> list[bytes]:
        """Return the bodies that a reader of topic T sees."""
        header = PullMessageRequest(
            "readers", "T", 0, 0, 32, PULL_SUBSCRIPTION, subscription="*", suspend_timeout_millis=0
        )
        return [message.body for message in decode_many((await self.ask(header)).body)]

    async def kill_master(self) -> None:
        """Kill the master's process, and wait until the other one is the master."""
        before = self.master
        before.node.kill()
        await eventually(self._has_other, within=60.0)

    async def _has_other(self) -> bool:
        try:
            found = await self._find()
        except (GantryError, StopIteration):
            return False
        is_other = found is not self.master
        self.master = found
        return is_other

    async def _find(self) -> Replica:
        return await find_master(self.group, self.session)


async def find_master(group: Group, session: Session) -> Replica:
    """Return who is the master; raises GantryError while there is none."""
    state = (await Admin(session).replication.state(BROKER_NAME)).state
    if state.master is None:
        raise GantryError("there is no master yet")
    address = state.replicas[state.master.id].address
    return {replica.address: replica for replica in group.replicas}[address]


@asynccontextmanager
async def scene_of(group: Group) -> AsyncIterator[Scene]:
    """Have a master with its slave in sync, and topic T."""
    client = RemotingClient()
    async with Session(group.config()) as session:
        try:

            async def are_in_sync() -> bool:
                try:
                    return len((await Admin(session).replication.state(BROKER_NAME)).state.in_sync) == 2
                except GantryError:
                    return False

            await eventually(are_in_sync, within=90.0)
            scene = Scene(group, session, client, await find_master(group, session))
            await scene.done(CreateTopicRequest("T", 1, 1, 6))
            yield scene
        finally:
            await client.close()


async def test_transactions_go_on(group: Group) -> None:
    async with scene_of(group) as scene:
        ended = await scene.send(b"ended", TRAN_MSG="true", PGROUP="producers", UNIQ_KEY="u1")
        left = await scene.send(b"left", TRAN_MSG="true", PGROUP="producers", UNIQ_KEY="u2")
        await scene.done(commit(ended))
        await scene.kill_master()

        await scene.done(commit(ended))
        await scene.done(commit(left))

        assert await scene.read() == [b"ended", b"left"]


def commit(half: SendMessageResponse) -> EndTransactionRequest:
    log_offset = parse_offset_id(half.msg_id).log_offset
    return EndTransactionRequest("producers", half.queue_offset, log_offset, TRANSACTION_COMMIT)


async def test_what_waits_for_its_time_is_delivered_once_unless_it_was_recalled(group: Group) -> None:
    async with scene_of(group) as scene:
        await scene.send(b"soon", TIMER_DELAY_MS="1", UNIQ_KEY="u1")
        await eventually(lambda: reads(scene, [b"soon"]))
        recalled = await scene.send(b"recalled", TIMER_DELAY_MS="8000", UNIQ_KEY="u2")
        await scene.send(b"later", TIMER_DELAY_MS="8000", UNIQ_KEY="u3")
        await scene.done(RecallMessageRequest("T", recalled.recall_handle or ""))
        await scene.kill_master()

        await eventually(lambda: reads(scene, [b"soon", b"later"]), within=60.0)
        last = await scene.send(b"last")
        assert last.queue_offset == 2


async def reads(scene: Scene, bodies: list[bytes]) -> bool:
    return await scene.read() == bodies


async def test_open_leases_end(group: Group) -> None:
    async with scene_of(group) as scene:
        for body in (b"a", b"b"):
            await scene.send(body)
        pop = PopMessageRequest("poppers", "T", 0, 2, 60_000, 0, 0, init_mode=0)
        popped = (await scene.done(pop)).header(PopMessageResponse)
        await scene.kill_master()

        again = (await scene.done(pop)).header(PopMessageResponse)
        old = await scene.ask(AckMessageRequest("poppers", "T", 0, f"0 {popped.pop_time} 60000 0 0 b 0 0", 0))

        assert again.msg_offset_info == "0 0 0,1"
        assert old.code == ResponseCode.NO_MESSAGE
