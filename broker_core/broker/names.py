"""How long the names may be that clients give to themselves and to groups, which the broker keeps in memory."""

from __future__ import annotations

from typing import Final

from broker_core.broker.errors import IllegalArgument

MAX_NAME: Final = 255
"""Clients of Java take no longer name of a group. Only a topic's is shorter, and with it a group's that has retries."""


def check_names(**names: str) -> None:
    """Raise IllegalArgument for a name that is too long; arguments are named as on the wire."""
    for what, name in names.items():
        if len(name) > MAX_NAME:
            raise IllegalArgument(f"the {what} has {len(name)} characters, more than {MAX_NAME}")
