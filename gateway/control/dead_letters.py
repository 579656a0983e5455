"""Dead letters: the groups that have some, those of one group, and the causes for which they were given up."""

from __future__ import annotations

from typing import Final

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.admin import Admin
from broker_core.client.admin.placed import BrowsePage
from broker_core.client.admin.topics import TopicStats
from broker_core.client.errors import GroupNotFound, TopicNotFound, Unreachable
from broker_core.errors import GantryError
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.dead_letters import DeadLetterFilter
from broker_core.protocol.topics import DEAD_LETTER_PREFIX, dead_letter_topic, is_dead_letter_topic
from console.accounts.permissions import allows
from console.accounts.rights import EVERYTHING, Resource
from console.clusters.memory import remembered
from console.clusters.reasons import reason_of
from console.lag import current
from console.lag.shapes import MissingBroker, TopicState
from console.moments import rfc3339
from console.paging import PAGE_PARAMETERS, cursor_of, limit_of, make_cursor, page_sequence
from console.query import number_of
from console.shapes import as_json, serializer_of
from gateway.control.cluster_view import (
    ClusterListView,
    ClusterScopedView,
    moment_of,
    sorted_rows,
)
from gateway.control.dead_letter_reading import MOST_READ, Chosen, Glance, choose, glance_of_none, glances
from gateway.control.dead_letter_shapes import (
    DeadLetterCauses,
    DeadLetterGroup,
    DeadLetterGroups,
    DeadLetters,
    causes_of,
    dead_letter_of,
    origins,
)
from gateway.control.message_shapes import slaves_shown
from gateway.control.messages import FROM, TO, missing_of

_SORTABLE: Final = ("name", "messages", "last_at")
_MAX_WORDS: Final = 1_000
FILTERS: Final = (
    OpenApiParameter("cause", str, description="Given up for this reason or exception."),
    OpenApiParameter("without_cause", bool, description="Given up without any; not together with `cause`."),
    OpenApiParameter("topic", str, description="The topic they came from."),
    OpenApiParameter("key", str),
    FROM,
    TO,
)


class DeadLetterGroupsView(ClusterListView):
    """The groups that have dead letters."""

    listed = "group"

    @extend_schema(
        operation_id="listDeadLetterGroups",
        tags=["dead letters"],
        parameters=[
            *PAGE_PARAMETERS,
            OpenApiParameter("search", str, description="A part of the name, in any case."),
            OpenApiParameter("sort", str, description=f"{', '.join(_SORTABLE)}; - before a name: descending."),
        ],
        responses=serializer_of(DeadLetterGroups),
    )
    def get(self, request: Request, cluster: str) -> Response:
        """List the groups that have dead letters, with count, age, cause and the retries that still wait."""
        part = request.query_params.get("search", "").lower()
        visible = self.visible(_row(topic) for topic in current.topics(cluster).values() if _has_some(topic))
        rows = [row for row in visible if part in row.name.lower()]
        page = page_sequence(request, sorted_rows(request, rows, _SORTABLE), key=lambda row: row.name)
        known = remembered(cluster)
        seen = self.ask(lambda admin: glances(admin, [row.name for row in page.items], known))
        counts = [row.messages for row in rows]
        is_unknown = None in counts or (not rows and self._may_have_others())
        shown = DeadLetterGroups(
            items=[_completed(row, seen[row.name]) for row in page.items],
            next_cursor=page.next_cursor,
            prev_cursor=page.prev_cursor,
            total=len(rows),
            messages=None if is_unknown else sum(filter(None, counts)),
            groups=self._groups(),
        )
        return Response(as_json(shown))

    def _may_have_others(self) -> bool:
        """Return whether there may be dead letters of which nobody knows: a broker is silent, or none is known."""
        whole = current.overview(self.cluster)
        return bool(whole.missing) or whole.groups is None

    def _groups(self) -> int | None:
        """Return how many groups the caller may read; None while that is unknown."""
        if allows(self.request, "read", Resource("group", EVERYTHING)):
            return current.overview(self.cluster).groups
        return len(self.visible(current.groups(self.cluster)))


