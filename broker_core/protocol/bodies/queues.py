"""A message queue as a body, also used as the key of several tables."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class MessageQueue:
    """One queue of a topic on one broker name."""

    topic: str
    broker_name: str
    queue_id: int
