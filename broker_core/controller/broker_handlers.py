"""What brokers ask of a controller: heartbeats, ids, lives, the in-sync set (controller/README.md#wire)."""

from __future__ import annotations

from typing import Final

from broker_core.controller.commands import AlterSet, ApplyId, Register
from broker_core.controller.errors import Refused
from broker_core.controller.hearing import Heartbeat
from broker_core.controller.parts import LOOSE_BYTES, MOST_NAMES, Parts, answered, master_address, sync_state_set
from broker_core.controller.replicas import next_id
from broker_core.controller.states import state_of
from broker_core.protocol import Command, RequestCode, ResponseCode, bodies
from broker_core.protocol.bodies.controller import MasterLife, NameState, encode_state, life_number
from broker_core.protocol.bodies.replicas import SyncStateSet
from broker_core.protocol.headers import controller as headers
from broker_core.protocol.host import is_address
from broker_core.protocol.topics import MAX_TOPIC_NAME, TOPIC_NAME
from broker_core.remoting import Connection, Handler

MOST_TOLD_EPOCH: Final = 1 << 30
"""A higher epoch is believed only of a name that has got there, which takes longer than a century."""
MOST_TOLD_VERSION: Final = 1 << 40
"""A version that so many changes of one name do not reach."""
FRESH_MS: Final = 3_000
"""Decisions are read every 2 s: of one that was read longer ago it is not known whether it still holds."""
LONGEST: Final = 255
"""Characters of an address, a life or a check code; replicas send some twenty."""


