"""Requirements of `broker.replication.controllers`: what a replica says about the answers of its controllers."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from broker_core.broker.replication.controller_words import Place
from broker_core.broker.replication.controllers import Controllers
from broker_core.broker.replication.messages import Answered, Ask, Heard, Register
from broker_core.remoting.client import RemotingClient
from tests.broker_core.controller.hosted import Broker, hosted
from tests.support.wait import eventually


class Told:
    def __init__(self) -> None:
        self.answers: list[Answered] = []

    def heard(self, message: Heard) -> None:
        raise AssertionError(message)

    def answered(self, message: Answered) -> None:
        self.answers.append(message)


async def test_a_removed_replica_is_told_once_what_to_do(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="broker_core.broker.replication.controllers")
    register = Register(3, "1-a", "check", "127.0.0.1:1", "127.0.0.1:2", True, 0, 0, 0)
    async with hosted(tmp_path) as served:
        other, told, client = Broker(served, 1), Told(), RemotingClient()
        await other.join()
        controllers = Controllers([served.address], Place("C", "b", ""), told, lambda: client, lambda: 0.0)
        try:
            for number in range(3):
                controllers.ask(Ask(0, number, register))
            await eventually(lambda: len(told.answers) == 3)
        finally:
            await other.leave()
            await client.close()
    (said,) = [each for each in caplog.records if each.name.endswith("controllers")]
    assert said.levelname == "WARNING"
    assert "empty the folder of this replica, or stop it" in said.getMessage()
