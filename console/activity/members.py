"""Which clients joined and left the groups, from the members that the sampler reads anyway.

A client is left only when every broker that it was connected to answers, has been up for long enough for its clients
to have come back, and does not name it: a broker that is silent or was restarted says nothing about its clients.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import Final

from broker_core.client.admin.groups import GroupConnections, is_system_group
from broker_core.protocol.bodies.groups import Connection
from broker_core.protocol.versions import version_name
from console.activity.shapes import ActivityEvent, EventClient, EventKind
from console.lag.facts import BrokerFacts
from console.lag.reading import LagReading
from console.moments import rfc3339

# A client that connects anew, or a broker whose restart is not known yet, is not gone.
_GONE_AFTER_MS: Final = 2_000


@dataclass(slots=True)
class _Member:
    """A known client of a group, and the brokers that named it last."""

    info: Connection
    brokers: set[str]


class MembersSeen:
    """Follows the members of all groups of one cluster."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, _Member]] = {}
        self._last: dict[str, dict[str, GroupConnections]] = {}
        self._unread: dict[str, set[str]] = {}
        self._absent: dict[tuple[str, str], int] = {}

    def step(self, reading: LagReading, unsettled: Set[str]) -> list[ActivityEvent]:
        """Return who joined and left since the reading before; nothing of what is read for the first time."""
        self._forget(reading)
        new: dict[str, set[str]] = {}
        for broker, facts in reading.facts.items():
            for group in self._changed(broker, facts):
                new.setdefault(group, set()).add(broker)
        joined = [each for group, brokers in sorted(new.items()) for each in self._join(reading, group, brokers)]
        return joined + self._leave(reading, unsettled)

    def _changed(self, broker: str, facts: BrokerFacts) -> list[str]:
        """Return the groups whose members this broker told anew."""
        before, now = self._last.get(broker), facts.members
        if before is None:
            # A broker that tells what changes has told everything by now; any other is asked group by group.
            self._unread[broker] = set() if facts.followed_at else set(facts.groups)
            self._last[broker] = {}
            for group, members in now.items():
                self._take(broker, group, members)
            return []
        changed = [group for group, members in now.items() if before.get(group) is not members]
        return changed + [group for group in before if group not in now]

    def _forget(self, reading: LagReading) -> None:
        """Forget brokers that do not belong to the cluster any more: nobody says what became of their clients."""
        for broker in self._last.keys() - reading.facts.keys() - {each.broker for each in reading.missing}:
            del self._last[broker], self._unread[broker]
            for group, known in list(self._known.items()):
                for member in known.values():
                    member.brokers.discard(broker)
                self._known[group] = {name: member for name, member in known.items() if member.brokers}

    def _take(self, broker: str, group: str, members: GroupConnections) -> None:
        """Take over what a broker tells of a group, without an event."""
        self._last[broker][group] = members
        self._unread[broker].discard(group)
        if members.members and not is_system_group(group):
            known = self._known.setdefault(group, {})
            for name, info in members.members.items():
                known.setdefault(name, _Member(info, set())).brokers.add(broker)

    def _join(self, reading: LagReading, group: str, brokers: Set[str]) -> list[ActivityEvent]:
        before = set(self._known.get(group, ()))
        silent: set[str] = set()
        for broker in sorted(brokers):
            members = reading.facts[broker].members.get(group)
            if members is None:
                self._last[broker].pop(group, None)
                continue
            if group in self._unread[broker]:
                silent |= members.members.keys()
            self._take(broker, group, members)
        known = self._known.get(group, {})
        for name in known.keys() - before:
            self._absent.pop((group, name), None)
        for name, member in known.items():
            if any(self._is_missing(reading, group, name, broker) for broker in member.brokers):
                self._absent.setdefault((group, name), reading.at)
        return [
            _event(reading, "client_joined", group, known[name].info) for name in sorted(known.keys() - before - silent)
        ]

    def _leave(self, reading: LagReading, unsettled: Set[str]) -> list[ActivityEvent]:
        left = []
        for (group, name), since in list(self._absent.items()):
            member = self._known.get(group, {}).get(name)
            if member is None:
                del self._absent[group, name]
                continue
            gone = {broker for broker in member.brokers if self._is_missing(reading, group, name, broker)}
            if not gone:
                del self._absent[group, name]
                continue
            if gone & unsettled or reading.at - since < _GONE_AFTER_MS:
                continue
            member.brokers -= gone
            if member.brokers:
                # The others still name it, or do not answer.
                del self._absent[group, name]
                continue
            del self._absent[group, name], self._known[group][name]
            left.append(_event(reading, "client_left", group, member.info))
        for group in {event.group for event in left if event.group is not None}:
            if not self._known[group]:
                del self._known[group]
        return left

    def _is_missing(self, reading: LagReading, group: str, name: str, broker: str) -> bool:
        """Return whether a broker answers and does not name the client."""
        facts = reading.facts.get(broker)
        if facts is None:
            return False
        members = facts.members.get(group)
        if members is None:
            # Not read yet, unless the broker tells everything or has no such group any more.
            return bool(facts.followed_at) or (bool(facts.listed_at) and group not in facts.groups)
        return name not in members.members


def _event(reading: LagReading, kind: EventKind, group: str, info: Connection) -> ActivityEvent:
    client = EventClient(
        client_id=info.client_id,
        address=info.client_addr,
        language=info.language,
        version=version_name(info.version),
    )
    return ActivityEvent(seen_at=rfc3339(reading.at), kind=kind, group=group, client=client)
