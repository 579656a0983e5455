"""Another database under the models for a while, in a process whose tests have theirs in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections

from gateway.env import database as settings_of


@dataclass(frozen=True)
class Database:
    """Where a database is: its URL, and what Django has in ``DATABASES`` for it."""

    url: str
    settings: dict[str, Any]


def postgres_of(url: str) -> Database:
    """Return the database of a URL; what Django's settings have beside the address is as for the default one."""
    usual = connections.settings[DEFAULT_DB_ALIAS]
    # The name of the usual one for tests may be a place in memory.
    test = {**usual["TEST"], "NAME": None}
    return Database(url, {**usual, **settings_of("GANTRY_DATABASE_URL", url, environ={}), "TEST": test})


@contextmanager
def default_database(database: Database) -> Iterator[None]:
    """Use it as the default one in all threads until the block ends; the usual one stays open, or it would be gone."""
    settings, usual = connections.settings[DEFAULT_DB_ALIAS], connections[DEFAULT_DB_ALIAS]
    connections.settings[DEFAULT_DB_ALIAS] = database.settings
    del connections[DEFAULT_DB_ALIAS]
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS].close()
        connections.settings[DEFAULT_DB_ALIAS] = settings
        connections[DEFAULT_DB_ALIAS] = usual
