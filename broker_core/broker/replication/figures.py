"""What the runtime information shows of a replica (broker/replication/README.md#the-rim)."""

from __future__ import annotations

from broker_core.broker.processors.runtime_info import Figures
from broker_core.broker.replication.replica import Replica
from broker_core.broker.replication.replica_log import ReplicaLog
from broker_core.broker.role import Roles
from broker_core.protocol.codes import COMMON_END_KEY, HELD_KEY, LEAST_IN_SYNC_KEY, UNCONFIRMED_MS_KEY


def figures_of(replica: Replica, log: ReplicaLog, roles: Roles) -> Figures:
    """Return the figures that the replica and its log know."""
    return {
        "replicaId": lambda: replica.identity.broker_id or None,
        "masterEpoch": lambda: replica.epoch or None,
        "inSyncSet": lambda: ",".join(map(str, replica.view.in_sync)) if replica.view is not None else None,
        "confirmOffset": lambda: log.confirm,
        UNCONFIRMED_MS_KEY: lambda: _unconfirmed_ms(replica),
        "roleChanges": lambda: roles.changes,
        "cutBytes": lambda: log.cut_bytes,
        HELD_KEY: lambda: replica.held.why.value if replica.held is not None else "",
        COMMON_END_KEY: lambda: replica.held.common_end if replica.held is not None else None,
        LEAST_IN_SYNC_KEY: lambda: replica.mastership.least_in_sync if replica.mastership is not None else None,
    }


def _unconfirmed_ms(replica: Replica) -> int | None:
    return int(replica.mastership.unconfirmed.seconds * 1000) if replica.mastership is not None else None
