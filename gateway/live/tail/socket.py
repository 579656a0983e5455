"""``/ws/v1/tail``: messages as they are stored, or from a moment on.

::

    > {"type":"start","topics":["orders"],"from":"now","filter":{"tags":["paid"]},"sample":1,"max_rate":50}
    < {"type":"phase","phase":"live","topics":["orders"]}
    < {"type":"message","topic":"orders","queue_id":2,"offset":1881,"body":{"encoding":"json","data":{…}},…}
    < {"type":"dropped","n":1204,"reason":"max_rate","from":"…","to":"…"}
    < {"type":"progress","stored":3100,"read":3100,"matched":1604,"shown":400,"dropped":1204,"bytes":…,"resume":"…"}
    > {"type":"stop"}
    < {"type":"done","reason":"stopped"}

Nothing is consumed and no offset moves: the messages are pulled without a group, so it works with every cluster. New
messages above the rate, and those that a client is too slow for, are dropped and said; of older ones none is dropped,
they are read at the rate until the end is reached.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import Any, ClassVar, Final

import msgspec

from broker_core.client.errors import TopicNotFound
from broker_core.errors import GantryError
from broker_core.moments import EXAMPLE, NoMoment, read_moment
from console.accounts.rights import Resource
from console.clusters.connections import ClusterNotFound, Connections
from gateway.data.schemas import invalid
from gateway.live.socket import LiveSocket
from gateway.live.tail import places
from gateway.live.tail.feeding import Feed, shared_readers
from gateway.live.tail.frames import DoneFrame, DoneReason, StartFrame, StopFrame
from gateway.live.tail.outbox import Outbox
from gateway.live.tail.reader import Begin, at_places, from_end, since
from gateway.live.tail.viewer import Viewer
from gateway.problems import FORBIDDEN, ProblemError, find_problem

PROGRESS_SECONDS: Final = 1.0
INTERNAL: Final = 1011

_log = logging.getLogger(__name__)


class TailConsumer(LiveSocket):
    """One socket of `/ws/v1/tail`."""

    decoders: ClassVar = {"start": msgspec.json.Decoder(StartFrame), "stop": msgspec.json.Decoder(StopFrame)}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._running: asyncio.Task[None] | None = None

    @property
    def connections(self) -> Connections:
        """The clients of the clusters."""
        connections: Connections = self.scope["connections"]
        return connections

    async def handle_frame(self, frame: StartFrame | StopFrame) -> None:
        """Begin a tail, or end it."""
        if isinstance(frame, StopFrame):
            await self._end("stopped")
            return
        begin = _begin(frame)
        frame.filter.check()
        await self._check(frame)
        await self._end("replaced")
        self._running = asyncio.create_task(self._run(frame, begin), name="tail")

    async def disconnect(self, code: int) -> None:
        """End the tail."""
        await self._cancel()

    async def _check(self, wanted: StartFrame) -> None:
        """Raise FORBIDDEN, or what an unknown cluster or topic is answered with.

        A name server that does not answer is no reason to refuse: the frames tell.
        """
        for topic in wanted.topics:
            self.principal.require("read", Resource("topic", topic))
            if wanted.filter.reads_content and not self._shows_bodies(topic):
                detail = f"A filter by text, property, field or SQL needs the right to read the bodies of {topic!r}."
                raise ProblemError(FORBIDDEN, detail)
        try:
            session = await self.connections.session(wanted.cluster)
            for topic in wanted.topics:
                await session.routes.get(topic)
        except (ClusterNotFound, TopicNotFound) as error:
            raise find_problem(error) or error from None
        except GantryError:
            return

    def _shows_bodies(self, topic: str) -> bool:
        return self.principal.may("bodies", Resource("topic", topic))

    async def _run(self, wanted: StartFrame, begin: Begin | None) -> None:
        try:
            await self._tail(wanted, begin)
        except* (OSError, RuntimeError):
            # The client has disconnected; the socket hears of it on its own.
            _log.debug("tail: a frame could not be sent", exc_info=True)
        except* Exception:  # noqa: BLE001 - the top of a task
            _log.exception("tail of %s failed", ", ".join(wanted.topics))
            await self.close(INTERNAL, "The tail failed; the log of the gateway says why.")

    async def _tail(self, wanted: StartFrame, begin: Begin | None) -> None:
        outbox = Outbox()
        viewer = Viewer(wanted, shows_bodies=self._shows_bodies, outbox=outbox)
        readers = shared_readers(self.connections)
        feed = Feed(viewer, readers, wanted.cluster, list(dict.fromkeys(wanted.topics)), begin)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(feed.run(), name="tail feed")
            tasks.create_task(_report(viewer), name="tail progress")
            while True:
                await self.send_frame(await outbox.get())

    async def _end(self, reason: DoneReason) -> None:
        if self._running is not None:
            await self._cancel()
            await self.send_frame(DoneFrame(reason=reason))

    async def _cancel(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            running.cancel()
            with suppress(asyncio.CancelledError):
                await running


async def _report(viewer: Viewer) -> None:
    while True:
        await asyncio.sleep(PROGRESS_SECONDS)
        viewer.report()


def _begin(wanted: StartFrame) -> Begin | None:
    """Return where its readers begin; None: with what is new, by the shared readers."""
    begin: Begin | None = None
    if wanted.begin != "now":
        begin = since(_moment(wanted.begin))
    if wanted.resume is not None:
        begin = at_places(places.read(wanted.resume), begin or from_end)
    return begin


def _moment(text: str) -> int:
    try:
        return int(read_moment(text).timestamp() * 1000)
    except NoMoment:
        fault = f"`from` is now, or a moment with a time zone such as {EXAMPLE}; not {text!r}."
        raise invalid("#/from", fault) from None
