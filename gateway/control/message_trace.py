"""What clients traced of one message: found in the trace topic by the message's id, and joined to calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, NamedTuple

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.admin.messages import SearchResult
from broker_core.client.admin.placed import PlacedMessage
from broker_core.client.errors import TopicNotFound, Unreachable
from broker_core.protocol.properties import RETRY_TOPIC, split_keys
from broker_core.protocol.topics import TRACE_TOPIC, is_topic_name
from broker_core.protocol.traces import (
    MESSAGE_TYPES,
    RECORD_END,
    DeliveredTrace,
    EndedTrace,
    HandledTrace,
    KnownTrace,
    RecalledTrace,
    SentTrace,
    UnreadTrace,
    concerns,
    decode_traces,
    outcome_of,
)
from console.accounts.permissions import allows, require
from console.accounts.rights import EVERYTHING, Resource
from console.lag.shapes import MissingBroker
from console.moments import rfc3339
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import TopicInQueryView
from gateway.control.message_shapes import slaves_shown
from gateway.control.messages import TOPIC, NotAllSearched, found_message, missing_of, needed
from gateway.control.trace_shapes import (
    MessageTrace,
    TracedConsumption,
    TracedEnd,
    TracedRecall,
    TracedSend,
    TraceState,
)

_CLOCKS_MS: Final = 60_000
"""How far the clocks of two brokers may differ: the message may be on one, its traces on another."""
_MOST_BYTES: Final = 4 * 1024 * 1024
_MOST_READ: Final = 20_000
"""So many bytes and records of trace messages are read: whoever may write to the topic can make them as large as
messages are, and of as many records as they have bytes."""
_MOST_RECORDS: Final = 1_000
"""So many records of one message are told: of a hundred calls each way in five groups."""
_TRACE_TOPIC: Final = OpenApiParameter("trace_topic", str, default=TRACE_TOPIC, description="Where clients trace to.")


class MessageTraceView(TopicInQueryView):
    """The traces of a message."""

    @extend_schema(
        operation_id="getMessageTrace",
        tags=["messages"],
        parameters=[TOPIC, _TRACE_TOPIC],
        responses=serializer_of(MessageTrace),
    )
    def get(self, request: Request, cluster: str, message_id: str) -> Response:
        """Return what clients traced of a message, of consumers those that the caller may read."""
        topic, trace_topic = needed(request, "topic"), _trace_topic_of(request)
        placed, gone = self._find(topic, message_id)
        unique_id = message_id if placed is None else placed.message.message_id
        begin = 0 if placed is None else max(0, placed.message.store_timestamp - _CLOCKS_MS)
        searched = self._search(trace_topic, unique_id, begin)
        topics = {topic} | _origin_of(request, placed)
        found = _Found.of(searched.result.messages if searched.result else (), unique_id, topics)
        if placed is None and not found.sent and gone is not None:
            raise gone  # also an id of another topic's message: who may read that is not asked here
        calls = [each for each in found.calls() if _may_see(request, each)]
        shown = MessageTrace(
            message_id=unique_id,
            trace_topic=trace_topic,
            state=searched.state(found),
            complete=searched.is_complete and found.is_complete,
            missing=searched.missing,
            from_slaves=slaves_shown(searched.result.slaves if searched.result else {}),
            sent=[_send_of(each) for each in found.sent],
            consumed=[_consumption_of(each) for each in calls],
            ended=[_end_of(each) for each in found.ended],
            recalled=[_recall_of(each) for each in found.recalled],
            hidden=len(found.calls()) - len(calls),
            unread=found.unread,
        )
        return Response(as_json(shown))

    def _find(self, topic: str, message_id: str) -> tuple[PlacedMessage | None, Exception | None]:
        """Return the message, or why it is not there: its traces may be there still, and on a broker that answers."""
        try:
            return found_message(self, topic, message_id), None
        except (exceptions.NotFound, NotAllSearched, Unreachable) as error:
            return None, error

    def _search(self, trace_topic: str, message_id: str, begin: int) -> _Searched:
        try:
            result = self.ask(
                lambda admin: admin.messages.search(trace_topic, message_id, begin=begin, with_slaves=True)
            )
        except (TopicNotFound, Unreachable) as error:
            missing = missing_of(self.cluster, trace_topic, ())
            if isinstance(error, Unreachable) and not missing:
                raise
            return _Searched(None, missing)
        silent = {result.asked.get(address, address): error for address, error in result.failed.items()}
        missing = missing_of(self.cluster, trace_topic, result.asked.values(), silent, names=result.asked)
        return _Searched(result, missing)


class _Searched(NamedTuple):
    """A search of the trace topic."""

    result: SearchResult | None
    """None if no broker that answers has the topic."""
    missing: list[MissingBroker]

    @property
    def is_complete(self) -> bool:
        return not self.missing and (self.result is None or self.result.complete)

    def state(self, found: _Found) -> TraceState:
        if found:
            return "traced"
        if not self.is_complete or not found.is_complete:
            return "unknown"
        return "no_topic" if self.result is None else "none"


class _Traced(NamedTuple):
    """A record, and the address of the client that wrote it."""

    trace: Any
    client: str


@dataclass(slots=True)
class _Call:
    """The records of one call of a listener."""

    before: _Traced | None = None
    after: _Traced | None = None

    @property
    def group(self) -> str | None:
        groups = [each.trace.group for each in (self.before, self.after) if each is not None]
        return next((group for group in groups if group), None)

    @property
    def client(self) -> str:
        return next(each.client for each in (self.before, self.after) if each is not None)

    @property
    def time(self) -> int:
        """When it began, or else ended; 0 if neither is known."""
        times = [each.trace.timestamp for each in (self.before, self.after) if each is not None]
        return next((time for time in times if time), 0)


@dataclass(slots=True)
class _Found:
    """The records of one message, each kind in the order of time."""

    sent: list[_Traced] = field(default_factory=list)
    ended: list[_Traced] = field(default_factory=list)
    recalled: list[_Traced] = field(default_factory=list)
    by_request: dict[str, _Call] = field(default_factory=dict)
    unread: int = 0
    is_complete: bool = True

    def __bool__(self) -> bool:
        return bool(self.sent or self.ended or self.recalled or self.by_request)

    @classmethod
    def of(cls, messages: Iterable[PlacedMessage], message_id: str, topics: Set[str | None]) -> _Found:
        found = cls()
        # A trace message whose answer was lost is sent again: each record counts once.
        known = dict[tuple[KnownTrace, str], None]()
        left_bytes, left_records = _MOST_BYTES, _MOST_READ
        for each in sorted(messages, key=lambda one: one.message.store_timestamp):
            left_bytes -= len(each.message.body)
            left_records -= each.message.body.count(RECORD_END.encode())
            if left_bytes < 0 or left_records < 0:
                found.is_complete = False
                break
            client = _address_of(each.message.born_host)
            for trace in decode_traces(each.message.body.decode(errors="replace")):
                if isinstance(trace, UnreadTrace):
                    found.unread += 1
                elif concerns(trace, message_id):
                    known[trace, client] = None
        found.is_complete = found.is_complete and len(known) <= _MOST_RECORDS
        for trace, client in islice(known, _MOST_RECORDS):
            found._add(_Traced(trace, client), topics)
        for traced in (found.sent, found.ended, found.recalled):
            traced.sort(key=lambda one: one.trace.timestamp)
        return found

    def calls(self) -> list[_Call]:
        return sorted(self.by_request.values(), key=lambda call: call.time)

    def _add(self, traced: _Traced, topics: Set[str | None]) -> None:
        trace = traced.trace
        match trace:
            case DeliveredTrace():
                self.by_request.setdefault(trace.request_id, _Call()).before = traced
            case HandledTrace():
                self.by_request.setdefault(trace.request_id, _Call()).after = traced
            case SentTrace() if trace.topic in topics:
                self.sent.append(traced)
            case EndedTrace() if trace.topic is None or trace.topic in topics:
                self.ended.append(traced)
            case RecalledTrace() if trace.topic in topics:
                self.recalled.append(traced)


def _may_see(request: Request, call: _Call) -> bool:
    """Return whether the caller may read the call's group; of one without a name, whoever may read them all."""
    return allows(request, "read", EVERYTHING if call.group is None else Resource("group", call.group))


