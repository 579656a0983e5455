"""A section of the file against what there is: what would change, item by item, and the change itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from rest_framework.request import Request

from console.accounts.explaining import refusal_of
from console.accounts.permissions import actor_of, allows, rights_of_request
from console.accounts.rights import Resource, Unnamed, Verb
from console.audit.record import Actor
from console.clusters.outcomes import BrokerOutcome
from console.errors import Conflict
from gateway.control.definitions.given import Given, GivenSection
from gateway.control.definitions.plan_shapes import Action, FieldChange, PlannedItem

Values = Mapping[str, Any]


class Part(ABC):
    """A section for one caller. It reads what there is once, when it is made."""

    verb: Verb

    def __init__(self, request: Request, given: GivenSection) -> None:
        self.request = request
        self.given = given

    @abstractmethod
    def names(self) -> Collection[str] | None:
        """Return the names that are there now and that the caller may read; None if that is not known."""

    @abstractmethod
    def unknown_because(self) -> str:
        """Return why the names are not known."""

    @abstractmethod
    def current(self, name: str) -> Values:
        """Return the fields of an item that is there."""

    @abstractmethod
    def resource(self, name: str) -> Resource | Unnamed:
        """Return what the right is needed for."""

    @abstractmethod
    def fault(self, item: Given, changed: Values) -> str | None:
        """Return why an item cannot be created or changed like this; `changed` has the fields that differ."""

    @abstractmethod
    def create(self, item: Given) -> Sequence[BrokerOutcome]:
        """Create an item; return the outcome on each broker, nothing for what the console keeps."""

    @abstractmethod
    def change(self, item: Given, changed: Values) -> Sequence[BrokerOutcome]:
        """Change these fields of an item."""

    @property
    def by(self) -> Actor:
        """The actor of the changes."""
        return actor_of(self.request)

    def plan(self) -> list[PlannedItem]:
        """Return the items that differ."""
        there = self.names()
        if there is None:
            return refused(self.given, self.unknown_because())
        known = frozenset(there)
        found = (self._against(item, is_there=item.name in known) for item in self.given.items)
        return [each for each in found if each is not None]

    def kept(self) -> int:
        """Return how many items are there and not in the file."""
        return len(set(self.names() or ()) - {item.name for item in self.given.items})

    def item(self, name: str) -> Given:
        """Return an item of the file."""
        return next(each for each in self.given.items if each.name == name)

    def _against(self, item: Given, *, is_there: bool) -> PlannedItem | None:
        now = self.current(item.name) if is_there else {}
        fields = item.said if is_there else item.values.keys()
        changes = [
            FieldChange(field=field, before=now.get(field), after=item.values[field])
            for field in item.values
            if field in fields and field != "name" and not self.is_same(field, now, item.values[field])
        ]
        if is_there and not changes:
            return None
        reason = self._refusal(item, {each.field: each.after for each in changes})
        action: Action = "refused" if reason else "change" if is_there else "create"
        return _planned(self.given, item.name, action, changes=changes, reason=reason)

    def is_same(self, field: str, now: Values, wanted: Any) -> bool:
        """Return whether a field is as the file wants it; nothing is the same for what is not there."""
        return field in now and bool(now[field] == wanted)

    def _refusal(self, item: Given, changed: Values) -> str | None:
        resource = self.resource(item.name)
        if not allows(self.request, self.verb, resource):
            return refusal_of(rights_of_request(self.request), self.verb, resource)
        return self.fault(item, changed)


def refused(given: GivenSection, reason: str) -> list[PlannedItem]:
    """Return all items of a section as refused."""
    return [_planned(given, item.name, "refused", reason=reason) for item in given.items]


def _planned(
    given: GivenSection, name: str, action: Action, *, changes: Sequence[FieldChange] = (), reason: str | None = None
) -> PlannedItem:
    return PlannedItem(
        section=given.section, cluster=given.cluster, name=name, action=action, changes=changes, reason=reason
    )


def changed_meanwhile(name: str) -> Conflict:
    """Return the refusal of an item that is not as it was when it was compared with the file."""
    return Conflict(f"{name!r} has changed since it was compared with the file; compare again.")
