"""Scanning a topic by filter: a page as JSON, or matches and progress as they come in JSON Lines."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

from asgiref.sync import sync_to_async
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request

from broker_core.client.admin import Admin
from broker_core.errors import GantryError
from console.accounts.permissions import needs, require
from console.accounts.rights import Resource
from console.clusters.connections import admin_on_loop, ask
from console.json_body import ExactJsonParser
from console.shapes import serializer_of
from gateway.control.cluster_view import ClusterScopedView
from gateway.control.message_shapes import ReadMessage, read_message_of, slaves_shown
from gateway.control.messages import missing_of
from gateway.control.scan import Block, Progress, Wanted, scan
from gateway.control.scan_limits import SECONDS, give_back, take_place
from gateway.control.scan_request import ScanSerializer, cursor_of, wanted_of
from gateway.control.scan_shapes import (
    EndLine,
    ErrorLine,
    MatchLine,
    ProgressLine,
    ScanPage,
    scanned_of,
)
from gateway.data.schemas import encode
from gateway.problem_views import problem_of
from gateway.problems import internal

LINES: Final = "application/x-ndjson"


class LinesRenderer(BaseRenderer):
    """Lets a request accept JSON Lines; the answer is streamed, not rendered."""

    media_type = LINES
    format = "ndjson"


class ScanView(ClusterScopedView):
    """A scan of a topic."""

    permission_classes = (needs("read"),)
    resource_argument = "topic"
    renderer_classes = (JSONRenderer, LinesRenderer)
    parser_classes = (ExactJsonParser,)
    answer_ms = 0

    @extend_schema(
        operation_id="scanMessages",
        tags=["messages"],
        request=ScanSerializer,
        responses={(200, "application/json"): serializer_of(ScanPage), (200, LINES): OpenApiTypes.STR},
    )
    def post(self, request: Request, cluster: str, topic: str) -> HttpResponseBase:
        """Find messages of a topic by tag, key, property, text, JSON field or SQL92, newest first.

        With `Accept: application/x-ndjson` the matches are sent as they are found, with the progress between them and
        an `end` or `error` as the last line. A scan ends when its client disconnects.
        """
        form = ScanSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        values = form.validated_data
        wanted = replace(wanted_of(topic, values), with_slaves=True)
        if values["bodies"] or wanted.filter.reads_contents:
            require(request, "bodies", Resource("topic", topic))
        wanted_scan = _Scan(cluster, wanted, values)
        take_place()
        try:
            if request.accepted_renderer.media_type == LINES:
                self.ask(lambda admin: admin.topics.get(topic))
                return _streamed(wanted_scan)
            items, last = ask(cluster, wanted_scan.read, seconds=SECONDS)
        except BaseException:
            give_back()
            raise
        give_back()
        return HttpResponse(encode(_page_of(items, wanted_scan.end_of(last))), content_type="application/json")


class _Scan:
    """One scan, and how it is shown."""

    def __init__(
        self,
        cluster: str,
        wanted: Wanted,
        values: dict[str, Any],
    ) -> None:
        self._cluster = cluster
        self._wanted = wanted
        self._values = values
        self._shape = partial(read_message_of, bodies=values["bodies"])

    async def read(self, admin: Admin) -> tuple[list[ReadMessage], Block]:
        """Return all matches at once, and the last block."""
        items: list[ReadMessage] = []
        async for block in scan(admin, self._wanted):
            items += map(self._shape, block.matches)
        return items, block

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield the lines of the answer."""
        progress = Progress()
        try:
            async for block in scan(await admin_on_loop(self._cluster), self._wanted):
                progress = block.progress
                shown = [encode(MatchLine(message=self._shape(each))) for each in block.matches]
                shown.append(
                    encode(
                        ProgressLine(scanned=scanned_of(progress))
                        if block.end is None
                        else await sync_to_async(self.end_of)(block)
                    )
                )
                yield b"\n".join(shown) + b"\n"
        except GantryError as error:
            problem = problem_of(error) or internal("")
            cursor = cursor_of(self._wanted.topic, self._values, progress.positions)
            yield encode(ErrorLine(code=problem.kind.code, detail=problem.detail, next_cursor=cursor)) + b"\n"

    def end_of(self, block: Block) -> EndLine:
        """Return how it ended; reads the database."""
        assert block.end is not None
        progress, topic = block.progress, self._wanted.topic
        missing = missing_of(self._cluster, topic, progress.asked, progress.failed, queue_id=self._wanted.queue_id)
        return EndLine(
            end=block.end,
            next_cursor=cursor_of(topic, self._values, progress.positions),
            complete=block.end == "end" and not missing and not progress.slaves,
            missing=missing,
            from_slaves=slaves_shown(progress.slaves),
            scanned=scanned_of(progress),
        )


class _Lines:
    """The lines of an answer; its slot is free when Django closes it, read to the end or not."""

    def __init__(self, wanted: _Scan) -> None:
        self._wanted = wanted

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._wanted.lines()

    def close(self) -> None:
        """Free the slot."""
        give_back()


def _streamed(wanted: _Scan) -> StreamingHttpResponse:
    response = StreamingHttpResponse(_Lines(wanted), content_type=LINES)
    response["X-Accel-Buffering"] = "no"
    return response


def _page_of(items: list[ReadMessage], end: EndLine) -> ScanPage:
    return ScanPage(
        items=items,
        next_cursor=end.next_cursor,
        end=end.end,
        complete=end.complete,
        missing=list(end.missing),
        from_slaves=list(end.from_slaves),
        scanned=end.scanned,
    )
