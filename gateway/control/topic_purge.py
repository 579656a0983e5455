"""Purge of a topic: its messages up to an offset of each queue become unreadable, and the offsets go on.

Brokers of Apache RocketMQ have no such request; there a topic is emptied by deleting it and creating it again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.admin import Admin
from broker_core.client.errors import NotSupported
from broker_core.errors import GantryError
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.stats import OffsetWrapper, TopicOffset
from console.accounts.permissions import actor_of, allows, needs
from console.accounts.rights import Resource
from console.clusters import operations
from console.clusters.change_lock import change_lock
from console.clusters.known_topics import known_topic
from console.clusters.reasons import reason_of
from console.errors import BrokersSilent, Conflict
from console.lag.shapes import MissingBroker
from console.query import flag_of
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import ClusterScopedView, with_outcomes
from gateway.control.messages import missing_of
from gateway.control.topic_purge_shapes import MOST_GROUPS, PurgedGroup, PurgedQueue, PurgeSerializer, TopicPurge

_AT_ONCE: Final = 16
_PURGE: Final = serializer_of(TopicPurge)
_DRY_RUN: Final = OpenApiParameter("dry_run", bool, description="Only return what the purge would do.")
_Place = tuple[str, int]


class TopicPurgeView(ClusterScopedView):
    """The end of the messages of a topic, but not of the topic."""

    permission_classes = (needs("delete"),)
    resource_argument = "topic"

    @extend_schema(
        operation_id="purgeTopic",
        tags=["topics"],
        parameters=[_DRY_RUN],
        request=PurgeSerializer,
        responses={200: _PURGE, 207: _PURGE},
    )
    def post(self, request: Request, cluster: str, topic: str) -> Response:
        """Make the messages of a topic unreadable, all that are stored now or up to an offset of each queue.

        Queue offsets go on, groups that were before the new beginning continue there, and the log gives the room back
        at retention. Messages that wait for their delivery time stay. Repeating it with these offsets changes nothing.
        """
        form = PurgeSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        with change_lock(cluster, "topics", topic):
            if known_topic(cluster, topic).kind.value == "system":
                raise Conflict(f"{topic!r} belongs to the brokers; it cannot be purged.")
            found = self.ask(lambda admin: _read(admin, topic))
            missing = missing_of(cluster, topic, found.asked, found.silent)
            away = {each.broker: each.reason for each in missing}
            queues = _chosen(found, form.validated_data.get("queues"), away)
            plan = self._plan(topic, found, queues, missing)
            if flag_of(request, "dry_run"):
                return Response(as_json(plan))
            outcomes = operations.purge_topic(actor_of(request), cluster, topic, _by_broker(queues))
            return with_outcomes(Response(as_json(plan)), outcomes)

    def _plan(
        self, topic: str, found: _Found, queues: Sequence[PurgedQueue], missing: list[MissingBroker]
    ) -> TopicPurge:
        seen = [name for name in found.groups if allows(self.request, "read", Resource("group", name))]
        whole = {(each.broker, each.queue_id) for each in queues if each.before == each.max_offset}
        return TopicPurge(
            queues=list(queues),
            messages=sum(each.messages for each in queues),
            bytes=found.kept_bytes if whole == found.ends.keys() else None,
            groups=self.ask(lambda admin: _losses(admin, topic, seen, queues)),
            hidden_groups=len(found.groups) - len(seen),
            missing=missing,
        )


@dataclass(frozen=True, slots=True)
class _Found:
    """A topic as its brokers tell it; `silent` has those that did not answer."""

    ends: Mapping[_Place, TopicOffset]
    groups: Sequence[str]
    kept_bytes: int | None
    asked: frozenset[str]
    silent: Mapping[str, GantryError]


async def _read(admin: Admin, topic: str) -> _Found:
    """Return what there is; raise NotSupported if a broker cannot purge."""
    masters = (await admin.topics.route(topic)).masters
    ables, groups = await asyncio.gather(
        admin.topics.purge(topic, {broker: {} for broker in masters}), admin.topics.groups(topic)
    )
    for error in ables.failed.values():
        if isinstance(error, NotSupported):
            raise error
    names = {addr: broker for broker, addr in masters.items()}
    tables = {}
    silent = {names.get(addr, addr): error for addr, error in ables.failed.items()}
    for addr in ables.found:
        broker = names.get(addr, addr)
        try:
            tables[broker] = await admin.topics.table_on(addr, topic)
        except GantryError as error:
            silent[broker] = error
    if not tables and silent:
        raise next(iter(silent.values()))
    kept = [table.kept_bytes for table in tables.values()]
    return _Found(
        ends={
            (queue.broker_name, queue.queue_id): end
            for table in tables.values()
            for queue, end in sorted(table.offset_table.items())
        },
        groups=sorted({name for found in groups.found.values() for name in found}),
        kept_bytes=None if None in kept else sum(each for each in kept if each is not None),
        asked=frozenset(masters),
        silent=silent,
    )


def _chosen(found: _Found, wanted: Iterable[Mapping[str, object]] | None, away: Mapping[str, str]) -> list[PurgedQueue]:
    """Return what is purged of each queue.

    Raises ValidationError for a queue or an offset that is not there, BrokersSilent for a queue of a broker that is
    `away`, which has the reasons by broker.
    """
    if wanted is None:
        return [_purged(place, end, end.max_offset) for place, end in found.ends.items()]
    queues = []
    for entry in wanted:
        broker, queue_id, before = str(entry["broker"]), int(str(entry["queue_id"])), int(str(entry["before"]))
        end = found.ends.get((broker, queue_id))
        if end is None and broker in away:
            raise BrokersSilent(f"What queue {broker}/{queue_id} holds is not known: {away[broker]}.")
        if end is None:
            raise serializers.ValidationError({"queues": f"{broker}/{queue_id} is not a queue of the topic."})
        if before > end.max_offset:
            raise serializers.ValidationError(
                {"queues": f"{broker}/{queue_id} ends at {end.max_offset}; {before} is behind that."}
            )
        queues.append(_purged((broker, queue_id), end, before))
    return queues


def _purged(place: _Place, end: TopicOffset, before: int) -> PurgedQueue:
    return PurgedQueue(
        broker=place[0],
        queue_id=place[1],
        min_offset=end.min_offset,
        max_offset=end.max_offset,
        before=before,
        messages=max(0, before - end.min_offset),
    )


def _by_broker(queues: Iterable[PurgedQueue]) -> dict[str, dict[int, int]]:
    found: dict[str, dict[int, int]] = {}
    for each in queues:
        found.setdefault(each.broker, {})[each.queue_id] = each.before
    return found


async def _losses(admin: Admin, topic: str, groups: Sequence[str], queues: Sequence[PurgedQueue]) -> list[PurgedGroup]:
    """Return what each group has not had of the purged messages."""
    places = asyncio.Semaphore(_AT_ONCE)

    async def ask(name: str) -> PurgedGroup:
        async with places:
            try:
                stats = await admin.groups.consume_stats(name, topic=topic)
            except GantryError as error:
                return PurgedGroup(name=name, unread=None, reason=reason_of(error))
        for failure in stats.failed.values():
            return PurgedGroup(name=name, unread=None, reason=reason_of(failure))
        return PurgedGroup(name=name, unread=_unread(topic, stats.queues, queues))

    asked = list(await asyncio.gather(*map(ask, groups[:MOST_GROUPS])))
    return asked + [
        PurgedGroup(name=name, unread=None, reason=f"only {MOST_GROUPS} groups are asked for")
        for name in groups[MOST_GROUPS:]
    ]


def _unread(topic: str, at: Mapping[MessageQueue, OffsetWrapper], queues: Sequence[PurgedQueue]) -> int:
    """Return how many purged messages a group has not had; where it has no position, it is at the beginning."""
    total = 0
    for each in queues:
        progress = at.get(MessageQueue(topic, each.broker, each.queue_id))
        read = each.min_offset if progress is None else max(progress.consumer_offset, each.min_offset)
        total += max(0, each.before - read)
    return total
