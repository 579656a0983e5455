"""What the data plane has to tell the audit, which is kept elsewhere: refused rights, and what came to be by use."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Literal

from broker_core.errors import GantryError
from gateway.data.consumers import Caller

KnownGroups = Callable[[str], Awaitable[frozenset[str]]]
HasGroup = Callable[[str, str], Awaitable[bool]]

# A group that was deleted may come to be again; so what is known is known for a while.
_KNOWN_SECONDS: Final = 60.0
_MOST_GROUPS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Note:
    """One act: who did what to what from where, and if it was refused, why."""

    who: Caller
    action: str
    resource: str
    result: Literal["ok", "refused"]
    request_id: str = ""
    reason: str = ""


class FirstUses:
    """Consumer groups that come to be because somebody receives with them: brokers make a group at its first use."""

    def __init__(
        self, known_groups: KnownGroups, has_group: HasGroup, note: Callable[[Note], None], clock: Callable[[], float]
    ) -> None:
        self._known_groups = known_groups
        self._has_group = has_group
        self._note = note
        self._clock = clock
        self._seen: dict[tuple[str, str], float] = {}
        self._known: dict[str, tuple[float, frozenset[str]]] = {}
        self._missing: set[tuple[str, str]] = set()

    async def look(self, cluster: str, group: str) -> None:
        """Find out whether the group is there, before it is used; of most uses that is known already."""
        now, place = self._clock(), (cluster, group)
        if self._seen.get(place, 0.0) > now:
            return
        if len(self._seen) >= _MOST_GROUPS:
            self._seen.clear()
        try:
            if group not in await self._known_in(cluster, now) and not await self._has_group(cluster, group):
                self._missing.add(place)
        except GantryError:  # whoever asks for messages is told the same in a moment
            return
        self._seen[place] = now + _KNOWN_SECONDS

    def used(self, cluster: str, group: str, who: Caller, request_id: str = "") -> None:
        """Note that the group has come to be, if it was not there before this use."""
        if self.is_first(cluster, group):
            self._missing.discard((cluster, group))
            made = f"{cluster}/groups/{group}"
            self._note(Note(who, "group.create", made, "ok", request_id, "made by its first use"))

    def is_first(self, cluster: str, group: str) -> bool:
        """Return whether the group was not there when it was looked for, and was not used since."""
        return bool(self._missing) and (cluster, group) in self._missing

    async def _known_in(self, cluster: str, now: float) -> frozenset[str]:
        until, groups = self._known.get(cluster, (0.0, frozenset[str]()))
        if until <= now:
            groups = await self._known_groups(cluster)
            self._known[cluster] = now + _KNOWN_SECONDS / 4, groups
        return groups
