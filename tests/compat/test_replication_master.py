"""An Apache RocketMQ 4.9 slave of a Gantry master: equal logs, also after kill -9, and what a send is told."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from broker_core.protocol import bodies
from broker_core.protocol.bodies.replicas import HaRuntimeInfo
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.ha_plain import encode_report
from broker_core.protocol.headers.replication import GetBrokerHaStatusRequest
from broker_core.protocol.headers.send import SendMessageV2Request
from broker_core.protocol.headers.topics import CreateTopicRequest
from broker_core.remoting import RemotingClient
from broker_core.store.reader import StoreReader
from broker_core.store.verify import verify
from tests.support.apache import ApacheBroker, ApacheNameServer
from tests.support.cluster import RunningBroker
from tests.support.ports import free_ports
from tests.support.replicating import asked, log_of, queues_of, send_many
from tests.support.wait import eventually

pytestmark = pytest.mark.compat

BODY = 4_600
TOPIC = "orders"
SEGMENT = 16 * 1024 * 1024
TIMEOUT_MS = 30_000


@contextmanager
def apart(tmp_path: Path, settings: Mapping[str, str] | None = None) -> Iterator[tuple[RunningBroker, ApacheBroker]]:
    """Start a name server and a master; the slave is ready to be started. All are killed at the end."""
    names = ApacheNameServer(tmp_path)
    names.start()
    port = free_ports(4) + 2
    master = RunningBroker(
        tmp_path / "master",
        arguments=("--commit-log-file-size", str(SEGMENT)),
        settings=settings or {},
        name_servers=names.address,
        address=f"127.0.0.1:{port}",
    )
    of_slave = {"brokerRole": "SLAVE", "brokerId": "1", "haMasterAddress": f"127.0.0.1:{port + 1}"}
    slave = ApacheBroker(tmp_path / "slave", settings=of_slave, name_servers=names.address)
    try:
        master.start()
        yield master, slave
    finally:
        slave.stop(kill=True)
        master.stop(kill=True)
        names.stop(kill=True)


async def create(server: RunningBroker, topic: str) -> None:
    answer = await asked(server.address, CreateTopicRequest(topic, 4, 4, 6))
    assert answer.code == ResponseCode.SUCCESS, answer.remark


async def sent(server: RunningBroker, properties: str = "") -> int:
    """Send a message and return the code of the answer."""
    client = RemotingClient()
    header = SendMessageV2Request(TOPIC, 0, 0, 1_700_000_000_000, 0, "producers", "TBW102", 4, properties=properties)
    try:
        return (await client.invoke(server.address, Command.request(header, b"x"), TIMEOUT_MS)).code
    finally:
        await client.close()


async def status_of(server: RunningBroker) -> HaRuntimeInfo:
    answer = await asked(server.address, GetBrokerHaStatusRequest())
    return bodies.decode(HaRuntimeInfo, answer.body)


async def until_near(server: RunningBroker) -> int:
    """Wait until a slave has told that it has everything; return where the log ends."""

    async def is_near() -> bool:
        return any(each.diff == 0 for each in (await status_of(server)).ha_connection_info)

    await eventually(is_near)
    return (await status_of(server)).master_commit_log_max_offset


async def test_the_log_of_a_slave_that_came_first_and_what_comes_after_kills(tmp_path: Path) -> None:
    with apart(tmp_path) as (master, slave):
        await create(master, TOPIC)
        slave.start()
        await until_near(master)  # one that came later would get the newest segment alone
        await send_many(master, TOPIC, range(10_000), BODY)
        assert await until_near(master) > 2 * SEGMENT, "three segments"

        slave.server.stop(kill=True)
        await send_many(master, TOPIC, range(10_000, 10_500), BODY)
        slave.start()
        await until_near(master)

        master.restart(kill=True)
        await send_many(master, TOPIC, range(10_500, 11_000), BODY)
        await until_near(master)

        slave.stop()
        master.stop()
        assert log_of(slave.store) == log_of(master.store)
        assert queues_of(slave.store) == queues_of(master.store)
        with StoreReader.open(slave.store) as reader:
            assert verify(reader).faults == {}


def pause(process: subprocess.Popen[bytes]) -> None:
    """Stop a process, and return once all its threads have stopped."""
    process.send_signal(signal.SIGSTOP)
    assert os.waitid(os.P_PID, process.pid, os.WSTOPPED) is not None


async def test_a_sync_master_tells_of_a_slave_that_is_away_and_of_one_that_stalls(tmp_path: Path) -> None:
    with apart(tmp_path, {"brokerRole": "SYNC_MASTER"}) as (master, slave):
        await create(master, TOPIC)
        assert await sent(master) == ResponseCode.SLAVE_NOT_AVAILABLE
        slave.start()
        await until_near(master)
        assert {await sent(master) for _ in range(50)} == {ResponseCode.SUCCESS}

        assert slave.process is not None
        pause(slave.process)
        assert await sent(master) == ResponseCode.FLUSH_SLAVE_TIMEOUT
        assert await sent(master, "WAIT\x01false") == ResponseCode.SUCCESS
        slave.process.send_signal(signal.SIGCONT)
        await until_near(master)
        assert await sent(master) == ResponseCode.SUCCESS

        # When a stranger claims to have more than there is, then nobody is told that a slave has it
        pause(slave.process)
        host, _, port = master.address.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port) + 1)
        writer.write(encode_report(1 << 40))
        assert await reader.read() == b""
        writer.close()
        assert await sent(master) == ResponseCode.FLUSH_SLAVE_TIMEOUT
        slave.process.send_signal(signal.SIGCONT)


async def test_frames_of_one_byte(tmp_path: Path) -> None:
    with apart(tmp_path, {"haTransferBatchSize": "1"}) as (master, slave):
        await create(master, TOPIC)
        slave.start()
        await send_many(master, TOPIC, range(20), 10)
        await until_near(master)
        slave.stop()
        master.stop()
        assert log_of(slave.store) == log_of(master.store)
        assert queues_of(slave.store) == queues_of(master.store)
