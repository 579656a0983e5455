"""Controllers in real processes, and what is done while none runs."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from broker_core.controller.__main__ import main
from broker_core.controller.file_decisions import FileDecisions
from broker_core.controller.moving import NotMoved, move
from broker_core.controller.seen import Seen
from broker_core.controller.states import States
from broker_core.protocol import Command, ResponseCode, bodies
from broker_core.protocol.bodies.controller import encode_state
from broker_core.protocol.bodies.replicas import ControllerInfo
from broker_core.protocol.headers import controller as headers
from broker_core.remoting import RemotingClient
from tests.broker_core.controller.states import state
from tests.support.cluster import ROOT, RunningBroker
from tests.support.ports import free_ports
from tests.support.serving import Serving
from tests.support.wait import eventually

ON = "enableControllerInNamesrv=true"


async def ask(address: str, header: object) -> Command:
    client = RemotingClient()
    try:
        return await client.invoke(address, Command.request(header), 10_000)
    finally:
        await client.close()


async def leads(address: str) -> bool:
    answer = await ask(address, headers.GetMetadataInfoRequest())
    return answer.header(headers.GetMetadataInfoResponse).is_leader


async def test_a_name_server_hosts_a_controller(tmp_path: Path) -> None:
    folder = tmp_path / "controller"
    (tmp_path / "namesrv.conf").write_text(f"bindAddress=127.0.0.1\n{ON}\ncontrollerStorePath={folder}\n")
    arguments = ("-c", str(tmp_path / "namesrv.conf"), "--port", "0", "--setting", "controllerClusterName=C")
    with Serving(tmp_path / "log", "broker_core.namesrv", *arguments) as served:
        address = (await asyncio.to_thread(served.ready)).partition("namesrv=")[2]
        await eventually(lambda: leads(address))
        applied = await ask(address, headers.ApplyBrokerIdRequest("C", "b", 1, "check"))
        assert applied.code == ResponseCode.SUCCESS, applied.remark
        assert main(["--setting", f"controllerStorePath={folder}", "--set-back"]) == 2  # while it runs
        assert await asyncio.to_thread(served.stop) == 0
    assert (folder / "decisions.json").exists()


async def test_controllers_of_one_machine_name_themselves_by_their_own_addresses(tmp_path: Path) -> None:
    port = free_ports()
    for host in ("127.0.0.1", "127.0.0.2"):
        folder = tmp_path / host
        options = ("--bind", host, "--port", str(port), "--setting", ON, "--setting", f"controllerStorePath={folder}")
        with Serving(tmp_path / f"{host}.log", "broker_core.namesrv", *options) as served:
            address = (await asyncio.to_thread(served.ready)).partition("namesrv=")[2]
            await eventually(partial(leads, address))
            info = await ask(address, headers.GetMetadataInfoRequest())
            assert info.header(headers.GetMetadataInfoResponse).controller_leader_address == address == f"{host}:{port}"
            assert bodies.decode(ControllerInfo, info.body).controller_id == address
            assert f"{address} leads" in served.log


async def test_a_broker_with_its_own_name_server_hosts_one_for_its_cluster(tmp_path: Path) -> None:
    running = RunningBroker(tmp_path, arguments=("--setting", ON))
    await asyncio.to_thread(running.start)
    try:
        await eventually(lambda: leads(running.name_server))
        info = await ask(running.name_server, headers.GetMetadataInfoRequest())
        assert info.header(headers.GetMetadataInfoResponse).group == "test"
        assert bodies.decode(ControllerInfo, info.body).engine == "file"
    finally:
        assert await asyncio.to_thread(running.stop) == 0
    assert (tmp_path / "controller" / "decisions.lock").exists()


@pytest.mark.parametrize(
    ("module", "options", "sentence"),
    [
        ("broker_core.namesrv", ("--setting", "controllerDLegerPeers=n0-127.0.0.1:1"), "controllerEtcdEndpoints"),
        ("broker_core.namesrv", ("--setting", "listenPort=1"), "not NAME=VALUE of a controller's setting"),
        ("broker_core", ("--setting", ON, "-n", "127.0.0.1:1"), "others are named"),
        ("broker_core", ("--setting", "enableElectUncleanMaster=true"), "for one broker name and one time"),
    ],
)
def test_what_cannot_be_is_refused_with_one_sentence(
    tmp_path: Path, module: str, options: tuple[str, ...], sentence: str
) -> None:
    command = [sys.executable, "-m", module, *options]
    if module == "broker_core":
        command += ["--data-dir", str(tmp_path), "--namesrv-port", "0", "--broker-port", "0"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 2
    assert sentence in ended.stderr.splitlines()[-1]


def test_an_operator_notes_that_decisions_were_restored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--setting", f"controllerStorePath={tmp_path}", "--set-back"]) == 0
    assert "seen.json" in capsys.readouterr().out
    assert Seen(tmp_path / "seen.json").is_marked


def test_one_of_both_is_done(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for arguments in ([], ["--set-back", "move", "file"], ["move", "nowhere"]):
        with pytest.raises(SystemExit):
            main(arguments)
    assert main(["--setting", f"controllerStorePath={tmp_path}", "move", "file"]) == 2
    assert "controllerEtcdEndpoints names no etcd" in capsys.readouterr().err


async def test_decisions_are_moved_where_none_are(tmp_path: Path) -> None:
    source, target = FileDecisions.open(tmp_path / "a"), FileDecisions.open(tmp_path / "b")
    for name in ("b", "c"):
        await source.put(name, None, encode_state(state(name=name)).decode())
    assert await move(source, target) == 2
    moved = States()
    moved.take_all(*await target.read(), now=0.0)
    assert moved.all() == {name: state(name=name) for name in ("b", "c")}
    with pytest.raises(NotMoved, match="b is already there"):
        await move(source, target)
    await source.close()
    await target.close()
