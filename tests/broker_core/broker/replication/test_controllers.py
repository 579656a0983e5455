"""Requirements of `broker.replication.controllers`: what a replica says about the answers of its controllers."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from broker_core.broker.replication.controller_words import Place
from broker_core.broker.replication.controllers import Controllers
from broker_core.broker.replication.messages import Answered, Ask, Heard, NextId, Outcome, Register
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


REGISTER = Register(3, "1-a", "check", "127.0.0.1:1", "127.0.0.1:2", True, 0, 0, 0)


@asynccontextmanager
async def asking(address: str, told: Told) -> AsyncIterator[Controllers]:
    client = RemotingClient()
    try:
        yield Controllers([address], Place("C", "b", ""), told, lambda: client, lambda: 0.0)
    finally:
        await client.close()


async def test_a_command_that_a_controller_does_not_answer_goes_to_another() -> None:
    told = Told()
    async with asking("127.0.0.1:1", told) as controllers:
        controllers.ask(Ask(0, 7, REGISTER))
        await eventually(lambda: told.answers)
    assert told.answers == [Answered(7, Outcome.ASK_ANOTHER)]


async def test_a_refusal_that_keeps_a_replica_out_is_told_once_and_again_after_ten_minutes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="broker_core.broker.replication.controllers")
    async with hosted(tmp_path) as served:
        told, client, times = Told(), RemotingClient(), [0.0, 1.0, 599.0, 601.0, 700.0]
        controllers = Controllers([served.address], Place("D", "b", ""), told, lambda: client, lambda: now)
        try:
            for count, now in enumerate(times, start=1):  # noqa: B007 - the clock tells it
                controllers.ask(Ask(0, count, NextId()))
                await eventually(lambda wanted=count: len(told.answers) == wanted)
        finally:
            await client.close()
    said = [each for each in caplog.records if each.name.endswith("controllers")]
    assert [each.levelname for each in said] == ["WARNING"] * 2
    assert "is of cluster C (controllerClusterName), not of D; it takes no part" in said[0].getMessage()


async def test_a_removed_replica_is_told_once_what_to_do(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="broker_core.broker.replication.controllers")
    async with hosted(tmp_path) as served:
        other, told = Broker(served, 1), Told()
        await other.join()
        async with asking(served.address, told) as controllers:
            for number in range(3):
                controllers.ask(Ask(0, number, REGISTER))
            await eventually(lambda: len(told.answers) == 3)
        await other.leave()
    (said,) = [each for each in caplog.records if each.name.endswith("controllers")]
    assert said.levelname == "WARNING"
    assert "empty the folder of this replica, or stop it" in said.getMessage()
