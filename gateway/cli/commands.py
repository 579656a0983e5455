"""All commands: each module adds its own to the root command."""

from __future__ import annotations

from gateway.cli import groups, jobs, messages, offsets, produce, raw, receive, topics
from gateway.cli.root import gantry

__all__ = ["gantry", "groups", "jobs", "messages", "offsets", "produce", "raw", "receive", "topics"]
