"""What remains of a replica that is removed: its process, which nobody stops, and its folder."""

from __future__ import annotations

import asyncio
from typing import Final

from broker_core.client.admin import Admin
from broker_core.client.answers import ask_all
from broker_core.protocol.bodies.controller import NameState
from broker_core.protocol.bodies.replicas import Preview
from console.replicas.changing_shapes import RemovedReplica

_PROCESS_MS: Final = 2_000
_THEN: Final = (
    "then its folder may be deleted, or emptied and started: it comes as a new replica, with a new id, and copies the "
    "whole log. Keep a copy first if its log may have what the master lacks"
)
_RUNS: Final = f"its process goes on without a part, and serves nothing: stop it; {_THEN}"
_SILENT: Final = f"see that its process is stopped: one that is only cut off goes on without a part; {_THEN}"
_REPLACED: Final = "replica {} is at its address now: leave that process and its folder alone"


async def removed_of(admin: Admin, change: Preview) -> RemovedReplica | None:
    """Ask the process of the replica that a change forgets who it is, and where its folder is; None if none goes."""
    before = {} if change.before is None else change.before.replicas
    gone = next((number for number in sorted(before) if number not in change.after.replicas), None)
    if gone is None:
        return None
    address = before[gone].address
    there, folder = await _who_is_at(admin, address) if address else (None, None)
    is_itself = there == gone
    successor = None if is_itself else there or _registered_at(change.after, address)
    return RemovedReplica(
        replica_id=gone,
        address=address or None,
        runs=None if there is None else is_itself,
        successor_id=successor,
        # Of another replica there it would be the wrong folder to delete.
        folder=folder if is_itself else None,
        advice=_RUNS if is_itself else _SILENT if successor is None else _REPLACED.format(successor),
    )


def _registered_at(state: NameState, address: str) -> int | None:
    """Return the replica of an address; a process that lost its folder has a new id where the old one was."""
    return next((number for number, each in state.replicas.items() if address and each.address == address), None)


async def _who_is_at(admin: Admin, address: str) -> tuple[int | None, str | None]:
    """Return the id of the replica that answers at an address, and its folder; None for what it does not tell."""
    runtimes, settings = await asyncio.gather(
        ask_all([address], lambda addr: admin.clusters.runtime_of(addr, timeout_ms=_PROCESS_MS)),
        ask_all([address], lambda addr: admin.maintenance.settings_of(addr, timeout_ms=_PROCESS_MS)),
    )
    runtime = runtimes.found.get(address)
    number = None if runtime is None else runtime.figure("replicaId")
    return None if number is None else int(number), settings.found.get(address, {}).get("storePathRootDir") or None
