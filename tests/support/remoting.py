"""Builders for the tests of remoting: a server that says what it was asked, a peer made of plain bytes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import cast

from broker_core.protocol import Command, FrameReader, ResponseCode
from broker_core.protocol.headers.routes import GetRouteInfoRequest
from broker_core.remoting import Connection, ConnectionLimits, Dispatch, Handler, RemotingClient, Server

ASK = 105  # the code of `question`


def question(topic: str = "T", body: bytes = b"") -> Command:
    """Return a request with code ASK."""
    return Command.request(GetRouteInfoRequest(topic), body)


def echo(request: Command, connection: Connection) -> Command:
    """Answer at once, with the body of the request and its topic as remark."""
    del connection
    return Command.response(ResponseCode.SUCCESS, body=request.body, remark=request.ext_fields["topic"])


def dispatch_of(handler: Handler = echo, errors: dict[type[Exception], ResponseCode] | None = None) -> Dispatch:
    """Return a dispatch that knows ASK alone."""
    dispatch = Dispatch(errors)
    dispatch.register(ASK, handler)
    return dispatch


@asynccontextmanager
async def serving(
    dispatch: Dispatch | Handler = echo, *, limits: ConnectionLimits | None = None
) -> AsyncIterator[Server]:
    """Run a server on a free port."""
    if not isinstance(dispatch, Dispatch):
        dispatch = dispatch_of(dispatch)
    server = Server(dispatch, limits=limits)
    await server.start()
    try:
        yield server
    finally:
        await server.close()


@asynccontextmanager
async def calling(
    on_request: Dispatch | None = None, *, limits: ConnectionLimits | None = None
) -> AsyncIterator[RemotingClient]:
    """Run a client."""
    client = RemotingClient(on_request=on_request, limits=limits)
    try:
        yield client
    finally:
        await client.close()


def address_of(server: Server) -> str:
    """Return where a server of these tests listens."""
    return f"127.0.0.1:{server.port}"


class RawPeer:
    """One end of a connection that sends and reads bytes as it likes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self._frames = FrameReader()
        self._commands: list[Command] = []

    def send(self, *commands: Command) -> None:
        """Write commands in one piece; their numbers are their places."""
        for opaque, command in enumerate(commands):
            command.opaque = opaque
        self.writer.write(b"".join(each.encode() for each in commands))

    async def command(self) -> Command:
        """Return the next command that comes."""
        while not self._commands:
            data = await self.reader.read(65536)
            if not data:
                raise ConnectionError("closed")
            self._commands += [Command.decode(each) for each in self._frames.feed(data)]
            if self._frames.fault is not None:
                raise self._frames.fault
        return self._commands.pop(0)

    def stop_reading(self) -> None:
        """Take nothing more."""
        cast(asyncio.Transport, self.writer.transport).pause_reading()

    def read_again(self) -> None:
        """Take what comes."""
        cast(asyncio.Transport, self.writer.transport).resume_reading()

    async def is_closed_by_peer(self) -> bool:
        """Wait for the end of the stream; say whether it came before any byte."""
        try:
            return await self.reader.read(1) == b""
        except ConnectionError:
            return True


@asynccontextmanager
async def raw_peer(server: Server) -> AsyncIterator[RawPeer]:
    """Connect to a server with plain bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        yield RawPeer(reader, writer)
    finally:
        writer.transport.abort()


@asynccontextmanager
async def raw_server(talk: Callable[[RawPeer], object]) -> AsyncIterator[str]:
    """Listen with plain bytes; `talk` is called with each peer and may return a coroutine. Gives the address."""
    writers: list[asyncio.StreamWriter] = []

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        result = talk(RawPeer(reader, writer))
        if asyncio.iscoroutine(result):
            await result

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        for writer in writers:
            writer.transport.abort()
        server.close()
        await server.wait_closed()
