"""A proxy between clients and one server that passes everything on and keeps the requests of the clients.

::

    with recorder(server) as wire:
        producer = driver.producer(wire.name_server)
        producer.call("send", JavaMessage("orders"))
        requests = wire.take()

Routes that the name server tells are changed so that clients find the broker behind the proxy too.
"""

from __future__ import annotations

import contextlib
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from broker_core.protocol.command import Command
from broker_core.protocol.frame import Frame, FrameReader, frame_parts
from tests.compat.servers import Server

_PIECE = 64 * 1024


class _Listener(socketserver.ThreadingTCPServer):
    """One listening socket of loopback; what it accepts goes to `upstream`."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, upstream: str, to_server: Callable[[Frame], Frame], to_client: Callable[[Frame], Frame]) -> None:
        super().__init__(("127.0.0.1", 0), _Passing)
        self.upstream = upstream
        self.to_server = to_server
        self.to_client = to_client

    @property
    def address(self) -> str:
        """``host:port``."""
        return f"127.0.0.1:{self.server_address[1]}"


class _Passing(socketserver.BaseRequestHandler):
    """One connection of a client, and the one to the server that belongs to it."""

    server: _Listener

    def handle(self) -> None:
        host, _, port = self.server.upstream.rpartition(":")
        with socket.create_connection((host, int(port))) as upstream:
            back = threading.Thread(target=_pass, args=(upstream, self.request, self.server.to_client), daemon=True)
            back.start()
            _pass(self.request, upstream, self.server.to_server)
            back.join()


def _pass(source: socket.socket, target: socket.socket, seen: Callable[[Frame], Frame]) -> None:
    """Pass frames on, each as `seen` returns it; the end of one direction is the end of both."""
    reader = FrameReader()
    try:
        with contextlib.suppress(OSError):
            while data := source.recv(_PIECE):
                for frame in map(seen, reader.feed(data)):
                    target.sendall(b"".join(frame_parts(frame.serializer, frame.header, frame.body)))
                if reader.fault is not None:
                    raise reader.fault
    finally:
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


class Recorder:
    """Both proxies of one server, and what clients asked through them."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._asked: list[Command] = []
        self._broker = _Listener(server.address, self._record, lambda frame: frame)
        self._names = _Listener(server.name_server, self._record, self._through_us)

    @property
    def name_server(self) -> str:
        """``host:port`` for clients whose requests are to be kept."""
        return self._names.address

    @property
    def asked(self) -> list[Command]:
        """The requests since the last `take`, in the order in which they came."""
        return list(self._asked)

    def has(self, *codes: int) -> bool:
        """Say whether there was a request of each code since the last `take`."""
        return set(codes) <= {command.code for command in self.asked}

    def has_named(self, code: int, topic: str) -> bool:
        """Say whether a request of that code named a topic since the last `take`."""
        asked = [command for command in self.asked if command.code == code]
        return topic in [(command.ext_fields or {}).get("topic") for command in asked]

    def take(self) -> list[Command]:
        """Return the requests until now, and begin anew."""
        taken, self._asked = self._asked, []
        return taken

    def start(self) -> None:
        """Begin to listen."""
        for listener in (self._broker, self._names):
            threading.Thread(target=listener.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        """Listen no more; connections end with their clients."""
        for listener in (self._broker, self._names):
            listener.shutdown()
            listener.server_close()

    def _record(self, frame: Frame) -> Frame:
        command = Command.decode(frame)
        if not command.is_response:
            self._asked.append(command)
        return frame

    def _through_us(self, frame: Frame) -> Frame:
        own, ours = self._server.address.encode(), self._broker.address.encode()
        return Frame(frame.serializer, frame.header, frame.body.replace(own, ours))


@contextmanager
def recorder(server: Server) -> Iterator[Recorder]:
    """Start a recorder before `server`, and stop it at the end."""
    recorder = Recorder(server)
    recorder.start()
    try:
        yield recorder
    finally:
        recorder.stop()
