"""The common part of the views of one cluster: rights by name, questions to the cluster, values in queries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Any, Final, Literal, Protocol, TypeVar

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers
from rest_framework.fields import empty
from rest_framework.request import Request
from rest_framework.response import Response

from broker_core.client.admin import Admin
from broker_core.moments import NoMoment, read_moment
from console.accounts.permissions import Right, allows, needs
from console.accounts.rights import ANYTHING, EVERYTHING, Kind, Resource, Unnamed
from console.api_view import ApiView
from console.clusters.connections import ask
from console.clusters.outcomes import BrokerOutcome, PartlyDeleted
from console.clusters.services import require
from console.fields import AFTER_THE_CALENDAR
from console.lag.history import RANGES
from console.lag.limited import Sight
from console.shapes import as_json

T = TypeVar("T")
Row = TypeVar("Row", bound="_Named")


class _Named(Protocol):
    """A row of a list; its name decides who may see it."""

    @property
    def name(self) -> str: ...


_LONGEST_WORD: Final = 1_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST: Final = datetime.max.replace(tzinfo=UTC) - _EPOCH

RANGE = OpenApiParameter("range", str, enum=list(RANGES), default="1h", description="How far back.")


class ClusterScopedView(ApiView):
    """A view under ``/clusters/{cluster}/``: reading requires `read`, changing `manage`, deleting `delete`."""

    permission_classes: Sequence[type[Right]] = (needs("read", to_change="manage", to_delete="delete"),)
    resource_argument: Literal["topic", "group"] | None = None
    """The kind of the resource, and the argument of the path with its name; None if the view covers everything."""

    def right_resource(self) -> Resource | Unnamed:
        """Return the topic or group for which the request needs a right."""
        kind = self.resource_argument
        return EVERYTHING if kind is None else Resource(kind, str(self.kwargs[kind]))

    def check_permissions(self, request: Request) -> None:
        """Check the rights, and that the cluster exists: samples of a deleted one may still be there."""
        super().check_permissions(request)
        require(self.cluster)

    @property
    def sight(self) -> Sight:
        """What the caller may read."""
        return Sight(lambda resource: allows(self.request, "read", resource))

    @property
    def cluster(self) -> str:
        """The cluster of the path."""
        return str(self.kwargs["cluster"])

    def ask(self, question: Callable[[Admin], Awaitable[T]]) -> T:
        """Ask the cluster and wait; raise ClusterNotFound, ClusterSilent or what the question raises."""
        return ask(self.cluster, question)


class WholeClusterView(ClusterScopedView):
    """A view of what belongs to the cluster itself, not to its topics and groups."""

    def right_resource(self) -> Resource:
        """Return the cluster."""
        return Resource("cluster", self.cluster)


class ClusterListView(ClusterScopedView):
    """A list of topics or groups: the caller gets those that it may read."""

    listed: Kind

    def right_resource(self) -> Resource:
        """Return any resource of the kind: the verb must be allowed for at least one name."""
        return Resource(self.listed, ANYTHING)

    def visible(self, rows: Iterable[Row]) -> list[Row]:
        """Return the rows that the caller may read."""
        if allows(self.request, "read", Resource(self.listed, EVERYTHING)):
            return list(rows)
        return [row for row in rows if allows(self.request, "read", Resource(self.listed, row.name))]


class TopicInQueryView(ClusterScopedView):
    """A view with the topic in the query."""

    def right_resource(self) -> Resource:
        """Return the topic; a request without one is refused later as invalid."""
        return Resource("topic", self.request.query_params.get("topic", "").strip() or ANYTHING)


def topic_of_body(request: Request, form: type[serializers.Serializer[Any]]) -> Resource:
    """Return the topic that a body names, as its form reads it; a body without one is refused later as invalid.

    Read in another way than the form does, a name would be checked and another one used.
    """
    body = request.data if isinstance(request.data, Mapping) else {}
    try:
        name = form().fields["topic"].run_validation(body.get("topic", empty))
    except (serializers.ValidationError, serializers.SkipField):
        name = None
    return Resource("topic", ANYTHING if name is None else name)


def with_outcomes(answer: Response, outcomes: Sequence[BrokerOutcome], *, status: int = 200) -> Response:
    """Return the answer to a change with the outcome on each broker: `status` if all made it, 207 if some did."""
    answer.data = {**answer.data, "brokers": as_json(outcomes)}
    answer.status_code = status if all(outcome.done for outcome in outcomes) else 207
    return answer


def deleted(name: str, outcomes: Sequence[BrokerOutcome]) -> Response:
    """Return the answer to a deletion: 204 if all brokers made it, 207 with the outcomes if some did."""
    if all(outcome.done for outcome in outcomes):
        return Response(status=204)
    return Response(as_json(PartlyDeleted(name, outcomes)), status=207)


def range_of(request: Request) -> str:
    """Return the requested range; raise ValidationError for an unknown one."""
    wanted = request.query_params.get("range", "1h")
    if wanted not in RANGES:
        raise serializers.ValidationError({"range": f"must be one of {', '.join(RANGES)}"})
    return wanted


def moment_of(request: Request, name: str, default: int) -> int:
    """Return a moment of the query in ms since 1970; raise ValidationError if it is not an RFC 3339 moment."""
    text = request.query_params.get(name)
    if not text:
        return default
    try:
        # A plus sign that was not escaped arrives as a blank.
        since_1970 = read_moment(text.replace(" ", "+")) - _EPOCH
    except NoMoment as error:
        raise serializers.ValidationError({name: f"{text[:40]!r} {error}"}) from None
    if since_1970 > _LAST:
        raise serializers.ValidationError({name: AFTER_THE_CALENDAR})
    return max(0, since_1970 // timedelta(milliseconds=1))


def word_of(request: Request, name: str) -> str | None:
    """Return a text of the query, None for none; raise ValidationError for one that no message can have."""
    text = request.query_params.get(name) or None
    if text is not None and len(text) > _LONGEST_WORD:
        raise serializers.ValidationError({name: f"has at most {_LONGEST_WORD} characters"})
    return text


def sorted_rows(
    request: Request, rows: list[Row], allowed: tuple[str, ...], **columns: Callable[[Row], Any]
) -> list[Row]:
    """Return `rows` sorted by the query's ``sort``, e.g. ``-lag,name``; unknown values count as the largest.

    `columns` returns the value to sort by, or None, where that is not the attribute itself.
    """
    for word in reversed(request.query_params.get("sort", "name").split(",")):
        name, falling = word.removeprefix("-"), word.startswith("-")
        if name not in allowed:
            raise serializers.ValidationError({"sort": f"must name {', '.join(allowed)}; - before a name: descending"})
        column = columns.get(name, attrgetter(name))
        known = sorted((row for row in rows if column(row) is not None), key=column, reverse=falling)
        unknown = [row for row in rows if column(row) is None]
        rows = unknown + known if falling else known + unknown
    return rows
