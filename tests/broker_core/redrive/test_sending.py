"""Copies whose send is not confirmed: replicas that hang, a master that changes, a run that ends meanwhile."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from unittest.mock import patch

import pytest

from broker_core.client.admin import Admin
from broker_core.client.admin.placed import PlacedMessage
from broker_core.client.config import ClientConfig
from broker_core.client.producer import Producer
from broker_core.client.session import Session
from broker_core.job_folder import JobFolder
from broker_core.protocol.bodies import coder
from broker_core.protocol.bodies.routes import KVTable
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.send import SendMessageResponse
from broker_core.redrive import sending
from broker_core.redrive.journal import Journal
from broker_core.redrive.request import Asked, Place, RedriveRequest, Target
from broker_core.redrive.sending import Sender
from tests.broker_core.broker.replication.switching import slave_of, stop, unconfirmed
from tests.broker_core.client.admin.test_settled import SOON
from tests.support.replica_group import ReplicaGroup, replica_group
from tests.support.scripted import hang_up, refuse, scripted_cluster, succeed
from tests.support.stored import stored
from tests.support.wait import eventually

LETTERS = [
    PlacedMessage(stored(topic="%DLQ%g", queue_offset=n, body=b"%d" % n, properties={"RETRY_TOPIC": "T"}), "b")
    for n in range(5)
]
ALL = [letter.message.body for letter in LETTERS]


class Redriving:
    """Runs of one job, in this process."""

    def __init__(self, folder: Path, name_server: str) -> None:
        self._folder, self._name_server = JobFolder(folder), name_server
        self.stop = asyncio.Event()
        self.journal = Journal(self._folder)

    @asynccontextmanager
    async def sender(self) -> AsyncIterator[Sender]:
        """Begin a run: the journal is read anew."""
        self.journal, self.stop = Journal(self._folder), asyncio.Event()
        asked = Asked(group="g", target=Target(to="origin"), topics=("T",))
        request = RedriveRequest(
            job_id="job1", cluster="C", created_by="ann", attempt=1, request_hash="h", asked=asked,
            source=Place(name_servers=(self._name_server,)),
        )  # fmt: skip
        async with Session(ClientConfig((self._name_server,))) as session, Producer(session) as producer:
            yield Sender(Admin(session), producer, self.journal, request, self.stop)

    async def send(self) -> dict[str, int]:
        """Send the letters that are left in a new run; return the outcomes of all runs."""
        async with self.sender() as sender:
            await sender.settle()
            await sender.send([each for each in LETTERS if not self._is_ended(each)])
        return dict(self.journal.counts())

    def _is_ended(self, letter: PlacedMessage) -> bool:
        return any(
            self.journal.is_ended(source) for source in self.journal.outcomes
            if source.offset == letter.message.queue_offset
        )  # fmt: skip


@pytest.fixture
async def group(tmp_path: Path) -> AsyncIterator[ReplicaGroup]:
    async with replica_group(tmp_path / "group", more={"replication": SOON}) as running:
        yield running


@pytest.fixture
def redriving(tmp_path: Path, group: ReplicaGroup) -> Redriving:
    (tmp_path / "job1").mkdir()
    return Redriving(tmp_path / "job1", group.name_server)


async def read(group: ReplicaGroup) -> list[bytes]:
    return await group.read(await group.master())


async def sent(group: ReplicaGroup) -> int:
    """Return the end of the master's log once it has got the copies."""
    master = await group.master()
    begin = master.store.appended_log_offset
    await eventually(lambda: master.store.appended_log_offset > begin)
    return master.store.appended_log_offset


async def test_copies_that_replicas_do_not_confirm_are_sent_once(group: ReplicaGroup, redriving: Redriving) -> None:
    master = await group.master()
    with unconfirmed(master):
        running = asyncio.create_task(redriving.send())
        end = await sent(group)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.shield(running), 2)
        assert master.store.appended_log_offset == end

    assert await running == {"redriven": 5}
    assert Counter(await read(group)) == Counter(ALL)


async def test_copies_that_the_next_master_has_are_found_there(group: ReplicaGroup, redriving: Redriving) -> None:
    master = await group.master()
    with unconfirmed(master):
        running = asyncio.create_task(redriving.send())
        await sent(group)
        slave = slave_of(group, master)
        await eventually(lambda: slave.store.appended_log_offset == master.store.appended_log_offset)
        await stop(group, master)

    assert await running == {"redriven": 5}
    assert Counter(await read(group)) == Counter(ALL)


async def test_what_nobody_can_say_is_unknown_and_not_failed_and_the_next_run_finds_it(
    group: ReplicaGroup, redriving: Redriving
) -> None:
    with unconfirmed(await group.master()), patch.object(sending, "_PATIENCE_S", 0.5):
        assert await redriving.send() == {"unknown": 5}
        whys = {each.why for each in redriving.journal.outcomes.values()}
        assert all("not known whether stored" in (why or "") for why in whys)
        assert await redriving.send() == {"unknown": 5}

    assert await redriving.send() == {"redriven": 5}
    assert Counter(await read(group)) == Counter(ALL)


async def test_a_run_that_is_stopped_does_not_wait_for_outcomes(group: ReplicaGroup, redriving: Redriving) -> None:
    with unconfirmed(await group.master()):
        running = asyncio.create_task(redriving.send())
        await sent(group)
        redriving.stop.set()
        assert await running == {"unknown": 5}


async def test_what_is_not_stored_is_sent_again_in_the_same_run_and_in_the_next_one(tmp_path: Path) -> None:
    (tmp_path / "job1").mkdir()
    lost = [True] * 10
    async with scripted_cluster("b") as cluster:
        cluster.add_topic("T", queues=1)
        taken = Command.response(0, header=SendMessageResponse("00", 0, 0))
        figures = {"commitLogMaxOffset": "100", "dispatchBehindBytes": "0"}
        cluster["b"].on(
            RequestCode.GET_BROKER_RUNTIME_INFO,
            succeed(lambda _: Command.response(0, body=coder.encode(KVTable(figures)))),
        )
        cluster["b"].on(RequestCode.QUERY_MESSAGE, refuse(ResponseCode.QUERY_NOT_FOUND))
        for code in (RequestCode.SEND_MESSAGE_V2, RequestCode.SEND_BATCH_MESSAGE):
            cluster["b"].on(code, lambda request, to: hang_up()(request, to) if lost.pop() else taken)
        redriving = Redriving(tmp_path / "job1", cluster.name_server.addr)

        with patch.object(sending, "_PATIENCE_S", 0):
            assert await redriving.send() == {"failed": 5}
        assert {each.why for each in redriving.journal.outcomes.values()} == {"it was sent and is not stored"}
        lost[:] = [False, True]
        assert await redriving.send() == {"redriven": 5}