class GroupOfDeadLettersView(ClusterScopedView):
    """The dead letters of the group in the path."""

    resource_argument = "group"

    def check_group(self, group: str) -> None:
        """Raise GroupNotFound if no broker knows the group: one without dead letters has no topic for them."""
        if self.ask(lambda admin: admin.groups.find(group)) is None:
            code = ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST
            raise GroupNotFound(code, f"no consumer group is named {group!r}", self.cluster)

    def check_absence(self, group: str, error: GantryError) -> None:
        """Raise for a topic of dead letters that cannot be read, unless the group just has none, or brokers miss."""
        if not missing_of(self.cluster, dead_letter_topic(group), ()):
            if isinstance(error, Unreachable):
                raise error
            self.check_group(group)


class DeadLetterGroupView(GroupOfDeadLettersView):
    """The dead letters of a group in one line."""

    @extend_schema(operation_id="getDeadLetterGroup", tags=["dead letters"], responses=serializer_of(DeadLetterGroup))
    def get(self, request: Request, cluster: str, group: str) -> Response:
        """Return how many dead letters a group has, since when and why, and the retries that still wait."""
        sampled, known = current.topics(cluster).get(dead_letter_topic(group)), remembered(cluster)
        try:
            seen = self.ask(lambda admin: glances(admin, [group], known))[group]
        except Unreachable as error:
            seen = error
        if isinstance(seen, TopicNotFound):
            self.check_absence(group, seen)
            seen = self.ask(lambda admin: glance_of_none(admin, group, known))
        if sampled is None:
            sampled = TopicState(name=dead_letter_topic(group), messages=_count_of(seen))
        return Response(as_json(_completed(_row(sampled), seen)))


class DeadLettersView(GroupOfDeadLettersView):
    """The dead letters of a group."""

    @extend_schema(
        operation_id="listDeadLetters",
        tags=["dead letters"],
        parameters=[*FILTERS, *PAGE_PARAMETERS],
        responses=serializer_of(DeadLetters),
    )
    def get(self, request: Request, cluster: str, group: str) -> Response:
        """List dead letters of a group, the newest first; a page reads at most 2,000 of them."""
        topic, wanted, limit, after = (
            dead_letter_topic(group),
            filter_of(request),
            limit_of(request),
            cursor_of(request),
        )
        positions = None if after is None else {MessageQueue(topic, name, queue): at for name, queue, at in after}

        async def question(admin: Admin) -> tuple[TopicStats, Chosen]:
            stats = await admin.topics.stats(topic, with_slaves=True)
            return stats, await choose(admin, group, wanted, limit=limit, positions=positions)

        try:
            stats, chosen = self.ask(question)
        except (TopicNotFound, Unreachable) as error:
            self.check_absence(group, error)
            stats, chosen = TopicStats(), Chosen([], {}, 0, BrowsePage())
        missing = missing_of(cluster, topic, chosen.page.asked, {**stats.failed, **chosen.page.failed})
        slaves = {**stats.slaves, **chosen.slaves}
        rest = [[queue.broker_name, queue.queue_id, at] for queue, at in chosen.positions.items()]
        shown = DeadLetters(
            items=[dead_letter_of(each) for each in chosen.messages],
            next_cursor=make_cursor(request, rest) if rest else None,
            read=chosen.read,
            stored=None if missing or slaves else stats.messages,
            missing=missing,
            from_slaves=slaves_shown(slaves),
        )
        return Response(as_json(shown))


