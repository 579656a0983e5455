"""Dead letters of a group as a file, streamed: CSV or JSON Lines."""

from __future__ import annotations

import csv
import io
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final

import msgspec
from django.http import StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import APIException
from rest_framework.renderers import BaseRenderer, JSONRenderer
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
from gateway.control.message_shapes import body_of
from gateway.control.messages import missing_of
from gateway.data.schemas import encode

CSV: Final = "text/csv"
LINES: Final = "application/x-ndjson"
FORMATS: Final = {"csv": CSV, "jsonl": LINES}
AT_ONCE: Final = 2
"""Exports of one process: each reads messages on the loop that serves producers and consumers."""
_BLOCK: Final = 200
_COLUMNS: Final = (
    "stored_at", "message_id", "offset_id", "broker", "queue_id", "queue_offset", "origin_topic", "origin_message_id",
    "keys", "tag", "cause", "cause_read_from", "reconsume_times", "size_bytes", "damage",
)  # fmt: skip
_OF_BODIES: Final = ("body_encoding", "body")
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_slots = threading.BoundedSemaphore(AT_ONCE)

Row = dict[str, object]


class TooManyExports(APIException):
    """As many exports as are allowed run in this process."""

    status_code = 429
    default_code = "rate_limited"
    default_detail = f"{AT_ONCE} exports run at the moment, which is the limit; try again in a few seconds."
    wait = 5


class CsvRenderer(BaseRenderer):
    """Lets a request accept CSV; the answer is streamed, not rendered."""

    media_type = CSV
    format = "csv"


class LinesRenderer(CsvRenderer):
    """Lets a request accept JSON Lines."""

    media_type = LINES
    format = "jsonl"


class DeadLetterExportView(GroupOfDeadLettersView):
    """The dead letters of a group as a file."""

    renderer_classes = (JSONRenderer, CsvRenderer, LinesRenderer)

    @extend_schema(
        operation_id="exportDeadLetters",
        tags=["dead letters"],
        parameters=[
            OpenApiParameter("as", str, enum=list(FORMATS), default="csv"),
            OpenApiParameter("bodies", bool, default=False, description="With the bodies."),
            *FILTERS,
        ],
        responses={(200, CSV): OpenApiTypes.STR, (200, LINES): OpenApiTypes.STR},
    )
    def get(self, request: Request, cluster: str, group: str) -> HttpResponseBase:
        """Download dead letters of a group, the newest first; the connection breaks if a broker fails meanwhile.

        The header `Gantry-Complete` is `false` if a known broker that may have some does not answer.
        """
        form, bodies = _choice(request, "as", FORMATS, "csv"), _choice(request, "bodies", ("false", "true"), "false")
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
        if not _slots.acquire(blocking=False):
            raise TooManyExports
        export = _Export(cluster, topic, wanted, has_bodies=bodies == "true", exists=bool(asked))
        answer = StreamingHttpResponse(_Streamed(export.csv if form == "csv" else export.lines), FORMATS[form])
        answer["Content-Disposition"] = f'attachment; filename="dead-letters-{group}.{form}"'
        answer["Gantry-Complete"] = "false" if missing else "true"
        answer["X-Accel-Buffering"] = "no"
        return answer


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
        yield _csv([self._columns])
        async for block in self._blocks():
            yield _csv([[_cell(row[name]) for name in self._columns] for row in block])

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
                end=2**63 - 1 if self._wanted.end_ms is None else self._wanted.end_ms,
                limit=_BLOCK,
                positions=positions,
            )
            for error in page.failed.values():
                raise error
            positions = page.positions
            block = [self._row(each) for each in page.messages if self._wanted.chooses(each.message)]
            if block:
                yield block


class _Streamed:
    """The parts of an answer; its slot is free when Django closes it, read to the end or not."""

    def __init__(self, parts: Callable[[], AsyncIterator[bytes]]) -> None:
        self._parts = parts

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._parts()

    def close(self) -> None:
        """Free the slot."""
        _slots.release()


def _choice(request: Request, name: str, allowed: Sequence[str] | dict[str, str], usual: str) -> str:
    word = request.query_params.get(name, usual).lower()
    if word not in allowed:
        raise serializers.ValidationError({name: f"must be {' or '.join(allowed)}"})
    return word


def _row(placed: PlacedMessage) -> Row:
    shown = msgspec.to_builtins(dead_letter_of(placed))
    return {name: shown[name] for name in _COLUMNS}


def _row_with_body(placed: PlacedMessage) -> Row:
    body = body_of(placed.message)
    # A body of JSON stays as it was stored; text and base64 are strings of JSON.
    text = body.text if body.text is not None else msgspec.json.decode(body.data, type=str)
    return _row(placed) | {"body_encoding": body.encoding, "body": text}


def _csv(rows: Sequence[Sequence[object]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


def _cell(value: object) -> object:
    text = " ".join(map(str, value)) if isinstance(value, list) else value
    return f"'{text}" if isinstance(text, str) and text.startswith(_FORMULA) else text
