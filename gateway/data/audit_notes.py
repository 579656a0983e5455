"""The reports of the data plane to the audit: refused rights, and consumer groups created by their first use."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Literal

from broker_core.errors import GantryError
from gateway.data.consumers import Caller

KnownGroups = Callable[[str], Awaitable[frozenset[str]]]
HasGroup = Callable[[str, str], Awaitable[bool]]

# A deleted group may be created again, so this knowledge expires.
_KNOWN_SECONDS: Final = 60.0
_MOST_GROUPS: Final = 20_000
_PATIENCE_SECONDS: Final = 0.5
# After a question that failed or took too long.
_AGAIN_SECONDS: Final = 10.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Note:
    """One action: actor, action, resource and address, and the reason of a refusal or of a decision."""

    who: Caller
    action: str
    resource: str
    result: Literal["ok", "refused", "failed"]
    request_id: str = ""
    reason: str = ""
    is_of_one: bool = False
    """Whether other processes may report the same at the same time, of which one report is written."""


class FirstUses:
    """Consumer groups that are created by receiving with them: brokers create a group at its first use."""

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
        self._looking: dict[tuple[str, str], asyncio.Task[None]] = {}

    async def look(self, cluster: str, group: str) -> None:
        """Find out whether the group exists before it is used; for most uses this is already known.

        It takes half a second at most, and then the audit may lack a group: with a broker that hangs nobody can tell.
        """
        now, place = self._clock(), (cluster, group)
        if self._seen.get(place, 0.0) > now:
            return
        if len(self._seen) >= _MOST_GROUPS:
            self._seen.clear()
        looking = self._looking.get(place)
        if looking is None:
            looking = asyncio.create_task(self._look(cluster, group, now), name=f"is there a group {group}")
            self._looking[place] = looking
            looking.add_done_callback(lambda _: self._looking.pop(place))
        await asyncio.wait({looking}, timeout=_PATIENCE_SECONDS)
        if looking.done():
            looking.result()
        else:
            self._seen[place] = now + _AGAIN_SECONDS

    async def _look(self, cluster: str, group: str, now: float) -> None:
        place = cluster, group
        try:
            if group not in await self._known_in(cluster, now) and not await self._has_group(cluster, group):
                self._missing.add(place)
        except GantryError as error:  # the request for messages will report what concerns it
            _log.info("cluster=%s: whether there was a group %s is not known: %s", cluster, group, error)
            self._seen[place] = now + _AGAIN_SECONDS
        else:
            self._seen[place] = now + _KNOWN_SECONDS

    def used(self, cluster: str, group: str, who: Caller, request_id: str = "") -> None:
        """Report the group as created if it did not exist before this use."""
        if self.is_first(cluster, group):
            self._missing.discard((cluster, group))
            made = f"{cluster}/groups/{group}"
            self._note(Note(who, "group.create", made, "ok", request_id, "made by its first use", is_of_one=True))

    def is_first(self, cluster: str, group: str) -> bool:
        """Return whether the group did not exist when it was looked up, and was not used since."""
        return bool(self._missing) and (cluster, group) in self._missing

    async def _known_in(self, cluster: str, now: float) -> frozenset[str]:
        until, groups = self._known.get(cluster, (0.0, frozenset[str]()))
        if until <= now:
            groups = await self._known_groups(cluster)
            self._known[cluster] = now + _KNOWN_SECONDS / 4, groups
        return groups
