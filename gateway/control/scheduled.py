"""Messages that wait for their delivery time: list, figures, one of them, moving it to another time, recall."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.admin import Admin
from broker_core.client.admin.placed import PlacedMessage
from broker_core.client.admin.timers import is_unknown, was_delivered
from broker_core.client.errors import BrokerRefused, NotSupported, TopicNotFound
from broker_core.clock import now_ms
from broker_core.errors import GantryError
from broker_core.protocol import properties as names
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.headers.timers import ListTimersRequest
from broker_core.protocol.topics import TIMER_TOPIC
from console.accounts.permissions import actor_of, allows, needs, require
from console.accounts.rights import Resource
from console.audit.record import record
from console.clusters.reasons import reason_of
from console.errors import Conflict, NotKnown
from console.fields import MomentField, milliseconds
from console.moments import rfc3339
from console.paging import PAGE_PARAMETERS, cursor_of, limit_of, make_cursor
from console.query import number_of
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import ClusterListView, moment_of, word_of
from gateway.control.messages import FROM, TO, NotAllSearched, missing_of
from gateway.control.scheduled_reading import buckets_of, check_served, last_day_of, topics_of, waiting_page
from gateway.control.scheduled_shapes import (
    ScheduledDetail,
    ScheduledMessages,
    ScheduledSummary,
    ScheduleOutcome,
    scheduled_detail,
    scheduled_of,
)
from gateway.data.delays import not_served, too_long
from gateway.data.schemas import encode

_DAY_MS: Final = 24 * 3_600_000
_QUARTER_MS: Final = 900_000
_LONGEST_MS: Final = 400 * _DAY_MS
_MOST_BUCKETS: Final = 5_000
_END: Final = 2**63 - 1
_OUTCOME: Final = serializer_of(ScheduleOutcome)


class RescheduleSerializer(serializers.Serializer[Any]):
    """The new time of a message: a moment, or a delay from now on."""

    deliver_at = MomentField(required=False, help_text="One that has passed means at once.")
    delay_ms = serializers.IntegerField(
        min_value=0,
        max_value=2**53,
        required=False,
        # As the produce says it of the same field.
        error_messages={"min_value": "Must be at least {min_value:,}.", "max_value": "Must be at most {max_value:,}."},
    )

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        """Refuse both, and neither."""
        if len(values) != 1:
            raise serializers.ValidationError({"deliver_at": "give deliver_at or delay_ms, and only one of them"})
        return values


class _ScheduledView(ClusterListView):
    """What waits for the topics that the caller may read."""

    permission_classes = (needs("read", to_change="produce", to_delete="produce"),)
    listed = "topic"

    def may_see(self, topic: str) -> bool:
        """Return whether the caller may read a topic."""
        return allows(self.request, "read", Resource("topic", topic))


class ScheduledView(_ScheduledView):
    """The messages that wait."""

    @extend_schema(
        operation_id="listScheduled",
        tags=["scheduled"],
        parameters=[
            OpenApiParameter("topic", str),
            OpenApiParameter("key", str, description="A key or a message id, in full."),
            OpenApiParameter(FROM.name, FROM.type, description="Due at this moment or later."),
            OpenApiParameter(TO.name, TO.type, description="Due before this moment."),
            *PAGE_PARAMETERS,
        ],
        responses=serializer_of(ScheduledMessages),
    )
    def get(self, request: Request, cluster: str) -> Response:
        """List messages that wait for their delivery time, first those that are due first.

        Messages with a delay level that RocketMQ's own clients sent are not among them.
        """
        after = cursor_of(request) or {}
        positions = {name: None if place is None else (place[0], place[1]) for name, place in after.items()}
        wanted = ListTimersRequest(
            limit_of(request),
            moment_of(request, "from", 0),
            moment_of(request, "to", _END),
            topic=word_of(request, "topic"),
            key=word_of(request, "key"),
        )
        page = self.ask(lambda admin: waiting_page(admin, wanted, positions, self.may_see))
        rest = {name: None if place is None else list(place) for name, place in page.positions.items()}
        shown = ScheduledMessages(
            items=[scheduled_of(waiting, name) for waiting, name in page.messages],
            next_cursor=make_cursor(request, rest) if page.has_more else None,
            missing=missing_of(cluster, TIMER_TOPIC, list(rest), page.failed),
        )
        return Response(as_json(shown))


class ScheduledSummaryView(_ScheduledView):
    """What waits, in figures."""

    @extend_schema(
        operation_id="summarizeScheduled",
        tags=["scheduled"],
        parameters=[
            OpenApiParameter(FROM.name, FROM.type, description="Where the buckets begin; by default now."),
            OpenApiParameter(TO.name, TO.type, description="Where they end; by default a day later."),
            OpenApiParameter("bucket_ms", int, description="Length of a bucket, from 60,000; by default 900,000."),
        ],
        responses=serializer_of(ScheduledSummary),
    )
    def get(self, request: Request, cluster: str) -> Response:
        """Count what waits by topic, and what is due by topic and bucket of time."""
        begin = moment_of(request, "from", now_ms())
        end = moment_of(request, "to", begin + _DAY_MS)
        bucket_ms = number_of(request, "bucket_ms", _QUARTER_MS, low=60_000, high=_DAY_MS) or _QUARTER_MS
        if not begin < end <= begin + _LONGEST_MS or (end - begin) // bucket_ms > _MOST_BUCKETS:
            raise serializers.ValidationError(
                {"to": f"must come after from, by at most 400 days and {_MOST_BUCKETS} buckets"}
            )
        answers = self.ask(lambda admin: admin.timers.summary(begin, end, bucket_ms))
        check_served(answers)
        found = answers.found
        topics = topics_of(found, self.may_see)
        shown = ScheduledSummary(
            waiting=sum(topic.waiting for topic in topics),
            topics=topics,
            buckets=buckets_of(found, self.may_see),
            bucket_ms=bucket_ms,
            partial=any(each.is_partial for each in found.values()),
            last_day=last_day_of(found) if allows(request, "read", Resource("cluster", cluster)) else None,
            max_delay_ms=min((each.max_delay_ms for each in found.values()), default=None),
            missing=missing_of(cluster, TIMER_TOPIC, list(found), answers.failed),
        )
        return Response(as_json(shown))


class ScheduledMessageView(_ScheduledView):
    """One message that waits, by its message id."""

    @extend_schema(operation_id="getScheduled", tags=["scheduled"], responses=serializer_of(ScheduledDetail))
    def get(self, request: Request, cluster: str, message_id: str) -> HttpResponse:
        """Return a message that waits; 404 once it was delivered or recalled."""
        placed, topic = self._parked(message_id)
        wanted = ListTimersRequest(1, topic=topic, msg_id=message_id)
        page = self.ask(lambda admin: waiting_page(admin, wanted, {}, self.may_see))
        if not page.messages:
            silent = missing_of(cluster, TIMER_TOPIC, list(page.positions), page.failed)
            # The others do not have it.
            if of_it := [each for each in silent if each.broker == placed.broker_name]:
                raise NotAllSearched(of_it)
            raise NotKnown(f"Message {message_id} of {topic!r} does not wait any more: it was delivered or recalled.")
        waiting, broker = page.messages[0]
        allowed = allows(request, "bodies", Resource("topic", topic))
        hidden = None if allowed else f"This needs the right 'bodies' on {topic!r}."
        found = scheduled_detail(scheduled_of(waiting, broker), placed.message, hidden=hidden)
        return HttpResponse(encode(found), content_type="application/json")

    @extend_schema(
        operation_id="rescheduleMessage", tags=["scheduled"], request=RescheduleSerializer, responses=_OUTCOME
    )
    def patch(self, request: Request, cluster: str, message_id: str) -> Response:
        """Deliver a waiting message at another time; 409 if it was delivered or recalled before."""
        form = RescheduleSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        ((field, wanted),) = form.validated_data.items()
        now = now_ms()
        due = now + wanted if field == "delay_ms" else milliseconds(wanted)

        async def question(admin: Admin, broker: str, topic: str) -> int:
            await _check_wait(admin, cluster, due - now, f"#/{field}")
            try:
                return await admin.timers.reschedule(broker, topic, message_id, due)
            except BrokerRefused as error:
                if "max delay" not in str(error):
                    raise
                raise not_served(reason_of(error), f"#/{field}") from error

        return self._change("message.reschedule", message_id, question)

    @extend_schema(operation_id="recallMessage", tags=["scheduled"], responses={200: _OUTCOME})
    def delete(self, request: Request, cluster: str, message_id: str) -> Response:
        """Recall a waiting message: it is never delivered. 409 if it was delivered before."""

        async def question(admin: Admin, broker: str, topic: str) -> None:
            await admin.timers.recall(broker, topic, message_id)

        return self._change("message.recall", message_id, question)

    def _change(self, action: str, message_id: str, question: Any) -> Response:
        placed, topic = self._parked(message_id)
        require(self.request, "produce", Resource("topic", topic))
        by, resource = actor_of(self.request), f"{self.cluster}/topics/{topic}"
        before: Mapping[str, object] = {"message_id": message_id}
        try:
            due = self.ask(lambda admin: question(admin, placed.broker_name, topic))
        except GantryError as error:
            record(by, action, resource, result="failed", before=before, after={"error": reason_of(error)})
            raise _refusal(error, message_id, topic) from error
        due_at = None if due is None else rfc3339(due)
        record(by, action, resource, before=before, after={"due_at": due_at})
        outcome = ScheduleOutcome(
            message_id=message_id,
            topic=topic,
            broker=placed.broker_name,
            outcome="recalled" if due is None else "rescheduled",
            due_at=due_at,
        )
        return Response(as_json(outcome))

    def _parked(self, message_id: str) -> tuple[PlacedMessage, str]:
        """Return the record by which a message waits or waited, and its topic.

        Raises NotKnown if there is none, NotAllSearched if a broker that may have it is not there.
        """

        try:
            found = self.ask(lambda admin: admin.messages.search(TIMER_TOPIC, message_id))
        except TopicNotFound as error:
            self._check_searched(())
            # Brokers without delivery times have no such topic; they would refuse the list in these words.
            remark = f"request type {RequestCode.LIST_TIMERS:d} not supported"
            raise NotSupported(ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark, self.cluster) from error
        placed = next((each for each in found.messages if each.message.unique_id == message_id), None)
        if placed is None:
            if found.failed:
                raise next(iter(found.failed.values()))
            self._check_searched(found.asked.values())
        topic = "" if placed is None else placed.message.properties.get(names.REAL_TOPIC, "")
        if placed is None or not self.may_see(topic):
            raise NotKnown(f"No message {message_id[:80]!r} waits or waited for a delivery time.")
        return placed, topic

    def _check_searched(self, asked: Iterable[str]) -> None:
        """Raise NotAllSearched if a broker that is not among those asked may have messages that wait."""
        if missing := missing_of(self.cluster, TIMER_TOPIC, asked):
            raise NotAllSearched(missing)


def _refusal(error: GantryError, message_id: str, topic: str) -> Exception:
    """Return what to answer when a broker did not change a message."""
    if was_delivered(error):
        return Conflict(f"Message {message_id} of {topic!r} was delivered before; its time has come.")
    if is_unknown(error):
        return Conflict(f"Message {message_id} of {topic!r} does not wait any more: it was recalled.")
    return error


async def _check_wait(admin: Admin, cluster: str, wait_ms: int, at: str) -> None:
    """Raise DELAY_NOT_SERVED for a wait that a send would be refused for.

    The broker measures from when it is asked, which is later: it would take what is a little too long.
    """
    try:
        limits = await admin.timers.limits()
    except GantryError:  # one that does not have the message may be away; the other one decides
        return
    reason = None if limits.max_delay_ms is None else too_long(wait_ms, limits.max_delay_ms, cluster)
    if reason is not None:
        raise not_served(reason, at)
