"""What operators and their tools ask of a controller (controller/README.md#wire)."""

from __future__ import annotations

from dataclasses import replace

from broker_core.controller.commands import AcceptLoss, Adopt, Command, Elect, Remove, SetPolicy
from broker_core.controller.electing import electable
from broker_core.controller.errors import Refused
from broker_core.controller.judging import Judging
from broker_core.controller.losing import most_lost
from broker_core.controller.parts import Parts, answered, master_address, of_operator, sync_state_set
from broker_core.controller.replicas import removable
from broker_core.controller.set_back import is_set_back
from broker_core.controller.states import state_of
from broker_core.protocol import Command as Message
from broker_core.protocol import RequestCode, ResponseCode, bodies
from broker_core.protocol.bodies.controller import NameState, ReplicaState
from broker_core.protocol.bodies.replicas import HeardReplica, PossibleLoss, Preview
from broker_core.protocol.headers import controller as headers
from broker_core.remoting import Connection, Handler

_STOP_IT = (
    "whoever was master may still acknowledge messages if it is only cut off: make sure that its process has stopped"
)
_UNCLEAN = (
    "with unclean elections allowed a replica may be made master that lacks acknowledged messages: these are lost then"
)
_LOSS = "messages that were acknowledged and that replica {} does not have are lost"


