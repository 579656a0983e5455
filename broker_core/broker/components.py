"""What a broker is made of; only where it is put together and run is all of it in one place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from broker_core.broker.arrivals import Arrivals
from broker_core.broker.clients import Clients
from broker_core.broker.config import BrokerConfig
from broker_core.broker.delay import DelayQueues
from broker_core.broker.durability import GroupCommit
from broker_core.broker.groups import Groups
from broker_core.broker.intake import Intake
from broker_core.broker.offsets import ConsumerOffsets
from broker_core.broker.pop.leases import Leases
from broker_core.broker.queue_locks import QueueLocks
from broker_core.broker.registration import Registration
from broker_core.broker.request_modes import RequestModes
from broker_core.broker.resets import Resets
from broker_core.broker.saving import Saver
from broker_core.broker.settings import Settings
from broker_core.broker.stats import Stats
from broker_core.broker.topic_queues import TopicQueues
from broker_core.broker.topics import Topics
from broker_core.remoting.connection import Connection
from broker_core.remoting.memory import Memory
from broker_core.store import MessageStore


@dataclass(frozen=True, slots=True)
class Components:
    """One of each. `clock` returns ms since 1970, `address` is the ``host:port`` that clients are told."""

    settings: Settings
    address: str
    clock: Callable[[], int]
    store: MessageStore
    arrivals: Arrivals
    intake: Intake
    durability: GroupCommit
    topics: Topics
    groups: Groups
    offsets: ConsumerOffsets
    delay: DelayQueues
    leases: Leases
    clients: Clients[Connection]
    locks: QueueLocks
    stats: Stats
    registration: Registration
    saver: Saver
    memory: Memory
    resets: Resets
    request_modes: RequestModes
    topic_queues: TopicQueues

    @property
    def config(self) -> BrokerConfig:
        """What holds now; a part that keeps a value from it watches `settings`."""
        return self.settings.config