def _trace_topic_of(request: Request) -> str:
    """Return the trace topic; one of the caller's choice is a topic that it must be allowed to read."""
    name: str = request.query_params.get("trace_topic", TRACE_TOPIC)
    if not is_topic_name(name):
        raise serializers.ValidationError({"trace_topic": "is not the name of a topic"})
    if name != TRACE_TOPIC:
        require(request, "read", Resource("topic", name))
    return name


def _origin_of(request: Request, placed: PlacedMessage | None) -> set[str]:
    """Return the topic that a retry or dead letter was sent to, if the caller may read it."""
    origin = None if placed is None else placed.message.properties.get(RETRY_TOPIC)
    return {origin} if origin and allows(request, "read", Resource("topic", origin)) else set()


def _address_of(host: str) -> str:
    """Return a host without its port, which belongs to the connection that carried the trace."""
    return host.rpartition(":")[0].strip("[]")


def _word(words: Sequence[str], number: int) -> Any:
    return words[number] if 0 <= number < len(words) else None


def _send_of(traced: _Traced) -> TracedSend:
    trace: SentTrace = traced.trace
    return TracedSend(
        at=rfc3339(trace.timestamp),
        cost_ms=trace.cost_ms,
        group=trace.group,
        client=trace.client_host or traced.client,
        type=_word(MESSAGE_TYPES, trace.message_type),
        success=trace.is_success,
        store_host=trace.store_host,
        offset_id=trace.offset_id,
        tag=trace.tags,
        keys=split_keys(trace.keys),
        body_bytes=trace.body_bytes,
    )


def _consumption_of(call: _Call) -> TracedConsumption:
    before: DeliveredTrace | None = None if call.before is None else call.before.trace
    after: HandledTrace | None = None if call.after is None else call.after.trace
    ended_at = None if after is None or after.timestamp is None else rfc3339(after.timestamp)
    return TracedConsumption(
        group=call.group or "",
        client=call.client,
        started_at=None if before is None else rfc3339(before.timestamp),
        ended_at=ended_at,
        cost_ms=None if after is None else after.cost_ms,
        success=None if after is None else after.is_success,
        outcome=None if after is None else outcome_of(after),  # type: ignore[arg-type]  # one of OUTCOMES
        tries=None if before is None else before.retry_times,
    )


def _end_of(traced: _Traced) -> TracedEnd:
    trace: EndedTrace = traced.trace
    return TracedEnd(
        at=rfc3339(trace.timestamp),
        group=trace.group,
        client=traced.client,
        state=trace.state,
        from_check=trace.from_check,
    )


def _recall_of(traced: _Traced) -> TracedRecall:
    trace: RecalledTrace = traced.trace
    return TracedRecall(at=rfc3339(trace.timestamp), group=trace.group, client=traced.client, success=trace.is_success)
