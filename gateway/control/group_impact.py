"""What the deletion of a consumer group would hit: who reads, what is out, which positions are lost, what stays."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

from drf_spectacular.utils import extend_schema
from msgspec import Meta, Struct
from msgspec.structs import replace
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.admin import Admin
from broker_core.client.admin.groups import Group
from broker_core.client.errors import GroupNotFound, TopicNotFound
from broker_core.errors import GantryError
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.topics import dead_letter_topic, retry_topic
from console import etags
from console.accounts.permissions import needs
from console.clusters import operations
from console.clusters.reasons import reason_of
from console.lag import current
from console.lag.group_state import config_of
from console.lag.shapes import GroupState
from console.offsets.reading import members_of
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import ClusterScopedView

_PARTS: Final = (retry_topic, dead_letter_topic)


class KeptTopic(Struct, frozen=True, kw_only=True):
    """A topic of the group itself, which its deletion leaves."""

    name: str
    messages: Annotated[int | None, Meta(description="Null if a broker did not answer.")]
    unknown_reason: str | None


class GroupImpact(Struct, frozen=True, kw_only=True):
    """What the deletion of a consumer group hits."""

    clients: Annotated[int | None, Meta(description="Native clients that are connected; null if unknown.")]
    lease_consumers: Annotated[int | None, Meta(description="Callers that receive by lease; null if unknown.")]
    leases: Annotated[int | None, Meta(description="Messages delivered and not settled.")]
    lag: Annotated[int | None, Meta(description="Messages not consumed yet; null if unknown.")]
    topics: Annotated[list[str], Meta(description="Topics in which the positions of the group are lost.")]
    topics_hidden: Annotated[bool, Meta(description="Whether there are others, which the caller may not read.")]
    kept: Annotated[list[KeptTopic], Meta(description="Retries and dead letters: these topics stay.")]
    unknown_reason: str | None


class GroupImpactView(ClusterScopedView):
    """What the deletion of a group would hit."""

    permission_classes = (needs("delete"),)
    resource_argument = "group"

    @extend_schema(operation_id="getGroupImpact", tags=["groups"], responses=serializer_of(GroupImpact))
    def get(self, request: Request, cluster: str, group: str) -> Response:
        """Return what the deletion of a group would hit; the ETag is the one for the deletion."""
        found = operations.find_group(cluster, group)
        if found is None:
            code = ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST
            raise GroupNotFound(code, f"no consumer group is named {group!r}", cluster)
        state = current.group(cluster, group)
        headers = {} if found.config is None else {"ETag": etags.etag(config_of(found.config))}
        impact = self.ask(lambda admin: _impact(admin, found, state))
        seen = self.sight.topics_of(group, impact.topics)
        shown = replace(impact, topics=seen, topics_hidden=len(seen) < len(impact.topics))
        return Response(as_json(shown), headers=headers)


async def _impact(admin: Admin, group: Group, state: GroupState) -> GroupImpact:
    members, kept = await asyncio.gather(
        members_of(admin, group.name), asyncio.gather(*(_kept(admin, topic_of(group.name)) for topic_of in _PARTS))
    )
    return GroupImpact(
        clients=members,
        lease_consumers=None if state.lease_consumers is None else len(state.lease_consumers),
        leases=state.leases,
        lag=state.lag,
        topics_hidden=False,
        topics=sorted({*group.topics, *state.topics} - {retry_topic(group.name)}),
        kept=[topic for topic in kept if topic is not None],
        unknown_reason=state.unknown_reason,
    )


async def _kept(admin: Admin, topic: str) -> KeptTopic | None:
    """Return the topic with its messages; None if the group never had a retry or a dead letter."""
    try:
        stats = await admin.topics.stats(topic)
    except TopicNotFound:
        return None
    except GantryError as error:
        return KeptTopic(name=topic, messages=None, unknown_reason=reason_of(error))
    for failure in stats.failed.values():
        return KeptTopic(name=topic, messages=None, unknown_reason=reason_of(failure))
    return KeptTopic(name=topic, messages=stats.messages, unknown_reason=None)
