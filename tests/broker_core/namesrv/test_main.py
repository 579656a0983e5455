"""``python -m broker_core.namesrv`` as a process: what a file that says little makes of it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from broker_core.protocol import Command, ResponseCode, java_properties
from broker_core.protocol.headers import routes as headers
from broker_core.remoting import RemotingClient
from tests.support.elsewhere import address_elsewhere, ask_from
from tests.support.serving import Serving

ORDER = "ORDER_TOPIC_CONFIG"


@asynccontextmanager
async def served(folder: Path, *options: str) -> AsyncIterator[tuple[Serving, str]]:
    """Serve by a file that says nothing of settings; yield the process and its address."""
    (folder / "namesrv.conf").write_text("bindAddress=127.0.0.1\nserverWorkerThreads=8\n")
    arguments = ("-c", str(folder / "namesrv.conf"), "--port", "0", *options)
    with Serving(folder / "log", "broker_core.namesrv", *arguments) as name_server:
        yield name_server, (await asyncio.to_thread(name_server.ready)).partition("namesrv=")[2]
        assert await asyncio.to_thread(name_server.stop) == 0


async def ask(address: str, header: object, body: bytes = b"") -> Command:
    client = RemotingClient()
    try:
        return await client.invoke(address, Command.request(header, body), 3000)
    finally:
        await client.close()


async def test_settings_are_kept_over_a_restart_where_rocketmq_keeps_them(tmp_path: Path) -> None:
    kept = tmp_path / "namesrv" / "kvConfig.json"
    async with served(tmp_path) as (name_server, address):
        await ask(address, headers.PutKvConfigRequest(ORDER, "orders", "broker-a:4"))
        await ask(address, headers.UpdateNameServerConfigRequest(), b"orderMessageEnable=true\n")
        assert f"key-value settings in {kept}" in name_server.log

    async with served(tmp_path) as (_, address):
        found = await ask(address, headers.GetKvConfigRequest(ORDER, "orders"))
        shown = java_properties.parse((await ask(address, headers.GetNameServerConfigRequest())).body)

    assert found.header(headers.GetKvConfigResponse).value == "broker-a:4"
    assert (shown["orderMessageEnable"], shown["kvConfigPath"]) == ("true", str(kept))


async def test_names_without_effect_are_in_the_log(tmp_path: Path) -> None:
    async with served(tmp_path) as (name_server, _):
        assert f"{tmp_path}/namesrv.conf: without effect here: serverWorkerThreads\n" in name_server.log


async def test_an_option_goes_before_that_place(tmp_path: Path) -> None:
    async with served(tmp_path, "--settings-file", str(tmp_path / "own.json")) as (_, address):
        answer = await ask(address, headers.PutKvConfigRequest(ORDER, "orders", "broker-a:4"))

    assert answer.code == ResponseCode.SUCCESS
    assert (tmp_path / "own.json").exists()
    assert not (tmp_path / "namesrv").exists()


async def test_a_place_that_cannot_be_read_is_one_clear_line_and_status_74(tmp_path: Path) -> None:
    (tmp_path / "namesrv" / "kvConfig.json").mkdir(parents=True)
    (tmp_path / "namesrv.conf").write_text("")

    with Serving(tmp_path / "log", "broker_core.namesrv", "--config", str(tmp_path / "namesrv.conf")) as ended:
        assert await asyncio.to_thread(ended.process.wait, 60) == 74

    assert len(ended.log.splitlines()) == 1
    assert "kvConfig.json" in ended.log


@pytest.mark.parametrize("module", ["broker_core.namesrv", "broker_core"])
async def test_an_option_names_where_changes_come_from(tmp_path: Path, module: str) -> None:
    source = address_elsewhere()
    ports = ("--port", "0") if module.endswith("namesrv") else ("--namesrv-port", "0", "--broker-port", "0")
    folder = () if module.endswith("namesrv") else ("--data-dir", str(tmp_path / "data"))
    change = Command.request(headers.PutKvConfigRequest(ORDER, "orders", "broker-a:4"))
    for networks, code in (("", ResponseCode.NO_PERMISSION), (f"fd00::/8,{source}", ResponseCode.SUCCESS)):
        arguments = (*ports, *folder, "--change-networks", networks)
        with Serving(tmp_path / "log", module, *arguments) as serving:
            ready = await asyncio.to_thread(serving.ready)
            address = ready.partition("namesrv=")[2].split(" ")[0]
            assert (await ask_from(source, address, change)).code == code
            assert await asyncio.to_thread(serving.stop) == 0


async def test_an_option_that_names_no_network_is_refused_with_the_reason(tmp_path: Path) -> None:
    with Serving(tmp_path / "log", "broker_core.namesrv", "--change-networks", "everywhere") as ended:
        assert await asyncio.to_thread(ended.process.wait, 60) == 2

    assert "argument --change-networks: 'everywhere' is not an address or a network" in ended.log


async def test_a_port_that_is_taken_is_one_clear_line_and_status_72(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with Serving(tmp_path / "log", "broker_core.namesrv", "--port", port) as ended:
            assert await asyncio.to_thread(ended.process.wait, 60) == 72

    (line,) = ended.log.splitlines()
    assert port in line
