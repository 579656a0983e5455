"""The settings of a broker by their RocketMQ names: accepted values, place in the configuration, time of effect.

A `LIVE` setting takes effect when the change is answered. An `AT_START` setting is saved and takes effect at the next
start, as in RocketMQ, which reads most of them once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from broker_core.broker.config import HA_PORT_ABOVE, MASTER_ID, BrokerConfig, BrokerRole
from broker_core.broker.settings import kinds
from broker_core.broker.settings.kinds import SettingKind
from broker_core.protocol import ha_plain
from broker_core.protocol.frame import MAX_FRAME, MAX_HEADER
from broker_core.protocol.topics import TOPIC_NAME

_HOUR_MS: Final = 3_600_000
_INT: Final = 2**31 - 1
_UNIT_BYTES: Final = 20
_LONGEST_DELAY_S: Final = 10 * 366 * 86_400
_SMALLEST_FILE: Final = 4096
_MOST_FILTERS: Final = 10_000
_SMALLEST_MEMORY: Final = 16 * 1024 * 1024  # one frame


class Holds(StrEnum):
    """When a changed setting takes effect."""

    LIVE = "at once"
    AT_START = "at the next start"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting; `places` are the attributes of BrokerConfig that hold it, as ``part.name``."""

    name: str
    kind: SettingKind
    holds: Holds
    places: tuple[str, ...]

    def text(self, config: BrokerConfig) -> str:
        """Return the setting's text for a configuration."""
        value: Any = config
        for name in self.places[0].split("."):
            value = getattr(value, name)
        return self.kind.write(value)

    def put(self, config: BrokerConfig, text: str) -> BrokerConfig:
        """Return the configuration with the setting changed; raise ValueError for an invalid text."""
        value = self.kind.read(text)
        for place in self.places:
            config = _with(config, place.split("."), value)
        return config


def _with(part: Any, names: list[str], value: Any) -> Any:
    if len(names) > 1:
        value = _with(getattr(part, names[0]), names[1:], value)
    return replace(part, **{names[0]: value})


_LIVE, _AT_START = Holds.LIVE, Holds.AT_START
_SWITCH: Final = kinds.switch()
_NAME: Final = kinds.word(TOPIC_NAME.pattern, "a name of letters, digits, %, |, _ and -")

