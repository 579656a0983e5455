"""The life of one message: sent, stored, consumed, retried, dead, sent again, as far as brokers and console know it.

Brokers keep no time of consumption. Retries and dead letters are stored messages with the id of their original, which
the index files find; copies that people made are in the audit, those of redrives in their ledger.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from drf_spectacular.utils import extend_schema
from msgspec.structs import replace
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.admin import Admin
from broker_core.client.admin.index import MAX_FOUND, KeyFound
from broker_core.client.admin.messages import Delivery
from broker_core.client.admin.placed import PlacedMessage
from broker_core.clock import now_ms
from broker_core.protocol.copies import COPIED_AT, COPIED_BY, JOB, SOURCE, SOURCE_ID
from broker_core.protocol.dead_letters import cause_of
from broker_core.protocol.message import StoredMessage
from broker_core.protocol.properties import PGROUP, TIMER_OUT_MS, TRAN_MSG
from broker_core.protocol.topics import (
    SCHEDULE_TOPIC,
    dead_letter_topic,
    is_dead_letter_topic,
    is_retry_topic,
    retry_topic,
)
from console.accounts.permissions import allows
from console.accounts.rights import Resource
from console.audit.models import AuditRecord
from console.fields import moment
from console.jobs.models import Job
from console.jobs.visibility import visible_jobs
from console.moments import rfc3339
from console.redrives.models import Redriven
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import TopicInQueryView
from gateway.control.messages import TOPIC, found_message, missing_of, needed
from gateway.control.timeline_shapes import GroupState, Timeline, TimelineEvent, TimelineGroup

_SECONDS: Final = 5.0
_MOST_GROUPS: Final = 200
_MOST_RECORDS: Final = 100
_NO_TIME: Final = "Brokers do not record when a group consumed a message."
_NO_COPIES: Final = "Copies that replays wrote to other topics are not looked for; the reports of these jobs name them."
_CUT: Final = (
    f"Retries of more than {_MOST_GROUPS} groups, or those that took longer than {_SECONDS:g} s, were not looked up."
)


@dataclass(frozen=True, slots=True)
class _Known:
    """What the brokers know of a message."""

    deliveries: list[Delivery]
    others: KeyFound
    """Messages with the same id in the topics of retries and dead letters, and in its own."""
    copies: KeyFound | None
    """Messages of its own topic with its first key; None if it has no key."""
    settled: frozenset[str]
    """Groups that have consumed the last retry."""
    asked: frozenset[str]
    is_cut: bool


class TimelineView(TopicInQueryView):
    """The life of a message."""

    @extend_schema(
        operation_id="getMessageTimeline", tags=["messages"], parameters=[TOPIC], responses=serializer_of(Timeline)
    )
    def get(self, request: Request, cluster: str, message_id: str) -> Response:
        """Return what happened to a message, and what became of it in each group that the caller may read."""
        placed = found_message(self, needed(request, "topic"), message_id)
        known = self.ask(lambda admin: _ask(admin, placed))
        groups = [each for each in known.deliveries if allows(request, "read", Resource("group", each.group))]
        names = {each.group for each in groups}
        retries = _once([each for each in known.others.messages if _group_of(each) in names])
        events = [
            *_beginning(placed),
            *(_consumed(each) for each in groups if each.state == "consumed"),
            *map(_again, retries),
            *(_copy(each) for each in _copies(known, placed)),
            *self._recorded(placed),
        ]
        failed = {**known.others.failed, **(known.copies.failed if known.copies else {})}
        missing = missing_of(cluster, placed.message.topic, known.asked, failed)
        shown = Timeline(
            events=_in_order(_seen(request, events)),
            groups=[_group(each, retries, known.settled) for each in groups],
            complete=not missing and not known.is_cut,
            missing=missing,
            not_known=[_NO_TIME] * bool(groups) + [_NO_COPIES] + [_CUT] * known.is_cut,
        )
        return Response(as_json(shown))

    def _recorded(self, placed: PlacedMessage) -> list[TimelineEvent]:
        """Return the copies and deliveries that the console made of the message."""
        message = placed.message
        ids = {message.message_id, message.offset_id}
        entries = AuditRecord.objects.filter(
            action__in=("message.resend", "message.deliver"),
            result="ok",
            resource__startswith=f"{self.cluster}/",
            before__message_id__in=ids,
            before__topic=message.topic,
        )
        redriven = Redriven.objects.filter(
            cluster=self.cluster,
            broker=placed.broker_name,
            queue_id=message.queue_id,
            offset=message.queue_offset,
            message_id=message.message_id,
        )
        return [
            *map(_of_audit, entries.order_by("-pk")[:_MOST_RECORDS]),
            *map(_of_redrive, redriven.order_by("-pk")[:_MOST_RECORDS]),
        ]


async def _ask(admin: Admin, placed: PlacedMessage) -> _Known:
    message = placed.message
    deliveries = await admin.messages.deliveries(placed)
    groups = [each.group for each in deliveries][:_MOST_GROUPS]
    topics = [message.topic, SCHEDULE_TOPIC, *(topic for group in groups for topic in _topics_of(group, message.topic))]
    begin, end, ends = message.store_timestamp, now_ms(), time.monotonic() + _SECONDS
    by_id = await admin.messages.key_lookup(topics, begin=begin, end=end, limit=MAX_FOUND)
    others = await by_id.find(message.message_id, ends=ends)
    copies = None
    if message.keys:
        by_key = await admin.messages.key_lookup([message.topic], begin=begin, end=end, limit=MAX_FOUND)
        copies = await by_key.find(message.keys[0], ends=ends)
    is_cut = len(deliveries) > len(groups) or others.cut_short or (copies is not None and copies.cut_short)
    settled = await _settled(admin, others.messages)
    return _Known(deliveries, others, copies, settled, by_id.asked, is_cut)


async def _settled(admin: Admin, found: Sequence[PlacedMessage]) -> frozenset[str]:
    """Return the groups whose offset is behind their last stored retry."""
    last: dict[str, PlacedMessage] = {}
    for each in found:
        group = _group_of(each)
        if group is not None and is_retry_topic(each.message.topic):
            last[group] = max(each, last.get(group, each), key=lambda one: one.message.reconsume_times)
    settled = set[str]()
    for group, each in last.items():
        stats = await admin.groups.consume_stats(group, topic=each.message.topic)
        progress = stats.queues.get(each.queue)
        if progress is not None and progress.consumer_offset > each.message.queue_offset:
            settled.add(group)
    return frozenset(settled)


def _topics_of(group: str, topic: str) -> tuple[str, ...]:
    """Return where a group's retries and dead letters lie; RocketMQ 5 has a retry topic for each topic, too."""
    return retry_topic(group), f"{retry_topic(group)}_{topic}", dead_letter_topic(group)


