"""All commands: each module adds its own to the root command."""

from __future__ import annotations

from gateway.cli import (
    acl,
    alerts,
    brokers,
    dead_letters,
    events,
    groups,
    jobs,
    messages,
    offsets,
    produce,
    raw,
    receive,
    scheduled,
    schedules,
    tail,
    topics,
    transactions,
)
from gateway.cli.root import gantry

__all__ = [
    "acl",
    "alerts",
    "brokers",
    "dead_letters",
    "events",
    "gantry",
    "groups",
    "jobs",
    "messages",
    "offsets",
    "produce",
    "raw",
    "receive",
    "scheduled",
    "schedules",
    "tail",
    "topics",
    "transactions",
]
