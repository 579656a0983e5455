"""Which events a caller may see, and what of them: by the rights on what they are about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from msgspec.structs import replace

from console.accounts.rights import EVERYTHING, Resource, Unnamed, Verb
from console.activity.shapes import ActivityEvent
from console.alerts.visibility import resource_of


class May(Protocol):
    """Returns whether the caller may do something."""

    def __call__(self, verb: Verb, resource: Resource | Unnamed, /) -> bool: ...


def visible(events: Iterable[ActivityEvent], cluster: str, may: May) -> list[ActivityEvent]:
    """Return what a caller may see of the events of a cluster, in their order."""
    knows_actors = may("manage", EVERYTHING)
    return [_seen(event, may, knows_actors=knows_actors) for event in events if _may_see(event, cluster, may)]


def _may_see(event: ActivityEvent, cluster: str, may: May) -> bool:
    if event.kind == "watch_began":
        return True
    if event.alert is not None:
        return may("read", resource_of(event.alert.metric, cluster, event.alert.subject))
    if event.group is not None:
        return may("read", Resource("group", event.group))
    if event.topic is not None:
        return may("read", Resource("topic", event.topic))
    return may("read", Resource("cluster", cluster))


def _seen(event: ActivityEvent, may: May, *, knows_actors: bool) -> ActivityEvent:
    """Return an event without the names that the caller may not read."""
    if event.by is not None and not knows_actors:
        event = replace(event, by=None)
    if event.group is None:
        return event
    if event.topic is not None and not may("read", Resource("topic", event.topic)):
        event = replace(event, topic=None)
    moves = [move for move in event.moves if may("read", Resource("topic", move.topic))]
    if len(moves) == len(event.moves):
        return event
    # How many moved in all would tell of the others.
    return replace(event, moves=moves, moves_total=None)