class AdminHandlers:
    """One method per request code; `table` maps codes to methods."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._judging = Judging(parts.hearing)

    def table(self) -> dict[RequestCode, Handler]:
        """Return the handler of each request code."""
        code = RequestCode
        return {
            code.CONTROLLER_ELECT_MASTER: answered(self.elect),
            code.CLEAN_BROKER_DATA: answered(self.remove),
            code.SET_REPLICA_POLICY: answered(self.set_policy),
            code.ACCEPT_LOSS: answered(self.accept_loss),
            code.ADOPT_STATE: answered(self.adopt),
        }

    async def elect(self, request: Message, _: Connection) -> Message:
        """Elect a master by hand: the one that is named, or any if there is none that lives."""
        header = of_operator(request, headers.ElectMasterRequest, knows_all=False)
        lead = None if header.dry_run else self._parts.the_lead()
        state = await self._state(header.broker_name)
        command = self._election(state, header)
        if header.dry_run:
            return self._told(await self._previewed(command, []))
        has_all: bool | None = None
        if isinstance(command, Elect) and self._master_lives(state) and not header.handed_over:
            has_all = await self._hand_over(state, command)
        done = await self._parts.deciding.carry_out(command, lead)
        master = done.after.master
        answer = headers.ElectMasterResponse(
            master.id if master else None, master_address(done.after), done.after.epoch, done.after.set_version, has_all
        )
        return Message.response(ResponseCode.SUCCESS, answer, bodies.encode_strict(sync_state_set(done.after)))

    async def remove(self, request: Message, _: Connection) -> Message:
        """Forget replicas; those that are heard only if the request says so."""
        header = of_operator(request, headers.CleanBrokerDataRequest, knows_all=False)
        ids = _ids(header.broker_controller_ids_to_clean or "")
        state = await self._state(header.broker_name)
        heard = {each.id for each in self._parts.hearing.heard(state.name, self._parts.clock())}
        ids = ids or tuple(sorted(removable(state) - heard))
        living = sorted(heard & set(ids) & state.replicas.keys())
        if living and not header.is_clean_living_broker:
            raise Refused(
                ResponseCode.CONTROLLER_INVALID_CLEAN_BROKER_METADATA,
                f"replica {living[0]} of {state.name} lives: stop it first",
            )
        command = Remove(header.broker_name, ids, header.forced)
        if header.dry_run:
            return self._told(await self._previewed(command, []))
        return self._told(await self._carried_out(command))

    async def set_policy(self, request: Message, _: Connection) -> Message:
        """Change what operators decide for a name."""
        header = of_operator(request, headers.SetReplicaPolicyRequest, knows_all=True)
        if header.min_in_sync_replicas is None and header.unclean_allowed is None:
            raise Refused(
                ResponseCode.CONTROLLER_INVALID_REQUEST, "neither minInSyncReplicas nor uncleanAllowed is to be changed"
            )
        command = SetPolicy(header.broker_name, header.min_in_sync_replicas, header.unclean_allowed)
        warnings = [_UNCLEAN] if header.unclean_allowed else []
        decided = self._previewed if header.dry_run else self._carried_out
        return self._told(await decided(command, warnings))

    async def accept_loss(self, request: Message, _: Connection) -> Message:
        """Make a replica master that may lack acknowledged messages."""
        header = of_operator(request, headers.AcceptLossRequest, knows_all=True)
        lead = None if header.dry_run else self._parts.the_lead()
        command = self._loss(await self._state(header.broker_name), header.broker_id)
        if header.dry_run:
            return self._told(await self._previewed(command, [_LOSS.format(command.id), _STOP_IT]))
        loss = self._most_lost(command)  # soon the new master is the one that has everything
        done = await self._parts.deciding.carry_out(command, lead)
        return self._told(
            replace(self._preview(done.before, done.after, [_LOSS.format(command.id), _STOP_IT]), loss=loss)
        )

    async def adopt(self, request: Message, _: Connection) -> Message:
        """Go on from a state that was set back."""
        header = of_operator(request, headers.AdoptStateRequest, knows_all=True)
        parts, name = self._parts, header.broker_name
        parts.check_cluster(header.cluster_name)
        read = state_of(name, await parts.deciding.read(name))
        if not is_set_back(read, parts.trust.newest(name)):
            if read is None:
                raise Refused(ResponseCode.CONTROLLER_BROKER_METADATA_NOT_EXIST, f"{name} is not known here")
            raise Refused(ResponseCode.CONTROLLER_INVALID_REQUEST, f"the state of {name} was not set back")
        heard = parts.hearing.heard(name, parts.clock())
        command = Adopt(
            name=name,
            cluster=header.cluster_name,
            members=_ids(header.broker_ids),
            views=(parts.hearing.newest(name), *(each.view for each in heard)),
            replicas=tuple(
                (each.id, ReplicaState(each.address, "", each.life, "", False, each.last_epoch)) for each in heard
            ),
        )
        able = [each for each in heard if each.id in command.members]
        longest = max(able, key=lambda each: (each.last_epoch, each.end), default=None)
        lost = ([] if longest is None else [_LOSS.format(longest.id)]) + [_STOP_IT]
        if header.dry_run:
            return self._told(await self._previewed(command, lost))
        preview = await self._carried_out(command, lost)
        parts.trust.trust(name)
        return self._told(preview)

    def _election(self, state: NameState, header: headers.ElectMasterRequest) -> Elect | AcceptLoss:
        among = self._parts.hearing.alive(state.name, self._parts.clock())
        chosen = header.broker_id if header.designate_elect else None
        lives = self._master_lives(state)
        if state.master is not None and lives and chosen in (None, state.master.id):
            raise Refused(
                ResponseCode.CONTROLLER_MASTER_STILL_EXIST, f"replica {state.master.id} of {state.name} is master"
            )
        if chosen is not None and state.policy.unclean_allowed and not electable(state, among):
            return self._loss(state, chosen)
        return Elect(state.name, among, state.master, "by hand", chosen)

    def _loss(self, state: NameState, chosen: int) -> AcceptLoss:
        among = self._parts.hearing.alive(state.name, self._parts.clock())
        return AcceptLoss(state.name, chosen, among, None if self._master_lives(state) else state.master)

    def _master_lives(self, state: NameState) -> bool:
        return self._judging.why_without_master(state, self._parts.clock()) is None

    async def _hand_over(self, state: NameState, command: Elect) -> bool:
        """Return whether the chosen replica has the master's whole log; raise Refused if that one keeps its place."""
        assert state.master is not None
        if command.chosen is None:
            return False
        self._parts.check_not_set_back(state.name, state)
        await self._parts.deciding.preview(command)  # the master stops taking sends only for what can be
        links, master = self._parts.links, state.master.id
        has_all, why_not = await links.hand_over(state.name, master, state.epoch, command.chosen)
        if why_not is not None:
            raise Refused(ResponseCode.CONTROLLER_ELECT_MASTER_FAILED, why_not)
        return has_all

    async def _state(self, name: str) -> NameState:
        state = state_of(name, await self._parts.deciding.read(name))
        if state is None:
            raise Refused(ResponseCode.CONTROLLER_BROKER_METADATA_NOT_EXIST, f"no replica of {name} ever took an id")
        return state

    async def _previewed(self, command: Command, warnings: list[str]) -> Preview:
        done = await self._parts.deciding.preview(command)
        loss = self._most_lost(command) if isinstance(command, AcceptLoss) else None
        return replace(self._preview(done.before, done.after, warnings), loss=loss)

    def _most_lost(self, command: AcceptLoss) -> PossibleLoss | None:
        parts, now = self._parts, self._parts.clock()
        state, whole = parts.states.find(command.name), parts.hearing.last_whole(command.name)
        chosen = next((each for each in parts.hearing.heard(command.name, now) if each.id == command.id), None)
        if state is None or whole is None or chosen is None:
            return None
        beat, at = whole
        lost = most_lost(state, chosen, beat)
        return None if lost is None else PossibleLoss(lost, beat.id, beat.end, round((now - at) * 1000))

    async def _carried_out(self, command: Command, warnings: list[str] | None = None) -> Preview:
        done = await self._parts.deciding.carry_out(command)
        return self._preview(done.before, done.after, warnings or [])

    def _preview(self, before: NameState | None, after: NameState, warnings: list[str]) -> Preview:
        heard = [
            HeardReplica(each.id, each.life, each.address, each.last_epoch, each.end, each.confirm, *each.view)
            for each in self._parts.hearing.heard(after.name, self._parts.clock())
        ]
        return Preview(after, before, heard, warnings)

    def _told(self, preview: Preview) -> Message:
        return Message.response(ResponseCode.SUCCESS, body=bodies.encode_strict(preview))


def _ids(text: str) -> tuple[int, ...]:
    """Return the ids of a text with semicolons between them; raises Refused."""
    try:
        return tuple(sorted({int(each) for each in text.split(";") if each.strip()}))
    except ValueError:
        raise Refused(
            ResponseCode.CONTROLLER_INVALID_REQUEST, f"{text[:80]!r} are no ids with semicolons between them"
        ) from None
