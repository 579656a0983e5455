"""What a replica asks controllers for until they know it (broker/replication/README.md#identity)."""

from __future__ import annotations

from broker_core.broker.replication.messages import ApplyId, Command, Identity, NextId, Register
from broker_core.broker.replication.replica_store import ReplicaStore
from broker_core.broker.replication.views import last_epoch
from broker_core.protocol.bodies.controller import NameState


def introduction(
    identity: Identity, view: NameState | None, store: ReplicaStore, address: str, ha: str
) -> dict[type[Command], Command | None]:
    """Return what is wanted now, by kind: first an id, then the registration of this life, until `view` shows it."""
    if not identity.broker_id:
        applied = ApplyId(identity.applied_id, identity.check, identity.known) if identity.applied_id else None
        return {NextId: None if applied else NextId(), ApplyId: applied}
    if view is not None and view.is_registered(identity.broker_id, identity.life):
        return {Register: None}
    return {Register: _registration(identity, store, address, ha)}


def _registration(identity: Identity, store: ReplicaStore, address: str, ha: str) -> Register:
    return Register(
        broker_id=identity.broker_id,
        life=identity.life,
        check=identity.check,
        address=address,
        ha=ha,
        is_clean=not identity.is_unclean,
        end=store.whole_end,
        last_epoch=last_epoch(store),
        known_epoch=identity.known[0],
        known_version=identity.known[1],
    )
