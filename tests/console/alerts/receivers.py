"""Receivers of deliveries: a web server and a mail server, as real as the sockets they listen on."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Hook:
    """A web server that keeps what is posted to it."""

    port: int = 0
    status: int = 202
    answer: bytes = b"thanks"
    location: str | None = None
    decide: Callable[[bytes], bytes] | None = None
    """Makes the answer to a body; without it, `answer` is the one to all."""
    posted: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?token=secret"


@contextmanager
def web_hook() -> Iterator[Hook]:
    """Run a receiver of webhooks."""
    hook = Hook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            hook.posted.append((dict(self.headers.items()), body))
            answer = hook.answer if hook.decide is None else hook.decide(body)
            self.send_response(hook.status)
            if hook.location:
                self.send_header("Location", hook.location)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            with suppress(OSError):  # whoever asked has read enough
                self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        hook.port = server.server_address[1]
        with _serving(server):
            yield hook


@dataclass
class Dripper:
    """A web server whose answers begin and never end: a byte comes every tenth of a second."""

    port: int = 0
    begin: bytes = b"HTTP/1.1 200 OK\r\nX-A: "
    waiting: list[object] = field(default_factory=list)
    """Those who wait for the rest of an answer now."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"


@contextmanager
def dripping_hook() -> Iterator[Dripper]:
    """Run a receiver of webhooks that is never done."""
    hook, ended = Dripper(), threading.Event()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(65_536)
            hook.waiting.append(self)
            with suppress(OSError):  # whoever asked has gone
                self.request.sendall(hook.begin)
                while not ended.wait(0.1):
                    self.request.sendall(b"a")
            hook.waiting.remove(self)

    class Server(socketserver.ThreadingTCPServer):
        request_queue_size = 128

    with Server(("127.0.0.1", 0), Handler) as server:
        hook.port = server.server_address[1]
        try:
            with _serving(server):
                yield hook
        finally:
            ended.set()


@dataclass
class Mailbox:
    """A mail server that keeps what it gets."""

    port: int = 0
    refusal: bytes | None = None
    mails: list[str] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)


@contextmanager
def mail_server() -> Iterator[Mailbox]:
    """Run a mail server (RFC 5321, as much as one client says)."""
    box = Mailbox()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"220 here\r\n")
            while line := self.rfile.readline():
                self.wfile.write(self._answer(line.strip()))

        def _answer(self, line: bytes) -> bytes:
            verb = line[:4].upper()
            if verb == b"RCPT":
                if box.refusal:
                    return box.refusal
                box.recipients.append(line.decode().partition("<")[2].rstrip(">"))
            if verb == b"DATA":
                self.wfile.write(b"354 go on\r\n")
                lines = []
                while (each := self.rfile.readline()) != b".\r\n":
                    lines.append(each.decode())
                box.mails.append("".join(lines))
            return b"250 fine\r\n"

    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address = True
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        box.port = server.server_address[1]
        with _serving(server):
            yield box


@contextmanager
def _serving(server: socketserver.BaseServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