def _group_of(placed: PlacedMessage) -> str | None:
    """Return the group whose retry or dead letter a message is."""
    topic = placed.message.topic
    if topic == SCHEDULE_TOPIC:
        topic = placed.message.properties.get("REAL_TOPIC", "")
    if not is_retry_topic(topic) and not is_dead_letter_topic(topic):
        return None
    name = topic.split("%", 2)[2]
    origin = placed.message.properties.get("RETRY_TOPIC")
    return name.removesuffix(f"_{origin}") if origin and is_retry_topic(topic) else name


def _once(found: Sequence[PlacedMessage]) -> list[PlacedMessage]:
    """Return each try once: one that waited for its time is stored a second time when that has come."""
    arrived = {
        (_group_of(each), each.message.reconsume_times) for each in found if each.message.topic != SCHEDULE_TOPIC
    }
    return [
        each
        for each in found
        if each.message.topic != SCHEDULE_TOPIC or (_group_of(each), each.message.reconsume_times) not in arrived
    ]


def _copies(known: _Known, placed: PlacedMessage) -> list[PlacedMessage]:
    """Return the copies in its own topic that name it as their source."""
    found = known.copies.messages if known.copies is not None else ()
    ids = {placed.message.message_id, placed.message.offset_id}
    return [each for each in found if each.message.properties.get(SOURCE_ID) in ids]


def _beginning(placed: PlacedMessage) -> Iterable[TimelineEvent]:
    message = placed.message
    parts = message.properties.get(SOURCE, "").split("/")
    if len(parts) == 5:
        yield TimelineEvent(
            at=message.properties.get(COPIED_AT),
            kind="copied_from",
            message_id=message.properties.get(SOURCE_ID),
            topic=parts[2],
            by=message.properties.get(COPIED_BY),
            job=message.properties.get(JOB),
        )
    yield TimelineEvent(at=rfc3339(message.born_timestamp), kind="sent", host=message.born_host)
    yield from _waited(message)
    yield _event(placed, "stored")