class BrokerHandlers:
    """One method per request code; `table` maps codes to methods."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def table(self) -> dict[RequestCode, Handler]:
        """Return the handler of each request code."""
        code = RequestCode
        return {
            code.BROKER_HEARTBEAT: self.heartbeat,
            code.CONTROLLER_ALTER_SYNC_STATE_SET: answered(self.alter_set),
            code.CONTROLLER_REGISTER_BROKER: answered(self.register),
            code.CONTROLLER_GET_NEXT_BROKER_ID: answered(self.next_id),
            code.CONTROLLER_APPLY_BROKER_ID: answered(self.apply_id),
        }

    def heartbeat(self, request: Command, connection: Connection) -> Command:
        """Note that a replica lives; answer with the newest state, and a grant for the master. Asks no engine."""
        header = request.header(headers.BrokerHeartbeatRequest)
        beat = _beat(header)
        parts, now = self._parts, self._parts.clock()
        try:
            parts.check_cluster(header.cluster_name)
            _check_lengths(beat.name, beat.address, beat.life)
            _check_addresses(beat.address)
            state = parts.states.find(beat.name)
            _check_told(state, beat.view[1], beat.epoch, beat.last_epoch, beat.view[0])
            if beat.life and (_knows(state, beat.id) or parts.hearing.has_room(beat.name, beat.id)):
                parts.hearing.heartbeat(beat, now, whole_at=self._whole_at(state, beat, now))
                parts.links.heard(beat.name, beat.id, beat.life, connection)
            state = self._registered(state, beat)
        except Refused as refused:
            return Command.response(refused.code, remark=str(refused))
        answer = headers.BrokerHeartbeatResponse(
            leading=parts.leader.is_leading,
            grant_ms=self._grant_ms(state, beat),
            granted_epoch=state.epoch,
            age_ms=parts.states.age_ms(now) or 0,
        )
        body = encode_state(state) if header.wants_state or state.view > beat.view else b""
        return Command.response(ResponseCode.SUCCESS, answer, body)

    def _whole_at(self, state: NameState | None, beat: Heartbeat, now: float) -> float | None:
        """Return when a replica surely had every acknowledged record: when it was read that it is a clean member."""
        states = self._parts.states
        age_ms = states.age_ms(now)
        if state is None or age_ms is None or age_ms > FRESH_MS or self._parts.trust.is_set_back(state.name):
            return None
        is_member = beat.id in state.in_sync and state.is_registered(beat.id, beat.life)
        return states.read_at if is_member and state.replicas[beat.id].clean else None

    def _registered(self, state: NameState | None, beat: Heartbeat) -> NameState:
        if self._parts.states.read_at is None:
            raise Refused(ResponseCode.CONTROLLER_NOT_LEADER, "this controller has not read its decisions yet")
        if state is None:
            raise Refused(ResponseCode.CONTROLLER_BROKER_METADATA_NOT_EXIST, f"{beat.name} is not known here")
        replica = state.replicas.get(beat.id)
        if replica is None or not beat.life or replica.life != beat.life:
            raise Refused(
                ResponseCode.CONTROLLER_BROKER_NEED_TO_BE_REGISTERED,
                f"replica {beat.id} of {beat.name} has not registered life {beat.life or '(none)'}",
            )
        return state

    def _grant_ms(self, state: NameState, beat: Heartbeat) -> int:
        parts = self._parts
        is_master = state.master == MasterLife(beat.id, beat.life) and beat.epoch == state.epoch
        if not is_master or not parts.decisions.is_settled(state.name) or parts.trust.is_set_back(state.name):
            return 0
        return parts.leader.grant()

    async def register(self, request: Command, _: Connection) -> Command:
        """Register a life."""
        header = request.header(headers.RegisterReplicaRequest)
        parts = self._parts
        parts.check_cluster(header.cluster_name)
        texts = header.broker_address, header.ha_address, header.life, header.register_check_code
        _check_lengths(header.broker_name, *texts)
        _check_addresses(header.broker_address, *filter(None, [header.ha_address]))
        if life_number(header.life) < 1:
            raise Refused(ResponseCode.CONTROLLER_INVALID_REQUEST, "a replica registers with its life")
        state = parts.states.find(header.broker_name)
        _check_told(state, header.view_version, header.last_epoch, header.view_epoch)
        self._told(header.broker_name, header.view_epoch, header.view_version)
        done = await parts.deciding.carry_out(
            Register(
                name=header.broker_name,
                cluster=header.cluster_name,
                id=header.broker_id,
                life=header.life,
                address=header.broker_address,
                ha=header.ha_address,
                check=header.register_check_code,
                is_clean=header.clean,
                last_epoch=max(header.last_epoch, 0),
                told=max(header.view_epoch, 0),
            )
        )
        state = done.after
        answer = headers.RegisterReplicaResponse(
            state.cluster, state.name, *_master(state), sync_state_set_epoch=state.set_version
        )
        return Command.response(ResponseCode.SUCCESS, answer, encode_state(state))

    def _told(self, name: str, epoch: int, version: int) -> None:
        parts = self._parts
        if parts.states.find(name) is not None or parts.hearing.has_room(name):
            parts.hearing.told(name, (epoch, version), parts.clock())

    async def next_id(self, request: Command, _: Connection) -> Command:
        """Return the id that a new replica applies for."""
        header = request.header(headers.GetNextBrokerIdRequest)
        parts = self._parts
        parts.check_cluster(header.cluster_name)
        state = state_of(header.broker_name, await parts.deciding.read(header.broker_name))
        parts.check_not_set_back(header.broker_name, state)
        answer = headers.GetNextBrokerIdResponse(header.cluster_name, header.broker_name, next_id(state))
        return Command.response(ResponseCode.SUCCESS, answer)

    async def apply_id(self, request: Command, _: Connection) -> Command:
        """Give a new replica its id."""
        header = request.header(headers.ApplyBrokerIdRequest)
        self._parts.check_cluster(header.cluster_name)
        self._check_name(header.broker_name)
        _check_lengths(header.register_check_code)
        _check_told(self._parts.states.find(header.broker_name), header.view_version, header.view_epoch)
        self._told(header.broker_name, header.view_epoch, header.view_version)
        await self._parts.deciding.carry_out(
            ApplyId(header.broker_name, header.cluster_name, header.applied_broker_id, header.register_check_code)
        )
        return Command.response(
            ResponseCode.SUCCESS, headers.ApplyBrokerIdResponse(header.cluster_name, header.broker_name)
        )

    def _check_name(self, name: str) -> None:
        if TOPIC_NAME.fullmatch(name) is None:
            raise Refused(
                ResponseCode.CONTROLLER_INVALID_REQUEST,
                f"{name[:80]!r} is not a broker name of at most {MAX_TOPIC_NAME} letters, digits, %, |, _ and -",
            )
        known = self._parts.states.names()
        if len(known) >= MOST_NAMES and name not in known:
            raise Refused(ResponseCode.CONTROLLER_INVALID_REQUEST, f"{MOST_NAMES} broker names are known already")

    async def alter_set(self, request: Command, _: Connection) -> Command:
        """Change the in-sync set, as the master proposes."""
        header = request.header(headers.AlterSyncStateSetRequest)
        proposed = bodies.decode(SyncStateSet, request.body, LOOSE_BYTES)
        done = await self._parts.deciding.carry_out(
            AlterSet(
                name=header.broker_name,
                id=header.master_broker_id,
                life=header.life,
                epoch=header.master_epoch,
                set_version=proposed.sync_state_set_epoch,
                members=tuple((each, proposed.lives.get(each, "")) for each in proposed.sync_state_set),
            )
        )
        answer = headers.AlterSyncStateSetResponse(done.after.set_version)
        return Command.response(ResponseCode.SUCCESS, answer, bodies.encode_strict(sync_state_set(done.after)))


def _check_addresses(*texts: str) -> None:
    for text in texts:
        if not is_address(text):
            raise Refused(
                ResponseCode.CONTROLLER_INVALID_REQUEST, f"{text[:80]!r} is not the address of a replica, host:port"
            )


def _check_lengths(*texts: str) -> None:
    for text in texts:
        if len(text) > LONGEST:
            raise Refused(
                ResponseCode.CONTROLLER_INVALID_REQUEST,
                f"{text[:40]!r}… has {len(text)} characters, and {LONGEST} are the most",
            )


def _knows(state: NameState | None, replica: int) -> bool:
    return state is not None and replica in state.replicas


def _check_told(state: NameState | None, version: int, *epochs: int) -> None:
    """Raise Refused for what no replica of a name can know: from that epoch on, none could be elected any more."""
    if version > MOST_TOLD_VERSION:
        raise Refused(
            ResponseCode.CONTROLLER_INVALID_REQUEST,
            f"version {version} is told, and none above {MOST_TOLD_VERSION} was",
        )
    if max(epochs) > max(MOST_TOLD_EPOCH, state.epoch if state is not None else 0):
        raise Refused(
            ResponseCode.CONTROLLER_INVALID_REQUEST,
            f"epoch {max(epochs)} is told, and none above {MOST_TOLD_EPOCH} was",
        )


def _beat(header: headers.BrokerHeartbeatRequest) -> Heartbeat:
    life_number(header.life)
    return Heartbeat(
        name=header.broker_name,
        id=header.broker_id,
        life=header.life,
        address=header.broker_addr,
        epoch=max(header.epoch, 0),
        end=max(header.max_offset, 0),
        confirm=max(header.confirm_offset, 0),
        last_epoch=max(header.last_epoch, 0),
        view=(max(header.view_epoch, 0), max(header.view_version, 0)),
        priority=header.election_priority,
    )


def _master(state: NameState) -> tuple[int | None, str | None, int | None]:
    """Return id, address and epoch of the master, None without one."""
    if state.master is None:
        return None, None, None
    return state.master.id, master_address(state), state.epoch