_ALL: Final = (
    # Unknown topics and groups, and the topics that every broker has.
    Setting("autoCreateTopicEnable", _SWITCH, _LIVE, ("topics.auto_create_topics",)),
    Setting("autoCreateSubscriptionGroup", _SWITCH, _LIVE, ("topics.auto_create_groups",)),
    Setting("defaultTopicQueueNums", kinds.number(1, 65_536), _LIVE, ("topics.queues",)),
    Setting("clusterTopicEnable", _SWITCH, _AT_START, ("topics.cluster_topic",)),
    Setting("brokerTopicEnable", _SWITCH, _AT_START, ("topics.broker_topic",)),
    Setting("traceTopicEnable", _SWITCH, _AT_START, ("topics.trace_topic",)),
    Setting("msgTraceTopicName", _NAME, _AT_START, ("topics.trace_topic_name",)),
    Setting("traceOn", _SWITCH, _LIVE, ("topics.trace_on",)),
    # Service to clients.
    Setting("brokerPermission", kinds.number(0, 7), _LIVE, ("permission",)),
    Setting("aclEnable", _SWITCH, _AT_START, ("access_control",)),
    Setting("aclLocalAccounts", kinds.access_keys(), _AT_START, ("local_accounts.access_keys",)),
    Setting("aclLocalNetworks", kinds.networks(), _AT_START, ("local_accounts.networks",)),
    Setting("aclReplicaAccount", kinds.word(r"[^,\s]*", "an access key, or nothing"), _AT_START, ("replica_account",)),
    Setting("rejectTransactionMessage", _SWITCH, _LIVE, ("transactions.rejected",)),
    Setting("transactionTimeOut", kinds.number(1, _INT), _LIVE, ("transactions.timeout_ms",)),
    Setting("transactionCheckInterval", kinds.number(1, _INT), _LIVE, ("transactions.interval_ms",)),
    Setting("transactionCheckMax", kinds.number(1, _INT), _LIVE, ("transactions.max_checks",)),
    Setting("maxMessageSize", kinds.number(1, _INT), _LIVE, ("limits.body_bytes", "store.max_message_size")),
    Setting("maxMsgsNumBatch", kinds.number(1, _INT), _LIVE, ("limits.query_results",)),
    Setting("defaultQueryMaxNum", kinds.number(1, _INT), _LIVE, ("limits.unique_key_results",)),
    Setting("longPollingEnable", _SWITCH, _LIVE, ("pulls.long_polling",)),
    Setting("shortPollingTimeMills", kinds.number(1, _INT), _LIVE, ("pulls.short_polling_ms",)),
    Setting("maxTransferCountOnMessageInMemory", kinds.number(1, _INT), _LIVE, ("pulls.max_messages",)),
    Setting("maxTransferBytesOnMessageInMemory", kinds.number(1, _INT), _LIVE, ("pulls.max_bytes",)),
    Setting("accessMessageInMemoryMaxRatio", kinds.percentage(0, 100), _LIVE, ("pulls.in_memory_ratio",)),
    Setting("messageDelayLevel", kinds.delay_levels(), _AT_START, ("store.delay_levels_ms",)),
    Setting("timerWheelEnable", _SWITCH, _LIVE, ("timer.enabled",)),
    Setting("recallMessageEnable", _SWITCH, _LIVE, ("timer.recalls",)),
    Setting("timerMaxDelaySec", kinds.number(1, _LONGEST_DELAY_S, times=1_000), _LIVE, ("timer.max_delay_ms",)),
    # The store: retention and layout on the disk.
    Setting(
        "flushDiskType",
        kinds.choice({"ASYNC_FLUSH": "async", "SYNC_FLUSH": "sync"}),
        _AT_START,
        ("store.flush",),
    ),
    Setting("flushIntervalCommitLog", kinds.number(1, _INT), _AT_START, ("periods.flush",)),
    Setting("syncFlushTimeout", kinds.number(1, _INT), _AT_START, ("periods.sync_flush_timeout",)),
    Setting("fileReservedTime", kinds.number(0, 1_000_000, times=_HOUR_MS), _LIVE, ("store.retention_ms",)),
    Setting("deleteWhen", kinds.hours(), _LIVE, ("store.delete_when",)),
    Setting("diskMaxUsedSpaceRatio", kinds.percentage(10, 95), _LIVE, ("store.max_used_ratio",)),
    Setting("diskSpaceCleanForciblyRatio", kinds.percentage(10, 100), _LIVE, ("store.forced_used_ratio",)),
    Setting("diskSpaceWarningLevelRatio", kinds.percentage(10, 100), _LIVE, ("store.full_used_ratio",)),
    Setting("diskFreeBytes", kinds.number(0, 2**50), _LIVE, ("store.min_free_bytes",)),
    Setting("cleanFileForciblyEnable", _SWITCH, _LIVE, ("store.clean_forcibly",)),
    Setting("mappedFileSizeCommitLog", kinds.number(_SMALLEST_FILE, _INT), _AT_START, ("store.commit_log_file_size",)),
    Setting(
        "mappedFileSizeConsumeQueue",
        kinds.number(_UNIT_BYTES, _INT, share=_UNIT_BYTES),
        _AT_START,
        ("store.consume_queue_file_units",),
    ),
    Setting("enableConsumeQueueExt", _SWITCH, _AT_START, ("store.extends_queues",)),
    Setting(
        "mappedFileSizeConsumeQueueExt", kinds.number(_SMALLEST_FILE, _INT), _AT_START, ("store.extension_file_size",)
    ),
    Setting("enablePropertyFilter", _SWITCH, _AT_START, ("filters.serves_sql",)),
    Setting("enableCalcFilterBitMap", _SWITCH, _AT_START, ("filters.calculates_bits",)),
    Setting("maxErrorRateOfBloomFilter", kinds.number(1, 99), _AT_START, ("filters.error_percent",)),
    Setting("expectConsumerNumUseFilter", kinds.number(1, _MOST_FILTERS), _AT_START, ("filters.consumers",)),
    Setting("filterDataCleanTimeSpan", kinds.number(1, _INT), _AT_START, ("filters.kept_ms",)),
    Setting("maxHashSlotNum", kinds.number(1, _INT), _AT_START, ("store.index_slots",)),
    Setting("maxIndexNum", kinds.number(2, _INT), _AT_START, ("store.index_entries",)),
    Setting("checkCRCOnRecover", _SWITCH, _AT_START, ("store.check_crc_on_recover",)),
    # A master and its slaves.
    Setting("brokerRole", kinds.choice({str(role): role for role in BrokerRole}), _AT_START, ("replication.role",)),
    Setting("haMasterAddress", kinds.place(), _AT_START, ("replication.master_address",)),
    Setting("haSlaveNetworks", kinds.networks(), _AT_START, ("replication.slave_networks",)),
    Setting("haSendHeartbeatInterval", kinds.number(1, _INT), _LIVE, ("replication.heartbeat_ms",)),
    Setting("haHousekeepingInterval", kinds.number(1, _INT), _LIVE, ("replication.silence_ms",)),
    Setting("haTransferBatchSize", kinds.number(1, ha_plain.MAX_DATA), _LIVE, ("replication.batch_bytes",)),
    Setting("haSlaveFallbehindMax", kinds.number(1, _INT), _LIVE, ("replication.fall_behind_bytes",)),
    Setting("slaveTimeout", kinds.number(1, _INT), _LIVE, ("replication.slave_timeout_ms",)),
    Setting("slaveReadEnable", _SWITCH, _LIVE, ("replication.slave_read",)),
    Setting("offsetCheckInSlave", _SWITCH, _LIVE, ("replication.offset_check_in_slave",)),
    Setting("syncMetadataPeriod", kinds.number(100, _INT), _LIVE, ("replication.sync_metadata_ms",)),
    # A replica whose role controllers decide.
    Setting("enableControllerMode", _SWITCH, _AT_START, ("failover.is_on",)),
    Setting("controllerAddr", kinds.places(), _AT_START, ("failover.controllers",)),
    Setting("brokerHeartbeatInterval", kinds.number(100, 60_000), _AT_START, ("failover.heartbeat_ms",)),
    Setting("minInSyncReplicas", kinds.number(1, 64), _AT_START, ("failover.min_in_sync",)),
    Setting("replicaGoneAfter", kinds.number(100, _INT), _AT_START, ("failover.gone_ms",)),
    Setting("haMaxTimeSlaveNotCatchup", kinds.number(1_000, _INT), _AT_START, ("failover.behind_ms",)),
    Setting("limitUnconfirmedBytes", kinds.number(_SMALLEST_MEMORY, _INT), _AT_START, ("failover.unconfirmed_bytes",)),
    Setting("limitCopyHoldBytes", kinds.number(0, 1 << 50), _AT_START, ("failover.copy_hold_bytes",)),
    Setting("maxHaTransferByteInSecond", kinds.number(65_536, 1 << 40), _AT_START, ("failover.copy_bytes_per_second",)),
    Setting("syncFromLastFile", _SWITCH, _AT_START, ("failover.is_newest_only",)),
    Setting("asyncLearner", _SWITCH, _AT_START, ("failover.is_learner",)),
    Setting("brokerElectionPriority", kinds.number(0, _INT), _AT_START, ("failover.priority",)),
    Setting("forwardWhenNotMaster", _SWITCH, _AT_START, ("failover.forwards",)),
    # Limits (`limits.py`).
    Setting("serverChannelMaxIdleTimeSeconds", kinds.number(1, _INT), _AT_START, ("limits.idle_seconds",)),
    Setting("limitTlsHandshakeSeconds", kinds.number(1, 3_600), _AT_START, ("limits.tls_handshake_seconds",)),
    Setting("limitFrameBytes", kinds.number(_SMALLEST_FILE, MAX_FRAME), _AT_START, ("limits.frame_bytes",)),
    Setting("limitHeaderBytes", kinds.number(_SMALLEST_FILE, MAX_HEADER), _AT_START, ("limits.header_bytes",)),
    Setting("limitPropertiesBytes", kinds.number(0, 32_767), _LIVE, ("limits.properties_bytes",)),
    *(
        Setting(f"limit{camel}", kinds.number(1, _INT), _AT_START, (f"limits.{name}",))
        for camel, name in (
            ("Connections", "connections"),
            ("TlsHandshakes", "tls_handshakes"),
            ("JsonBytes", "json_bytes"),
            ("LooseJsonBytes", "loose_json_bytes"),
            ("Topics", "topics"),
            ("Groups", "groups"),
            ("GroupsPerClient", "groups_per_client"),
            ("QueuesPerTopic", "queues_per_topic"),
            ("Queues", "queues"),
            ("QueueLocks", "queue_locks"),
            ("ParkedPulls", "parked_pulls"),
            ("ParkedPops", "parked_pops"),
            ("PopBatch", "pop_batch"),
            ("RequestModes", "request_modes"),
            ("LeasesPerGroup", "leases_per_group"),
            ("TimerMessages", "timer_messages"),
            ("OpenTransactions", "open_transactions"),
            ("UnflushedWaiters", "unflushed_waiters"),
            ("ForwardedRequests", "forwarded_requests"),
            ("UnansweredRequests", "unanswered_requests"),
            ("CallsPerConnection", "calls_per_connection"),
            ("WriteBufferBytes", "write_buffer_bytes"),
            ("UnreadBytes", "unread_bytes"),
        )
    ),
    Setting("limitMemoryBytes", kinds.number(_SMALLEST_MEMORY, 1 << 50), _AT_START, ("limits.memory_bytes",)),
    # Periods.
    Setting("flushConsumerOffsetInterval", kinds.number(100, _INT), _AT_START, ("periods.save",)),
    Setting("registerNameServerPeriod", kinds.number(10_000, 60_000), _AT_START, ("periods.registration",)),
    Setting("registerBrokerTimeoutMills", kinds.number(100, _INT), _AT_START, ("periods.registration_timeout",)),
    Setting("regionId", _NAME, _AT_START, ("identity.region",)),
)
SETTINGS: Final = {setting.name: setting for setting in _ALL}
"""All settings that can be changed."""

