"""What a replica asks controllers for until they know it (broker/replication/README.md#identity)."""

from __future__ import annotations

from broker_core.broker.replication.asking import Asking
from broker_core.broker.replication.messages import (
    Answered,
    ApplyId,
    Ask,
    Command,
    Held,
    Identity,
    NextId,
    Outcome,
    Register,
)
from broker_core.broker.replication.replica_store import ReplicaStore
from broker_core.broker.replication.retrying import Retrying
from broker_core.broker.replication.views import last_epoch
from broker_core.protocol.bodies.controller import NameState


class Introducing:
    """Asks for what is wanted now; who is refused, as one that was removed, asks more and more rarely."""

    def __init__(self, asking: Asking, store: ReplicaStore, address: str, ha: str, refused: Retrying) -> None:
        """`address` and `ha` are where this replica is reached."""
        self._asking = asking
        self._store = store
        self._address = address
        self._ha = ha
        self._refused = refused
        self.held: Held | None = None
        """Why controllers refuse this replica; None unless they do."""

    def is_due(self, now: float) -> bool:
        """Tell whether to ask: always, but for one that was refused just now."""
        return self._refused.is_due(now)

    def ask(self, identity: Identity, view: NameState | None, now: float) -> list[Ask]:
        """Return the commands to send."""
        wanted = introduction(identity, view, self._store, self._address, self._ha)
        return [ask for kind, command in wanted.items() for ask in self._asking.want(kind, command, now)]

    def answered(self, command: Command | None, answer: Answered, now: float) -> None:
        """Take what became of a command. An id that is refused was given to another one meanwhile, and no trouble."""
        if not isinstance(command, Register | NextId):
            return
        self.held = answer.held if answer.outcome is Outcome.REFUSED else None
        if answer.outcome is Outcome.REFUSED:
            self._refused.failed(now)

    def heard(self, broker_id: int, state: NameState | None) -> None:
        """Note that a controller knows the replica: its answer to a heartbeat, or a state, says so."""
        if state is None:
            self.held = None
        if state is None or broker_id in state.replicas:
            self._refused.worked()


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
