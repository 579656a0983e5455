"""A controller that stood still judges nobody by what it did not hear meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.clock import boot_seconds
from broker_core.controller import file_decisions
from broker_core.controller.config import ControllerConfig
from broker_core.controller.server import Controller, Engine
from broker_core.namesrv.config import NameServerConfig
from broker_core.namesrv.server import NameServer
from broker_core.protocol.bodies.controller import MasterLife
from broker_core.remoting import RemotingClient
from tests.broker_core.controller.hosted import Hosted, brokers
from tests.support.wait import eventually


class Jumping:
    """A clock that a test can advance, as the sleep of a machine does."""

    def __init__(self) -> None:
        self.slept = 0.0

    def __call__(self) -> float:
        return boot_seconds() + self.slept


async def test_after_a_sleep_the_master_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, config = Jumping(), ControllerConfig(tmp_path, cluster="C", timeout_seconds=3.0)
    monkeypatch.setattr(file_decisions, "boot_seconds", clock)
    controller = Controller(config, await Engine.open(config), "n1", clock)
    server, client = NameServer(NameServerConfig(port=0), guests=controller.table()), RemotingClient()
    await server.start()
    await controller.start()
    served = Hosted(controller, f"127.0.0.1:{server.port}", client)
    async with brokers(served, 1, 2) as [first, _]:
        led = await served.until(lambda state: state.master == MasterLife(1, "1-a"))
        assert (await first.alter(led, 1, 2)).code == 0
        clock.slept += 3600.0
        first.answers.clear()
        await eventually(lambda: first.answers and first.answers[-1].grant_ms > 0, within=30)
        assert (await served.state()).master == MasterLife(1, "1-a")
        assert (await served.state()).epoch == led.epoch
    await client.close()
    await controller.close()
    await server.close()
