"""Changes of saved searches, each written to the audit: by name alone, since keys may tell of people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.db import transaction

from console.accounts.models import User
from console.audit.record import Actor, record
from console.errors import AlreadyExists, Conflict
from console.rows import unless_taken
from console.searches.models import SavedSearch

MOST: Final = 100
"""Saved searches of one user."""


def save(by: Actor, owner: User, values: Mapping[str, Any]) -> SavedSearch:
    """Add a search; raise AlreadyExists, or Conflict if the owner has `MOST`."""
    mine, name = SavedSearch.objects.filter(owner=owner), values["name"]
    if mine.count() >= MOST:
        raise Conflict(f"You have {MOST} saved searches, which is the most; remove one first.")
    with unless_taken(mine.filter(name=name), _taken(name)):
        search = SavedSearch.objects.create(owner=owner, **values)
        record(by, "search.create", _resource(search), after={"name": name, "cluster": search.cluster})
    return search


def change(by: Actor, search: SavedSearch, changes: Mapping[str, Any]) -> SavedSearch:
    """Change name or query; raise AlreadyExists if the name is taken."""
    before = search.name
    search.name, search.query = changes.get("name", search.name), changes.get("query", search.query)
    others = SavedSearch.objects.filter(owner=search.owner, name=search.name).exclude(pk=search.pk)
    with unless_taken(others, _taken(search.name)):
        search.save()
        record(by, "search.update", _resource(search), before={"name": before}, after={"name": search.name})
    return search


@transaction.atomic
def remove(by: Actor, search: SavedSearch) -> None:
    """Remove a search."""
    record(by, "search.delete", _resource(search), before={"name": search.name})
    search.delete()


def _resource(search: SavedSearch) -> str:
    return f"searches/{search.pk}"


def _taken(name: str) -> AlreadyExists:
    return AlreadyExists(f"You have a saved search {name!r} already.")
