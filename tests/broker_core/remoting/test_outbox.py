"""The output of a connection: one write per turn of the loop, and waiting while the peer does not read."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterable, Iterator

import pytest

from broker_core.protocol import Command, ResponseCode
from broker_core.remoting.outbox import Outbox


class Written(asyncio.WriteTransport):
    """A transport that records what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[bytes] = []

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        self.writes.append(b"".join(list_of_data))

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """There is no limit."""

    def get_write_buffer_size(self) -> int:
        return sum(map(len, self.writes))


def answer(body: bytes = b"") -> Command:
    return Command.response(ResponseCode.SUCCESS, body=body)


def outbox_to(transport: Written, backlogs: list[int] | None = None) -> Outbox:
    outbox = Outbox(asyncio.get_running_loop(), lambda: None if backlogs is None else backlogs.append(1))
    outbox.open(transport, full_from_bytes=1024)
    return outbox


async def test_what_is_put_in_one_turn_is_written_together() -> None:
    transport = Written()
    outbox = outbox_to(transport)
    outbox.put(answer(b"a"))
    outbox.put(answer(b"b"))
    assert transport.writes == []
    await asyncio.sleep(0)
    assert len(transport.writes) == 1
    assert outbox.last_write > 0


async def test_who_collects_writes_at_the_end() -> None:
    transport = Written()
    outbox = outbox_to(transport)
    outbox.collect()
    outbox.put(answer())
    await asyncio.sleep(0)
    assert transport.writes == []
    outbox.flush()
    assert len(transport.writes) == 1


async def test_much_is_written_before_the_turn_ends() -> None:
    transport = Written()
    outbox = outbox_to(transport)
    outbox.put(answer(bytes(1024 * 1024)))
    assert len(transport.writes) == 1


async def test_frames_in_one_piece_are_written_like_commands() -> None:
    transport = Written()
    outbox = outbox_to(transport)
    outbox.put_frames(b"two answers", 2)
    outbox.put(answer(b"a"))
    assert transport.writes == []
    outbox.put_frames(b"many answers", 30)
    [written] = transport.writes
    assert written.startswith(b"two answers")
    assert written.endswith(b"many answers")


async def test_a_full_outbox_says_so_after_each_write_and_calls_wait_for_room() -> None:
    transport, backlogs = Written(), list[int]()
    outbox = outbox_to(transport, backlogs)
    assert outbox.unread_bytes == 0
    outbox.is_full = True
    outbox.put(answer())
    outbox.flush()
    assert backlogs == [1]
    assert outbox.unread_bytes == transport.get_write_buffer_size()
    now = asyncio.get_running_loop().time()
    assert not await outbox.wait_for_room(now)
    waiting = asyncio.create_task(outbox.wait_for_room(now + 60))
    await asyncio.sleep(0)
    outbox.give_room()
    assert await waiting


async def test_a_closed_outbox_writes_nothing_and_lets_waiting_calls_continue() -> None:
    transport = Written()
    outbox = outbox_to(transport)
    outbox.is_full = True
    waiting = asyncio.create_task(outbox.wait_for_room(asyncio.get_running_loop().time() + 60))
    await asyncio.sleep(0)
    outbox.put(answer())
    outbox.close()
    assert await waiting
    await asyncio.sleep(0)
    assert transport.writes == []


class OnSocket(Written):
    """One that has a socket, which the outbox writes to by itself."""

    def __init__(self, own: socket.socket) -> None:
        super().__init__()
        self._extra = {"socket": own}
        self.closes = False

    def is_closing(self) -> bool:
        return self.closes


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Two ends of a connection that hold little between them."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        theirs.setblocking(False)
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        yield ours, theirs


def read_all(theirs: socket.socket) -> bytes:
    read = b""
    try:
        while part := theirs.recv(1 << 20):
            read += part
    except BlockingIOError:
        return read
    return read


async def test_many_answers_of_one_turn_leave_before_it_ends(ends: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = ends
    outbox = outbox_to(transport := OnSocket(ours))
    outbox.collect()
    for _ in range(24):
        assert read_all(theirs) == b""
        outbox.put(answer())
    assert read_all(theirs) == answer().encode() * 24
    outbox.put(answer())
    assert read_all(theirs) == b""
    outbox.flush()
    assert read_all(theirs) == answer().encode()
    assert transport.writes == []


async def test_what_the_socket_does_not_take_is_left_to_the_transport(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = ends
    outbox = outbox_to(transport := OnSocket(ours))
    large, small = answer(bytes(range(256)) * 4096), answer(b"behind it")
    outbox.put(large)
    outbox.put(small)
    outbox.flush()
    # The transport holds the rest, so what follows goes behind that.
    assert read_all(theirs) + b"".join(transport.writes) == large.encode() + small.encode()
    written = len(transport.writes)
    assert written
    outbox.put(small)
    outbox.flush()
    assert transport.writes[written:] == [small.encode()]
    assert read_all(theirs) == b""


async def test_a_closing_transport_and_a_peer_that_has_gone_are_left_to_the_transport(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = ends
    closing = OnSocket(ours)
    closing.closes = True
    for transport in (closing, OnSocket(ours)):
        outbox = outbox_to(transport)
        outbox.put(answer())
        outbox.flush()
        assert transport.writes == [answer().encode()]
        theirs.close()