BLACK_LIST: Final = frozenset({"configBlackList", "brokerConfigPath"})
"""Settings that RocketMQ refuses to change, for the security of its host."""


def check_role(config: BrokerConfig) -> None:
    """Raise ValueError if id and role do not fit."""
    role, broker_id = config.replication.role, config.identity.broker_id
    if role is BrokerRole.SLAVE and broker_id == MASTER_ID:
        raise ValueError(f"a slave needs a brokerId above 0, which is the master's, and this broker has {broker_id}")
    if role is not BrokerRole.SLAVE and broker_id != MASTER_ID:
        raise ValueError(f"brokerId {broker_id} is a slave's, and this broker is {role}: a master has {MASTER_ID}")


def check_replica(config: BrokerConfig) -> None:
    """Raise ValueError if controllers are to decide the role, and cannot or would elect who is not found again."""
    if config.failover.is_on and not config.failover.controllers:
        raise ValueError("it needs controllerAddr: without controllers nobody is master")
    if config.failover.is_on and config.port == 0:
        raise ValueError(
            "it needs a listenPort: with 0 it is another one at each start, and so is haListenPort, where other "
            "replicas look for the log"
        )


CHECKS: Final = {"brokerRole": check_role, "enableControllerMode": check_replica}
"""What must fit together, by the setting that a refusal names."""


def facts(config: BrokerConfig, address: str) -> Iterator[tuple[str, str]]:
    """Return values that are shown as settings, but come from the command line or are fixed."""
    host, _, port = address.rpartition(":")
    yield "brokerName", config.identity.name
    yield "brokerClusterName", config.identity.cluster
    yield "brokerId", str(config.identity.broker_id)
    yield "brokerIP1", host
    yield "listenPort", port
    yield "haListenPort", str(int(port) + HA_PORT_ABOVE) if port else ""
    yield "namesrvAddr", ";".join(config.name_servers)
    yield "storePathRootDir", str(config.store.folder)
    yield "storePathCommitLog", str(config.store.folder / "commitlog")
    yield "messageIndexEnable", "true"
    yield "bitMapLengthConsumeQueueExt", str(config.filters.bloom.bits)
    yield "filterServerNums", "0"
    yield "useTLS", str(config.tls.connects_with_tls).lower()
    yield from config.tls.texts()
