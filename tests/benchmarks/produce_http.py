"""How many messages a second a running gateway takes over HTTP, and how long each waits.

    python tests/benchmarks/produce_http.py --token "$TOKEN" --topic orders --connections 64 --seconds 5

One line of figures. Each connection sends its next request when the last one is answered (or keeps `--depth` of them
under way); the load is one process on one loop, so that on a small machine it costs little beside what it measures.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import urlsplit

import uvloop

_STATUS = b"HTTP/1.1 "


@dataclass
class Count:
    """What came back."""

    answered: int = 0
    stored: int = 0
    waits: list[float] = field(default_factory=list)
    first_refusal: bytes = b""


class Sender(asyncio.Protocol):
    """One connection that keeps requests under way until it is told to stop."""

    def __init__(self, request: bytes, depth: int, count: Count, stop_at: float) -> None:
        self._request = request
        self._depth = depth
        self._count = count
        self._stop_at = stop_at
        self._sent_at: list[float] = []
        self._rest = b""
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the first requests."""
        self._transport = cast(asyncio.Transport, transport)
        self._send(self._depth)

    def data_received(self, data: bytes) -> None:
        """Count the whole answers in `data`, and send as many requests again."""
        data = self._rest + data
        whole = 0
        while True:
            end = data.find(b"\r\n\r\n")
            if end < 0:
                break
            head = data[:end].lower()
            place = head.find(b"content-length:")
            line_end = head.find(b"\r\n", place)
            length = int(head[place + 15 : line_end if line_end > 0 else end])
            if len(data) < end + 4 + length:
                break
            self._answered(data[: end + 4 + length])
            data = data[end + 4 + length :]
            whole += 1
        self._rest = data
        if whole:
            self._send(whole)

    def connection_lost(self, error: Exception | None) -> None:
        """Say that the connection is at its end."""
        if not self.done.done():
            self.done.set_result(None)

    def _answered(self, answer: bytes) -> None:
        count = self._count
        count.answered += 1
        count.waits.append(time.perf_counter() - self._sent_at.pop(0))
        if answer.startswith(_STATUS + b"201"):
            count.stored += 1
        elif not count.first_refusal:
            count.first_refusal = answer

    def _send(self, times: int) -> None:
        now = time.perf_counter()
        if now < self._stop_at:
            self._sent_at += [now] * times
            self._transport.write(self._request * times)
        elif not self._sent_at:
            self._transport.close()


def request_of(arguments: argparse.Namespace) -> tuple[bytes, int]:
    """Return the request to send over and over, and how many messages it holds."""
    host = urlsplit(arguments.url).netloc
    filling = "x" * arguments.size
    message = {"keys": ["A17"], "tag": "created", "body": {"encoding": "json", "data": {"id": "A17", "fill": filling}}}
    if arguments.batch > 1:
        body, kind = json.dumps({"messages": [message] * arguments.batch}).encode(), "application/json"
    elif arguments.raw:
        body, kind = filling.encode(), "application/octet-stream"
    else:
        body, kind = json.dumps(message).encode(), "application/json"
    head = (
        f"POST /api/v1/clusters/{arguments.cluster}/topics/{arguments.topic}/messages HTTP/1.1\r\nHost: {host}\r\n"
        f"Authorization: Bearer {arguments.token}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body, arguments.batch


@dataclass(frozen=True)
class Result:
    """What came of one measurement."""

    requests: int
    requests_per_second: float
    messages_per_second: float
    text: str


async def measure(arguments: argparse.Namespace) -> Result:
    """Send for the wanted time and return what came of it."""
    request, messages = request_of(arguments)
    place = urlsplit(arguments.url)
    count, loop = Count(), asyncio.get_running_loop()
    started = time.perf_counter()
    senders = []
    for _ in range(arguments.connections):
        _, sender = await loop.create_connection(
            lambda: Sender(request, arguments.depth, count, started + arguments.seconds), place.hostname, place.port
        )
        senders.append(sender.done)
    await asyncio.wait(senders, timeout=arguments.seconds + 10)
    took = time.perf_counter() - started
    waits = sorted(count.waits)
    quantiles = {name: waits[int(len(waits) * part)] * 1000 for name, part in (("p50", 0.5), ("p99", 0.99))}
    text = (
        f"requests/s {count.answered / took:,.0f}  messages/s {count.stored * messages / took:,.0f}  "
        f"p50 {quantiles['p50']:.2f} ms  p99 {quantiles['p99']:.2f} ms  stored {count.stored} of {count.answered}"
    )
    if count.first_refusal:
        text += "\n" + count.first_refusal.decode(errors="replace")
    return Result(count.answered, count.answered / took, count.stored * messages / took, text)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Return the arguments of the command line, or of `arguments`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--token", required=True)
    parser.add_argument("--cluster", default="local")
    parser.add_argument("--topic", default="benchmark")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--depth", type=int, default=1, help="requests under way on each connection")
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--size", type=int, default=100, help="bytes of filling in each message")
    parser.add_argument("--batch", type=int, default=1, help="messages in each request")
    parser.add_argument("--raw", action="store_true", help="the body is the message")
    return parser.parse_args(arguments)


def main() -> None:
    """Measure what the command line asks for."""
    print(uvloop.run(measure(parse())).text)


if __name__ == "__main__":
    main()
