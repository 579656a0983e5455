"""What a replica and controllers say to each other, as requests and answers (broker/replication/README.md#the-rim)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, cast

from broker_core.broker.replication.messages import (
    AlterSet,
    Answered,
    ApplyId,
    Command,
    Heard,
    Held,
    Hold,
    NextId,
    Outcome,
    Register,
    SendHeartbeat,
)
from broker_core.protocol import bodies
from broker_core.protocol.bodies.controller import NameState, decode_state
from broker_core.protocol.bodies.replicas import SyncStateSet
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command as Request
from broker_core.protocol.headers.controller import (
    AlterSyncStateSetRequest,
    ApplyBrokerIdRequest,
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    GetNextBrokerIdRequest,
    GetNextBrokerIdResponse,
    RegisterReplicaRequest,
)


@dataclass(frozen=True, slots=True)
class Place:
    """Which broker name a replica belongs to, where its clients reach it, and how gladly it becomes master."""

    cluster: str
    name: str
    address: str
    priority: int = (1 << 31) - 1


def heartbeat_request(place: Place, beat: SendHeartbeat) -> Request:
    """Return the request that tells a heartbeat (904)."""
    header = BrokerHeartbeatRequest(
        cluster_name=place.cluster,
        broker_name=place.name,
        broker_id=beat.broker_id,
        broker_addr=place.address,
        epoch=beat.epoch,
        max_offset=beat.end,
        confirm_offset=beat.confirm,
        election_priority=place.priority,
        life=beat.life,
        last_epoch=beat.last_epoch,
        view_epoch=beat.known[0],
        view_version=beat.known[1],
        wants_state=beat.wants_state,
    )
    return Request.request(header)


def heard(controller: int, sent_at: float, answer: Request) -> Heard:
    """Return what a controller's answer to a heartbeat tells. Raises ProtocolError."""
    header = answer.header(BrokerHeartbeatResponse)
    state = decode_state(answer.body) if answer.body else None
    return Heard(controller, sent_at, header.leading, header.grant_ms / 1000, header.granted_epoch, state)


def command_request(place: Place, command: Command) -> Request:
    """Return the request that asks a controller for something."""
    return _REQUESTS[type(command)](place, command)


def answered(number: int, command: Command, answer: Request) -> Answered:
    """Return what a controller's answer to a command means. Raises ProtocolError."""
    if answer.code == ResponseCode.CONTROLLER_NOT_LEADER:
        return Answered(number, Outcome.ASK_ANOTHER)
    if answer.code != ResponseCode.SUCCESS:
        return Answered(number, Outcome.REFUSED, held=_held(command, answer))
    if isinstance(command, NextId):
        return Answered(number, Outcome.DONE, broker_id=answer.header(GetNextBrokerIdResponse).next_broker_id)
    return Answered(number, Outcome.DONE, _find_state(command, answer))


def _held(command: Command, refusal: Request) -> Held:
    is_unknown = refusal.code == ResponseCode.CONTROLLER_BROKER_NEED_TO_BE_REGISTERED
    why = Hold.REMOVED if is_unknown and isinstance(command, Register) else Hold.REFUSED
    return Held(why, refusal.remark or f"a controller answered code {refusal.code}")


def _find_state(command: Command, answer: Request) -> NameState | None:
    return decode_state(answer.body) if isinstance(command, Register) and answer.body else None


def _next_id(place: Place, _: NextId) -> Request:
    return Request.request(GetNextBrokerIdRequest(place.cluster, place.name))


def _apply_id(place: Place, command: ApplyId) -> Request:
    return Request.request(
        ApplyBrokerIdRequest(place.cluster, place.name, command.broker_id, command.check, *command.known)
    )


def _register(place: Place, command: Register) -> Request:
    header = RegisterReplicaRequest(
        cluster_name=place.cluster,
        broker_name=place.name,
        broker_id=command.broker_id,
        broker_address=command.address,
        life=command.life,
        ha_address=command.ha,
        register_check_code=command.check,
        clean=command.is_clean,
        last_epoch=command.last_epoch,
        max_offset=command.end,
        view_epoch=command.known_epoch,
        view_version=command.known_version,
    )
    return Request.request(header)


def _alter_set(place: Place, command: AlterSet) -> Request:
    header = AlterSyncStateSetRequest(place.name, command.broker_id, command.epoch, command.life)
    members = {each.id: each.life for each in command.members}
    return Request.request(header, bodies.encode(SyncStateSet(sorted(members), command.set_version, members)))


_REQUESTS: Final = cast(
    dict[type[Command], Callable[[Place, Command], Request]],
    {NextId: _next_id, ApplyId: _apply_id, Register: _register, AlterSet: _alter_set},
)
