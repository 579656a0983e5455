"""From readers to viewers: viewers that want what is new share the reader of a topic, others have one of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final
from weakref import WeakKeyDictionary

from broker_core.client.admin.placed import PlacedMessage
from broker_core.protocol.bodies import MessageQueue
from console.clusters.connections import Connections
from gateway.live.tail.frames import DropReason
from gateway.live.tail.reader import Begin, TopicReader, from_end
from gateway.live.tail.viewer import Viewer


class FanOut:
    """Gives every viewer of a topic what its one reader reads; nobody waits for a slow one."""

    def __init__(self) -> None:
        self.viewers: set[Viewer] = set()
        self._places: dict[MessageQueue, int] = {}
        self._failing: dict[tuple[str, str | None], str] = {}

    def join(self, viewer: Viewer) -> None:
        """Add a viewer: from here on it sees everything."""
        self.viewers.add(viewer)
        for queue, offset in self._places.items():
            viewer.at(queue, offset)
        for (topic, broker), reason in self._failing.items():
            viewer.failed(topic, broker, reason)

    def follows(self, queues: Sequence[MessageQueue]) -> None:
        """Do nothing: each begins at its end."""

    async def take(self, queue: MessageQueue, messages: Sequence[PlacedMessage]) -> None:
        """Show the messages to all."""
        self._places[queue] = messages[-1].message.queue_offset + 1
        for viewer in self.viewers:
            viewer.take_live(messages)

    def skip(self, queue: MessageQueue, to: int, n: int, reason: DropReason) -> None:
        """Tell all."""
        self._places[queue] = to
        for viewer in self.viewers:
            viewer.skip(queue, to, n, reason)

    def at(self, queue: MessageQueue, offset: int) -> None:
        """Tell all."""
        self._places[queue] = offset
        for viewer in self.viewers:
            viewer.at(queue, offset)

    def reached_end(self, queue: MessageQueue) -> None:
        """Do nothing: it began at the end."""

    def failed(self, topic: str, broker: str | None, reason: str | None) -> None:
        """Tell all."""
        if reason is None:
            self._failing.pop((topic, broker), None)
        else:
            self._failing[topic, broker] = reason
        for viewer in self.viewers:
            viewer.failed(topic, broker, reason)


class OneViewer:
    """Gives one viewer what was stored before, at its own rate and without gaps, and then what is new."""

    def __init__(self, viewer: Viewer, on_end: Callable[[], None]) -> None:
        """`on_end` is called once, when all queues were read to their end."""
        self._viewer = viewer
        self._on_end = on_end
        self._known: set[MessageQueue] = set()
        self._behind: set[MessageQueue] = set()
        self._was_at_end = False

    def follows(self, queues: Sequence[MessageQueue]) -> None:
        """Wait for the end of those that are new, and no more for those that are gone."""
        self._behind = self._behind.intersection(queues).union(set(queues) - self._known)
        self._known = set(queues)
        self._tell_end()

    async def take(self, queue: MessageQueue, messages: Sequence[PlacedMessage]) -> None:
        """Show the messages."""
        if queue in self._behind:
            await self._viewer.take_all(messages)
        else:
            self._viewer.take_live(messages)

    def skip(self, queue: MessageQueue, to: int, n: int, reason: DropReason) -> None:
        """Tell the viewer."""
        self._viewer.skip(queue, to, n, reason)

    def at(self, queue: MessageQueue, offset: int) -> None:
        """Tell the viewer."""
        self._viewer.at(queue, offset)

    def reached_end(self, queue: MessageQueue) -> None:
        """Wait for it no more."""
        self._behind.discard(queue)
        self._tell_end()

    def failed(self, topic: str, broker: str | None, reason: str | None) -> None:
        """Tell the viewer."""
        self._viewer.failed(topic, broker, reason)

    def _tell_end(self) -> None:
        if not self._behind and not self._was_at_end:
            self._was_at_end = True
            self._on_end()


@dataclass(slots=True)
class _Shared:
    reader: TopicReader
    out: FanOut


@dataclass(slots=True)
class SharedReaders:
    """The readers of what is new, one for each topic that anybody watches."""

    connections: Connections
    _running: dict[tuple[str, str], _Shared] = field(default_factory=dict)

    async def join(self, viewer: Viewer, cluster: str, topic: str) -> None:
        """Add a viewer; when this returns it sees what is stored from now on."""
        shared = self._running.get((cluster, topic))
        if shared is None:
            out = FanOut()
            shared = _Shared(TopicReader(self.connections, cluster, topic, begin=from_end, sink=out), out)
            self._running[cluster, topic] = shared
            shared.reader.start()
        shared.out.join(viewer)
        await shared.reader.ready.wait()

    async def leave(self, viewer: Viewer, cluster: str, topic: str) -> None:
        """Remove a viewer; the last one stops the reader."""
        shared = self._running.get((cluster, topic))
        if shared is None:
            return
        shared.out.viewers.discard(viewer)
        if not shared.out.viewers:
            del self._running[cluster, topic]
            await shared.reader.stop()


_of_connections: Final[WeakKeyDictionary[Connections, SharedReaders]] = WeakKeyDictionary()


def shared_readers(connections: Connections) -> SharedReaders:
    """Return what the tails over these connections share."""
    found = _of_connections.get(connections)
    if found is None:
        found = _of_connections[connections] = SharedReaders(connections)
    return found


@dataclass(slots=True)
class Feed:
    """What feeds one viewer: shared readers, or readers of its own with a beginning in the past."""

    viewer: Viewer
    readers: SharedReaders
    cluster: str
    topics: Sequence[str]
    begin: Begin | None
    _own: list[TopicReader] = field(default_factory=list)

    async def run(self) -> None:
        """Feed until cancelled."""
        try:
            await self._start()
            await asyncio.Event().wait()
        finally:
            await asyncio.gather(*(reader.stop() for reader in self._own))
            if self.begin is None:
                await asyncio.gather(*(self.readers.leave(self.viewer, self.cluster, each) for each in self.topics))

    async def _start(self) -> None:
        if self.begin is None:
            await asyncio.gather(*(self.readers.join(self.viewer, self.cluster, each) for each in self.topics))
            self.viewer.enters("live", self.topics)
            return
        self.viewer.enters("catching_up", self.topics)
        behind = set(self.topics)

        def reached_end(topic: str) -> None:
            behind.discard(topic)
            if not behind:
                self.viewer.enters("live", self.topics)

        for topic in self.topics:
            sink = OneViewer(self.viewer, partial(reached_end, topic))
            reader = TopicReader(self.readers.connections, self.cluster, topic, begin=self.begin, sink=sink)
            self._own.append(reader)
            reader.start()
