"""Which topics, groups and members changed since a reader asked last.

Nothing is noted where messages are stored or consumed, but the names of groups that commit: a question compares the
ends of all queues, which takes some ms, with those that the question before it has seen. Each changed name gets the
next number, so that a reader only says the number that it knows.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from itertools import takewhile
from typing import Final, Generic, Literal, TypeAlias

from broker_core.broker.clients import Clients, ConsumerGroup
from broker_core.broker.groups import Groups
from broker_core.broker.members import Ch
from broker_core.broker.offsets import ConsumerOffsets
from broker_core.broker.pop.leases import Leases
from broker_core.broker.topics import Topics
from broker_core.protocol.bodies.progress import SESSION_BYTES
from broker_core.protocol.bodies.topics import DataVersion
from broker_core.store import MessageStore

Kind: TypeAlias = Literal["topic", "group", "members"]
Place: TypeAlias = tuple[Kind, str]
MOST_GONE: Final = 10_000
"""How many names that are gone are kept; beyond, every reader begins anew."""


class Changes(Generic[Ch]):
    """The numbers of the last changes, of all names of a broker."""

    def __init__(
        self,
        *,
        store: MessageStore,
        topics: Topics,
        groups: Groups,
        clients: Clients[Ch],
        offsets: ConsumerOffsets,
        leases: Leases,
    ) -> None:
        self._store = store
        self._topics = topics
        self._groups = groups
        self._clients = clients
        self._offsets = offsets
        self._leases = leases
        self._begin()

    def _begin(self) -> None:
        self.session = secrets.token_hex(SESSION_BYTES)
        """Numbers of another session mean nothing."""
        self._last = 0
        self._at: dict[Place, int] = {}  # the most recent last
        self._gone: set[Place] = set()
        self._ranges: dict[tuple[str, int], tuple[int, int]] = {}
        self._names: set[str] = set()
        self._topics_version: DataVersion | None = None
        self._group_names: set[str] = set()
        self._held: dict[int, tuple[str, int]] = {}
        self._members: dict[str, object] = {}
        self._offsets.take_moved()

    def look(self) -> None:
        """Find out what changed since the last look."""
        if len(self._gone) > MOST_GONE:
            self._begin()
        self._look_at_members()
        moved = self._moved_topics()
        moved_groups = self._moved_groups()
        if moved:
            moved_groups.update(self._offsets.readers_of(moved))
        self._mark("topic", moved, self._names)
        self._mark("group", moved_groups, self._group_names)

    def mark(self, kind: Kind, name: str) -> None:
        """Count a name as changed: what was told of it is not all."""
        self._mark(kind, (name,), (name,))

    def after(self, number: int, limit: int) -> tuple[list[tuple[Place, int]], bool]:
        """Return up to `limit` changes after a number, the first ones first, and whether these are all."""
        found = list(takewhile(lambda change: change[1] > number, reversed(self._at.items())))
        found.reverse()
        return found[:limit], len(found) <= limit

    def is_gone(self, place: Place) -> bool:
        """Return whether a changed name is not there any more."""
        return place in self._gone

    def _moved_topics(self) -> set[str]:
        ranges = self._store.ranges()
        moved = {key[0] for key, span in ranges.items() if self._ranges.get(key) != span}
        moved.update(topic for topic, _ in self._ranges.keys() - ranges.keys())
        self._ranges = ranges
        if self._topics.version != self._topics_version:
            names = {config.topic_name for config in self._topics.all()}
            since = self._topics_version
            # Queues may have been added or removed.
            moved |= names if since is None else self._topics.changed_since(since).topic_config_table.keys()
            moved |= names ^ self._names
            self._names, self._topics_version = names, self._topics.version
        return moved

    def _moved_groups(self) -> set[str]:
        moved = self._offsets.take_moved()
        names = {config.group_name for config in self._groups.all()}
        names.update(self._offsets.groups())
        moved |= names ^ self._group_names
        self._group_names = names
        held = {queue.number: (queue.group, queue.held_count) for queue in self._leases.queues()}
        if held != self._held:
            moved.update(group for _, (group, _) in held.items() ^ self._held.items())
            self._held = held
        return moved

    def _look_at_members(self) -> None:
        present = {group.name: _signature(group) for group in self._clients.consumer_groups()}
        changed = {
            name for name in present.keys() | self._members.keys() if present.get(name) != self._members.get(name)
        }
        self._members = present
        self._mark("members", changed, present)
        # What a group reads follows from the subscriptions of its members.
        self._offsets.count_as_moved(changed)

    def _mark(self, kind: Kind, names: Iterable[str], present: Iterable[str]) -> None:
        there = present if isinstance(present, set | dict) else set(present)
        for name in names:
            place = (kind, name)
            self._last += 1
            self._at.pop(place, None)
            self._at[place] = self._last
            if name in there:
                self._gone.discard(place)
            else:
                self._gone.add(place)


def _signature(group: ConsumerGroup[Ch]) -> object:
    """Return what differs when the members of a group or their subscriptions are others."""
    return (
        group.consume_type,
        group.message_model,
        group.consume_from_where,
        [(id(channel), member.client_id, member.language, member.version) for channel, member in group.members.items()],
        {topic: (data.sub_version, data.sub_string) for topic, data in group.subscriptions.items()},
    )
