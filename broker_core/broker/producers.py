"""The members of producer groups: by group, by client id, by connection, and by the account that registered them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Generic

from broker_core.broker.members import Ch, Member


class Producers(Generic[Ch]):
    """A table with an index for each question that is asked for one of many requests."""

    def __init__(self) -> None:
        self._groups: dict[str, dict[Ch, Member[Ch]]] = {}
        self._of_channel: dict[Ch, set[str]] = {}
        self._of_client: dict[str, dict[tuple[str, Ch], Member[Ch]]] = {}
        self._of_account: dict[str, Counter[str]] = {}
        """How many members of each group an account has."""

    def __len__(self) -> int:
        """How many groups have members."""
        return len(self._groups)

    def groups(self) -> Mapping[str, Mapping[Ch, Member[Ch]]]:
        """Return every group with its members by connection."""
        return self._groups

    def of_group(self, group: str) -> Mapping[Ch, Member[Ch]]:
        """Return the members of a group by connection."""
        return self._groups.get(group, {})

    def of_client(self, client_id: str) -> Collection[Member[Ch]]:
        """Return the members with a client id, of any group."""
        return self._of_client.get(client_id, {}).values()

    def groups_of_channel(self, channel: Ch) -> Collection[str]:
        """Return the groups of which a connection is a member."""
        return self._of_channel.get(channel, ())

    def groups_of_account(self, access_key: str) -> Collection[str]:
        """Return the groups in which an account has members."""
        return self._of_account.get(access_key, ())

    def add(self, group: str, member: Member[Ch]) -> None:
        """Add a member, or replace what the same connection was in the group."""
        self.remove(group, member.channel)
        self._groups.setdefault(group, {})[member.channel] = member
        self._of_channel.setdefault(member.channel, set()).add(group)
        self._of_client.setdefault(member.client_id, {})[group, member.channel] = member
        self._of_account.setdefault(member.access_key, Counter())[group] += 1

    def remove(self, group: str, channel: Ch) -> None:
        """Remove a connection from a group; nothing happens if it is no member."""
        members = self._groups.get(group, {})
        member = members.pop(channel, None)
        if member is None:
            return
        if not members:
            del self._groups[group]
        self._of_channel[channel].discard(group)
        if not self._of_channel[channel]:
            del self._of_channel[channel]
        self._forget_client(group, member)
        self._forget_account(group, member)

    def remove_all(self, channel: Ch) -> None:
        """Remove a connection from all its groups."""
        for group in list(self.groups_of_channel(channel)):
            self.remove(group, channel)

    def all(self) -> Iterable[Member[Ch]]:
        """Return every member of every group."""
        return (member for members in self._groups.values() for member in members.values())

    def _forget_client(self, group: str, member: Member[Ch]) -> None:
        of_client = self._of_client[member.client_id]
        del of_client[group, member.channel]
        if not of_client:
            del self._of_client[member.client_id]

    def _forget_account(self, group: str, member: Member[Ch]) -> None:
        of_account = self._of_account[member.access_key]
        of_account[group] -= 1
        if not of_account[group]:
            del of_account[group]
        if not of_account:
            del self._of_account[member.access_key]
