"""A real name server and broker under handshakes that are garbage, damaged, cut, or slow.

Each connection ends, at the latest when its peer leaves; no traceback is logged; memory does not grow; and afterwards a
well-behaved client is served as usual, with TLS and without.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final

import pytest

from broker_core.remoting import ClientTls
from tests.fuzz.cases import BASE_SEED, TIMES
from tests.fuzz.mutations import mutate
from tests.fuzz.test_live import MOST_GROWTH, ends, resident_bytes, serves_well, tracebacks
from tests.support.cluster import RunningBroker
from tests.support.tls_broker import authority_in, listeners, tls_broker, tls_settings
from tests.support.wait import eventually

EACH: Final = int(300 * TIMES)
SLOW: Final = 50
ANY: Final = ClientTls(checks_certificate=False)


@pytest.fixture(scope="module", params=["permissive", "enforcing"])
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    folder = tmp_path_factory.mktemp(f"tls-{request.param}")
    authority, issued = authority_in(folder)
    needs = {"tls.server.need.client.auth": "optional", "tls.server.trustCertPath": str(authority.certificate)}
    settings = {**tls_settings(issued, request.param, **needs), "limitTlsHandshakeSeconds": "2"}
    with tls_broker(folder / "data", settings, authority.client()) as broker:
        yield broker


def hello(random: Random) -> bytes:
    """Return the first flight of a client, as OpenSSL makes it for one of several versions and names."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.maximum_version = random.choice((ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3))
    outgoing = ssl.MemoryBIO()
    side = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=random.choice(("a", "b" * 60, "127.0.0.1")))
    with pytest.raises(ssl.SSLWantReadError):
        side.do_handshake()
    return outgoing.read()


def damaged(random: Random) -> bytes:
    """Return bytes that begin like a handshake and go wrong somewhere."""
    sound = hello(random)
    kind = random.randrange(5)
    if kind == 0:
        return b"\x16" + random.randbytes(random.randrange(600))
    if kind == 1:
        return sound[: random.randrange(1, len(sound))]
    if kind == 2:
        return sound + random.randbytes(random.randrange(1, 600))
    if kind == 3:
        return sound[:1] + mutate(random, sound[1:])
    return sound * random.randrange(2, 5)


async def test_damaged_handshakes(running: RunningBroker) -> None:
    await serves_well(running, "before")
    warm = resident_bytes(running)
    for name, address in listeners(running).items():
        for number in range(EACH):
            seed = BASE_SEED * 1_000_003 + number
            assert await ends(address, damaged(Random(seed))), f"{name} seed {seed}"
    assert tracebacks(running) == []
    assert resident_bytes(running) - warm < MOST_GROWTH
    await serves_well(running, "after")


def broken_session(address: str, random: Random) -> None:
    """Shake hands, then send a record that does not decrypt, or a frame that is none; wait for the server's end."""
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port)), 20) as plain, ANY.context().wrap_socket(plain) as secured:
        if random.random() < 0.5:
            garbage = b"\x17\x03\x03" + (40).to_bytes(2, "big") + random.randbytes(40)
            os.write(secured.fileno(), garbage)
        else:
            secured.sendall(b"\xff\xff" + random.randbytes(100))
        try:
            while secured.recv(4096):
                pass
        except (ssl.SSLError, ConnectionError):
            return  # the server's alert


async def test_a_session_that_breaks_after_its_handshake(running: RunningBroker) -> None:
    for number in range(EACH // 10):
        await asyncio.to_thread(broken_session, running.address, Random(BASE_SEED * 1_000_003 + number))
    assert tracebacks(running) == []
    await serves_well(running, "after-sessions")


def told(log: str) -> int:
    left_out = re.findall(r"(\d+) such warnings (?:before it )?were left out", log)
    return log.count("limit tls_handshake_seconds=2 reached") + sum(map(int, left_out))


async def test_slow_handshakes_end_and_are_named(running: RunningBroker) -> None:
    """Peers that send a byte now and then keep their places for the time of a handshake, not longer."""
    host, _, port = running.address.rpartition(":")
    opened = [await asyncio.open_connection(host, int(port)) for _ in range(SLOW)]
    first = hello(Random(BASE_SEED))

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        for byte in first[:-1]:
            writer.write(bytes((byte,)))
            try:
                async with asyncio.timeout(0.5):
                    return await reader.read() == b""
            except TimeoutError:
                continue
            except ConnectionError:
                return True
        return False

    dripping = [asyncio.create_task(drip(*each)) for each in opened]
    await serves_well(running, "meanwhile")
    assert all(await asyncio.gather(*dripping))
    # Each is named, or counted by a line that says how many were left out
    await eventually(lambda: told(Path(running.log).read_text()) >= SLOW)
    for _, writer in opened:
        writer.transport.abort()
