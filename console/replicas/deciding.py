"""What controllers know of a broker name, put into the words of the API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from broker_core.client.admin import Admin
from broker_core.client.admin.clusters import BrokerRuntime
from broker_core.client.admin.replication import KnownState
from broker_core.client.errors import BrokerRefused, NotSupported, TimedOut
from broker_core.errors import GantryError
from broker_core.protocol.bodies.controller import NameState
from broker_core.protocol.bodies.replicas import EpochEntryCache, ReplicasInfo
from broker_core.protocol.codes import ResponseCode
from console.clusters.reasons import reason_of
from console.moments import rfc3339
from console.replicas.sending import NO_LEASE, why_no_sends
from console.replicas.shapes import DecidedState, FailoverOfName, FailoverOfReplica, LastDecision, LogEpoch, ToldState

_EPOCHS: Final = 20
_STATUS_MS: Final = 500
_HEARD_MS: Final = 1_000
_SET_BACK: Final = (
    "the controllers decide nothing while their state is set back, and a replica of the in-sync set is out of reach"
)
_ENGINE_SILENT: Final = "what keeps the controllers' decisions does not answer them"


@dataclass(frozen=True, slots=True)
class Decided:
    """What a controller said of a name; without a state, why no controller told it."""

    known: KnownState | None = None
    heard: frozenset[int] | None = None
    """The replicas that it hears; None if it did not tell."""
    reason: str | None = None
    may_adopt: bool | None = None
    """Whether controllers hold something older than what replicas know, or nothing; None if none tells."""


async def decided(admin: Admin, name: str) -> Decided | None:
    """Ask the controllers; None where no name server hosts one, or none knows the name: then its roles are fixed."""
    try:
        known = await admin.replication.state(name)
    except NotSupported:
        return None
    except BrokerRefused as error:
        if error.code == ResponseCode.CONTROLLER_BROKER_METADATA_NOT_EXIST:
            return None
        return Decided(reason=await why_untold(admin, error))
    except GantryError as error:
        return Decided(reason=await why_untold(admin, error))
    try:
        info = (await admin.replication.in_sync([name], timeout_ms=_HEARD_MS)).get(name)
    except GantryError:
        info = None  # who is heard is not known then, and told so
    return Decided(known, None if info is None else _heard(info), may_adopt=known.is_set_back)


async def lost(admin: Admin, name: str) -> Decided:
    """Return what controllers say of a name that they hold no state of, while its replicas know one."""
    answers = await admin.replication.controllers(timeout_ms=_STATUS_MS)
    is_missed = any(name in each.info.set_back for each in answers.found.values()) if answers.found else None
    return Decided(reason=f"{name} is not known here", may_adopt=is_missed)


async def why_untold(admin: Admin, error: GantryError) -> str:
    """Return why controllers do not tell what is decided: they are silent, or what keeps it does not answer them."""
    if isinstance(error, TimedOut):
        answers = await admin.replication.controllers(timeout_ms=_STATUS_MS)
        if answers.found:
            return _ENGINE_SILENT
    return reason_of(error)


def _heard(info: ReplicasInfo) -> frozenset[int]:
    return frozenset(each.broker_id for each in (*info.in_sync_replicas, *info.not_in_sync_replicas) if each.alive)


def shown_state(state: NameState) -> DecidedState:
    """Return a state in the words of the API."""
    return DecidedState(**_fields(state))


def of_name(
    found: KnownState, master: BrokerRuntime | None, silence: str | None, newer: NameState | None = None
) -> FailoverOfName:
    """Return the state with whether the name takes messages, as its master says; `silence` is why it says nothing.

    Who that is, a `newer` state of the replicas says where the engine was set back.
    """
    return FailoverOfName(
        **_fields(found.state),
        **_taking(newer or found.state, found, master, silence),
        stuck=found.stuck,
        set_back=found.is_set_back,
        age_ms=found.age_ms,
    )


def of_told(told: NameState, master: BrokerRuntime | None, silence: str | None, known: KnownState | None) -> ToldState:
    """Return what the replicas say, where controllers say nothing or `known`, which is older."""
    return ToldState(**_fields(told), **_taking(told, known, master, silence))


def of_replica(
    number: int,
    state: NameState,
    heard: frozenset[int] | None,
    runtime: BrokerRuntime | None,
    epochs: EpochEntryCache | None,
) -> FailoverOfReplica:
    """Return what is decided and heard of one replica; `heard` is None if no controller told whom it hears."""
    replica = state.replicas[number]
    confirm = None if runtime is None else runtime.figure("confirmOffset")
    return FailoverOfReplica(
        in_sync=number in state.in_sync,
        heard=None if heard is None else number in heard,
        clean=replica.clean,
        life=replica.life,
        confirm=None if confirm is None else int(confirm),
        last_epoch=replica.last_epoch,
        epochs=None
        if epochs is None
        else [
            LogEpoch(epoch=each.epoch, start=each.start_offset, end=each.end_offset)
            for each in epochs.epoch_list[-_EPOCHS:]
        ],
    )


def _fields(state: NameState) -> dict[str, Any]:
    return {
        "master_id": None if state.master is None else state.master.id,
        "epoch": state.epoch,
        "version": state.version,
        "in_sync": sorted(state.in_sync),
        "set_version": state.set_version,
        "replicas": sorted(state.replicas),
        "min_in_sync": state.policy.min_in_sync,
        "unclean_allowed": state.policy.unclean_allowed,
        "last": LastDecision(
            why=state.last.why, by=state.last.by, at=rfc3339(state.last.at) if state.last.at else None
        ),
    }


def _taking(
    state: NameState, known: KnownState | None, master: BrokerRuntime | None, silence: str | None
) -> dict[str, Any]:
    writable, reason = _writable(state, known, master, silence)
    return {
        "writable": writable,
        "writable_reason": reason,
        "effective_min_in_sync": None if master is None else master.least_in_sync,
    }


def _writable(
    state: NameState, known: KnownState | None, master: BrokerRuntime | None, silence: str | None
) -> tuple[bool | None, str | None]:
    """Return whether sends are taken, and why not or why that is not known: the master has the last word."""
    if state.master is None:
        return False, (known and known.stuck) or "no master is elected"
    reason = None if master is None else why_no_sends(master)
    if reason == NO_LEASE and known is not None and known.is_set_back:
        # They answer the master, and still grant it nothing.
        return False, _SET_BACK
    if reason is not None:
        return not reason, reason or None
    if len(state.in_sync) < state.policy.min_in_sync:
        return False, f"the in-sync set has {len(state.in_sync)} of {state.policy.min_in_sync} replicas that sends need"
    return None, silence or f"the master, replica {state.master.id}, does not tell"
