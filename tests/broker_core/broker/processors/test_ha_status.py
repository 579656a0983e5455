"""What 907 and the runtime figures tell of slaves."""

from __future__ import annotations

import asyncio
from pathlib import Path

from broker_core.protocol import bodies
from broker_core.protocol.bodies.replicas import HaClientRuntimeInfo, HaRuntimeInfo
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.ha_plain import encode_report
from broker_core.protocol.headers.replication import GetBrokerHaStatusRequest
from tests.support.broker import Wire, started
from tests.support.ports import free_ports
from tests.support.wait import eventually


async def status_of(wire: Wire) -> HaRuntimeInfo:
    answer = await wire.ask(GetBrokerHaStatusRequest())
    assert answer.code == ResponseCode.SUCCESS
    return bodies.decode(HaRuntimeInfo, answer.body)


async def test_a_master_tells_of_its_slaves(tmp_path: Path) -> None:
    port = free_ports(2)
    async with started(tmp_path, port=port) as wire:
        await wire.fill("orders", b"x")
        end = wire.broker.store.appended_log_offset
        assert await status_of(wire) == HaRuntimeInfo(master=True, master_commit_log_max_offset=end)
        figures = await wire.runtime_info()
        assert figures["slaveConnections"] == "0"
        assert "replicationLagBytes" not in figures, "nobody knows it"

        reader, writer = await asyncio.open_connection("127.0.0.1", port + 1)
        writer.write(encode_report(0))
        await reader.readexactly(12 + end)

        async def is_told() -> bool:
            return bool((await status_of(wire)).ha_connection_info)

        await eventually(is_told)
        status = await status_of(wire)
        (slave,) = status.ha_connection_info
        host, port_of_slave = writer.get_extra_info("sockname")
        assert (slave.addr, slave.slave_ack_offset, slave.diff) == (f"{host}:{port_of_slave}", 0, end)
        assert (slave.in_sync, slave.transfer_from_where, status.in_sync_slave_nums) == (True, 0, 1)
        figures = await wire.runtime_info()
        assert (figures["slaveConnections"], figures["replicationLagBytes"]) == ("1", str(end))
        writer.close()


async def test_a_slave_tells_where_its_log_ends(tmp_path: Path) -> None:
    async with started(tmp_path, broker_id=1, settings={"brokerRole": "SLAVE"}) as wire:
        status = await status_of(wire)
        assert (status.master, status.ha_connection_info) == (False, [])
        assert status.ha_client_runtime_info == HaClientRuntimeInfo("", 0)
