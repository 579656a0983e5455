"""What the handlers of a controller share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

from broker_core.controller.deciding import Deciding
from broker_core.controller.decisions import Decisions, Lead
from broker_core.controller.errors import Refused
from broker_core.controller.hearing import Hearing
from broker_core.controller.leading import Leader
from broker_core.controller.links import Links
from broker_core.controller.set_back import is_set_back
from broker_core.controller.states import States
from broker_core.controller.trust import Trust
from broker_core.protocol import Command, ResponseCode
from broker_core.protocol.bodies.controller import NameState
from broker_core.protocol.bodies.replicas import SyncStateSet
from broker_core.protocol.fields import find_misread
from broker_core.protocol.signature import ACCESS_KEY, SECURITY_TOKEN, SIGNATURE
from broker_core.remoting import Connection, Handler

MOST_NAMES: Final = 5_000
"""How many broker names a controller takes: all are read into memory."""
LOOSE_BYTES: Final = 64 * 1024
"""The limit on a body that is not strict JSON, which takes long to read, while nobody is heard."""

T = TypeVar("T")

_SIGNED: Final = frozenset({ACCESS_KEY, SIGNATURE, SECURITY_TOKEN})
"""Whoever has an account signs each request."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A running controller: `who` names it, `clock` is that of the hearing."""

    cluster: str
    who: str
    clock: Callable[[], float]
    decisions: Decisions
    states: States
    hearing: Hearing
    trust: Trust
    links: Links
    deciding: Deciding
    leader: Leader

    def check_cluster(self, cluster: str) -> None:
        """Raise Refused for a broker of another cluster than this controller's."""
        if cluster != self.cluster:
            raise Refused(
                ResponseCode.CONTROLLER_INVALID_REQUEST,
                f"this controller is of cluster {self.cluster} (controllerClusterName), not of {cluster}",
            )

    def check_not_set_back(self, name: str, read: NameState | None) -> None:
        """Raise Refused for a name whose state, as it was just read, was set back."""
        if is_set_back(read, self.trust.newest(name)):
            raise Refused(ResponseCode.CONTROLLER_NOT_LEADER, f"the state of {name} was set back")

    def the_lead(self) -> Lead:
        """Return the lead; raises Refused if this controller does not lead."""
        lead = self.leader.lead
        if lead is None:
            leading = self.decisions.leader
            raise Refused(
                ResponseCode.CONTROLLER_NOT_LEADER,
                f"this controller does not lead{f', {leading} does' if leading else ''}",
            )
        return lead


Answer: TypeAlias = Callable[[Command, Connection], Awaitable[Command]]


def answered(answer: Answer) -> Handler:
    """Return a handler whose refusals are answers."""

    async def handle(request: Command, connection: Connection) -> Command:
        try:
            return await answer(request, connection)
        except Refused as refused:
            return Command.response(refused.code, remark=str(refused))

    return handle


def of_operator(request: Command, kind: type[T], *, knows_all: bool) -> T:
    """Return the header of what an operator asks for; raises Refused for a field that is not taken as it is meant.

    Apache's tools send fields of which nothing is known here; a header that only Gantry sends `knows_all`.
    """
    misread = find_misread(kind, request.ext_fields, _SIGNED if knows_all else None)
    if misread is not None:
        raise Refused(ResponseCode.CONTROLLER_INVALID_REQUEST, f"request {request.code}: {misread}")
    return request.header(kind)


def master_address(state: NameState) -> str | None:
    """Return the address of the master, if there is one."""
    return state.replicas[state.master.id].address if state.master is not None else None


def sync_state_set(state: NameState) -> SyncStateSet:
    """Return the in-sync set as 5.x tells it."""
    return SyncStateSet(state.in_sync, state.set_version)
