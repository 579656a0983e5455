"""The parts of a broker (broker/README.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from broker_core.broker.access.access import Access
from broker_core.broker.access.permits import Permits
from broker_core.broker.arrivals import Arrivals
from broker_core.broker.clients import Clients
from broker_core.broker.config import BrokerConfig
from broker_core.broker.delay import DelayQueues
from broker_core.broker.durability import GroupCommit
from broker_core.broker.filters.registered import ConsumerFilters
from broker_core.broker.groups import Groups
from broker_core.broker.intake import Intake
from broker_core.broker.master_work import MasterWork
from broker_core.broker.modes.mode import Mode, Rest, StateOfMaster
from broker_core.broker.offsets import ConsumerOffsets, Resets
from broker_core.broker.pop.leases import Leases
from broker_core.broker.processors.topic_queues import TopicQueues
from broker_core.broker.queue_locks import QueueLocks
from broker_core.broker.replication.forwarding import Forwarding
from broker_core.broker.request_modes import RequestModes
from broker_core.broker.role import Roles
from broker_core.broker.saving import Saver
from broker_core.broker.settings import Settings
from broker_core.broker.stats import Stats
from broker_core.broker.timer.reads import TimerReads
from broker_core.broker.timer.timer import Timer
from broker_core.broker.topic_producers import TopicProducers
from broker_core.broker.topics import Topics
from broker_core.broker.transactions.checks import Checks
from broker_core.broker.transactions.transactions import Transactions
from broker_core.broker.waits import Waits
from broker_core.remoting.connection import Connection
from broker_core.remoting.memory import ConnectionMemory
from broker_core.store import MessageStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What some requests need, and no other component does."""

    store_id: str
    timer_reads: TimerReads
    producers: TopicProducers
    forwarding: Forwarding
    saver: Saver
    resets: Resets
    topic_queues: TopicQueues


@dataclass(frozen=True, slots=True)
class Components:
    """The parts of a broker; only the code that creates and runs it handles all of them together.

    `clock` returns ms since 1970, `address` is the ``host:port`` where clients find the broker.
    """

    settings: Settings
    roles: Roles
    mode: Mode
    master_work: MasterWork
    address: str
    clock: Callable[[], int]
    store: MessageStore
    arrivals: Arrivals
    intake: Intake
    durability: GroupCommit
    waits: Waits
    topics: Topics
    groups: Groups
    offsets: ConsumerOffsets
    delay: DelayQueues
    timer: Timer
    transactions: Transactions
    checks: Checks
    leases: Leases
    clients: Clients[Connection]
    filters: ConsumerFilters
    locks: QueueLocks
    stats: Stats
    rest: Rest
    """What the mode serves and follows with."""
    state_of_master: StateOfMaster | None
    """What takes over the state of a master, where there may be another one."""
    memory: ConnectionMemory
    request_modes: RequestModes
    access: Access | None
    """The accounts, if access control is on."""
    permits: Permits
    beside: Beside

    @property
    def config(self) -> BrokerConfig:
        """The current configuration; a part that keeps a value from it watches `settings`."""
        return self.settings.config
