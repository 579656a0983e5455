"""What a broker is told once, where the process is put together: identity, places, periods, behaviour.

Where RocketMQ has a setting of the same meaning, its name stands beside ours.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from broker_core.broker.limits import Limits
from broker_core.store.config import StoreConfig

MASTER_ID: Final = 0


@dataclass(frozen=True, slots=True)
class Identity:
    """Who the broker is to name servers and clients."""

    cluster: str = "local"
    name: str = "broker-a"
    broker_id: int = MASTER_ID
    region: str = "DefaultRegion"


@dataclass(frozen=True, slots=True)
class TopicDefaults:
    """What happens to topics and groups that nobody created."""

    auto_create_topics: bool = True  # autoCreateTopicEnable
    auto_create_groups: bool = True  # autoCreateSubscriptionGroup
    queues: int = 8  # defaultTopicQueueNums: what TBW102 offers; clients ask for 4 of them


@dataclass(frozen=True, slots=True)
class Periods:
    """How often what is done, in ms (behaviour.md B.1)."""

    registration: int = 30_000
    registration_timeout: int = 6_000
    save: int = 5_000  # consumer offsets and whatever else changed
    flush: int = 500  # asynchronous flush of the commit log
    client_scan: int = 10_000
    client_expiry: int = 120_000
    delay_step: int = 100
    sync_flush_timeout: int = 5_000
    relay_timeout: int = 10_000  # calls that a broker makes to a client


@dataclass(frozen=True, slots=True)
class BrokerConfig:
    """One broker."""

    store: StoreConfig  # its folder is RocketMQ's storePathRootDir: commitlog/, consumequeue/, index/, config/
    name_servers: tuple[str, ...] = ()
    bind: str = "127.0.0.1"
    port: int = 10911  # 0: any free one, and no fast port
    advertise: str | None = None  # the host clients are told; None: the bound one
    identity: Identity = field(default_factory=Identity)
    topics: TopicDefaults = field(default_factory=TopicDefaults)
    periods: Periods = field(default_factory=Periods)
    limits: Limits = field(default_factory=Limits)

    @property
    def config_folder(self) -> Path:
        """Where the registers are kept as files."""
        return self.store.folder / "config"

    @property
    def flushes_before_answer(self) -> bool:
        """Whether a send is answered only when it is on the disk."""
        return self.store.flush == "sync"
