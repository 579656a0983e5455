"""Requirements of `console.clusters.reasons`: users read why nobody answered, without error numbers."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from broker_core.client.admin import Admin
from broker_core.client.config import ClientConfig
from broker_core.client.errors import BrokerBusy, BrokerRefused, TimedOut, Unreachable
from broker_core.client.session import Session
from broker_core.errors import GantryError
from broker_core.namesrv.config import NameServerConfig
from broker_core.namesrv.server import NameServer
from broker_core.protocol.codes import RequestCode
from console.clusters.reasons import reason_of
from tests.support.cluster import RunningBroker
from tests.support.scripted import hang_up, in_turn, refuse, scripted_cluster


async def failure(name_server: str) -> GantryError:
    """Return the error of a question to the cluster of `name_server`."""
    async with Session(ClientConfig([name_server], timeout_ms=500)) as session:
        with pytest.raises(GantryError) as caught:
            await Admin(session).clusters.brokers()
    return caught.value


@asynccontextmanager
async def listening(answer: Callable[[asyncio.StreamWriter], None]) -> AsyncIterator[str]:
    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answer(writer)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"


@asynccontextmanager
async def name_server() -> AsyncIterator[str]:
    server = NameServer(NameServerConfig(port=0))
    await server.start()
    try:
        yield f"127.0.0.1:{server.port}"
    finally:
        await server.close()


def free_address() -> str:
    with socket.create_server(("127.0.0.1", 0)) as once:
        return f"127.0.0.1:{once.getsockname()[1]}"


async def test_a_port_where_nobody_listens() -> None:
    address = free_address()
    assert reason_of(await failure(address)) == f"name server {address} refused the connection"


async def test_a_host_that_is_unknown() -> None:
    reason = reason_of(await failure("no-such-host.invalid:9876"))
    assert reason == "name server no-such-host.invalid:9876 has a host name that cannot be resolved"


async def test_another_service_than_a_name_server() -> None:
    def talk_http(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with listening(talk_http) as address:
        assert reason_of(await failure(address)).startswith(f"{address} does not answer like a name server")


async def test_a_name_server_that_closes_without_a_word_is_no_other_program() -> None:
    async with listening(lambda writer: writer.close()) as address:
        assert reason_of(await failure(address)) == f"name server {address} closed the connection"


async def test_a_silent_name_server_whose_connection_is_given_up_did_not_close_it() -> None:
    kept: list[asyncio.StreamWriter] = []
    async with listening(kept.append) as address, Session(ClientConfig([address])) as session:
        replication = Admin(session).replication
        patient, *_ = await asyncio.gather(
            replication.controllers(timeout_ms=10_000), *(replication.controllers(timeout_ms=300) for _ in range(3))
        )
        words = reason_of(patient.failed[address])
        for writer in kept:
            writer.close()
    assert words.startswith(f"name server {address} did not answer within ")
    assert not words.endswith("within 10 s")


async def test_controllers_that_are_silent_are_the_name_servers() -> None:
    kept: list[asyncio.StreamWriter] = []
    async with listening(kept.append) as one, listening(kept.append) as other:
        async with Session(ClientConfig([one, other])) as session:
            with pytest.raises(Unreachable) as caught:
                await Admin(session).replication.state("b")
        assert reason_of(caught.value) == f"name servers {one}, {other} did not answer within 2 s"
        for writer in kept:
            writer.close()


async def test_a_broker_in_place_of_a_name_server(shared_broker: RunningBroker) -> None:
    reason = reason_of(await failure(shared_broker.address))
    assert reason == f"{shared_broker.address} is not a name server: it is a broker or another program"


async def test_a_name_server_that_says_nothing() -> None:
    kept: list[asyncio.StreamWriter] = []
    async with listening(kept.append) as address:
        assert reason_of(await failure(address)) == f"name server {address} did not answer within 0.5 s"
        for writer in kept:
            writer.close()


async def test_a_name_server_that_is_asked_by_itself_is_called_one() -> None:
    async with name_server() as plain:
        away = free_address()
        async with Session(ClientConfig([plain, away])) as session:
            answers = await Admin(session).replication.controllers()
            settings = await Admin(session).maintenance.name_server_settings()
    assert {address: reason_of(error) for address, error in answers.failed.items()} == {
        plain: f"name server {plain} hosts no controller", away: f"name server {away} refused the connection",
    }  # fmt: skip
    assert reason_of(settings.failed[away]) == f"name server {away} refused the connection"


async def test_a_change_that_a_controller_may_have_made_is_uncertain() -> None:
    async with listening(lambda writer: writer.close()) as address, Session(ClientConfig([address])) as session:
        with pytest.raises(Unreachable) as caught:
            await Admin(session).replication.elect("b", 2)
    assert reason_of(caught.value) == f"name server {address} closed the connection"
    assert (caught.value.was_sent, caught.value.of_name_server) == (True, False)


async def test_a_broker_is_called_by_its_name(shared_broker: RunningBroker) -> None:
    address = free_address()
    async with shared_broker.session() as session:
        with pytest.raises(Unreachable) as caught:
            await Admin(session).clusters.runtime_of(address)
    assert reason_of(caught.value, {address: "broker-a"}) == f"broker-a at {address} refused the connection"
    assert reason_of(caught.value) == f"the broker at {address} refused the connection"


async def test_an_error_itself_names_a_broker_that_a_name_server_told() -> None:
    async with scripted_cluster("broker-a") as cluster:
        peer = cluster["broker-a"]
        peer.on(RequestCode.GET_BROKER_RUNTIME_INFO, in_turn(refuse(2, "busy"), hang_up()))
        async with Session(ClientConfig([cluster.name_server.addr])) as session:
            admin = Admin(session)
            await admin.clusters.masters()
            with pytest.raises(BrokerBusy) as busy:
                await admin.clusters.runtime_of(peer.addr)
            with pytest.raises(Unreachable) as lost:
                await admin.clusters.runtime_of(peer.addr)
            await peer.stop()
            with pytest.raises(Unreachable) as gone:
                await admin.clusters.runtime_of(peer.addr)
    assert reason_of(busy.value) == f"broker-a at {peer.addr} is too busy to answer"
    assert reason_of(lost.value) == f"broker-a at {peer.addr} closed the connection"
    assert reason_of(gone.value) == f"broker-a at {peer.addr} refused the connection"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (TimedOut("a:1", 5_000), "broker-a at a:1 did not answer within 5 s"),
        (TimedOut("topic t", 3_000, was_sent=False), "the topic's brokers were not found within 3 s"),
        (Unreachable("a:1", "closed by the peer", was_sent=True), "broker-a at a:1 closed the connection"),
        (BrokerRefused(1, "the store is damaged", "a:1"), "broker-a at a:1 refused: the store is damaged"),
        (
            BrokerRefused(
                13, "the delay time should not be bigger than the max delay 259200000ms: 345600000ms asked for", "a:1"
            ),
            "broker-a at a:1 keeps messages for at most 3 days; this one would wait 4 days",
        ),
        (
            BrokerRefused(
                13, "the delay time should not be bigger than the max delay 259200000ms; or if set del msg", "a:1"
            ),
            "broker-a at a:1 keeps messages for at most 3 days",
        ),
        (GantryError("[Errno 5] the disk failed"), "the disk failed"),
    ],
)
def test_every_reason_is_without_numbers_of_the_system(error: GantryError, reason: str) -> None:
    assert reason_of(error, {"a:1": "broker-a"}) == reason
