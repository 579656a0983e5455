"""Connections to this machine that look to a server as if they came from another one."""

from __future__ import annotations

import asyncio
import socket

import pytest

from broker_core.protocol.command import Command
from broker_core.protocol.frame import FrameReader


def address_elsewhere() -> str:
    """Return an address of this machine that is no loopback address, or skip the test.

    A connection from there to 127.0.0.1 has two different ends, as those from other machines.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("this machine has no address but those of loopback")
        found = str(probe.getsockname()[0])
    if found.startswith("127."):
        pytest.skip("this machine has no address but those of loopback")
    return found


async def ask_from(source: str, address: str, request: Command) -> Command:
    """Return the answer to one request that is sent from an address of this machine."""
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port), local_addr=(source, 0))
    try:
        writer.write(request.encode())
        frames = FrameReader(1 << 24, 1 << 20)
        while True:
            data = await reader.read(65_536)
            assert data, "the connection was closed"
            for frame in frames.feed(data):
                return Command.decode(frame)
    finally:
        writer.close()
