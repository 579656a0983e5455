"""One name server is used, and the next one when it fails."""

from __future__ import annotations

import asyncio

import pytest

from broker_core.client.errors import Unreachable
from broker_core.client.name_servers import NameServers
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command


class Asked:
    """Name servers of which some are unreachable."""

    def __init__(self, *away: str) -> None:
        self.away = set(away)
        self.addresses: list[str] = []

    async def __call__(self, address: str, _header: object) -> Command:
        self.addresses.append(address)
        await asyncio.sleep(0)
        if address in self.away:
            raise Unreachable(address, "as the test says")
        return Command.response(ResponseCode.SUCCESS)


async def test_the_one_that_answered_is_asked_again() -> None:
    asked = Asked("a")
    servers = NameServers(["a", "b"], asked)

    for _ in range(3):
        assert (await servers.ask(object()))[0] == "b"

    assert asked.addresses == ["a", "b", "b", "b"]


async def test_many_that_fail_at_once_all_continue_to_the_next() -> None:
    servers = NameServers(["a", "b"], Asked("a"))

    answers = await asyncio.gather(*(servers.ask(object()) for _ in range(4)))

    assert {address for address, _ in answers} == {"b"}


async def test_when_all_are_away_the_last_failure_is_raised() -> None:
    with pytest.raises(Unreachable, match="b: as the test says"):
        await NameServers(["a", "b"], Asked("a", "b")).ask(object())
