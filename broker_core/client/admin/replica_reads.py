"""Reading from a slave while the master of a broker is away (client/README.md#reading-from-slaves)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from broker_core.client.admin.requests import AdminRequests
from broker_core.client.errors import BrokerUnavailable, ClientError, NoMaster, Unreachable
from broker_core.logs import get_logger

T = TypeVar("T")

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class FromSlave:
    """What a slave answered in the place of its master; it may lack the newest messages."""

    broker_name: str
    broker_id: int
    why: ClientError
    """Why the master did not answer."""


async def at_replica(
    requests: AdminRequests, broker_name: str, ask: Callable[[str], Awaitable[T]]
) -> tuple[T, FromSlave | None]:
    """Return what `ask` gets from a broker's master, or from a slave if the master is away, and which slave it was.

    Slaves are asked one after the other, by their ids. Raises what the master's failure was if none of them answers.
    """
    try:
        return await requests.at_master(broker_name, ask), None
    except (NoMaster, Unreachable, BrokerUnavailable) as error:
        for broker_id, addr in requests.session.routes.slaves(broker_name):
            try:
                return await ask(addr), FromSlave(broker_name, broker_id, error)
            except ClientError as failure:
                _log.info("broker=%s: its slave %d did not answer either: %s", broker_name, broker_id, failure)
        raise


async def at_master(
    requests: AdminRequests, broker_name: str, ask: Callable[[str], Awaitable[T]]
) -> tuple[T, FromSlave | None]:
    """Return the same without asking slaves."""
    return await requests.at_master(broker_name, ask), None
