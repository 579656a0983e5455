"""The messages of a topic by time, all of them or those of a tag or filter."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.admin import Admin
from broker_core.client.admin.placed import BrowsePage
from broker_core.client.errors import TopicNotFound, Unreachable
from broker_core.protocol.bodies import MessageQueue
from console.accounts.permissions import require
from console.accounts.rights import Resource
from console.clusters.connections import ask
from console.paging import PAGE_PARAMETERS, cursor_of, limit_of, make_cursor
from console.query import number_of
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import ClusterScopedView
from gateway.control.message_shapes import Browse, slaves_shown, summary_of
from gateway.control.messages import FROM, TO, check_queue, missing_of, times_of
from gateway.control.scan import Positions, Wanted, found_page, read_page
from gateway.control.scan_limits import SECONDS, give_back, take_place
from gateway.filter_text import BadFilter, parse_filter
from gateway.message_filter import BadPath, MessageFilter
from gateway.sql_filter import MOST_OF_READERS, BadSql, parse_sql

MOST_READ: Final = 100_000
"""Messages that one page with a tag or filter looks at."""
_LONGEST: Final = 10_000
QUEUE = OpenApiParameter("queue", {"type": "integer", "minimum": 0, "maximum": 2**31 - 1})
TAG = OpenApiParameter("tag", str, description="Only messages with this tag.")
SQL = OpenApiParameter("sql", str, description="Only what this SQL92 expression over properties selects.")
FILTER = OpenApiParameter(
    "filter", str, description="Only messages that fulfil it, such as `$.amount >= 100 and property.source = web`."
)


class TopicMessagesView(ClusterScopedView):
    """The messages of a topic by time."""

    resource_argument = "topic"
    served_elsewhere = ("POST",)  # by the data plane

    @extend_schema(
        operation_id="browseMessages",
        tags=["messages"],
        parameters=[FROM, TO, QUEUE, TAG, FILTER, SQL, *PAGE_PARAMETERS],
        responses=serializer_of(Browse),
    )
    def get(self, request: Request, cluster: str, topic: str) -> Response:
        """List messages of a topic by store time, the newest first; with `tag`, `filter` or `sql` only what passes.

        A page with one of these ends after 100,000 messages read, whether or not it is full.
        """
        chosen = filter_of(request)
        if chosen is not None and chosen.reads_contents:
            require(request, "bodies", Resource("topic", topic))
        wanted = wanted_of(request, topic, chosen or MessageFilter(), limit=limit_of(request), budget=MOST_READ)
        wanted = replace(wanted, with_slaves=True)
        try:
            page = self._everything(wanted) if chosen is None else self._filtered(wanted)
        except (TopicNotFound, Unreachable):
            if not missing_of(cluster, topic, (), queue_id=wanted.queue_id):
                raise
            page = BrowsePage()
        if page.failed and page.asked == page.failed.keys():
            raise next(iter(page.failed.values()))
        older, newer = _cursors(request, wanted, page)
        shown = Browse(
            items=[summary_of(each) for each in (reversed(page.messages) if wanted.is_forward else page.messages)],
            next_cursor=older,
            prev_cursor=newer,
            missing=missing_of(cluster, topic, page.asked, page.failed, queue_id=wanted.queue_id),
            from_slaves=slaves_shown(page.slaves),
        )
        return Response(as_json(shown))

    def _everything(self, wanted: Wanted) -> BrowsePage:
        async def question(admin: Admin) -> BrowsePage:
            await check_queue_of(admin, wanted)
            return await read_page(admin, wanted, wanted.positions, wanted.limit)

        return self.ask(question)

    def _filtered(self, wanted: Wanted) -> BrowsePage:
        async def question(admin: Admin) -> BrowsePage:
            await check_queue_of(admin, wanted)
            return await found_page(admin, wanted)

        take_place()
        try:
            return ask(self.cluster, question, seconds=SECONDS)
        finally:
            give_back()


async def check_queue_of(admin: Admin, wanted: Wanted) -> None:
    """Raise NotServed if a queue is wanted that the topic does not have."""
    if wanted.queue_id is not None:
        check_queue(await admin.topics.get(wanted.topic), wanted.queue_id, "?queue")


def wanted_of(request: Request, topic: str, chosen: MessageFilter, *, limit: int, budget: int) -> Wanted:
    """Return what the query wants of the topic, from its cursor on; raise ValidationError or CursorGone."""
    begin, last = times_of(request)
    side, positions, finished = cursor_of(request) or ("older", None, [])
    return Wanted(
        topic=topic,
        begin=begin,
        end=last,
        filter=chosen,
        limit=limit,
        budget=budget,
        queue_id=number_of(request, "queue", None, high=2**31 - 1),
        positions=None if positions is None else _positions(topic, positions),
        finished=_positions(topic, finished),
        is_forward=side == "newer",
    )


def _positions(topic: str, places: Iterable[tuple[str, int, int]]) -> Positions:
    return {MessageQueue(topic, name, queue): at for name, queue, at in places}


def _cursor(request: Request, side: str, positions: Positions, finished: Positions) -> str:
    places = [[[queue.broker_name, queue.queue_id, at] for queue, at in each.items()] for each in (positions, finished)]
    return make_cursor(request, [side, *places])


def _cursors(request: Request, wanted: Wanted, page: BrowsePage) -> tuple[str | None, str | None]:
    """Return the cursors of the pages with older and with newer messages."""
    began = None if wanted.positions is None else {**wanted.finished, **wanted.positions}
    ended = {**(began or {}), **page.finished, **page.positions}
    if wanted.is_forward:
        older = _cursor(request, "older", began or {}, {})
        return older, _cursor(request, "newer", ended, {}) if page.positions else None
    finished = {queue: at for queue, at in ended.items() if queue not in page.positions}
    older_page = _cursor(request, "older", page.positions, finished) if page.positions else None
    return older_page, None if began is None else _cursor(request, "newer", began, {})


def filter_of(request: Request) -> MessageFilter | None:
    """Return the filter of the query, None without one; raise ValidationError."""
    tag, text, sql = (request.query_params.get(name, "") for name in ("tag", "filter", "sql"))
    for name, given, most in (("filter", text, _LONGEST), ("sql", sql, MOST_OF_READERS)):
        if len(given) > most:
            raise serializers.ValidationError({name: f"has more than {most:,} characters"})
    if not tag and not text and not sql:
        return None
    try:
        found = parse_filter(text)
    except (BadFilter, BadPath) as error:
        raise serializers.ValidationError({"filter": str(error)}) from None
    if tag and found.tags:
        raise serializers.ValidationError({"tag": "the filter has a condition on the tag already"})
    try:
        compiled = parse_sql(sql) if sql else None
    except BadSql as error:
        raise serializers.ValidationError({"sql": str(error)}) from None
    return replace(found, tags=frozenset([tag]) if tag else found.tags, sql=compiled)