def _waited(message: StoredMessage) -> Iterable[TimelineEvent]:
    """Return what a message waited for between its sending and the time when it was stored in its topic."""
    due = message.properties.get(TIMER_OUT_MS, "")
    if due.isascii() and due.isdecimal() and message.born_timestamp < int(due) <= message.store_timestamp:
        yield TimelineEvent(at=rfc3339(int(due)), kind="due")
    if message.properties.get(TRAN_MSG) == "true":
        group = message.properties.get(PGROUP)
        yield TimelineEvent(at=rfc3339(message.store_timestamp), kind="committed", group=group)


def _event(placed: PlacedMessage, kind: Any, **more: Any) -> TimelineEvent:
    message = placed.message
    return TimelineEvent(
        at=rfc3339(message.store_timestamp),
        kind=kind,
        message_id=message.message_id,
        topic=message.topic,
        broker=placed.broker_name,
        queue_id=message.queue_id,
        offset=message.queue_offset,
        **more,
    )


def _again(placed: PlacedMessage) -> TimelineEvent:
    """Return the event of a stored retry or dead letter."""
    is_dead = is_dead_letter_topic(placed.message.topic)
    kind = "dead" if is_dead else "retried"
    tries = placed.message.reconsume_times
    return _event(placed, kind, group=_group_of(placed), tries=tries, reason=cause_of(placed.message).text)


def _copy(placed: PlacedMessage) -> TimelineEvent:
    properties = placed.message.properties
    return _event(placed, "sent_again", by=properties.get(COPIED_BY), job=properties.get(JOB))


def _consumed(delivery: Delivery) -> TimelineEvent:
    return TimelineEvent(at=None, kind="consumed", group=delivery.group)


def _of_audit(entry: AuditRecord) -> TimelineEvent:
    before, after = entry.before or {}, entry.after or {}
    _, kind, name = entry.resource.split("/", 2)
    if kind == "groups":
        return TimelineEvent(
            at=moment(entry.at),
            kind="delivered",
            group=name,
            host=before.get("client_id"),
            reason=after.get("result"),
            by=entry.actor,
        )
    return TimelineEvent(
        at=moment(entry.at), kind="sent_again", message_id=after.get("message_id"), topic=name, by=entry.actor
    )


def _of_redrive(row: Redriven) -> TimelineEvent:
    return TimelineEvent(
        at=moment(row.at),
        kind="redriven",
        message_id=row.copy_id,
        group=row.group,
        topic=row.topic,
        broker=row.target_broker,
        queue_id=row.target_queue_id,
        offset=row.target_offset,
        job=None if row.job_id is None else str(row.job_id),
    )


def _in_order(events: Sequence[TimelineEvent]) -> list[TimelineEvent]:
    """Return each event once: the copies of a resend are in the audit and in the topic."""
    known: dict[Any, TimelineEvent] = {}
    for each in events:
        is_copy = each.kind == "sent_again" and each.message_id is not None
        known.setdefault(("copy", each.message_id) if is_copy else each, each)
    return sorted(known.values(), key=lambda each: (each.at is None, each.at or ""))


def _group(delivery: Delivery, retries: Sequence[PlacedMessage], settled: frozenset[str]) -> TimelineGroup:
    mine = [each for each in retries if _group_of(each) == delivery.group]
    state: GroupState = delivery.state.value
    if any(is_dead_letter_topic(each.message.topic) for each in mine):
        state = "dead"
    elif mine:
        waits = any(each.message.topic == SCHEDULE_TOPIC for each in mine)
        state = "consumed" if delivery.group in settled and not waits else "retrying"
    tries = max((each.message.reconsume_times for each in mine), default=0)
    return TimelineGroup(group=delivery.group, state=state, behind=delivery.behind, tries=tries)


def _seen(request: Request, events: Sequence[TimelineEvent]) -> list[TimelineEvent]:
    """Return the events with what the caller may read: no copies in other topics, and no source or job that it may not.

    Where a message comes from is in its properties, which native producers can set to anything.
    """
    jobs = Job.objects.filter(pk__in={each.job for each in events if each.job is not None})
    known = {str(job) for job in visible_jobs(request, jobs).values_list("pk", flat=True)}
    seen = []
    for each in events:
        shown = each if each.job in known else replace(each, job=None)
        if each.topic is None or allows(request, "read", Resource("topic", each.topic)):
            seen.append(shown)
        elif each.kind == "copied_from":
            seen.append(replace(shown, topic=None, message_id=None))
    return seen
