"""Dead letters of a group, counted by the reason for which they were given up."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final

from drf_spectacular.utils import OpenApiParameter, extend_schema
from msgspec import Meta, Struct
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.admin import Admin
from broker_core.client.admin.placed import BrowsePage
from broker_core.client.admin.topics import TopicStats
from broker_core.client.errors import GroupNotFound, TopicNotFound, Unreachable
from broker_core.protocol import properties as names
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.message import StoredMessage
from broker_core.protocol.topics import dead_letter_topic
from console.lag.shapes import MissingBroker
from console.moments import Moment, rfc3339
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import ClusterScopedView, number_of
from gateway.control.messages import missing_of
from gateway.data.dead_letters import REASON

MOST_READ: Final = 2_000


class DeadLetterCause(Struct, frozen=True, kw_only=True):
    """The dead letters with one reason, among those read."""

    reason: Annotated[str | None, Meta(description="As the consumer gave it; null if it gave none.")]
    count: int
    topics: Annotated[list[str], Meta(description="The topics they came from, as far as they say so.")]
    first_at: Moment
    last_at: Moment
    last_message_id: str


class DeadLetterCauses(Struct, frozen=True, kw_only=True):
    """The causes of a group's newest dead letters, the most frequent first."""

    items: list[DeadLetterCause]
    read: Annotated[int, Meta(description="How many dead letters were read.")]
    stored: Annotated[int | None, Meta(description="How many there are; null if a broker does not say.")]
    complete: Annotated[bool, Meta(description="Whether all dead letters were read.")]
    missing: list[MissingBroker]


class DeadLetterCausesView(ClusterScopedView):
    """Why a group gave messages up."""

    resource_argument = "group"

    @extend_schema(
        operation_id="listDeadLetterCauses",
        tags=["dead letters"],
        parameters=[OpenApiParameter("max_messages", int, default=MOST_READ, description=f"1 to {MOST_READ}.")],
        responses=serializer_of(DeadLetterCauses),
    )
    def get(self, request: Request, cluster: str, group: str) -> Response:
        """Count the newest dead letters of a group by the reason that its consumers gave."""
        limit = number_of(request, "max_messages", MOST_READ, low=1, high=MOST_READ) or MOST_READ
        topic = dead_letter_topic(group)

        async def question(admin: Admin) -> tuple[TopicStats, BrowsePage]:
            # Counted before reading: a dead letter that arrives in between must not hide one that was not read.
            stats = await admin.topics.stats(topic)
            return stats, await admin.messages.browse(topic, limit=limit)

        try:
            stats, page = self.ask(question)
        except (TopicNotFound, Unreachable) as error:
            if not missing_of(cluster, topic, ()):
                if isinstance(error, Unreachable):
                    raise
                self._check_group(group)
            stats, page = TopicStats(), BrowsePage()
        missing = missing_of(cluster, topic, page.asked, {**stats.failed, **page.failed})
        return Response(as_json(_causes(stats, page, missing)))

    def _check_group(self, group: str) -> None:
        """Raise GroupNotFound if no broker knows the group: one without dead letters has no topic for them."""
        if self.ask(lambda admin: admin.groups.find(group)) is None:
            code = ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST
            raise GroupNotFound(code, f"no consumer group is named {group!r}", self.cluster)


def _causes(stats: TopicStats, page: BrowsePage, missing: list[MissingBroker]) -> DeadLetterCauses:
    by_reason: dict[str | None, list[StoredMessage]] = {}
    for placed in page.messages:
        by_reason.setdefault(placed.message.properties.get(REASON), []).append(placed.message)
    causes = [_cause(reason, found) for reason, found in by_reason.items()]
    read = len(page.messages)
    return DeadLetterCauses(
        items=sorted(causes, key=lambda cause: cause.count, reverse=True),
        read=read,
        stored=None if missing else stats.messages,
        # Queues that may not be read are on no page; only the count tells of them.
        complete=not missing and not page.positions and read >= stats.messages,
        missing=missing,
    )


def _cause(reason: str | None, found: list[StoredMessage]) -> DeadLetterCause:
    """Return the cause of messages in order, the newest first."""
    return DeadLetterCause(
        reason=reason,
        count=len(found),
        topics=_origins(found),
        first_at=rfc3339(found[-1].store_timestamp),
        last_at=rfc3339(found[0].store_timestamp),
        last_message_id=found[0].message_id,
    )


def _origins(found: Iterable[StoredMessage]) -> list[str]:
    return sorted({topic for each in found if (topic := each.properties.get(names.RETRY_TOPIC))})
