"""The preview of a rule over the last day's history. Keeps nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any, Final

import redis
from msgspec import Meta, Struct

from broker_core.clock import now_ms
from broker_core.errors import GantryError
from console.accounts.rights import Kind
from console.alerts.life import Limits
from console.alerts.models import Direction, Metric
from console.alerts.rehearsal import Rehearsal, Span, rehearse
from console.clusters.models import Cluster
from console.clusters.reasons import reason_of
from console.errors import Fault, NotServed, RedisUnreachable
from console.lag import current, history
from console.lag.shapes import Points
from console.moments import Moment, rfc3339
from console.redis_client import store

MAX_SUBJECTS: Final = 20
MAX_SPANS: Final = 100
MayRead = Callable[[Kind, str], bool]
_OF_GROUPS: Final[Mapping[str, str]] = {
    Metric.GROUP_LAG: "lag",
    Metric.GROUP_TIME_LAG_MS: "time_lag_ms",
    Metric.GROUP_IN_RATE: "in_rate",
    Metric.GROUP_OUT_RATE: "out_rate",
}


class PreviewSpan(Struct, frozen=True, kw_only=True, rename={"begin": "from"}):
    """A time in which a rule would have fired, or in which nothing was known."""

    cluster: str
    subject: str
    begin: Moment
    to: Moment
    worst: float | None


class UnknownCluster(Struct, frozen=True, kw_only=True):
    """A cluster whose groups are not known."""

    cluster: str
    reason: str


class RulePreview(Struct, frozen=True, kw_only=True, rename={"begin": "from"}):
    """What a rule would have done within the last day, by means of a minute each."""

    begin: Moment
    to: Moment
    step_ms: int
    subjects: Annotated[int, Meta(description="How many match now.")]
    previewed: Annotated[int, Meta(description=f"How many of them are in the preview; at most {MAX_SUBJECTS}.")]
    shown: Annotated[str | None, Meta(description="The subject whose values are given: the one that fires longest.")]
    values: Annotated[Points, Meta(description="Null where nothing was known.")]
    fired: Annotated[list[PreviewSpan], Meta(description=f"The first {MAX_SPANS}.")]
    fired_count: int
    fired_ms: Annotated[int, Meta(description="In all, over all subjects.")]
    longest_ms: int
    unknown: Annotated[list[PreviewSpan], Meta(description=f"Of `shown`; the first {MAX_SPANS}.")]
    unknown_ms: Annotated[int, Meta(description="Of `shown`.")]
    brief: Annotated[int, Meta(description="Peaks beyond the limit that were too short to fire.")]
    missing: Annotated[list[UnknownCluster], Meta(description="Matching clusters whose groups are not known now.")]


class _Seen(Struct, frozen=True):
    cluster: str
    subject: str
    values: Points
    rehearsal: Rehearsal

    def fired_ms(self) -> int:
        return _length(self.rehearsal.fired)

    def spans(self, spans: list[Span]) -> list[PreviewSpan]:
        return [
            PreviewSpan(
                cluster=self.cluster,
                subject=self.subject,
                begin=rfc3339(span.begin),
                to=rfc3339(span.end),
                worst=span.worst,
            )
            for span in spans
        ]


def preview(fields: Mapping[str, Any], may_read: MayRead) -> RulePreview:
    """Return what the rule with these fields would have done with the subjects that the caller may read.

    Raises NotServed for a metric without a history, and why no matching cluster is known if there is none that is.
    """
    metric = fields["metric"]
    if metric not in _OF_GROUPS and metric != Metric.BROKER_DISK_USED:
        known = ", ".join([*_OF_GROUPS, Metric.BROKER_DISK_USED])
        detail = f"No history is kept of {metric}, so it cannot be previewed; known: {known}."
        raise NotServed([Fault("#/metric", "NO_HISTORY", detail)])
    limits = Limits(
        fields["direction"] == Direction.ABOVE, fields["limit"], fields["for_ms"], fields["no_data_after_ms"]
    )
    end = history.end_of(history.A_DAY_OF_MINUTES, now_ms())
    places, missing = _places(fields, may_read)
    seen = [_seen(place, metric, limits, end) for place in places[:MAX_SUBJECTS]]
    return _shape(seen, len(places), missing, end)


def _places(fields: Mapping[str, Any], may_read: MayRead) -> tuple[list[tuple[str, str]], list[UnknownCluster]]:
    """Return cluster and subject of all that match, those behind most first; of disks the fullest in each cluster.

    With them come the clusters that are not known; raises what the first one says if no other one is known.
    """
    clusters = [name for name in Cluster.objects.values_list("name", flat=True) if fnmatchcase(name, fields["cluster"])]
    if fields["metric"] == Metric.BROKER_DISK_USED:
        return [(name, name) for name in clusters if may_read("cluster", name)], []
    found: list[tuple[int, str, str]] = []
    failed: dict[str, GantryError] = {}
    for cluster in clusters:
        try:
            groups = current.groups(cluster)
        except GantryError as error:
            failed[cluster] = error
            continue
        found += [
            (group.lag or 0, cluster, group.name)
            for group in groups
            if fnmatchcase(group.name, fields["subject"]) and may_read("group", group.name)
        ]
    if failed and len(failed) == len(clusters):
        raise next(iter(failed.values()))
    missing = [UnknownCluster(cluster=cluster, reason=reason_of(error)) for cluster, error in failed.items()]
    return [(cluster, name) for _, cluster, name in sorted(found, key=lambda each: (-each[0], each[2]))], missing


def _seen(place: tuple[str, str], metric: str, limits: Limits, end: int) -> _Seen:
    cluster, subject = place
    wanted = history.A_DAY_OF_MINUTES
    if metric in _OF_GROUPS:
        key, columns, column = history.group_key(cluster, subject), history.GROUP_COLUMNS, _OF_GROUPS[metric]
    else:
        key, columns, column = history.overview_key(cluster), history.OVERVIEW_COLUMNS, "disk_used_ratio"
    try:
        values = history.read(store(), key, columns, wanted, end=end)[column]
    except redis.RedisError as error:
        raise RedisUnreachable from error
    # The last step has only begun: it is kept when it ends.
    values, begin = values[:-1], end - wanted.span_ms
    return _Seen(cluster, subject, values, rehearse(values, begin, wanted.step_ms, limits))


def _shape(seen: list[_Seen], matching: int, missing: list[UnknownCluster], end: int) -> RulePreview:
    wanted = history.A_DAY_OF_MINUTES
    fired = [span for each in seen for span in each.rehearsal.fired]
    # Of those that never fired the one of which least is known: the others cannot speak for it.
    shown = max(seen, key=lambda each: (each.fired_ms(), _length(each.rehearsal.unknown)), default=None)
    listed = [span for each in seen for span in each.spans(each.rehearsal.fired)]
    unknown = [] if shown is None else shown.rehearsal.unknown
    return RulePreview(
        begin=rfc3339(end - wanted.span_ms),
        to=rfc3339(end - wanted.step_ms),
        step_ms=wanted.step_ms,
        subjects=matching,
        previewed=len(seen),
        shown=None if shown is None else shown.subject,
        values=[] if shown is None else shown.values,
        fired=sorted(listed, key=lambda span: span.begin)[:MAX_SPANS],
        fired_count=len(fired),
        fired_ms=_length(fired),
        longest_ms=max((span.end - span.begin for span in fired), default=0),
        unknown=[] if shown is None else shown.spans(unknown[:MAX_SPANS]),
        unknown_ms=_length(unknown),
        brief=sum(each.rehearsal.brief for each in seen),
        missing=missing,
    )


def _length(spans: list[Span]) -> int:
    return sum(span.end - span.begin for span in spans)
