"""What the rest of a broker asks and tells its mode (broker/replication/README.md#modes)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from broker_core.broker.arrivals import Arrivals
from broker_core.broker.durability import GroupCommit
from broker_core.broker.housekeeping import Step
from broker_core.broker.intake import Admission
from broker_core.broker.master_work import MasterWork
from broker_core.broker.processors.handlers import Handlers
from broker_core.broker.processors.runtime_info import Figures
from broker_core.broker.registration import MasterPlace, Registration
from broker_core.broker.replication.failover import Failover
from broker_core.broker.replication.passed_on import PassedOn
from broker_core.broker.replication.peers import Peers
from broker_core.broker.replication.standing import Standing
from broker_core.broker.replication.state_book import Registers, StateBook
from broker_core.broker.role import Roles
from broker_core.broker.settings import Settings
from broker_core.broker.waits import ReplicaWaits
from broker_core.remoting.open_files import Sockets
from broker_core.remoting.tls import ServerTls
from broker_core.store import MessageStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What a mode is made of: all that there is before it."""

    settings: Settings
    store: MessageStore
    address: str
    roles: Roles
    arrivals: Arrivals
    durability: GroupCommit
    peers: Peers
    tls: ServerTls | None
    sockets: Sockets
    clock: Callable[[], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """What is made with a mode, and what it serves and follows with."""

    registers: Registers
    state_book: StateBook
    passed_on: PassedOn
    registration: Registration
    master_work: MasterWork


class StateOfMaster(Protocol):
    """Takes over the state of a master beside its log."""

    async def run(self) -> None:
        """Follow whoever is the master, until cancelled."""

    async def finish(self) -> None:
        """Take over what is left, for a second at most: the broker stops."""


class Mode(Protocol):
    """Begun by `listen`, then `run`; ended by cancelling `run`, then `close`."""

    @property
    def standing(self) -> Standing:
        """What is known of the mastership beyond the role."""

    @property
    def admission(self) -> Admission | None:
        """Says whether a message may be stored, and is told of each; None lets all in."""

    @property
    def on_stored(self) -> Callable[[], None] | None:
        """Told of each message before any round of arrivals, where senders wait for a slave."""

    @property
    def waits(self) -> ReplicaWaits | None:
        """The sends that wait for replicas; None where none does."""

    @property
    def failover(self) -> Failover | None:
        """The replica, where controllers decide its role."""

    def figures(self) -> Figures:
        """Return what the runtime information shows of replication."""

    def master_told(self, place: MasterPlace) -> None:
        """Take where the name servers say that the master is."""

    def handlers(self, rest: Rest) -> Handlers:
        """Return what is served in this mode alone."""

    def state_of_master(self, rest: Rest) -> StateOfMaster | None:
        """Return what takes over the state of a master; None where there never is another one."""

    async def listen(self) -> Sequence[Step]:
        """Listen for slaves, if any may come; return what is to be done for them. Raises AddressRefused."""

    async def run(self) -> None:
        """Follow, until cancelled."""

    async def close(self) -> None:
        """Close the streams."""
