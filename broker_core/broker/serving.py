"""Who answers which request, and what is checked before (broker/README.md#start-and-stop)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from broker_core.broker.access.check import AccessCheck
from broker_core.broker.access.needs import needs_of
from broker_core.broker.access.refusals import Refusals
from broker_core.broker.arrivals import Arrivals
from broker_core.broker.components import Components
from broker_core.broker.housekeeping import Step
from broker_core.broker.processors.composition import Processors
from broker_core.broker.replication.forwarding import FORWARDED
from broker_core.broker.role_gate import RoleGate
from broker_core.protocol.codes import RequestCode
from broker_core.protocol.command import Command
from broker_core.remoting import Dispatch
from broker_core.remoting.connection import Connection, Result
from broker_core.remoting.dispatch import Handler

_ACCOUNTS_MS: Final = 1_000
_REFUSALS_MS: Final = 1_000
# Requests that read nothing which a pending round would make readable.
_SENDS: Final = frozenset(
    {
        RequestCode.SEND_MESSAGE,
        RequestCode.SEND_MESSAGE_V2,
        RequestCode.SEND_BATCH_MESSAGE,
        RequestCode.END_TRANSACTION,
        RequestCode.UPDATE_CONSUMER_OFFSET,
    }
)


def register(processors: Processors, components: Components, *, main: Dispatch, fast: Dispatch) -> None:
    """Register every processor for its request codes; pulls are served on the main port only.

    Requests for messages or offsets see every message that was acknowledged before. What a slave forwards does not
    reach its processor.
    """
    for processor in processors.all:
        for code, handler in processor.handlers().items():
            answer = handler if code in _SENDS else _settled(components.arrivals, handler)
            if code in FORWARDED:
                answer = components.beside.forwarding.around(answer)
            main.register(code, answer)
            if code != RequestCode.PULL_MESSAGE:
                fast.register(code, answer)


def register_mode(components: Components, *ports: Dispatch) -> None:
    """Register what is served in the mode of this broker alone."""
    for code, handler in components.mode.handlers(components.rest).items():
        for port in ports:
            port.register(code, handler)


def guard(components: Components, *ports: Dispatch) -> Sequence[Step]:
    """Have every request checked: its rights where access control is on, then whether this role serves it.

    Returns the steps that belong to access control.
    """
    steps = _guard_access(components, *ports)
    gate = RoleGate(components.roles, components.beside.forwarding.takes)
    for port in ports:
        port.before(gate)
    return steps


def _guard_access(components: Components, *ports: Dispatch) -> Sequence[Step]:
    access = components.access
    if access is None:
        return ()
    refusals = Refusals(components.clock)
    needs = needs_of(components.arrivals, components.config.limits, components.config.identity.cluster)
    check = refusals.of(AccessCheck(access, needs, ports[0].codes, components.config.local_accounts))
    for port in ports:
        port.before(check)
    return Step("accounts", _ACCOUNTS_MS, access.reload), Step("refusals", _REFUSALS_MS, refusals.step)


def _settled(arrivals: Arrivals, handler: Handler) -> Handler:
    """Wrap `handler` so that pending appends are dispatched before it runs."""

    def answer(request: Command, connection: Connection) -> Result:
        arrivals.settle()
        return handler(request, connection)

    return answer
