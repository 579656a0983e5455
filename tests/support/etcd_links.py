"""Relays between the members of an etcd, so that one of them can be cut off from the others and still answer clients.

A member reaches another through the relay before that one's port for members, and says in its first request who it is.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.support.etcd import Etcd, Member, joined, members_in, started
from tests.support.ports import free_ports

_FROM: Final = re.compile(rb"(?im)^X-Server-From: *([0-9a-f]+)")
_CHUNK: Final = 65_536


@dataclass(eq=False)
class _Link:
    source: int | None
    """The member's own number; None for a request of the HTTP client that says nothing of it."""
    target: Member
    task: asyncio.Task[None]


class Links:
    """All connections between members."""

    def __init__(self, members: Sequence[Member]) -> None:
        self._members = members
        self._open: set[_Link] = set()
        self._servers: list[asyncio.Server] = []
        self._lost: Member | None = None
        self._lost_number: int | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="links of etcd", daemon=True)

    def start(self) -> None:
        """Listen before every member."""
        self._thread.start()
        for member in self._members:
            self._do(self._listen(member))

    def stop(self) -> None:
        """End all relays."""
        self._do(self._close_all())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def cut_off(self, member: Member) -> None:
        """Close the member's connections to the others, and let no new one through."""
        number = int(member.ask("/v3/maintenance/status", {})["header"]["member_id"])
        self._do(self._cut(member, number))

    def heal(self) -> None:
        """Let all through again."""
        self._do(self._cut(None, None))

    def _do(self, work: object) -> None:
        assert asyncio.iscoroutine(work)
        asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _listen(self, member: Member) -> None:
        async def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await self._relay(member, reader, writer)
            finally:
                writer.close()

        self._servers.append(await asyncio.start_server(accepted, "127.0.0.1", member.announced_port))

    async def _relay(self, target: Member, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            head = await reader.readuntil(b"\r\n\r\n")
            found = _FROM.search(head)
            link = _Link(int(found[1], 16) if found else None, target, task)
            if self._is_lost(link):
                return
            self._open.add(link)
            try:
                await _both_ways(head, target.peer_port, reader, writer)
            finally:
                self._open.discard(link)

    async def _cut(self, member: Member | None, number: int | None) -> None:
        self._lost, self._lost_number = member, number
        for link in filter(self._is_lost, list(self._open)):
            link.task.cancel()

    async def _close_all(self) -> None:
        for server in self._servers:
            server.close()
        for link in self._open:
            link.task.cancel()
        await asyncio.gather(*(link.task for link in self._open), return_exceptions=True)

    def _is_lost(self, link: _Link) -> bool:
        return self._lost is not None and (link.target is self._lost or link.source == self._lost_number)


async def _both_ways(head: bytes, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    its_reader, its_writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        its_writer.write(head)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_pass_on(reader, its_writer))
            tasks.create_task(_pass_on(its_reader, writer))
    finally:
        its_writer.close()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
    writer.close()


@contextmanager
def linked_etcd(folder: Path, members: int) -> Iterator[tuple[Etcd, Links]]:
    """Run an etcd whose members reach each other through relays until the block ends."""
    made = members_in(folder, members)
    for member in made:
        member.announced_port = free_ports()
    links = Links(made)
    links.start()
    try:
        with started(joined(made)) as running:
            yield running, links
    finally:
        links.stop()
