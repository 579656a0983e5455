"""A relay passes on, cuts, stalls either way, slows down and refuses, while it runs."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.support.relay import Link, Network, Relay, Way, relays
from tests.support.socket_owners import owner_of
from tests.support.wait import wait_until

SOON_S = 0.2
"""How long nothing must come: a stall that does not hold is seen at once."""


@pytest.fixture
def network() -> Iterator[Network]:
    with relays() as made:
        yield made


@pytest.fixture
def echo() -> Iterator[tuple[str, int]]:
    """A server that answers each connection with its own bytes."""
    server = socket.create_server(("127.0.0.1", 0))
    server.settimeout(30)

    def answer(end: socket.socket) -> None:
        with end, suppress(OSError):
            while data := end.recv(65_536):
                end.sendall(data)

    def serve() -> None:
        with suppress(OSError):
            while True:
                end, _ = server.accept()
                threading.Thread(target=answer, args=(end,), daemon=True).start()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield server.getsockname()
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join(30)


def connected(relay: Relay) -> socket.socket:
    return socket.create_connection(relay.listen, timeout=30)


def said(end: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = end.recv(size - len(data))
        if not piece:
            return data
        data += piece
    return data


def is_silent(end: socket.socket) -> bool:
    end.settimeout(SOON_S)
    try:
        end.recv(1)
    except TimeoutError:
        return True
    finally:
        end.settimeout(30)
    return False


def test_bytes_pass_both_ways_and_so_does_the_end(network: Network, echo: tuple[str, int]) -> None:
    relay = network.relay(echo)
    with connected(relay) as end:
        end.sendall(b"x" * 1_000_000)
        assert said(end, 1_000_000) == b"x" * 1_000_000
        end.shutdown(socket.SHUT_WR)
        assert end.recv(1) == b""
    wait_until(lambda: relay.link.connections == 0)


def test_a_cut_link_resets_what_there_is_and_what_comes_until_it_is_healed(
    network: Network, echo: tuple[str, int]
) -> None:
    relay = network.relay(echo)
    with connected(relay) as end:
        end.sendall(b"hi")
        assert said(end, 2) == b"hi"
        relay.link.cut()
        with pytest.raises(ConnectionResetError):
            end.recv(1)
    with pytest.raises(ConnectionResetError), connected(relay) as end:
        end.recv(1)
    relay.link.heal()
    with connected(relay) as end:
        end.sendall(b"hi")
        assert said(end, 2) == b"hi"


@pytest.mark.parametrize("ways", [(), (Way.THERE,), (Way.BACK,)])
def test_a_stalled_link_keeps_bytes_until_it_is_healed(
    network: Network, echo: tuple[str, int], ways: tuple[Way, ...]
) -> None:
    relay = network.relay(echo)
    with connected(relay) as end:
        end.sendall(b"1")
        assert said(end, 1) == b"1"
        relay.link.stall(*ways)
        end.sendall(b"2")
        assert is_silent(end)
        relay.link.heal()
        assert said(end, 1) == b"2"


def test_one_way_may_be_stalled_alone(network: Network) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        relay = network.relay(server.getsockname())
        with connected(relay) as end:
            other, _ = server.accept()
            with other:
                other.settimeout(30)
                relay.link.stall(Way.BACK)
                other.sendall(b"unheard")
                end.sendall(b"heard")
                assert said(other, 5) == b"heard"
                assert is_silent(end)


def test_neither_end_learns_over_a_stalled_link_that_the_other_is_gone(network: Network) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        relay = network.relay(server.getsockname())
        with connected(relay) as end:
            other, _ = server.accept()
            relay.link.stall()
            other.close()
            assert is_silent(end)
            relay.link.heal()
            assert end.recv(1) == b""


def test_over_a_stalled_link_a_new_connection_seems_to_succeed(network: Network, echo: tuple[str, int]) -> None:
    relay = network.relay(echo)
    relay.link.stall()
    with connected(relay) as end:
        end.sendall(b"hi")
        assert is_silent(end)
        relay.link.heal()
        assert said(end, 2) == b"hi"


def test_a_slow_link_takes_its_time(network: Network, echo: tuple[str, int]) -> None:
    relay = network.relay(echo)
    relay.link.slow(100_000)
    with connected(relay) as end:
        began = time.monotonic()
        end.sendall(b"x" * 30_000)
        assert said(end, 30_000) == b"x" * 30_000
        assert time.monotonic() - began >= 0.3


def test_a_relay_that_is_down_refuses_and_comes_back_under_its_address(network: Network, echo: tuple[str, int]) -> None:
    relay = network.relay(echo)
    relay.down()
    with pytest.raises(ConnectionRefusedError):
        connected(relay)
    relay.up()
    with connected(relay) as end:
        end.sendall(b"hi")
        assert said(end, 2) == b"hi"


def test_who_connects_to_nobody_is_reset(network: Network) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        nobody = server.getsockname()
    with pytest.raises(ConnectionResetError), connected(network.relay(nobody)) as end:
        end.recv(1)


def test_links_are_told_apart_by_their_source(network: Network, echo: tuple[str, int]) -> None:
    sources = iter(("one", "other"))
    relay = network.relay(echo, source_of=lambda theirs, ours: next(sources))
    with connected(relay) as one, connected(relay) as other:
        for end in (one, other):
            end.sendall(b"1")
            assert said(end, 1) == b"1"
        relay.link_of("one").stall()
        for end in (one, other):
            end.sendall(b"2")
        assert said(other, 1) == b"2"
        assert is_silent(one)


def test_the_owner_of_a_connection_is_found(network: Network, echo: tuple[str, int]) -> None:
    seen: list[int | None] = []

    def source_of(theirs: tuple[str, int], ours: tuple[str, int]) -> str:
        seen.append(owner_of(theirs, ours, [1, os.getpid()]))
        return ""

    with connected(network.relay(echo, source_of=source_of)) as end:
        end.sendall(b"hi")
        assert said(end, 2) == b"hi"
    assert seen == [os.getpid()]


async def test_links_may_be_changed_from_a_loop(network: Network, echo: tuple[str, int]) -> None:
    relay = network.relay(echo)
    reader, writer = await asyncio.open_connection(*relay.listen)
    link: Link = relay.link
    await asyncio.to_thread(link.cut)
    with pytest.raises(ConnectionResetError):
        await reader.readexactly(1)
    writer.close()
