"""Which alerts, rules and silences a caller may see: by the rights on what they are about.

An alert tells of a subject, so whoever may not read that sees no such alert. A rule or a silence tells of a pattern: it
is shown to whoever may read what the pattern, taken as a name, stands for, and to everybody if it stands for all names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeVar

from django.db.models import QuerySet
from rest_framework.request import Request

from console.accounts.permissions import allows, require
from console.accounts.rights import ANYTHING, EVERYTHING, Kind, Resource, Unnamed
from console.alerts.metrics import SUBJECTS, SubjectKind
from console.alerts.models import Alert, Rule, Silence
from console.alerts.now import RuleFigures
from console.api_view import ApiView
from console.errors import NotKnown
from console.jobs.models import JobType

R = TypeVar("R", Alert, Rule, Silence)

_KINDS: Final[Mapping[SubjectKind, Kind]] = {
    "group": "group", "topic": "topic", "broker": "cluster", "cluster": "cluster", "job": "job", "schedule": "schedule",
}  # fmt: skip


def resource_of(metric: str, cluster: str, subject: str) -> Resource:
    """Return what the right is needed for: a broker belongs to its cluster."""
    kind = _KINDS[SUBJECTS[metric]]
    if kind == "job" and subject not in JobType.values:
        # Runs of a schedule are counted by its name.
        kind = "schedule"
    return Resource(kind, cluster if kind == "cluster" else subject)


def visible_alerts(request: Request, rows: QuerySet[Alert]) -> QuerySet[Alert]:
    """Return those of the alerts that the caller may read."""
    if _may_read_all(request):
        return rows
    found = rows.order_by().values_list("pk", "rule__metric", "cluster", "subject")
    shown = [pk for pk, *about in found if allows(request, "read", resource_of(*about))]
    return rows.filter(pk__in=shown)


def visible_rules(request: Request, rows: QuerySet[Rule]) -> QuerySet[Rule]:
    """Return those of the rules that the caller may read."""
    if _may_read_all(request):
        return rows
    return rows.filter(pk__in=[rule.pk for rule in rows if _may_read_rule(request, rule)])


def visible_silences(request: Request, rows: QuerySet[Silence]) -> QuerySet[Silence]:
    """Return those of the silences that the caller may read."""
    if _may_read_all(request):
        return rows
    return rows.filter(pk__in=[silence.pk for silence in rows if _may_read_silence(request, silence)])


def visible_figures(
    request: Request, figures: Mapping[str, list[RuleFigures]], rules: Iterable[Rule]
) -> Mapping[str, list[RuleFigures]]:
    """Return what rules show now to whoever may read all of their kind: the figures are of all subjects together."""
    if _may_read_all(request):
        return figures
    kinds = {rule.pk: _KINDS[SUBJECTS[rule.metric]] for rule in rules}
    return {
        pk: figures[pk]
        for pk, kind in kinds.items()
        if pk in figures and allows(request, "read", Resource(kind, EVERYTHING))
    }


def check_visible(request: Request, row: R) -> R:
    """Return the row; raise NotKnown, as for one that does not exist, unless the caller may read it."""
    checks: Mapping[type, Callable[..., bool]] = {
        Alert: _may_read_alert, Rule: _may_read_rule, Silence: _may_read_silence,
    }  # fmt: skip
    if not checks[type(row)](request, row):
        raise NotKnown(f"There is no {row._meta.verbose_name} {row.pk!r}.")
    return row


def check_changeable(request: Request, alert: Alert) -> Alert:
    """Return the alert; raise NotKnown if the caller may not read it, PermissionDenied if not manage its subject."""
    check_visible(request, alert)
    if not allows(request, "manage", EVERYTHING):
        require(request, "manage", _about(alert))
    return alert


class OfSomeNames(ApiView):
    """A view that the right on some names opens for reading, and only the right on everything for changes."""

    def right_resource(self) -> Unnamed:
        """Return for which names the right is needed."""
        return ANYTHING if self.request.method in ("GET", "HEAD", "OPTIONS") else EVERYTHING


def _may_read_all(request: Request) -> bool:
    kinds: tuple[Kind, ...] = ("job", "schedule")
    return allows(request, "read", EVERYTHING) and all(allows(request, "read", Resource(k, EVERYTHING)) for k in kinds)


def _may_read_alert(request: Request, alert: Alert) -> bool:
    return allows(request, "read", _about(alert))


def _may_read_rule(request: Request, rule: Rule) -> bool:
    kind = _KINDS[SUBJECTS[rule.metric]]
    if kind == "cluster":
        return _may_read_pattern(request, kind, rule.cluster)
    kinds: tuple[Kind, ...] = ("job", "schedule") if kind == "job" else (kind,)
    return any(_may_read_pattern(request, each, rule.subject) for each in kinds)


def _may_read_silence(request: Request, silence: Silence) -> bool:
    kinds: tuple[Kind, ...] = ("group", "topic", "job", "schedule")
    return any(_may_read_pattern(request, kind, silence.subject) for kind in kinds) or (
        _may_read_pattern(request, "cluster", silence.cluster) and _is_whole(silence.subject)
    )


def _may_read_pattern(request: Request, kind: Kind, pattern: str) -> bool:
    return _is_whole(pattern) or allows(request, "read", Resource(kind, pattern))


def _is_whole(pattern: str) -> bool:
    return not pattern.strip("*")


def _about(alert: Alert) -> Resource:
    return resource_of(alert.rule.metric, alert.cluster, alert.subject)
