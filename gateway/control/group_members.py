"""The members of a consumer group as they report themselves: subscriptions, queues, pace.

Native clients are asked through their broker; a client of a language that does not answer such questions is named with
the reason.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol, TypeVar

from drf_spectacular.utils import extend_schema
from msgspec.structs import replace
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.admin import Admin
from broker_core.client.admin.groups import GroupConnections
from broker_core.client.answers import ask_all
from broker_core.client.errors import BrokerRefused
from broker_core.errors import GantryError
from broker_core.protocol.bodies import ConsumerRunningInfo, MessageQueue
from broker_core.protocol.bodies.running import ConsumeStatus, ProcessQueueInfo
from console.clusters.reasons import reason_of
from console.errors import BrokersSilent, Conflict, NotKnown
from console.lag.subscriptions import Subscription, agree, subscriptions_of
from console.moments import rfc3339
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import ClusterScopedView
from gateway.control.member_shapes import (
    GroupMember,
    GroupSubscription,
    GroupSubscriptions,
    MemberQueue,
    MemberTopic,
    SilentMember,
)
from gateway.control.messages import missing_of

_MEMBER_SECONDS: Final = 2.0
# More members are not asked one by one while a page waits.
MAX_ASKED: Final = 200
_NOT_ASKED: Final = f"only the first {MAX_ASKED} members are asked"

_Infos = dict[str, ConsumerRunningInfo]


class _OfTopic(Protocol):
    @property
    def topic(self) -> str: ...


R = TypeVar("R", bound=_OfTopic)


class MemberSilent(GantryError):
    """A client is connected and does not answer."""


class GroupSubscriptionsView(ClusterScopedView):
    """The subscriptions of a group."""

    resource_argument = "group"

    @extend_schema(operation_id="listGroupSubscriptions", tags=["groups"], responses=serializer_of(GroupSubscriptions))
    def get(self, request: Request, cluster: str, group: str) -> Response:
        """List what each connected native client of a group subscribes to, and say whether they agree."""

        async def question(admin: Admin) -> tuple[list[str], GroupConnections, _Infos, dict[str, str]]:
            asked, members = await asked_members(admin, group)
            return asked, members, *await _infos(admin, group, list(members.members))

        asked, members, infos, reasons = self.ask(question)
        shown = _subscriptions(members, infos, reasons)
        missing = missing_of(cluster, None, asked, members.failed)
        # A broker that does not answer may have members that no other one has.
        consistent = None if missing and shown.consistent else shown.consistent
        seen = _seen(self, group, shown.items)
        return Response(as_json(replace(shown, items=seen, consistent=consistent, missing=missing)))


class GroupMemberView(ClusterScopedView):
    """One member of a group."""

    resource_argument = "group"

    @extend_schema(operation_id="getGroupClient", tags=["groups"], responses=serializer_of(GroupMember))
    def get(self, request: Request, cluster: str, group: str, client: str) -> Response:
        """Return the queues and the pace of a native client of a group, as it reports them itself."""

        async def question(admin: Admin) -> ConsumerRunningInfo:
            require_member(group, client, await admin.groups.connections(group))
            return await _info(admin, group, client)

        try:
            info = self.ask(question)
        except (BrokerRefused, MemberSilent) as error:
            raise Conflict(f"Client {client!r} does not say what it does: {reason_of(error)}.") from error
        shown = _member(client, info)
        return Response(
            as_json(
                replace(
                    shown,
                    subscriptions=_seen(self, group, shown.subscriptions),
                    queues=_seen(self, group, shown.queues),
                    topics=_seen(self, group, shown.topics),
                )
            )
        )


async def asked_members(admin: Admin, group: str) -> tuple[list[str], GroupConnections]:
    """Return the names of the brokers that are asked for members of a group, and the members that they name."""
    members = await admin.groups.connections(group)
    return list((await admin.clusters.masters()).values()), members


def require_member(group: str, client: str, found: GroupConnections) -> None:
    """Raise NotKnown unless a broker names the client; BrokersSilent if one that did not answer may know it."""
    if client in found.members:
        return
    if found.failed:
        raise BrokersSilent(f"Whether group {group!r} has a client {client!r} is not known: {reasons_of(found)}.")
    raise NotKnown(f"Group {group!r} has no native client {client!r} now.")


def reasons_of(found: GroupConnections) -> str:
    """Return why brokers that may know members did not answer."""
    return "; ".join(map(reason_of, found.failed.values()))


def _seen(view: ClusterScopedView, group: str, rows: Sequence[R]) -> list[R]:
    """Return the rows about topics that the caller may read."""
    seen = set(view.sight.topics_of(group, {row.topic for row in rows}))
    return [row for row in rows if row.topic in seen]


async def _info(admin: Admin, group: str, client: str) -> ConsumerRunningInfo:
    """Return what a member says; raise MemberSilent or what the broker answers for it."""
    try:
        async with asyncio.timeout(_MEMBER_SECONDS):
            return await admin.groups.running_info(group, client)
    except TimeoutError:
        raise MemberSilent(f"it did not answer within {_MEMBER_SECONDS:g} s") from None


async def _infos(admin: Admin, group: str, names: list[str]) -> tuple[_Infos, dict[str, str]]:
    """Return what the members say, and why the others say nothing, both by client id."""

    answers = await ask_all(names[:MAX_ASKED], lambda name: _info(admin, group, name))
    reasons = {name: reason_of(error) for name, error in answers.failed.items()}
    return dict(answers.found), reasons | dict.fromkeys(names[MAX_ASKED:], _NOT_ASKED)


def _subscriptions(members: GroupConnections, infos: _Infos, reasons: Mapping[str, str]) -> GroupSubscriptions:
    by_member = {name: subscriptions_of(info.subscription_set) for name, info in infos.items()}
    silent = [SilentMember(client_id=name, reason=reason) for name, reason in sorted(reasons.items())]
    if not by_member:
        told = subscriptions_of(members.subscriptions.values())
        consistent = None if silent else True
        return GroupSubscriptions(
            items=[_row(each, None) for each in sorted(told)], consistent=consistent, silent=silent, missing=[]
        )
    subscribers: dict[Subscription, list[str]] = {}
    for name in sorted(by_member):
        for each in by_member[name]:
            subscribers.setdefault(each, []).append(name)
    consistent = False if not agree(by_member) else None if silent else True
    items = [_row(each, subscribers[each]) for each in sorted(subscribers)]
    return GroupSubscriptions(items=items, consistent=consistent, silent=silent, missing=[])


def _row(each: Subscription, clients: list[str] | None) -> GroupSubscription:
    return GroupSubscription(topic=each.topic, expression=each.expression, type=each.type, clients=clients)


def _member(client: str, info: ConsumerRunningInfo) -> GroupMember:
    queues = [_queue(queue, state) for queue, state in sorted(info.mq_table.items())]
    return GroupMember(
        client_id=client,
        consume_type=info.properties.get("PROP_CONSUME_TYPE"),
        started_at=_moment(_number(info.properties.get("PROP_CONSUMER_START_TIMESTAMP")) or 0),
        threads=_number(info.properties.get("PROP_THREADPOOL_CORE_SIZE")),
        cached_messages=sum(each.cached_messages for each in queues),
        subscriptions=_own(client, subscriptions_of(info.subscription_set)),
        queues=queues,
        topics=[_topic(topic, status) for topic, status in sorted(info.status_table.items())],
    )


def _own(client: str, subscriptions: Iterable[Subscription]) -> list[GroupSubscription]:
    return [_row(each, [client]) for each in sorted(subscriptions)]


def _queue(queue: MessageQueue, state: ProcessQueueInfo) -> MemberQueue:
    return MemberQueue(
        topic=queue.topic,
        broker=queue.broker_name,
        queue_id=queue.queue_id,
        commit_offset=state.commit_offset,
        cached_messages=state.cached_msg_count,
        cached_mib=state.cached_msg_size_in_mib,
        locked=state.locked,
        dropped=state.droped,
        last_pull_at=_moment(state.last_pull_timestamp),
        last_consume_at=_moment(state.last_consume_timestamp),
    )


def _topic(topic: str, status: ConsumeStatus) -> MemberTopic:
    return MemberTopic(
        topic=topic,
        pull_ms=status.pull_rt,
        pull_per_second=status.pull_tps,
        consume_ms=status.consume_rt,
        consumed_per_second=status.consume_ok_tps,
        failed_per_second=status.consume_failed_tps,
        failed_last_hour=status.consume_failed_msgs,
    )


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None


def _moment(ms: int) -> str | None:
    return rfc3339(ms) if ms > 0 else None
