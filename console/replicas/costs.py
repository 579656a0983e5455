"""What another master costs: what it lacks, since when, and whose consumption pauses. None is unknown."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import Final

from broker_core.client.admin import Admin
from broker_core.client.admin.clusters import BrokerRuntime
from broker_core.client.answers import ask_all
from broker_core.errors import GantryError
from broker_core.protocol.bodies.controller import NameState
from broker_core.protocol.bodies.replicas import Preview
from console.moments import rfc3339
from console.replicas.changing_shapes import LossBound

# A frozen master is why one changes it, and must not hold the preview up.
_PROCESS_MS: Final = 2_000


@dataclass(frozen=True, slots=True)
class Costs:
    """What the processes say of a change of master."""

    has_until: int | None = None
    """When the last message that the new master has was stored, ms since 1970."""
    orderly_groups: Sequence[str] | None = None
    """Groups that hold queues at the old master, the first hundred by name."""
    orderly_groups_total: int | None = None
    own_least: int | None = None
    """So many replicas in sync the settings of the master afterwards ask for."""
    told: NameState | None = None
    """What the replicas say now, where the engine holds something older."""


async def costs_of(admin: Admin, change: Preview) -> Costs:
    """Ask the old master and the new one; a change that keeps the master costs no log and pauses nobody."""
    before, after = master_of(change.before), master_of(change.after)
    own_least = await own_least_of(admin, change.after)
    if after is None or after == before:
        return Costs(own_least=own_least, told=await _told(admin, change))
    heard = {each.id for each in change.heard}
    successor = await _runtime(admin, change.after, after, heard)
    old = None if change.before is None else await _runtime(admin, change.before, before, heard)
    groups = None if old is None else old.table.get("orderlyGroups")
    total = None if old is None else old.figure("orderlyGroupsTotal")
    return Costs(
        has_until=None if successor is None else successor.newest_message_at,
        orderly_groups=None if groups is None else groups.split(),
        orderly_groups_total=None if total is None else int(total),
        own_least=own_least,
    )


async def own_least_of(admin: Admin, state: NameState) -> int | None:
    """Ask the master of a state how many replicas in sync its settings want for sends; None if it does not tell."""
    master = master_of(state)
    if master is None or master not in state.replicas:
        return None
    address = state.replicas[master].address
    try:
        text = (await admin.maintenance.settings_of(address, timeout_ms=_PROCESS_MS)).get("minInSyncReplicas", "")
    except GantryError:
        return None  # that it is not known is told
    return int(text) if text.isdecimal() else None


def lacking_of(change: Preview) -> int | None:
    """Return how much of the longest log the new master had not; None without a new one, or if it is not known.

    It is known while the old master is heard, or every replica that may have more than others. What was heard before an
    election that was made tells nothing of a master that went on since: then only a log that was handed over is known.
    """
    before, after = master_of(change.before), master_of(change.after)
    ends = {each.id: each.end for each in change.heard}
    if change.before is None or after is None or after == before:
        return None
    if change.handed_over:
        return 0
    if after not in ends or (change.handed_over is False and before in ends):
        return None
    if before not in ends and not set(change.before.in_sync) <= ends.keys():
        return None
    return max(ends.values()) - ends[after]


def keeps_acknowledged(change: Preview) -> bool | None:
    """Return whether a new master has every acknowledged message, as clean members of the set do; None without one."""
    before, after = change.before, master_of(change.after)
    if before is None or after is None or after == master_of(before):
        return None
    return after in before.in_sync and before.replicas[after].clean


def loss_of(change: Preview, now: int) -> LossBound | None:
    """Return the bound of what is lost, as a controller measured it before `now` (ms); None if it did not."""
    loss = change.loss
    if loss is None or keeps_acknowledged(change) is not False:
        return None
    return LossBound(most_bytes=loss.most_bytes, replica_id=loss.id, log_end=loss.end, as_of=rfc3339(now - loss.age_ms))


def next_masters(change: Preview) -> list[int]:
    """Return who may be elected after a change that names no master: the members of its set with the longest log.

    None of them is known while one of the set is not heard.
    """
    heard = {each.id: (each.last_epoch, each.end) for each in change.heard if each.id in change.after.in_sync}
    if change.after.master is not None or not heard or len(heard) < len(change.after.in_sync):
        return []
    return [each for each, log in sorted(heard.items()) if log == max(heard.values())]


async def _told(admin: Admin, change: Preview) -> NameState | None:
    """Ask the replicas that know a newer state than the one that is changed; None if there is none that tells it."""
    kept = (0, 0) if change.before is None else change.before.view
    newer = [each.address for each in change.heard if (each.view_epoch, each.view_version) > kept]
    name = change.after.name
    answers = await ask_all(newer, lambda addr: admin.replication.told_by(addr, name, timeout_ms=_PROCESS_MS))
    told = [each for each in answers.found.values() if each.name == name and each.view > kept]
    return max(told, key=lambda each: each.view, default=None)


def master_of(state: NameState | None) -> int | None:
    """Return the id of the master of a state."""
    return None if state is None or state.master is None else state.master.id


async def _runtime(admin: Admin, state: NameState, replica: int | None, heard: Set[int]) -> BrokerRuntime | None:
    if replica is None or replica not in state.replicas:
        return None
    address = state.replicas[replica].address
    if replica not in heard and any(state.replicas[each].address == address for each in heard & state.replicas.keys()):
        return None  # a process that lost its folder has a new id where the old one was, and speaks for itself
    try:
        return await admin.clusters.runtime_of(address, timeout_ms=_PROCESS_MS)
    except GantryError:
        return None  # a dead master is why one changes it; what it would say is unknown then
