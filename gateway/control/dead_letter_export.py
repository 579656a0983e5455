"""Dead letters of a group as a file, streamed: CSV or JSON Lines."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final

import msgspec
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request

from broker_core.client.admin.placed import PlacedMessage
from broker_core.client.errors import TopicNotFound, Unreachable
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.dead_letters import DeadLetterFilter
from broker_core.protocol.topics import dead_letter_topic
from console.accounts.permissions import require
from console.accounts.rights import Resource
from console.clusters.connections import admin_on_loop
from gateway.control.dead_letter_shapes import dead_letter_of
from gateway.control.dead_letters import FILTERS, GroupOfDeadLettersView, filter_of
from gateway.control.export_files import (
    AS,
    BODIES,
    CSV,
    LINES,
    CsvRenderer,
    LinesRenderer,
    choice,
    csv_rows,
    form_of,
    streamed_file,
)
from gateway.control.message_shapes import body_of
from gateway.control.messages import missing_of
from gateway.data.schemas import encode

_BLOCK: Final = 200
_COLUMNS: Final = (
    "stored_at", "message_id", "offset_id", "broker", "queue_id", "queue_offset", "origin_topic", "origin_message_id",
    "keys", "tag", "cause", "cause_read_from", "reconsume_times", "size_bytes", "damage",
)  # fmt: skip
_OF_BODIES: Final = ("body_encoding", "body")

Row = dict[str, object]


class DeadLetterExportView(GroupOfDeadLettersView):
    """The dead letters of a group as a file."""

    renderer_classes = (JSONRenderer, CsvRenderer, LinesRenderer)

    @extend_schema(
        operation_id="exportDeadLetters",
        tags=["dead letters"],
        parameters=[
            AS,
            BODIES,
            *FILTERS,
        ],
        responses={(200, CSV): OpenApiTypes.STR, (200, LINES): OpenApiTypes.STR},
    )
    def get(self, request: Request, cluster: str, group: str) -> HttpResponseBase:
        """Download dead letters of a group, the newest first; the connection breaks if a broker fails meanwhile.

        The header `Gantry-Complete` is `false` if a known broker that may have some does not answer.
        """
        form, bodies = form_of(request), choice(request, "bodies", ("false", "true"), "false")
        if bodies == "true":
            require(request, "bodies", Resource("group", group))
        wanted, topic = filter_of(request), dead_letter_topic(group)
        try:
            stats = self.ask(lambda admin: admin.topics.stats(topic))
            asked = {queue.broker_name for queue in stats.queues}
            missing = missing_of(cluster, topic, asked, stats.failed)
        except (TopicNotFound, Unreachable) as error:
            self.check_absence(group, error)
            asked, missing = set(), missing_of(cluster, topic, ())
        export = _Export(cluster, topic, wanted, has_bodies=bodies == "true", exists=bool(asked))
        parts = export.csv if form == "csv" else export.lines
        return streamed_file(parts, f"dead-letters-{group}", form, is_complete=not missing)


class _Export:
    """One export, and how it is written."""

    def __init__(self, cluster: str, topic: str, wanted: DeadLetterFilter, *, has_bodies: bool, exists: bool) -> None:
        self._cluster = cluster
        self._topic = topic
        self._wanted = wanted
        self._exists = exists
        self._row = _row_with_body if has_bodies else _row
        self._columns = (*_COLUMNS, *_OF_BODIES) if has_bodies else _COLUMNS

    async def csv(self) -> AsyncIterator[bytes]:
        """Yield a head and one row for each dead letter; a text that begins like a formula is quoted."""
        yield csv_rows([self._columns])
        async for block in self._blocks():
            yield csv_rows([[row[name] for name in self._columns] for row in block])

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield one line of JSON for each dead letter."""
        async for block in self._blocks():
            yield b"".join(encode(row) + b"\n" for row in block)

    async def _blocks(self) -> AsyncIterator[list[Row]]:
        positions: dict[MessageQueue, int] | None = None
        while self._exists and positions != {}:
            admin = await admin_on_loop(self._cluster)
            page = await admin.messages.browse(
                self._topic,
                begin=self._wanted.begin_ms or 0,
                end=self._wanted.last_ms,
                limit=_BLOCK,
                positions=positions,
            )
            for error in page.failed.values():
                raise error
            positions = page.positions
            block = [self._row(each) for each in page.messages if self._wanted.chooses(each.message)]
            if block:
                yield block


def _row(placed: PlacedMessage) -> Row:
    shown = msgspec.to_builtins(dead_letter_of(placed))
    return {name: shown[name] for name in _COLUMNS}


def _row_with_body(placed: PlacedMessage) -> Row:
    body = body_of(placed.message)
    # A body of JSON stays as it was stored; text and base64 are strings of JSON.
    text = body.text if body.text is not None else msgspec.json.decode(body.data, type=str)
    return _row(placed) | {"body_encoding": body.encoding, "body": text}
