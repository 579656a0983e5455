"""Roles, schedules and alert rules of the file against the console's own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Model, QuerySet
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from broker_core.errors import GantryError
from console.accounts import roles
from console.accounts.models import Role
from console.accounts.rights import EVERYTHING, Resource, Unnamed
from console.alerts import rules
from console.alerts.models import Channel, Rule
from console.clusters.outcomes import BrokerOutcome
from console.jobs import schedules
from console.jobs.models import Schedule
from console.jobs.serializers import ScheduleWriteSerializer
from console.jobs.visibility import require_change
from console.shapes import as_json
from gateway.control.definitions import of_console
from gateway.control.definitions.faults import words_of
from gateway.control.definitions.given import Given, GivenSection
from gateway.control.definitions.part import Part, Values, changed_meanwhile
from gateway.control.definitions.present import Present
from gateway.control.definitions.shapes import AlertRuleDefinition, RoleDefinition, ScheduleDefinition

M = TypeVar("M", bound=Model)

_JOB_PARTS = ("source", "target", "left", "right")


class _ConsolePart(Part):
    """A section of the console's database."""

    def __init__(
        self,
        request: Request,
        given: GivenSection,
        found: Present[RoleDefinition] | Present[ScheduleDefinition] | Present[AlertRuleDefinition],
    ) -> None:
        super().__init__(request, given)
        self._found = found

    def names(self) -> Collection[str] | None:
        """Return the names of the records."""
        return self._found.items

    def unknown_because(self) -> str:
        """Return why they are not known."""
        return self._found.remarks[0].text

    def current(self, name: str) -> Values:
        """Return a record as the file has it."""
        found: Values = as_json((self._found.items or {})[name])
        return found

    @contextmanager
    def unchanged(self, rows: QuerySet[M], item: Given, definition: Callable[[M], object]) -> Iterator[M]:
        """Yield the record of an item for its change, locked; raise Conflict if it is not as it was compared."""
        with transaction.atomic():
            row = rows.select_for_update().filter(name=item.name).first()
            if row is None or definition(row) != (self._found.items or {}).get(item.name):
                raise changed_meanwhile(item.name)
            yield row


class RolePart(_ConsolePart):
    """Roles."""

    verb = "admin"

    def __init__(self, request: Request, given: GivenSection) -> None:
        super().__init__(request, given, of_console.roles(request))

    def resource(self, name: str) -> Unnamed:
        """Return everything: a role may give any right."""
        return EVERYTHING

    def fault(self, item: Given, changed: Values) -> str | None:
        """Return nothing: the form of the file says all that a role must be."""
        return None

    def create(self, item: Given) -> Sequence[BrokerOutcome]:
        """Add a role."""
        given = item.values
        roles.add_role(self.by, name=item.name, description=given["description"], rules=given["rules"])
        return ()

    def change(self, item: Given, changed: Values) -> Sequence[BrokerOutcome]:
        """Change a role."""
        with self.unchanged(Role.objects.all(), item, of_console.role_definition) as role:
            roles.change_role(self.by, role, changed)
        return ()


class RulePart(_ConsolePart):
    """Alert rules."""

    verb = "manage"

    def __init__(self, request: Request, given: GivenSection) -> None:
        super().__init__(request, given, of_console.alert_rules(request))
        self._channels: Mapping[str, Channel] = {channel.name: channel for channel in Channel.objects.all()}

    def resource(self, name: str) -> Unnamed:
        """Return everything: rules are about all names."""
        return EVERYTHING

    def fault(self, item: Given, changed: Values) -> str | None:
        """Return which of its channels does not exist."""
        missing = [name for name in item.values["channels"] if name not in self._channels]
        return f"There is no alert channel {missing[0]!r}; create it first." if missing else None

    def create(self, item: Given) -> Sequence[BrokerOutcome]:
        """Add a rule."""
        rules.add(self.by, self._with_channels(item.values))
        return ()

    def change(self, item: Given, changed: Values) -> Sequence[BrokerOutcome]:
        """Change a rule."""
        with self.unchanged(Rule.objects.all(), item, of_console.rule_definition) as rule:
            rules.change(self.by, rule, self._with_channels(changed))
        return ()

    def _with_channels(self, values: Values) -> dict[str, Any]:
        if "channels" not in values:
            return dict(values)
        return {**values, "channels": [self._channels[name] for name in values["channels"]]}


class SchedulePart(_ConsolePart):
    """Schedules."""

    verb = "jobs"

    def __init__(self, request: Request, given: GivenSection, coming: Collection[str]) -> None:
        """Take the topics that the same file creates: a job with one of them cannot be checked before."""
        super().__init__(request, given, of_console.schedules(request))
        self._coming = coming

    def resource(self, name: str) -> Resource:
        """Return the schedule."""
        return Resource("schedule", name)

    def fault(self, item: Given, changed: Values) -> str | None:
        """Return why a schedule cannot be created or changed like this."""
        topics = {(item.values["job"].get(part) or {}).get("topic") for part in _JOB_PARTS}
        if topics & set(self._coming):
            return None
        try:
            self._checked(item, changed)
        except (APIException, GantryError) as error:
            return words_of(error)
        return None

    def create(self, item: Given) -> Sequence[BrokerOutcome]:
        """Add a schedule."""
        schedules.add_schedule(self.by, self._checked(item, {}))
        return ()

    def change(self, item: Given, changed: Values) -> Sequence[BrokerOutcome]:
        """Change a schedule."""
        written = self._checked(item, changed)
        with self.unchanged(Schedule.objects.all(), item, of_console.schedule_definition) as schedule:
            schedules.change_schedule(self.by, schedule, written)
        return ()

    def _checked(self, item: Given, changed: Values) -> Values:
        """Return the fields to write; raise an APIException or GantryError for what the caller may not write."""
        # One that the caller may not read only has its name taken.
        is_seen = item.name in (self._found.items or {})
        there = Schedule.objects.filter(name=item.name).first() if is_seen else None
        data = item.values if there is None else dict(changed)
        context = {"is_scheduled": True, "request": self.request}
        form = ScheduleWriteSerializer(there, data=data, partial=there is not None, context=context)
        form.is_valid(raise_exception=True)
        written: Values = form.validated_data
        if there is not None:
            require_change(self.request, there, written)
        return written
