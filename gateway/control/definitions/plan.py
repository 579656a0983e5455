"""What a file would change, and the changes themselves, item by item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rest_framework.exceptions import APIException
from rest_framework.request import Request

from broker_core.errors import GantryError
from console.accounts.permissions import actor_of
from console.audit.record import Result as AuditResult
from console.audit.record import record
from console.clusters.models import Cluster
from console.clusters.outcomes import BrokerOutcome
from console.shapes import as_json
from gateway.control.definitions.cluster_parts import GroupPart, TopicPart
from gateway.control.definitions.console_parts import RolePart, RulePart, SchedulePart
from gateway.control.definitions.faults import words_of
from gateway.control.definitions.given import GivenSection
from gateway.control.definitions.part import Part, refused
from gateway.control.definitions.plan_shapes import (
    AppliedCounts,
    AppliedItem,
    DefinitionsApplied,
    DefinitionsPlan,
    PlanCounts,
    PlannedItem,
    Result,
)

MAX_CHANGES: Final = 500
"""How many changes one request makes at most; about ten seconds of work for a broker."""
_ORDER: Final = ("roles", "topics", "groups", "alert_rules", "schedules")


@dataclass(frozen=True, slots=True)
class _Step:
    """An item of the plan, and the section that makes it; None for a section of an unknown cluster."""

    item: PlannedItem
    part: Part | None


class Plan:
    """The comparison of a file with what there is."""

    def __init__(self, request: Request, sections: Sequence[GivenSection]) -> None:
        self._by = actor_of(request)
        self._steps: list[_Step] = []
        self._parts: list[Part] = []
        known = set(Cluster.objects.values_list("name", flat=True))
        for section in sorted(sections, key=lambda each: _ORDER.index(each.section)):
            if section.cluster is not None and section.cluster not in known:
                self._steps += [_Step(item, None) for item in refused(section, _no_cluster(section.cluster, known))]
            else:
                self._add(self._part(request, section))
        self._total = sum(len(section.items) for section in sections)

    def shown(self) -> DefinitionsPlan:
        """Return the plan; equal plans have equal tags."""
        actions = Counter(step.item.action for step in self._steps)
        counts = PlanCounts(
            create=actions["create"],
            change=actions["change"],
            refused=actions["refused"],
            same=self._total - len(self._steps),
            kept=sum(part.kept() for part in self._parts),
        )
        return DefinitionsPlan(items=[step.item for step in self._steps], counts=counts)

    def apply(self) -> DefinitionsApplied:
        """Make the changes, at most `MAX_CHANGES`, each by itself; a failed one does not stop the others."""
        outcomes = list(self._outcomes())
        ends = Counter(each.result for each in outcomes)
        counts = AppliedCounts(**{name: ends[name] for name in AppliedCounts.__struct_fields__})  # type: ignore[index]
        result: AuditResult = "ok" if ends["done"] == len(outcomes) else "partial" if ends["done"] else "failed"
        record(self._by, "definitions.apply", "definitions", result=result, after=as_json(counts))
        return DefinitionsApplied(items=outcomes, counts=counts)

    def _add(self, part: Part) -> None:
        self._parts.append(part)
        self._steps += [_Step(item, part) for item in part.plan()]

    def _part(self, request: Request, section: GivenSection) -> Part:
        match section.section:
            case "topics":
                return TopicPart(request, section)
            case "groups":
                return GroupPart(request, section)
            case "roles":
                return RolePart(request, section)
            case "alert_rules":
                return RulePart(request, section)
            case "schedules":
                return SchedulePart(request, section, self._coming())

    def _coming(self) -> set[str]:
        items = (step.item for step in self._steps)
        return {item.name for item in items if item.section == "topics" and item.action == "create"}

    def _outcomes(self) -> Iterable[AppliedItem]:
        begun = 0
        for step in self._steps:
            if step.item.action == "refused" or step.part is None:
                yield _applied(step.item, "refused", step.item.reason)
            elif begun == MAX_CHANGES:
                yield _applied(step.item, "waiting", f"One request makes at most {MAX_CHANGES} changes; apply again.")
            else:
                begun += 1
                yield _made(step.item, step.part)


def _made(planned: PlannedItem, part: Part) -> AppliedItem:
    item = part.item(planned.name)
    try:
        if planned.action == "create":
            brokers = part.create(item)
        else:
            brokers = part.change(item, {each.field: each.after for each in planned.changes})
    except (APIException, GantryError) as error:
        return _applied(planned, "failed", words_of(error))
    result: Result = "done" if all(each.done for each in brokers) else "partial"
    reason = next((each.reason for each in brokers if not each.done), None)
    return _applied(planned, result, reason, brokers)


def _applied(
    planned: PlannedItem, result: Result, reason: str | None, brokers: Sequence[BrokerOutcome] = ()
) -> AppliedItem:
    return AppliedItem(
        section=planned.section,
        cluster=planned.cluster,
        name=planned.name,
        action=planned.action,
        result=result,
        reason=reason,
        brokers=brokers,
    )


def _no_cluster(name: str, known: Iterable[str]) -> str:
    return f"No cluster is named {name[:60]!r}; there are {', '.join(sorted(known))}."
