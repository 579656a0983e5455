"""How many messages a second a gateway leases and takes back over HTTP: receive 32, acknowledge them, again.

The load is one process on one loop with plain connections, so that on a small machine it costs little beside what it
measures.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

import msgspec

_PATH = "/api/v1/clusters/local/groups/{group}/topics/{topic}"
_RECEIVE = b'{"max_messages":32,"wait_ms":0,"lease_ms":60000}'


class _Message(msgspec.Struct):
    receipt: str


class _Received(msgspec.Struct):
    messages: list[_Message]


_decode = msgspec.json.Decoder(_Received).decode


@dataclass(frozen=True)
class Target:
    """The gateway, the caller and what it consumes."""

    url: str
    token: str
    topic: str
    group: str


async def drain(target: Target, connections: int) -> float:
    """Lease and acknowledge everything in the topic; return messages a second."""
    started = time.perf_counter()
    taken = await asyncio.gather(*(_drain(target) for _ in range(connections)))
    return sum(taken) / (time.perf_counter() - started)


async def _drain(target: Target) -> int:
    address = urlsplit(target.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port, limit=1 << 20)
    taken = 0
    while True:
        received = _decode(await _call(reader, writer, target, "receive", _RECEIVE)).messages
        if not received:
            writer.close()
            await writer.wait_closed()
            return taken
        receipts = msgspec.json.encode({"receipts": [each.receipt for each in received]})
        await _call(reader, writer, target, "ack", receipts)
        taken += len(received)


async def _call(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: Target, verb: str, body: bytes
) -> bytes:
    path = _PATH.format(group=target.group, topic=target.topic)
    host = urlsplit(target.url).netloc
    head = (
        f"POST {path}:{verb} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {target.token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    writer.write(head.encode() + body)
    answer = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(answer.partition(b"content-length:")[2].partition(b"\r\n")[0])
    content = await reader.readexactly(length)
    if not answer.startswith(b"http/1.1 200"):
        raise RuntimeError(f"{verb}: {answer.splitlines()[0]!r} {content[:300]!r}")
    return content
