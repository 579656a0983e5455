"""Messages: search by key through the index files, one by id, by time, by queue and offset."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.admin import Admin
from broker_core.client.admin.messages import SearchFigures
from broker_core.client.admin.placed import BrowsePage, PlacedMessage
from broker_core.client.admin.topics import Topic
from broker_core.client.errors import TopicNotFound, Unreachable
from broker_core.clock import now_ms
from broker_core.errors import GantryError
from broker_core.protocol.bodies import MessageQueue
from console.accounts.permissions import allows, require
from console.accounts.rights import Resource
from console.clusters.memory import RememberedBroker, remembered
from console.clusters.reasons import reason_of
from console.errors import Fault, NotServed
from console.fields import moment
from console.lag import current
from console.lag.shapes import MissingBroker
from console.moments import rfc3339
from console.paging import PAGE_PARAMETERS, cursor_of, limit_of, make_cursor
from console.query import flag_of, number_of
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import ClusterScopedView, TopicInQueryView, moment_of
from gateway.control.message_shapes import (
    Deliveries,
    Delivery,
    MessageDetail,
    QueuePage,
    ReadFromSlave,
    Search,
    Searched,
    Verdict,
    detail_of,
    read_message_of,
    slaves_shown,
    summary_of,
)
from gateway.control.parked import absence_of
from gateway.control.search import Found, newer_page, search_page
from gateway.data.schemas import encode

_NOT_LISTED: Final = "it is known, but no name server lists it for this topic"
_DAY_MS: Final = 24 * 3600 * 1000
DEFAULT_SPAN_MS: Final = 3 * _DAY_MS
FROM = OpenApiParameter("from", str, description="Stored at this moment or after it (RFC 3339).")
TO = OpenApiParameter("to", str, description="Stored before this moment (RFC 3339).")
TOPIC = OpenApiParameter("topic", str, required=True)


class MessageSearchView(TopicInQueryView):
    """Search by key."""

    @extend_schema(
        operation_id="searchMessages",
        tags=["messages"],
        parameters=[TOPIC, OpenApiParameter("key", str, required=True), FROM, TO, *PAGE_PARAMETERS],
        responses=serializer_of(Search),
    )
    def get(self, request: Request, cluster: str) -> Response:
        """Find messages by key through the index files, the newest first; by default in the last three days."""
        topic, key = needed(request, "topic"), needed(request, "key")
        cursor = cursor_of(request)
        begin, end, upper, place = cursor or first_page(request)
        limit = limit_of(request)
        started = time.perf_counter()

        async def question(admin: Admin) -> Found:
            beside = None if place is None else (place[0], place[1], place[2])
            if upper is None and beside is not None:
                return await newer_page(admin, topic, key, end=end, before=beside, limit=limit)
            return await search_page(
                admin, topic, key, begin=begin, upper=upper, after=beside, limit=limit, with_slaves=True
            )

        try:
            found = self.ask(question)
        except (TopicNotFound, Unreachable):
            # Missing brokers may have the topic; the answer then says that nothing was searched.
            if not missing_of(cluster, topic, ()):
                raise
            found = Found()
        silent = {found.asked.get(address, address): error for address, error in found.failed.items()}
        missing = missing_of(cluster, topic, found.asked.values(), silent, names=found.asked)
        is_whole = found.complete and not missing
        shown = Search(
            verdict=_verdict(found, is_whole),
            complete=is_whole,
            missing=missing,
            from_slaves=slaves_shown(found.slaves),
            items=[summary_of(each) for each in found.messages],
            next_cursor=None if found.next_start is None else make_cursor(request, [begin, end, *found.next_start]),
            prev_cursor=None
            if cursor is None or found.newer is None
            else make_cursor(request, [begin, end, None, found.newer]),
            searched=searched_of(found.figures or SearchFigures(), begin, end, started),
        )
        return Response(as_json(shown))


class MessageView(TopicInQueryView):
    """One message."""

    @extend_schema(
        operation_id="getMessage", tags=["messages"], parameters=[TOPIC], responses=serializer_of(MessageDetail)
    )
    def get(self, request: Request, cluster: str, message_id: str) -> HttpResponse:
        """Return a message by its unique id or offset id."""
        topic = needed(request, "topic")
        hidden = (
            None
            if allows(request, "bodies", Resource("topic", topic))
            else f"This needs the right 'bodies' on {topic!r}."
        )
        found = detail_of(found_message(self, topic, message_id), hidden=hidden)
        return HttpResponse(encode(found), content_type="application/json")


class DeliveriesView(TopicInQueryView):
    """Who has consumed a message."""

    @extend_schema(
        operation_id="listMessageDeliveries",
        tags=["messages"],
        parameters=[TOPIC],
        responses=serializer_of(Deliveries),
    )
    def get(self, request: Request, cluster: str, message_id: str) -> Response:
        """Return for each group of the topic that the caller may read whether it has consumed the message."""
        placed = found_message(self, needed(request, "topic"), message_id)
        deliveries = self.ask(lambda admin: admin.messages.deliveries(placed))
        shown = [
            Delivery(each.group, each.state, each.behind)
            for each in deliveries
            if allows(request, "read", Resource("group", each.group))
        ]
        return Response(as_json(Deliveries(shown)))


class QueueMessagesView(ClusterScopedView):
    """The messages of a queue by offset."""

    resource_argument = "topic"

    @extend_schema(
        operation_id="readQueue",
        tags=["messages"],
        parameters=[
            OpenApiParameter("offset", int, required=True),
            OpenApiParameter("broker", str, description="Name of the broker; needed where several have the queue."),
            OpenApiParameter("bodies", bool, description="Whether the messages have body and properties."),
            PAGE_PARAMETERS[0],
        ],
        responses=serializer_of(QueuePage),
    )
    def get(self, request: Request, cluster: str, topic: str, queue_id: int) -> HttpResponse:
        """Return messages of a queue from an offset on, the oldest first; no group is involved.

        A queue has its number on each broker: where several have it, `broker` says which one is meant.
        """
        offset = number_of(request, "offset", None)
        if offset is None:
            raise serializers.ValidationError({"offset": "is required"})
        limit, bodies = limit_of(request), flag_of(request, "bodies")
        if bodies:
            require(request, "bodies", Resource("topic", topic))
        known, wanted = remembered(cluster).brokers, request.query_params.get("broker") or None

        async def question(admin: Admin) -> tuple[str, BrowsePage]:
            found = await admin.topics.get(topic)
            broker = queue_holder(found, queue_id, wanted, known)
            return broker, await admin.messages.page(
                MessageQueue(topic, broker, queue_id), offset, limit, with_slaves=True
            )

        broker, page = self.ask(question)
        if offset < page.min_offset:
            raise OffsetGone(page.min_offset, page.max_offset)
        slave = page.slaves.get(broker)
        shown = QueuePage(
            broker=broker,
            from_slave=None if slave is None else ReadFromSlave.of(slave),
            items=[read_message_of(each, bodies=bodies) for each in page.messages],
            # Behind the end nothing is stored yet: one goes on at the end, and misses none that come there.
            next_offset=min(next(iter(page.positions.values()), offset), page.max_offset),
            min_offset=page.min_offset,
            max_offset=page.max_offset,
        )
        return HttpResponse(encode(shown), content_type="application/json")


class OffsetGone(exceptions.APIException):
    """The offset is below the first one that the queue still has."""

    status_code = 410
    default_code = "offset_gone"
    default_detail = "The offset is no longer stored."

    def __init__(self, min_offset: int, max_offset: int) -> None:
        super().__init__(f"The queue holds offsets from {min_offset} to {max_offset}.")


class SearchCut(GantryError):
    """A broker has more messages of a key than it returns, and no time at which the search could go on."""

    def __init__(self, topic: str, key: str) -> None:
        super().__init__(f"not all messages of the key {key!r} in topic {topic!r} could be read")


class BodyRangeGone(exceptions.APIException):
    """The body has no bytes in the range."""

    status_code = 416
    default_code = "range_not_satisfiable"

    def __init__(self, size: int) -> None:
        super().__init__(f"The body has {size:,} bytes; the range lies behind them.")


class NotAllSearched(exceptions.APIException):
    """No answering broker has the message; a known broker that may have it was not searched."""

    status_code = 503
    default_code = "broker_unreachable"

    def __init__(self, missing: list[MissingBroker]) -> None:
        reasons = "; ".join(f"{each.broker} was not searched: {each.reason}" for each in missing)
        super().__init__(f"No answering broker has the message. {reasons}.")


def check_queue(topic: Topic, queue_id: int, pointer: str) -> None:
    """Raise NotServed at the pointer if the topic has no queue of this number on any broker."""
    if queue_id >= topic.read_queues:
        fault = f"Topic {topic.name!r} has the queues 0 to {topic.read_queues - 1}."
        raise NotServed([Fault(pointer, "INVALID", fault)])


def queue_holder(topic: Topic, queue_id: int, wanted: str | None, known: Mapping[str, RememberedBroker]) -> str:
    """Return the broker whose queue of this number is meant.

    Raises NotServed if none has it, ValidationError if it is not said which one, or the one that is said has none.
    A `known` broker that no name server lists may have the queue as well.
    """
    counts = {name: config.read_queue_nums for name, config in topic.configs.items()}
    for name, broker in known.items():
        if broker.holds(topic.name):
            counts.setdefault(name, broker.topics[topic.name].read)
    holders = sorted(name for name, count in counts.items() if queue_id < count)
    if not holders:
        check_queue(topic, queue_id, "{queue_id}")
    if wanted is None and len(holders) == 1:
        return holders[0]
    if wanted in holders:
        return wanted
    fault = "say on which one" if wanted is None else f"not on {wanted[:100]!r}"
    has = f"queue {queue_id} of topic {topic.name!r} is on {', '.join(holders)}"
    raise serializers.ValidationError({"broker": f"{has}{':' if wanted is None else ','} {fault}"})


def found_message(view: ClusterScopedView, topic: str, message_id: str) -> PlacedMessage:
    """Return a message by its id; raise NotFound, or NotAllSearched if a broker that may have it did not answer.

    A slave is asked in the place of a master that is away; what that one alone may have is not said to be nowhere.
    """
    try:
        found = view.ask(lambda admin: admin.messages.find(topic, message_id, with_slaves=True))
    except TopicNotFound as error:
        if missing := missing_of(view.cluster, topic, ()):
            raise NotAllSearched(missing) from error
        raise
    if found is None:
        listed = view.ask(lambda admin: admin.topics.get(topic)).brokers
        missing = missing_of(view.cluster, topic, listed)
        if missing:
            raise NotAllSearched(missing)
        raise exceptions.NotFound(absence_of(view, topic, message_id))
    return found


def missing_of(
    cluster: str,
    topic: str | None,
    asked: Iterable[str],
    silent: Mapping[str, GantryError] = MappingProxyType({}),
    *,
    names: Mapping[str, str] = MappingProxyType({}),
    queue_id: int | None = None,
) -> list[MissingBroker]:
    """Return the known brokers that may have messages of the topic (of its queue, of any) and did not return them.

    `asked` are the names of the asked brokers, `silent` the errors of those that did not answer, by name or address,
    and `names` the names of brokers by address, besides those that are known.
    """
    memory = remembered(cluster)
    by_address = {addr: each.name for each in memory.brokers.values() for addr in each.addresses.values()}
    known = {**by_address, **names}
    failed = {known.get(at, at): reason_of(error, known) for at, error in silent.items()}
    overview = current.find_overview(cluster)
    sampled = {each.broker: each for each in (overview.missing if overview else ())}
    gone = [
        sampled.get(each.name) or MissingBroker(broker=each.name, reason=_NOT_LISTED, since=moment(each.last_seen_at))
        for each in memory.missing([*asked, *failed])
        if topic is None or each.may_hold(topic, queue_id)
    ]
    return [MissingBroker(broker=name, reason=why, since=None) for name, why in sorted(failed.items())] + gone


def needed(request: Request, name: str) -> str:
    """Return a parameter that must be there; raise ValidationError."""
    value = request.query_params.get(name, "").strip()
    if not value or len(value) > 1000:
        raise serializers.ValidationError({name: "is required, with at most 1000 characters"})
    return value


def first_page(request: Request) -> tuple[int, int, int, None]:
    """Return the time range of a search, which all its pages share, and the start of the first page."""
    begin, last = times_of(request, DEFAULT_SPAN_MS)
    return begin, last, last, None


def times_of(request: Request, span_ms: int | None = None) -> tuple[int, int]:
    """Return the first and the last ms of the range from `from` to before `to`; raise ValidationError if it has none.

    Without `to` that is the present one, and without `from` the first of `span_ms` before it, if these are given.
    """
    to = moment_of(request, "to", -1)
    last = now_ms() if to < 0 else to - 1
    begin = moment_of(request, "from", 0 if span_ms is None else max(0, last - span_ms))
    if begin > last and to >= 0:
        raise serializers.ValidationError({"to": "must be after from"})
    return begin, last


def _verdict(found: Found, is_whole: bool) -> Verdict:
    if not is_whole:
        return "partial"
    return "match" if found.messages else "no_match"


def searched_of(figures: SearchFigures, begin: int, last: int, started: float) -> Searched:
    """Return the extent of a search from `begin` to `last` (ms), which began at the `perf_counter` time `started`."""
    return Searched(
        index_files=figures.index_files,
        index_files_skipped_by_time=figures.index_files_skipped_by_time,
        entries_visited=figures.entries_visited,
        collisions_dropped=figures.collisions_dropped,
        expired_messages=figures.expired_messages,
        begin=rfc3339(begin),
        to=rfc3339(last + 1),
        elapsed_ms=int((time.perf_counter() - started) * 1000),
    )
