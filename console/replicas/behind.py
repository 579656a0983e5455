"""How far a replica is behind its master, from what both say of their logs."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.client.admin.clusters import BrokerRuntime


@dataclass(frozen=True, slots=True)
class Behind:
    """What the replica lacks; None is unknown."""

    bytes: int | None = None
    ms: int | None = None
    """Between the store times of the last messages of both: 0 on a quiet topic, however long ago that was."""


def behind_of(master: BrokerRuntime | None, replica: BrokerRuntime | None) -> Behind:
    """Compare the ends of the logs, then the times: without a byte of difference there is none in time either.

    Both are asked at almost the same time, not at the same: a replica that was asked later may seem to be ahead.
    """
    if master is None or replica is None or master.log_end is None or replica.log_end is None:
        return Behind()
    lacking = max(0, master.log_end - replica.log_end)
    if lacking == 0:
        return Behind(0, 0)
    newest, own = master.newest_message_at, replica.newest_message_at
    return Behind(lacking, None if newest is None or own is None else max(0, newest - own))
