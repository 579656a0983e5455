"""Every request code at every listener, in plaintext and over TLS, in each mode of TLS."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from random import Random
from typing import Final

import pytest

from broker_core.protocol import bodies
from broker_core.protocol.bodies.routes import KVTable
from broker_core.protocol.codes import FLAG_ONE_WAY, RequestCode
from broker_core.protocol.command import Command
from broker_core.remoting import ClientTls, RemotingClient, RemotingError, TlsOfClient
from broker_core.remoting.other_protocols import PLAIN_REFUSED
from tests.fuzz.requests import TOPIC, sound
from tests.support.certificates import Authority, Issued
from tests.support.cluster import RunningBroker, create_topic
from tests.support.tls_broker import authority_in, listeners, tls_broker, tls_settings

CODES: Final = sorted({int(code) for code in RequestCode} | {0, 9999})
ROUNDS: Final = 3
STATE: Final = (
    RequestCode.GET_ALL_TOPIC_CONFIG,
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
    RequestCode.GET_ALL_DELAY_OFFSET,
    RequestCode.GET_BROKER_CONFIG,
)
"""What these answer is what requests can change."""
OF_NAME_SERVER: Final = (
    RequestCode.GET_BROKER_CLUSTER_INFO,
    RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER,
    RequestCode.GET_NAMESRV_CONFIG,
)
CLOSES_THE_BROKER: Final = frozenset({RequestCode.WIPE_WRITE_PERM_OF_BROKER, RequestCode.UNREGISTER_BROKER})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Authority, Issued]:
    return authority_in(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module", params=["enforcing", "permissive", "disabled"])
def running(
    request: pytest.FixtureRequest, made: tuple[Authority, Issued], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, RunningBroker]]:
    """A broker and its name server in one of the modes."""
    authority, issued = made
    mode: str = request.param
    tls = None if mode == "disabled" else authority.client()
    with tls_broker(tmp_path_factory.mktemp(mode), tls_settings(issued, mode), tls) as started:
        yield mode, started


def requests(code: int) -> list[Command]:
    """Return sound requests of a code that are answered."""
    found = [sound(Random(f"{code} {number}"), code) for number in range(ROUNDS)]
    for request in found:
        request.flag &= ~FLAG_ONE_WAY
    return found


@asynccontextmanager
async def client_of(tls: TlsOfClient | None) -> AsyncIterator[RemotingClient]:
    client = RemotingClient(tls=tls)
    try:
        yield client
    finally:
        await client.close()


async def state(broker: RunningBroker) -> list[object]:
    """Return what requests can change, as the broker and its name server tell it."""
    async with client_of(broker.tls) as client:
        figures = await client.invoke(broker.address, Command(RequestCode.GET_BROKER_RUNTIME_INFO), 5000)
        known = bodies.decode(KVTable, figures.body).table
        told: list[object] = [known["commitLogMaxOffset"]]
        for address, codes in ((broker.address, STATE), (broker.name_server, OF_NAME_SERVER)):
            told += [(await client.invoke(address, Command(code), 5000)).body for code in codes]
        offsets = await client.invoke(broker.address, Command(RequestCode.GET_ALL_CONSUMER_OFFSET), 5000)
        told += re.findall(rb'"[^"]+@(?!CID_RMQ_SYS_)[^"]+":\{[^}]*\}', offsets.body)  # not those of the broker itself
    return told


async def said_to(address: str, data: bytes) -> bytes:
    """Return everything that a server says to bytes, until it closes."""
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(data)
        return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def test_what_may_be_asked(running: tuple[str, RunningBroker]) -> None:
    mode, broker = running
    async with broker.session() as session:
        await create_topic(session, TOPIC)
    if mode == "enforcing":
        await refused_in_plaintext(broker)
    elif mode == "disabled":
        await refused_with_tls(broker)
    else:
        await served_both_ways(broker)


async def refused_in_plaintext(broker: RunningBroker) -> None:
    before = await state(broker)
    for name, address in listeners(broker).items():
        for code in CODES:
            for request in requests(code):
                said = await said_to(address, request.encode())
                assert said in (PLAIN_REFUSED, b""), (name, code)
    assert await state(broker) == before


async def served_both_ways(broker: RunningBroker) -> None:
    before = await state(broker)
    for tls in (None, broker.tls):
        async with client_of(tls) as client:
            for name, address in listeners(broker).items():
                for code in set(CODES) - CLOSES_THE_BROKER:
                    answer = await client.invoke(address, requests(code)[0], 20_000)
                    assert answer.is_response, (name, code)
    # The same requests do change something where they are served.
    assert await state(broker) != before


async def refused_with_tls(broker: RunningBroker) -> None:
    before = await state(broker)
    for address in listeners(broker).values():
        async with client_of(ClientTls(checks_certificate=False)) as client:
            with pytest.raises(RemotingError, match="may speak no TLS"):
                await client.invoke(address, Command(RequestCode.GET_BROKER_RUNTIME_INFO), 5000)
    assert await state(broker) == before
