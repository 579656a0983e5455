"""Messages of a topic as a file: those by time, tag and filter, or those of one key; no group is involved."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import msgspec
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from broker_core.client.admin import Admin
from broker_core.client.admin.placed import PlacedMessage
from broker_core.client.errors import TopicNotFound, Unreachable
from console.accounts.permissions import require
from console.accounts.rights import Resource
from console.clusters.connections import admin_on_loop
from console.query import flag_of
from gateway.control.cluster_view import ClusterScopedView, TopicInQueryView
from gateway.control.export_files import (
    AS,
    BODIES,
    CSV,
    LINES,
    CsvRenderer,
    LinesRenderer,
    csv_rows,
    form_of,
    streamed_file,
)
from gateway.control.message_shapes import read_message_of, summary_of
from gateway.control.messages import FROM, TO, TOPIC, SearchCut, first_page, missing_of, needed
from gateway.control.scan import Wanted, scan
from gateway.control.search import Place, search_page
from gateway.control.topic_messages import FILTER, QUEUE, SQL, TAG, check_queue_of, filter_of, wanted_of
from gateway.data.schemas import encode
from gateway.message_filter import MessageFilter

_EVERYTHING: Final = 2**62
_PAGE: Final = 200
_COLUMNS: Final = (
    "stored_at", "message_id", "topic", "broker", "queue_id", "queue_offset", "keys", "tag", "reconsume_times",
    "size_bytes", "damage",
)  # fmt: skip
_OF_BODIES: Final = ("properties", "body_encoding", "body")
_FILE: Final = {(200, CSV): OpenApiTypes.STR, (200, LINES): OpenApiTypes.STR}
Blocks = Callable[[Admin], AsyncIterator[list[PlacedMessage]]]


class _ExportView(ClusterScopedView):
    """Streams messages as a file."""

    renderer_classes = (JSONRenderer, CsvRenderer, LinesRenderer)

    def file(self, request: Request, topic: str, blocks: Blocks, *, queue_id: int | None = None) -> HttpResponseBase:
        """Return the file; raise TopicNotFound, Unreachable or TooManyExports."""
        bodies, form = flag_of(request, "bodies"), form_of(request)
        if bodies:
            require(request, "bodies", Resource("topic", topic))
        try:
            asked = set(self.ask(lambda admin: admin.topics.get(topic)).brokers)
        except (TopicNotFound, Unreachable):
            # Missing brokers may have the topic: the file is then empty, and says that it is not complete.
            if not missing_of(self.cluster, topic, (), queue_id=queue_id):
                raise
            asked = set()
        missing = missing_of(self.cluster, topic, asked, queue_id=queue_id)
        export = _Export(self.cluster, blocks if asked else _nothing, has_bodies=bodies)
        parts = export.csv if form == "csv" else export.lines
        return streamed_file(parts, f"messages-{topic}", form, is_complete=not missing)


class TopicExportView(_ExportView):
    """The messages of a topic as a file."""

    resource_argument = "topic"

    @extend_schema(
        operation_id="exportMessages",
        tags=["messages"],
        parameters=[FROM, TO, QUEUE, TAG, FILTER, SQL, AS, BODIES],
        responses=_FILE,
    )
    def get(self, request: Request, cluster: str, topic: str) -> HttpResponseBase:
        """Download messages of a topic by time, tag and filter, the newest first, in any number.

        The header `Gantry-Complete` is `false` if a known broker that may have some is gone; the connection breaks if
        one fails meanwhile.
        """
        chosen = filter_of(request) or MessageFilter()
        if chosen.reads_contents:
            require(request, "bodies", Resource("topic", topic))
        wanted = wanted_of(request, topic, chosen, limit=_EVERYTHING, budget=_EVERYTHING)
        if wanted.queue_id is not None:
            self.ask(lambda admin: check_queue_of(admin, wanted))
        return self.file(request, topic, lambda admin: _scanned(admin, wanted), queue_id=wanted.queue_id)


class KeyExportView(_ExportView, TopicInQueryView):
    """The messages of a key as a file."""

    @extend_schema(
        operation_id="exportSearch",
        tags=["messages"],
        parameters=[TOPIC, OpenApiParameter("key", str, required=True), FROM, TO, AS, BODIES],
        responses=_FILE,
    )
    def get(self, request: Request, cluster: str) -> HttpResponseBase:
        """Download all messages of a key, found through the index files, the newest first; by default of three days."""
        topic, key = needed(request, "topic"), needed(request, "key")
        begin, end, _, _ = first_page(request)
        return self.file(request, topic, lambda admin: _searched(admin, topic, key, begin, end))


class _Export:
    """One export, and how it is written."""

    def __init__(self, cluster: str, blocks: Blocks, *, has_bodies: bool) -> None:
        self._cluster = cluster
        self._blocks = blocks
        self._shape: Callable[[PlacedMessage], Any] = _whole if has_bodies else summary_of
        self._row = _row_with_body if has_bodies else _row
        self._columns = (*_COLUMNS, *_OF_BODIES) if has_bodies else _COLUMNS

    async def csv(self) -> AsyncIterator[bytes]:
        """Yield a head and one row for each message."""
        yield csv_rows([self._columns])
        async for block in self._blocks(await admin_on_loop(self._cluster)):
            yield csv_rows([self._row(each) for each in block])

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield one line of JSON for each message; a body of JSON stays as it was stored."""
        async for block in self._blocks(await admin_on_loop(self._cluster)):
            yield b"".join(encode(self._shape(each)) + b"\n" for each in block)


async def _nothing(_: Admin) -> AsyncIterator[list[PlacedMessage]]:
    none: tuple[list[PlacedMessage], ...] = ()
    for block in none:
        yield block


async def _scanned(admin: Admin, wanted: Wanted) -> AsyncIterator[list[PlacedMessage]]:
    async for block in scan(admin, wanted):
        for error in block.progress.failed.values():
            raise error
        yield block.matches


async def _searched(admin: Admin, topic: str, key: str, begin: int, end: int) -> AsyncIterator[list[PlacedMessage]]:
    at: tuple[int, Place | None] = (end, None)
    while True:
        page = await search_page(admin, topic, key, begin=begin, upper=at[0], after=at[1], limit=_PAGE)
        for error in page.failed.values():
            raise error
        yield page.messages
        if page.next_start is None:
            break
        at = page.next_start
    if not page.complete:
        raise SearchCut(topic, key)


def _whole(placed: PlacedMessage) -> Any:
    return read_message_of(placed, bodies=True)


def _row(placed: PlacedMessage) -> list[object]:
    shown = msgspec.to_builtins(summary_of(placed))
    return [shown[name] for name in _COLUMNS]


def _row_with_body(placed: PlacedMessage) -> list[object]:
    whole = read_message_of(placed, bodies=True)
    assert whole.body is not None
    # A body of JSON stays as it was stored; text and base64 are strings of JSON.
    text = whole.body.text if whole.body.text is not None else msgspec.json.decode(whole.body.data, type=str)
    return [*_row(placed), encode(whole.properties).decode(), whole.body.encoding, text]
