"""What a broker refuses in its role: a hook before every handler (broker/README.md#what-a-slave-answers)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from broker_core.broker.errors import NotChangedHere, NotDecidedHere, NotMaster
from broker_core.broker.role import Role, RoleKind, Roles
from broker_core.protocol.codes import RequestCode as Code
from broker_core.protocol.command import Command
from broker_core.remoting.connection import Connection

_PUTS: Final = (
    Code.SEND_MESSAGE,
    Code.SEND_MESSAGE_V2,
    Code.SEND_BATCH_MESSAGE,
    Code.SEND_REPLY_MESSAGE,
    Code.SEND_REPLY_MESSAGE_V2,
    Code.CONSUMER_SEND_MSG_BACK,
    Code.RECALL_MESSAGE,
    Code.RESCHEDULE_MESSAGE,
)
_LEASES: Final = (
    Code.POP_MESSAGE,
    Code.ACK_MESSAGE,
    Code.BATCH_ACK_MESSAGE,
    Code.PEEK_MESSAGE,
    Code.CHANGE_MESSAGE_INVISIBLETIME,
    Code.NOTIFICATION,
    Code.POLLING_INFO,
    Code.POP_ROLLBACK,
)
# What waits for its time is in an index that only the master keeps up to date.
_TIMERS: Final = (Code.LIST_TIMERS, Code.SUMMARIZE_TIMERS, Code.GET_TIMER_METRICS, Code.GET_TIMER_CHECK_POINT)
# A slave would set offsets which the next synchronization overwrites.
_OFFSETS: Final = (Code.INVOKE_BROKER_TO_RESET_OFFSET, Code.CLONE_GROUP_OFFSET, Code.PURGE_TOPIC)
_REGISTERS: Final = (
    Code.UPDATE_AND_CREATE_TOPIC,
    Code.UPDATE_AND_CREATE_TOPIC_LIST,
    Code.DELETE_TOPIC_IN_BROKER,
    Code.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
    Code.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST,
    Code.DELETE_SUBSCRIPTIONGROUP,
    Code.SET_MESSAGE_REQUEST_MODE,
    # It would drop the queues of a topic that the slave has not heard of yet.
    Code.CLEAN_UNUSED_TOPIC,
)
_FENCED_SERVES: Final = frozenset(
    {
        Code.GET_BROKER_CONFIG,
        Code.GET_BROKER_RUNTIME_INFO,
        Code.EXCHANGE_BROKER_HA_INFO,
        Code.GET_BROKER_HA_STATUS,
        Code.GET_BROKER_EPOCH_CACHE,
        Code.NOTIFY_BROKER_ROLE_CHANGED,
    }
)

_Refusal = Callable[[Role], NotMaster]


def _away(role: Role) -> NotMaster:
    where = "is not known" if role.master is None else f"is at {role.master}"
    return NotMaster(f"service not available now: this broker is a slave, and its master {where}")


def _undecided(role: Role) -> NotMaster:
    return NotDecidedHere(str(_away(role)))


def _unchanged(_role: Role) -> NotMaster:
    return NotChangedHere()


_BY_A_SLAVE: Final[Mapping[int, _Refusal]] = {
    **dict.fromkeys((*_PUTS, *_LEASES, *_TIMERS, *_OFFSETS), _away),
    **dict.fromkeys((*_REGISTERS, Code.RESUME_CHECK_HALF_MESSAGE), _unchanged),
    Code.END_TRANSACTION: _undecided,
}


class RoleGate:
    """Refuses what this broker does not do in its role of the moment."""

    def __init__(self, roles: Roles, is_forwarded: Callable[[Command], bool]) -> None:
        """`is_forwarded` says which requests go to the master, which serves or refuses them."""
        self._roles = roles
        self._goes_on = is_forwarded
        roles.watch(self._follow)

    def _follow(self, role: Role) -> None:
        self._is_fenced = role.kind is RoleKind.FENCED
        self._refused = _BY_A_SLAVE if role.kind is RoleKind.SLAVE else {}

    def __call__(self, request: Command, _: Connection) -> None:
        """Return if the request is served; raises NotMaster."""
        if self._is_fenced and request.code not in _FENCED_SERVES:
            raise NotMaster("service not available now: this broker does not know yet whether it is the master")
        refusal = self._refused.get(request.code)
        if refusal is not None and not self._goes_on(request):
            raise refusal(self._roles.now)
