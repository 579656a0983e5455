"""With named networks, whoever is elsewhere is told nothing by a controller."""

from __future__ import annotations

from pathlib import Path

from broker_core.controller.config import ControllerConfig
from broker_core.controller.server import Controller
from broker_core.namesrv.changes import OF_CONTROLLER
from broker_core.namesrv.config import NameServerConfig
from broker_core.namesrv.server import NameServer
from broker_core.protocol import Command, ResponseCode
from broker_core.protocol.headers.controller import GetMetadataInfoRequest
from broker_core.protocol.networks import Networks
from tests.support.elsewhere import address_elsewhere, ask_from


async def test_strangers_are_told_nothing(tmp_path: Path) -> None:
    source = address_elsewhere()
    controller = await Controller.open(ControllerConfig(tmp_path), "n1")
    assert controller.table().keys() == OF_CONTROLLER
    server = NameServer(NameServerConfig(port=0, change_networks=Networks()), guests=controller.table())
    await server.start()
    await controller.start()
    try:
        for code in sorted(OF_CONTROLLER):
            answer = await ask_from(source, f"127.0.0.1:{server.port}", Command(code))
            assert (answer.code, answer.body) == (ResponseCode.NO_PERMISSION, b"")
            assert f"({code.name}) is for a controller, which takes requests only from its own" in (answer.remark or "")
        own = await ask_from("127.0.0.1", f"127.0.0.1:{server.port}", Command.request(GetMetadataInfoRequest()))
        assert own.code == ResponseCode.SUCCESS
    finally:
        await controller.close()
        await server.close()
