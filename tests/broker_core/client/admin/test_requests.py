"""Requirements of `broker_core.client.admin.requests`: a silent broker does not hold up a page for long."""

from __future__ import annotations

import pytest

from broker_core.client.admin.requests import AdminRequests
from broker_core.client.config import ClientConfig
from broker_core.client.errors import TimedOut
from broker_core.client.session import Session
from broker_core.protocol.codes import RequestCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.offsets import GetMaxOffsetRequest, GetMaxOffsetResponse
from tests.support.scripted import in_turn, say_nothing, scripted_cluster, succeed

ASKED = GetMaxOffsetRequest("orders", 0)


def answered(_: Command) -> Command:
    return Command.response(0, header=GetMaxOffsetResponse(7))


async def test_a_broker_that_let_a_request_wait_has_less_time_until_it_answers() -> None:
    async with scripted_cluster("broker-a", "broker-b") as cluster:
        one, other = cluster["broker-a"], cluster["broker-b"]
        one.on(RequestCode.GET_MAX_OFFSET, in_turn(say_nothing(), say_nothing(), succeed(answered), say_nothing()))
        other.on(RequestCode.GET_MAX_OFFSET, say_nothing())
        config = ClientConfig([cluster.name_server.addr], admin_timeout_ms=1_200)
        async with Session(config) as session:
            requests = AdminRequests(session)

            async def limit_of(addr: str) -> int:
                with pytest.raises(TimedOut) as late:
                    await requests.ask(addr, ASKED)
                return late.value.timeout_ms

            assert await limit_of(one.addr) == 1_200
            assert await limit_of(one.addr) == 1_000
            assert await limit_of(other.addr) == 1_200
            await requests.ask(one.addr, ASKED)
            assert await limit_of(one.addr) == 1_200


async def test_a_limit_that_the_caller_chose_stays() -> None:
    async with scripted_cluster() as cluster:
        peer = cluster["broker-a"]
        peer.on(RequestCode.GET_MAX_OFFSET, say_nothing())
        async with Session(ClientConfig([cluster.name_server.addr], admin_timeout_ms=1_000)) as session:
            requests = AdminRequests(session)
            for wanted in (None, 1_100):
                with pytest.raises(TimedOut) as late:
                    await requests.ask(peer.addr, ASKED, timeout_ms=wanted)
                assert late.value.timeout_ms == wanted or wanted is None
