"""A master and a slave, each a process: equal logs, reads without the master, and the master comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from broker_core.namesrv.config import NameServerConfig
from broker_core.namesrv.server import NameServer
from broker_core.protocol.codes import PULL_SUBSCRIPTION, ResponseCode
from broker_core.protocol.headers.offsets import (
    QueryConsumerOffsetRequest,
    QueryConsumerOffsetResponse,
    UpdateConsumerOffsetRequest,
)
from broker_core.protocol.headers.pull import PullMessageRequest, PullMessageResponse
from broker_core.protocol.record import decode_many
from broker_core.store.reader import StoreReader
from broker_core.store.verify import verify
from tests.support.cluster import RunningBroker, create_topic
from tests.support.replicating import asked, caught_up, has_topic, log_of, queues_of, send_many
from tests.support.wait import eventually

TOPIC = "orders"
AS_SLAVE = ("--broker-id", "1", "--role", "slave")


@contextmanager
def pair(tmp_path: Path, name_server: str) -> Iterator[tuple[RunningBroker, RunningBroker]]:
    master = RunningBroker(tmp_path / "master", name_servers=name_server)
    slave = RunningBroker(tmp_path / "slave", arguments=AS_SLAVE, name_servers=name_server)
    try:
        yield master, slave
    finally:
        slave.stop(kill=True)
        master.stop(kill=True)


async def bodies_at(server: RunningBroker, queues: int = 4) -> set[bytes]:
    """Return the numbers of all messages that a broker serves."""
    found: set[bytes] = set()
    for queue_id in range(queues):
        offset = 0
        while True:
            header = PullMessageRequest("readers", TOPIC, queue_id, offset, 32, PULL_SUBSCRIPTION, subscription="*")
            answer = await asked(server.address, header)
            if answer.code != ResponseCode.SUCCESS:
                break
            found |= {message.body.partition(b" ")[0] for message in decode_many(answer.body)}
            offset = answer.header(PullMessageResponse).next_begin_offset
    return found


def numbers(count: int) -> set[bytes]:
    return {b"%d" % number for number in range(count)}


async def offset_at(server: RunningBroker) -> int | None:
    answer = await asked(server.address, QueryConsumerOffsetRequest("readers", TOPIC, 0))
    return answer.header(QueryConsumerOffsetResponse).offset if answer.code == ResponseCode.SUCCESS else None


async def test_consumers_read_on_from_the_slave_of_a_killed_master_which_comes_back(tmp_path: Path) -> None:
    names = NameServer(NameServerConfig(port=0))
    await names.start()
    at = f"127.0.0.1:{names.port}"
    try:
        with pair(tmp_path, at) as (master, slave):
            await asyncio.to_thread(master.start)
            async with master.session() as session:
                await create_topic(session, TOPIC)
            await send_many(master, TOPIC, range(500), 2_000)
            await asyncio.to_thread(slave.start)
            await send_many(master, TOPIC, range(500, 1_000), 2_000)
            await caught_up(slave, master)

            async def knows_topic() -> bool:
                return await has_topic(slave, TOPIC)

            await eventually(knows_topic)

            # When the master dies, consumers go on at the slave, and commit there
            await asyncio.to_thread(master.stop, kill=True)
            assert await bodies_at(slave) == numbers(1_000)
            taken = await asked(slave.address, UpdateConsumerOffsetRequest("readers", TOPIC, 0, 200))
            assert taken.code == ResponseCode.SUCCESS

            # Then it comes back with what the slave was told, and the slave follows it again
            await asyncio.to_thread(master.start)
            await send_many(master, TOPIC, range(1_000, 1_200), 2_000)
            await caught_up(slave, master)

            async def master_knows() -> bool:
                return await offset_at(master) == 200

            await eventually(master_knows)
            assert await bodies_at(slave) == numbers(1_200)
            await asyncio.to_thread(slave.stop)
            await asyncio.to_thread(master.stop)
            assert log_of(slave.store) == log_of(master.store)
            assert queues_of(slave.store) == queues_of(master.store)
            with StoreReader.open(slave.store) as reader:
                assert verify(reader).is_sound
    finally:
        await names.close()
