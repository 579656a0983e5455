"""The configuration of a broker at the start of the process: identity, folders, periods, behaviour.

The comments name the RocketMQ settings of the same meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from broker_core.broker.access.places import LocalAccounts
from broker_core.broker.filters.settings import FilterSettings
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.timer.requests import TimerSettings
from broker_core.broker.transactions.settings import TransactionSettings
from broker_core.protocol.codes import PERM_READ, PERM_WRITE
from broker_core.protocol.networks import Networks
from broker_core.protocol.topics import TRACE_TOPIC
from broker_core.remoting import TlsSettings
from broker_core.store.config import StoreConfig

MASTER_ID: Final = 0
HA_PORT_ABOVE: Final = 1
"""The port for slaves is so far above the main port."""


@dataclass(frozen=True, slots=True)
class Identity:
    """How the broker identifies itself to name servers and clients."""

    cluster: str = "local"
    name: str = "broker-a"
    broker_id: int = MASTER_ID
    region: str = "DefaultRegion"


@dataclass(frozen=True, slots=True)
class TopicDefaults:
    """How unknown topics and groups are treated."""

    auto_create_topics: bool = True  # autoCreateTopicEnable
    auto_create_groups: bool = True  # autoCreateSubscriptionGroup
    queues: int = 8  # defaultTopicQueueNums: what TBW102 offers; clients ask for 4 of them
    cluster_topic: bool = True  # clusterTopicEnable: clients can send to the topic named after the cluster
    broker_topic: bool = True  # brokerTopicEnable: clients can send to the topic named after the broker
    trace_topic: bool = False  # traceTopicEnable: there is a topic for message traces
    trace_topic_name: str = TRACE_TOPIC  # msgTraceTopicName
    trace_on: bool = True  # traceOn: clients that trace may trace the messages of this broker


@dataclass(frozen=True, slots=True)
class Pulls:
    """How pulls are answered."""

    long_polling: bool = True  # longPollingEnable: a pull that finds nothing waits as long as its client allows
    short_polling_ms: int = 1_000  # shortPollingTimeMills: how long it waits without long polling
    max_messages: int = 32  # maxTransferCountOnMessageInMemory
    max_bytes: int = 262_144  # maxTransferBytesOnMessageInMemory
    in_memory_ratio: float = 0.4  # accessMessageInMemoryMaxRatio: the share of memory that holds recent messages


@dataclass(frozen=True, slots=True)
class Periods:
    """How often each job runs, in ms."""

    registration: int = 30_000
    registration_timeout: int = 6_000
    save: int = 5_000  # consumer offsets and every other changed register
    flush: int = 500  # asynchronous flush of the commit log
    client_scan: int = 10_000
    client_expiry: int = 120_000
    delay_step: int = 100
    timer_step: int = 50
    transaction_step: int = 1_000
    sync_flush_timeout: int = 5_000
    relay_timeout: int = 10_000  # calls from the broker to a client


class BrokerRole(StrEnum):
    """What a broker without a controller is for good."""

    ASYNC_MASTER = "ASYNC_MASTER"
    SYNC_MASTER = "SYNC_MASTER"  # a send is answered when a slave has it
    SLAVE = "SLAVE"


@dataclass(frozen=True, slots=True)
class ReplicationSettings:
    """A master and its slaves; times in ms."""

    role: BrokerRole = BrokerRole.ASYNC_MASTER  # brokerRole
    master_address: str = ""  # haMasterAddress: where a slave connects to; empty: where the name server says
    slave_networks: Networks = field(default_factory=Networks)  # haSlaveNetworks: where slaves may connect from
    heartbeat_ms: int = 5_000  # haSendHeartbeatInterval: without other bytes
    silence_ms: int = 20_000  # haHousekeepingInterval: a connection is closed after so long without a byte
    batch_bytes: int = 32_768  # haTransferBatchSize: of the log in one frame
    fall_behind_bytes: int = 256 * 1024 * 1024  # haSlaveFallbehindMax: a slave that lacks more is not waited for
    slave_timeout_ms: int = 3_000  # slaveTimeout: how long a send waits for a slave
    slave_read: bool = False  # slaveReadEnable: consumers may be sent to slaves
    offset_check_in_slave: bool = False  # offsetCheckInSlave: a slave corrects offsets beyond its own end
    sync_metadata_ms: int = 1_000  # syncMetadataPeriod: topics, groups and offsets of a master that is Gantry


@dataclass(frozen=True, slots=True)
class FailoverSettings:
    """A replica whose role controllers decide; times in ms."""

    is_on: bool = False  # enableControllerMode
    controllers: tuple[str, ...] = ()  # controllerAddr
    heartbeat_ms: int = 500  # brokerHeartbeatInterval: to every controller
    min_in_sync: int = (
        1  # minInSyncReplicas: with fewer a master takes no messages; the policy of the name may ask more
    )
    gone_ms: int = 1_000  # replicaGoneAfter: a replica without a connection leaves the in-sync set
    behind_ms: int = 15_000  # haMaxTimeSlaveNotCatchup: so does one that was not at the end for so long
    unconfirmed_bytes: int = 64 * 1024 * 1024  # limitUnconfirmedBytes: more of the log is not written ahead of the set
    copy_hold_bytes: int = 10 * 1024 * 1024 * 1024  # limitCopyHoldBytes: of the log, kept for a replica that copies it
    copy_bytes_per_second: int = 100 * 1024 * 1024  # maxHaTransferByteInSecond: to all replicas together
    is_newest_only: bool = False  # syncFromLastFile: an empty replica copies the newest segment alone
    is_learner: bool = False  # asyncLearner: never in the in-sync set, never master
    priority: int = 2**31 - 1  # brokerElectionPriority: of equals, the one with the smallest is elected
    forwards: bool = True  # forwardWhenNotMaster: messages that a slave gets go to the master that it knows


@dataclass(frozen=True, slots=True)
class BrokerConfig:
    """One broker."""

    store: StoreConfig  # the store's folder is RocketMQ's storePathRootDir: commitlog/, consumequeue/, index/, config/
    name_servers: tuple[str, ...] = ()
    bind: str = "127.0.0.1"
    port: int = 10911  # 0: any free port, and no fast port
    advertise: str | None = None  # the host announced to clients; None: the bound one
    identity: Identity = field(default_factory=Identity)
    topics: TopicDefaults = field(default_factory=TopicDefaults)
    periods: Periods = field(default_factory=Periods)
    limits: BrokerLimits = field(default_factory=BrokerLimits)
    pulls: Pulls = field(default_factory=Pulls)
    timer: TimerSettings = field(default_factory=TimerSettings)
    filters: FilterSettings = field(default_factory=FilterSettings)
    transactions: TransactionSettings = field(default_factory=TransactionSettings)
    replication: ReplicationSettings = field(default_factory=ReplicationSettings)
    failover: FailoverSettings = field(default_factory=FailoverSettings)
    permission: int = PERM_READ | PERM_WRITE  # brokerPermission
    access_control: bool = False  # aclEnable: requests need an account of config/plain_acl.yml
    local_accounts: LocalAccounts = field(default_factory=LocalAccounts)  # aclLocalAccounts, aclLocalNetworks
    replica_account: str = ""  # aclReplicaAccount: with which brokers of one name sign what they ask each other
    tls: TlsSettings = field(default_factory=TlsSettings)  # of the listeners, and of connections to name servers
    # By RocketMQ name; they override the fields above and changes that were saved while running.
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def config_folder(self) -> Path:
        """The folder of the register files."""
        return self.store.folder / "config"

    @property
    def flushes_before_answer(self) -> bool:
        """Whether a send is answered only after its message is on the disk."""
        return self.store.flush == "sync"