class DeadLetterCausesView(GroupOfDeadLettersView):
    """Why a group gave messages up."""

    @extend_schema(
        operation_id="listDeadLetterCauses",
        tags=["dead letters"],
        parameters=[
            OpenApiParameter(
                "max_messages", {"type": "integer", "minimum": 1, "maximum": MOST_READ, "default": MOST_READ}
            )
        ],
        responses=serializer_of(DeadLetterCauses),
    )
    def get(self, request: Request, cluster: str, group: str) -> Response:
        """Count the newest dead letters of a group by the reason that its consumers gave, or by their exception."""
        limit = number_of(request, "max_messages", MOST_READ, low=1, high=MOST_READ) or MOST_READ
        topic = dead_letter_topic(group)

        async def question(admin: Admin) -> tuple[TopicStats, BrowsePage]:
            # Counted before reading: a dead letter that arrives in between must not hide one that was not read.
            stats = await admin.topics.stats(topic, with_slaves=True)
            return stats, await admin.messages.browse(topic, limit=limit, with_slaves=True)

        try:
            stats, page = self.ask(question)
        except (TopicNotFound, Unreachable) as error:
            self.check_absence(group, error)
            stats, page = TopicStats(), BrowsePage()
        missing = missing_of(cluster, topic, page.asked, {**stats.failed, **page.failed})
        return Response(as_json(_causes(stats, page, missing)))


def filter_of(request: Request) -> DeadLetterFilter:
    """Return the filter in the query; raise ValidationError for one that contradicts itself or is too long."""
    given = {name: request.query_params.get(name) or None for name in ("cause", "topic", "key")}
    for name, value in given.items():
        if value is not None and len(value) > _MAX_WORDS:
            raise serializers.ValidationError({name: f"has at most {_MAX_WORDS} characters"})
    without = request.query_params.get("without_cause", "false").lower()
    if without not in ("true", "false"):
        raise serializers.ValidationError({"without_cause": "must be true or false"})
    if without == "true" and given["cause"] is not None:
        raise serializers.ValidationError({"without_cause": "cannot be combined with a cause"})
    begin, end = moment_of(request, "from", 0), moment_of(request, "to", -1)
    return DeadLetterFilter(
        causes=(None,) if without == "true" else _only(given["cause"]),
        topics=_only(given["topic"]),
        key=given["key"],
        begin_ms=begin or None,
        end_ms=None if end < 0 else end,
    )


def _count_of(seen: Glance | GantryError) -> int | None:
    """Return how many dead letters a group without a sampled count has, if that is known: a slave may lack some."""
    return None if isinstance(seen, GantryError) or seen.slaves else seen.stored


def _only(word: str | None) -> tuple[str, ...] | None:
    return None if word is None else (word,)


def _has_some(topic: TopicState) -> bool:
    """Return whether a topic has dead letters, or may have: an unknown count is shown, never left out."""
    return is_dead_letter_topic(topic.name) and topic.messages != 0


def _row(topic: TopicState) -> DeadLetterGroup:
    return DeadLetterGroup(
        name=topic.name.removeprefix(DEAD_LETTER_PREFIX),
        messages=topic.messages,
        first_at=None,
        last_at=topic.last_stored_at,
        topics=[],
        top_cause=None,
        causes=None,
        read=0,
        retries_waiting=None,
        unknown_reason="; ".join(each.reason for each in topic.missing) or None,
        from_slaves=[],
    )


def _completed(row: DeadLetterGroup, seen: Glance | GantryError) -> DeadLetterGroup:
    if not isinstance(seen, Glance):
        row.unknown_reason = row.unknown_reason or reason_of(seen)
        return row
    causes = causes_of(seen.newest)
    row.first_at = None if seen.first_stored_at is None else rfc3339(seen.first_stored_at)
    row.topics = origins(each.message for each in seen.newest)
    row.top_cause = causes[0] if causes else None
    row.causes, row.read, row.retries_waiting = len(causes), len(seen.newest), seen.retries_waiting
    row.unknown_reason = row.unknown_reason or seen.unknown_reason
    row.from_slaves = slaves_shown(seen.slaves)
    return row


def _causes(stats: TopicStats, page: BrowsePage, missing: list[MissingBroker]) -> DeadLetterCauses:
    read, slaves = len(page.messages), {**stats.slaves, **page.slaves}
    is_known = not missing and not slaves
    return DeadLetterCauses(
        items=causes_of(page.messages),
        read=read,
        stored=stats.messages if is_known else None,
        # Queues that may not be read are on no page; only the count tells of them.
        complete=is_known and not page.positions and read >= stats.messages,
        missing=missing,
        from_slaves=slaves_shown(slaves),
    )
