"""A whole broker: start, stop, second port, other processes, and recovery after a crash."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
from pathlib import Path

import pytest

from broker_core.broker import Broker, BrokerConfig, Periods
from broker_core.broker.errors import BadConfigFile
from broker_core.broker.server import FAST_PORT_BELOW
from broker_core.protocol import bodies
from broker_core.protocol.bodies.clusters import ClusterInfo
from broker_core.protocol.codes import PULL_SUBSCRIPTION, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.admin import UpdateBrokerConfigRequest
from broker_core.protocol.headers.messages import QueryMessageRequest, ViewMessageByIdRequest
from broker_core.protocol.headers.offsets import GetMaxOffsetRequest, UpdateConsumerOffsetRequest
from broker_core.protocol.headers.pull import PullMessageRequest, PullMessageResponse
from broker_core.protocol.headers.routes import GetBrokerClusterInfoRequest
from broker_core.protocol.headers.topics import DeleteExpiredCommitLogRequest, DeleteTopicRequest
from broker_core.protocol.message_id import parse_offset_id
from broker_core.remoting import AddressInUse, ConnectRefused
from broker_core.store.errors import StoreLocked
from tests.support.broker import TIMEOUT_MS, Wire, small_store, started
from tests.support.stores import overwrite, segment
from tests.support.wait import eventually


def two_free_ports() -> int:
    """Return a free port whose fast port below it is free too."""
    while True:
        with socket.socket() as main, socket.socket() as fast:
            main.bind(("127.0.0.1", 0))
            port: int = main.getsockname()[1]
            try:
                fast.bind(("127.0.0.1", port - FAST_PORT_BELOW))
            except OSError:
                continue
            return port


def crashed_copy(folder: Path, into: Path) -> Path:
    """Return a copy of a running store as a crash at this moment would leave it."""
    shutil.copytree(folder, into)
    return into


async def test_a_started_broker_is_known_to_its_name_server_until_it_stops(tmp_path: Path) -> None:
    async with started(tmp_path) as wire:
        answer = await wire.ask_name_server(GetBrokerClusterInfoRequest())
        known = bodies.decode(ClusterInfo, answer.body)
        assert known.cluster_addr_table == {"local": ["broker-a"]}
        assert known.broker_addr_table["broker-a"].broker_addrs == {0: wire.address}

        await wire.broker.close()

        answer = await wire.ask_name_server(GetBrokerClusterInfoRequest())
        assert bodies.decode(ClusterInfo, answer.body).broker_addr_table == {}


async def test_messages_and_registers_are_there_after_a_restart(tmp_path: Path) -> None:
    async with started(tmp_path) as wire:
        for number in range(3):
            await wire.send("orders", b"%d" % number, properties={"KEYS": "A17"})
    async with started(tmp_path) as wire:
        assert [message.body for message in await wire.pull("orders", 0)] == [b"0", b"1", b"2"]
        assert (await wire.send("orders", b"3")).queue_offset == 3


async def test_who_waits_is_answered_when_the_broker_stops(tmp_path: Path) -> None:
    async with started(tmp_path) as wire:
        await wire.create_topic("orders")
        connection = await wire.client.connection(wire.address)
        header = PullMessageRequest(
            "readers", "orders", 0, 0, 32, PULL_SUBSCRIPTION | 2, suspend_timeout_millis=30_000, subscription="*"
        )
        waiting = asyncio.ensure_future(connection.invoke(Command.request(header), 30_000))
        await eventually(wire.parked_pulls)

        await wire.broker.close()

        assert (await waiting).code == ResponseCode.PULL_NOT_FOUND


async def test_a_broker_may_be_closed_twice(tmp_path: Path) -> None:
    broker = await Broker.open(BrokerConfig(small_store(tmp_path), port=0))
    await broker.close()
    await broker.close()


async def test_a_close_that_fails_frees_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise RuntimeError("a bug")

    broker = await Broker.open(BrokerConfig(small_store(tmp_path), port=0))
    monkeypatch.setattr(broker.components.arrivals, "round", fail)
    with pytest.raises(RuntimeError, match="a bug"):
        await broker.close()
    async with started(tmp_path):
        pass


# -- ports and other processes


async def test_the_second_port_answers_all_but_pulls(tmp_path: Path) -> None:
    port = two_free_ports()
    async with started(tmp_path, port=port) as wire:
        fast = f"127.0.0.1:{port - FAST_PORT_BELOW}"
        await wire.send("orders", b"x")

        largest = await wire.client.invoke(fast, Command.request(GetMaxOffsetRequest("orders", 0)), TIMEOUT_MS)
        pull = PullMessageRequest("readers", "orders", 0, 0, 32, PULL_SUBSCRIPTION, subscription="*")
        pulled = await wire.client.invoke(fast, Command.request(pull), TIMEOUT_MS)

        assert largest.code == ResponseCode.SUCCESS
        assert pulled.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED


async def test_a_second_port_that_is_taken_is_done_without(tmp_path: Path) -> None:
    port = two_free_ports()
    with socket.socket() as other:
        other.bind(("127.0.0.1", port - FAST_PORT_BELOW))
        other.listen()
        async with started(tmp_path, port=port) as wire:
            await wire.send("orders", b"x")


async def test_port_zero_has_no_second_port(tmp_path: Path) -> None:
    async def has_none(folder: Path) -> bool:
        async with started(folder) as wire:
            try:
                await wire.client.connection(f"127.0.0.1:{wire.broker.port - FAST_PORT_BELOW}")
            except ConnectRefused:
                return True
            return False

    # Another process may have that port, but not every time.
    assert any([await has_none(tmp_path / str(number)) for number in range(3)])


async def test_a_port_that_is_taken_stops_the_start_and_frees_the_store(tmp_path: Path) -> None:
    async with started(tmp_path / "one") as wire:
        with pytest.raises(AddressInUse):
            await Broker.open(BrokerConfig(small_store(tmp_path / "two"), port=wire.broker.port))
    async with started(tmp_path / "two"):
        pass


async def test_a_store_that_is_in_use_stops_the_start(wire: Wire, tmp_path: Path) -> None:
    with pytest.raises(StoreLocked):
        await Broker.open(BrokerConfig(wire.broker.store.config, port=0))


async def test_a_configuration_that_cannot_be_read_stops_the_start(tmp_path: Path) -> None:
    (tmp_path / "config").mkdir()
    (tmp_path / "config" / "topics.json.bak").write_bytes(b"{")

    with pytest.raises(BadConfigFile):
        await Broker.open(BrokerConfig(small_store(tmp_path), port=0))


async def test_a_broker_without_name_servers_serves(tmp_path: Path) -> None:
    broker = await Broker.open(BrokerConfig(small_store(tmp_path), port=0))
    await broker.close()


# -- periodic work


async def test_what_changed_is_saved_now_and_then(tmp_path: Path) -> None:
    async with started(tmp_path, periods=Periods(save=20)) as wire:
        await wire.ask(UpdateConsumerOffsetRequest("billing", "orders", 0, 17))

        file = tmp_path / "config" / "consumerOffset.json"
        await eventually(lambda: file.exists() and b"17" in file.read_bytes())


async def test_the_lease_journal_is_rewritten_when_it_has_grown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("broker_core.broker.pop.journal.REWRITE_BYTES", 2_000)
    async with started(tmp_path, periods=Periods(save=20)) as wire:
        journal = tmp_path / "config" / "leases.journal"
        # Held open, since the file system would give the number of a closed file to the next but one
        with journal.open("rb") as first:
            for number in range(100):
                await wire.send("orders", b"%d" % number)
            for _ in range(100):
                (leased,) = await wire.pop("orders", count=1)
                await wire.ack(leased)
            # How large the new file is depends on how much was written beside it while it went to the disk
            await eventually(lambda: not os.path.samestat(journal.stat(), os.fstat(first.fileno())))
    async with started(tmp_path) as wire:
        assert await wire.pop("orders") == []


# -- after a crash


async def test_a_topic_whose_settings_a_crash_took_is_read_as_before(tmp_path: Path) -> None:
    async with started(tmp_path / "running") as wire:
        await wire.send("orders", b"x", queue_id=2)
        left = crashed_copy(tmp_path / "running", tmp_path / "left")
        (left / "config" / "topics.json").unlink(missing_ok=True)
    async with started(left) as wire:
        assert [message.body for message in await wire.pull("orders", 0, queue_id=2)] == [b"x"]


async def test_a_deleted_topic_stays_deleted_after_a_crash(tmp_path: Path) -> None:
    async with started(tmp_path / "running") as wire:
        await wire.send("orders", b"old")
        await wire.ask(DeleteTopicRequest("orders"))
        left = crashed_copy(tmp_path / "running", tmp_path / "left")
    async with started(left) as wire:
        assert wire.broker.components.topics.find("orders") is None
        assert (await wire.send("orders", b"new")).queue_offset == 0


async def test_a_damaged_body_costs_its_own_message_and_is_named_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with started(tmp_path) as wire:
        await wire.create_topic("orders")
        sent = [await wire.send("orders", b"%d" % number, properties={"KEYS": f"k{number}"}) for number in range(5)]
        place = parse_offset_id(sent[2].msg_id).log_offset
        overwrite(segment(wire.broker.store.config.folder), place + 88, b"X")

        assert [message.body for message in await wire.pull("orders", 0)] == [b"0", b"1", b"3", b"4"]
        assert [leased.message.body for leased in await wire.pop("orders")] == [b"0", b"1", b"3", b"4"]
        viewed = await wire.ask(ViewMessageByIdRequest(place))
        found = await wire.ask(QueryMessageRequest("orders", "k2", 8, 0, 1 << 60))

        assert viewed.code == ResponseCode.SYSTEM_ERROR
        assert f"topic=orders queue=0 offset=2 at log offset {place} is damaged" in str(viewed.remark)
        assert found.code == ResponseCode.QUERY_NOT_FOUND
        assert "topic=orders queue=0 offset=2" in str(found.remark)
        await eventually(lambda: "topic=orders queue=0 offset=2" in caplog.text)
        assert caplog.text.count("is damaged") == 1


async def test_retention_follows_settings_that_are_changed_while_it_runs(tmp_path: Path) -> None:
    async with started(tmp_path, store=small_store(tmp_path / "small", commit_log_file_size=4096)) as wire:
        await wire.create_topic("orders")
        for number in range(20):
            await wire.send("orders", b"%d " % number + b"x" * 900)
        clean = DeleteExpiredCommitLogRequest()
        assert (await wire.ask(clean)).code == ResponseCode.SUCCESS
        assert wire.broker.store.begin_log_offset == 0

        answer = await wire.ask(UpdateBrokerConfigRequest(), b"fileReservedTime=0")
        assert answer.code == ResponseCode.SUCCESS
        assert (await wire.ask(clean)).code == ResponseCode.SUCCESS

        store = wire.broker.store
        assert store.stats().log_segments == 1
        low = store.min_offset("orders", 0)
        assert low > 0
        moved = await wire.try_pull("orders", 0)
        assert moved.code == ResponseCode.PULL_OFFSET_MOVED
        assert moved.header(PullMessageResponse).next_begin_offset == low
        kept = await wire.pull("orders", low)
        assert [message.queue_offset for message in kept] == list(range(low, 20))
