"""Which member of a group reads which queue, and whether their subscriptions agree, according to the members.

A member's answer is large, and a member that hangs does not answer. They are therefore asked separately: sampling the
brokers never waits for them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final

from broker_core.client.admin import Admin
from broker_core.client.admin.groups import GroupConnections
from broker_core.errors import GantryError
from broker_core.protocol.bodies import ConsumerRunningInfo, MessageQueue
from console.lag.subscriptions import agree, subscriptions_of
from console.lag.turns import Turns

_EVERY_MS: Final = 10_000
_MEMBER_SECONDS: Final = 2.0
_GROUPS_A_ROUND: Final = 50
_AT_ONCE: Final = 16


class OwnersWatch:
    """Asks the members of a cluster's groups, one round at a time."""

    def __init__(self, admin: Admin) -> None:
        self.owners: dict[str, dict[MessageQueue, str]] = {}
        """Group → queue → client id of its reader."""
        self.disagreeing: set[str] = set()
        """The groups whose members subscribe to different things."""
        self._changed: set[str] = set()
        self._admin = admin
        self._turns: Turns[str] = Turns()
        self._asked_at: dict[str, int] = {}
        self._round: asyncio.Task[None] | None = None

    def ask(self, now: int, groups: dict[str, GroupConnections], first: Iterable[str]) -> None:
        """Begin a round at `now` (ms) for the groups whose turn it is, unless one is running."""
        with_members = {name: members for name, members in groups.items() if members.members}
        for gone in self.owners.keys() - with_members.keys():
            del self.owners[gone]
            self._changed.add(gone)
        self.disagreeing &= with_members.keys()
        if self._round is not None and not self._round.done():
            return
        self._asked_at = {name: at for name, at in self._asked_at.items() if name in with_members}
        due = {name: each for name, each in with_members.items() if now - self._asked_at.get(name, 0) >= _EVERY_MS}
        names = self._turns.pick(due, _GROUPS_A_ROUND, now, first=frozenset(first))
        self._asked_at.update(dict.fromkeys(names, now))
        if names:
            self._round = asyncio.create_task(self._ask_all({name: due[name] for name in names}), name="owners")

    def take_changed(self) -> set[str]:
        """Return the groups of which the members said something new since this was called last."""
        changed, self._changed = self._changed, set()
        return changed

    async def close(self) -> None:
        """Cancel the running round."""
        if self._round is not None:
            self._round.cancel()
            await asyncio.gather(self._round, return_exceptions=True)

    async def _ask_all(self, groups: dict[str, GroupConnections]) -> None:
        places = asyncio.Semaphore(_AT_ONCE)

        async def one(group: str, client_id: str) -> ConsumerRunningInfo | None:
            async with places:
                return await self._info_of(group, client_id)

        async def all_of(group: str, members: GroupConnections) -> None:
            answers = await asyncio.gather(*(one(group, client_id) for client_id in members.members))
            infos = {name: info for name, info in zip(members.members, answers, strict=True) if info is not None}
            owners = {queue: name for name, info in infos.items() for queue in info.mq_table}
            do_agree = agree({name: subscriptions_of(info.subscription_set) for name, info in infos.items()})
            if owners != self.owners.get(group) or do_agree is (group in self.disagreeing):
                self._changed.add(group)
            self.owners[group] = owners
            if do_agree:
                self.disagreeing.discard(group)
            else:
                self.disagreeing.add(group)

        await asyncio.gather(*(all_of(group, members) for group, members in groups.items()))

    async def _info_of(self, group: str, client_id: str) -> ConsumerRunningInfo | None:
        """Return the state of one member; None if it does not answer because it hangs or has left."""
        try:
            async with asyncio.timeout(_MEMBER_SECONDS):
                return await self._admin.groups.running_info(group, client_id)
        except (GantryError, TimeoutError):
            return None
