"""The console's own records as items of the file."""

from __future__ import annotations

import msgspec
from rest_framework.request import Request

from console.accounts.models import Role
from console.accounts.permissions import allows
from console.accounts.rights import ANYTHING, EVERYTHING, Resource
from console.accounts.role_shapes import role_state
from console.alerts.models import Rule
from console.alerts.rules import choices_of as choices_of_rule
from console.jobs.models import Schedule
from console.jobs.schedules import choices_of
from console.jobs.visibility import visible_schedules
from console.shapes import as_json
from gateway.control.definitions.present import Present, not_allowed
from gateway.control.definitions.shapes import AlertRuleDefinition, RoleDefinition, ScheduleDefinition


def roles(request: Request) -> Present[RoleDefinition]:
    """Return the roles that are not built in."""
    if not allows(request, "admin", EVERYTHING):
        return not_allowed("roles", "admin")
    return Present({role.name: role_definition(role) for role in Role.objects.all()})


def schedules(request: Request) -> Present[ScheduleDefinition]:
    """Return the schedules that the caller may read."""
    if not allows(request, "read", Resource("schedule", ANYTHING)):
        return not_allowed("schedules", "read")
    rows = visible_schedules(request, Schedule.objects.all())
    return Present({row.name: schedule_definition(row) for row in rows})


def alert_rules(request: Request) -> Present[AlertRuleDefinition]:
    """Return the alert rules."""
    if not allows(request, "read", EVERYTHING):
        return not_allowed("alert_rules", "read")
    rows = Rule.objects.prefetch_related("channels")
    return Present({row.name: rule_definition(row) for row in rows})


def role_definition(role: Role) -> RoleDefinition:
    """Return a role as the file has it."""
    shown = role_state(role)
    return RoleDefinition(name=shown.name, description=shown.description, rules=shown.rules)


def schedule_definition(schedule: Schedule) -> ScheduleDefinition:
    """Return a schedule as the file has it."""
    return msgspec.convert(as_json(choices_of(schedule)), ScheduleDefinition)


def rule_definition(rule: Rule) -> AlertRuleDefinition:
    """Return an alert rule as the file has it."""
    names = sorted(channel.name for channel in rule.channels.all())
    return msgspec.convert({**choices_of_rule(rule), "channels": names}, AlertRuleDefinition)
