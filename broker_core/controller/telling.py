"""What a controller tells without changing anything (controller/README.md#wire)."""

from __future__ import annotations

from broker_core.controller.errors import Refused
from broker_core.controller.judging import Judging
from broker_core.controller.parts import LOOSE_BYTES, MOST_NAMES, Parts, answered, master_address, sync_state_set
from broker_core.controller.states import state_of
from broker_core.protocol import Command, RequestCode, ResponseCode, bodies, fastjson
from broker_core.protocol.bodies.controller import NameState, encode_state
from broker_core.protocol.bodies.replicas import (
    BrokerReplicasInfo,
    ControllerInfo,
    EngineMember,
    ReplicaIdentity,
    ReplicasInfo,
)
from broker_core.protocol.errors import MalformedBody
from broker_core.protocol.headers import controller as headers
from broker_core.remoting import Connection, Handler


class Telling:
    """One method per request code; `table` maps codes to methods."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._judging = Judging(parts.hearing)

    def table(self) -> dict[RequestCode, Handler]:
        """Return the handler of each request code."""
        code = RequestCode
        return {
            code.CONTROLLER_GET_REPLICA_INFO: answered(self.replica_info),
            code.CONTROLLER_GET_METADATA_INFO: self.info,
            code.CONTROLLER_GET_SYNC_STATE_DATA: self.sync_state_data,
            code.NAME_STATE: answered(self.state),
        }

    async def replica_info(self, request: Command, _: Connection) -> Command:
        """Return who is master of a name."""
        state = await self._state(request.header(headers.GetReplicaInfoRequest).broker_name)
        master = state.master
        answer = headers.GetReplicaInfoResponse(
            master.id if master else None, master_address(state), state.epoch if master else None
        )
        return Command.response(ResponseCode.SUCCESS, answer, bodies.encode_strict(sync_state_set(state)))

    async def state(self, request: Command, _: Connection) -> Command:
        """Return the state of a name, and what keeps it from having a master."""
        state = await self._state(request.header(headers.NameStateRequest).broker_name)
        parts, now = self._parts, self._parts.clock()
        answer = headers.NameStateResponse(
            leading=parts.leader.is_leading,
            set_back=parts.trust.is_set_back(state.name),
            age_ms=parts.states.age_ms(now) or 0,
            stuck=self._judging.why_stuck(state, now),
        )
        return Command.response(ResponseCode.SUCCESS, answer, encode_state(state))

    def info(self, _: Command, __: Connection) -> Command:
        """Return which controller leads, and how its engine is."""
        parts, now = self._parts, self._parts.clock()
        leading = parts.decisions.leader or ""
        answer = headers.GetMetadataInfoResponse(
            group=parts.cluster,
            controller_leader_id=leading,
            controller_leader_address=leading,
            is_leader=parts.leader.is_leading,
            peers=leading,
        )
        engine, led = parts.decisions.status, parts.leader.state.led_seconds(now)
        body = ControllerInfo(
            controller_id=parts.who,
            engine=engine.kind,
            engine_version=engine.version,
            members=[EngineMember(each.endpoint, each.reached, each.since) for each in engine.members],
            revision=engine.revision,
            size_bytes=engine.size_bytes,
            quota_bytes=engine.quota_bytes,
            alarms=None if engine.alarms is None else list(engine.alarms),
            last_decision_ms=engine.last_decision_ms,
            unsettled=list(engine.unsettled),
            set_back=parts.trust.set_back(),
            names=parts.states.names(),
            leading_ms=int(parts.leader.state.valid_seconds(now) * 1000),
            led_ms=None if led is None else int(led * 1000),
            age_ms=parts.states.age_ms(now),
            conflicts=parts.deciding.conflicts,
            unsettled_count=parts.deciding.unsettled,
        )
        return Command.response(ResponseCode.SUCCESS, answer, bodies.encode_strict(body))

    def sync_state_data(self, request: Command, _: Connection) -> Command:
        """Return the replicas of the names in the body, or of all; a name that is not known is left out."""
        wanted = _names(request.body) or self._parts.states.names()
        found = {name: self._replicas(state) for name in wanted if (state := self._parts.states.find(name)) is not None}
        return Command.response(ResponseCode.SUCCESS, body=bodies.encode_strict(BrokerReplicasInfo(found)))

    def _replicas(self, state: NameState) -> ReplicasInfo:
        heard = {each.id for each in self._parts.hearing.heard(state.name, self._parts.clock())}
        known = [
            ReplicaIdentity(state.name, each, replica.address, each in heard)
            for each, replica in sorted(state.replicas.items())
        ]
        return ReplicasInfo(
            master_broker_id=state.master.id if state.master else None,
            master_address=master_address(state),
            master_epoch=state.epoch if state.master else None,
            sync_state_set_epoch=state.set_version,
            in_sync_replicas=[each for each in known if each.broker_id in state.in_sync],
            not_in_sync_replicas=[each for each in known if each.broker_id not in state.in_sync],
        )

    async def _state(self, name: str) -> NameState:
        state = state_of(name, await self._parts.deciding.read(name))
        if state is None:
            raise Refused(ResponseCode.CONTROLLER_BROKER_METADATA_NOT_EXIST, f"no replica of {name} ever took an id")
        return state


def _names(body: bytes) -> list[str]:
    tree = fastjson.loads(body, LOOSE_BYTES) if body else []
    if not isinstance(tree, list) or len(tree) > MOST_NAMES or not all(isinstance(each, str) for each in tree):
        raise MalformedBody(f"not a list of at most {MOST_NAMES} broker names")
    return list(dict.fromkeys(tree))
