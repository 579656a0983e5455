"""What a view says about a replica (broker/replication/README.md#automatic-failover)."""

from __future__ import annotations

from broker_core.broker.config import MASTER_ID
from broker_core.broker.replication.replica_store import ReplicaStore
from broker_core.broker.role import Role, RoleKind
from broker_core.protocol.bodies.controller import MasterLife, NameState


def names_me(view: NameState, me: MasterLife) -> bool:
    """Tell whether this process is the master: this life of it, not only its id."""
    return view.master == me


def last_epoch(store: ReplicaStore) -> int:
    """Return the newest epoch of the log; 0 without one."""
    return store.epochs[-1].number if store.epochs else 0


def address_of_master(view: NameState) -> str | None:
    """Return the main address of the master, if there is one."""
    return view.replicas[view.master.id].address if view.master is not None else None


def role_in(view: NameState, kind: RoleKind, broker_id: int) -> Role:
    """Return the role of a replica that is master or slave."""
    if kind is RoleKind.MASTER:
        return Role(kind, MASTER_ID, None, view.epoch)
    return Role(kind, broker_id, address_of_master(view), view.epoch)
