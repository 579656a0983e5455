"""The settings of brokers that Gantry knows: unit, default, accepted texts, time of effect, risk.

A Gantry broker refuses what it does not know, and says when a change takes effect; Apache RocketMQ takes any name, and
reads some settings once at its start. So a setting of Apache RocketMQ can be changed here only if it is known that a
broker 4.9 or 5 reads it anew for each use. All others are shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from console.brokers.accepted import (
    ACCESS_KEY,
    ACCESS_KEYS,
    HOURS,
    LEVELS,
    NAME,
    PLACE,
    PLACES,
    POSITIVE,
    SWITCH,
    Accepted,
    NetworkList,
    Number,
    Words,
)

Effect = Literal["live", "at_start"]
Product = Literal["gantry", "rocketmq"]
Risk = Literal["removes_messages", "stops_clients", "stops_consumers"]
Unit = Literal["ms", "s", "h", "bytes", "percent"]

# A setting that only a Gantry broker has.
_OF_GANTRY: Final = "limitFrameBytes"
_INT: Final = 2**31 - 1
_LEVEL_TEXT: Final = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSetting:
    """One setting; an effect of None means that it cannot be changed on that product while it runs."""

    name: str
    accepts: Accepted
    default: str
    gantry: Effect | None = None
    rocketmq: Effect | None = None
    rocketmq_default: str | None = None
    """None means the same default."""
    unit: Unit | None = None
    risk: Risk | None = None

    def effect_on(self, product: Product) -> Effect | None:
        """Return when a change takes effect, None if the setting cannot be changed there."""
        return self.gantry if product == "gantry" else self.rocketmq

    def default_on(self, product: Product) -> str:
        """Return the default text."""
        other = self.rocketmq_default if product == "rocketmq" else None
        return self.default if other is None else other


def product_of(texts: dict[str, str]) -> Product:
    """Return which broker reports these settings."""
    return "gantry" if _OF_GANTRY in texts else "rocketmq"


def _both(name: str, accepts: Accepted, default: str, **rest: object) -> KnownSetting:
    return KnownSetting(name=name, accepts=accepts, default=default, gantry="live", rocketmq="live", **rest)  # type: ignore[arg-type]


def _at_start(name: str, accepts: Accepted, default: str, **rest: object) -> KnownSetting:
    return KnownSetting(name=name, accepts=accepts, default=default, gantry="at_start", **rest)  # type: ignore[arg-type]


def _rocketmq(name: str, accepts: Accepted, default: str, **rest: object) -> KnownSetting:
    return KnownSetting(name=name, accepts=accepts, default=default, rocketmq="live", **rest)  # type: ignore[arg-type]


def _of_clients() -> Iterator[KnownSetting]:
    yield _both("autoCreateTopicEnable", SWITCH, "true")
    yield _both("autoCreateSubscriptionGroup", SWITCH, "true")
    yield _both("defaultTopicQueueNums", Number(1, 65_536), "8")
    yield _at_start("clusterTopicEnable", SWITCH, "true")
    yield _at_start("brokerTopicEnable", SWITCH, "true")
    yield _at_start("traceTopicEnable", SWITCH, "false")
    yield _at_start("msgTraceTopicName", NAME, "RMQ_SYS_TRACE_TOPIC")
    yield _both("traceOn", SWITCH, "true")
    yield _at_start("aclEnable", SWITCH, "false", risk="stops_clients")
    yield _at_start("aclLocalAccounts", ACCESS_KEYS, "", risk="stops_clients")
    yield _at_start("aclLocalNetworks", NetworkList(), "", risk="stops_clients")
    yield _at_start("aclReplicaAccount", ACCESS_KEY, "")
    yield _both("brokerPermission", Number(0, 7), "6", risk="stops_clients")
    yield KnownSetting(name="rejectTransactionMessage", accepts=SWITCH, default="false", gantry="live")
    yield _both("transactionTimeOut", POSITIVE, "6000", unit="ms")
    yield _both("transactionCheckInterval", POSITIVE, "60000", unit="ms")
    yield _both("transactionCheckMax", POSITIVE, "15")
    yield KnownSetting(
        name="maxMessageSize", accepts=POSITIVE, default="4194304", gantry="live", unit="bytes", risk="stops_clients"
    )
    yield _both("maxMsgsNumBatch", POSITIVE, "64")
    yield _both("defaultQueryMaxNum", POSITIVE, "32")
    yield _both("longPollingEnable", SWITCH, "true")
    yield _both("shortPollingTimeMills", POSITIVE, "1000", unit="ms")
    yield _both("maxTransferCountOnMessageInMemory", POSITIVE, "32")
    yield _both("maxTransferBytesOnMessageInMemory", POSITIVE, "262144", unit="bytes")
    yield _both("accessMessageInMemoryMaxRatio", Number(0, 100), "40", unit="percent")
    yield KnownSetting(
        name="recallMessageEnable", accepts=SWITCH, default="true", gantry="live", rocketmq_default="false"
    )
    yield KnownSetting(name="timerWheelEnable", accepts=SWITCH, default="true", gantry="live", rocketmq_default="false")
    yield KnownSetting(
        name="timerMaxDelaySec", accepts=Number(1, 10 * 366 * 86_400), default="259200", gantry="live", unit="s"
    )
    yield _at_start("messageDelayLevel", LEVELS, _LEVEL_TEXT)
    yield _at_start("serverChannelMaxIdleTimeSeconds", POSITIVE, "120", unit="s")
    yield _at_start("regionId", NAME, "DefaultRegion")


def _of_the_store() -> Iterator[KnownSetting]:
    yield _at_start("flushDiskType", Words(("ASYNC_FLUSH", "SYNC_FLUSH")), "ASYNC_FLUSH")
    yield _at_start("flushIntervalCommitLog", POSITIVE, "500", unit="ms")
    yield _at_start("syncFlushTimeout", POSITIVE, "5000", unit="ms")
    yield _both("fileReservedTime", Number(0, 1_000_000), "72", unit="h", risk="removes_messages")
    yield _both("deleteWhen", HOURS, "04")
    yield _both("diskMaxUsedSpaceRatio", Number(10, 95), "75", unit="percent", risk="removes_messages")
    ratios = (("diskSpaceCleanForciblyRatio", "85", "removes_messages"), ("diskSpaceWarningLevelRatio", "90", None))
    for name, default, risk in ratios:
        yield KnownSetting(
            name=name,
            accepts=Number(10, 100),
            default=default,
            gantry="live",
            unit="percent",
            risk=risk,  # type: ignore[arg-type]
        )
    yield KnownSetting(
        name="diskFreeBytes", accepts=Number(0, 2**50), default=str(2 * 1024**3), gantry="live", unit="bytes"
    )
    yield _both("cleanFileForciblyEnable", SWITCH, "true", risk="removes_messages")
    yield _at_start("mappedFileSizeCommitLog", Number(4096, _INT), str(1024**3), unit="bytes")
    yield _at_start("mappedFileSizeConsumeQueue", Number(20, _INT), "6000000", unit="bytes")
    yield _at_start("enableConsumeQueueExt", SWITCH, "false")
    yield _at_start("mappedFileSizeConsumeQueueExt", Number(4096, _INT), str(48 * 1024**2), unit="bytes")
    yield KnownSetting(
        name="enablePropertyFilter",
        accepts=SWITCH,
        default="true",
        gantry="at_start",
        rocketmq="live",
        rocketmq_default="false",
    )
    yield _at_start("enableCalcFilterBitMap", SWITCH, "false")
    yield _at_start("maxErrorRateOfBloomFilter", Number(1, 99), "20", unit="percent")
    yield _at_start("expectConsumerNumUseFilter", Number(1, 10_000), "32")
    yield _at_start("filterDataCleanTimeSpan", POSITIVE, str(24 * 3_600_000), unit="ms")
    yield _at_start("maxHashSlotNum", POSITIVE, "5000000")
    yield _at_start("maxIndexNum", Number(2, _INT), "20000000")
    yield _at_start("checkCRCOnRecover", SWITCH, "true")
    yield _at_start("flushConsumerOffsetInterval", Number(100, _INT), "5000", unit="ms")
    yield _at_start("registerNameServerPeriod", Number(10_000, 60_000), "30000", unit="ms")
    yield _at_start("registerBrokerTimeoutMills", Number(100, _INT), "6000", unit="ms")


def _of_replicas() -> Iterator[KnownSetting]:
    yield _at_start("brokerRole", Words(("ASYNC_MASTER", "SYNC_MASTER", "SLAVE")), "ASYNC_MASTER")
    yield _at_start("haMasterAddress", PLACE, "")
    yield _at_start("haSlaveNetworks", NetworkList(), "")
    yield _both("haSendHeartbeatInterval", POSITIVE, "5000", unit="ms")
    yield _both("haHousekeepingInterval", POSITIVE, "20000", unit="ms")
    yield _both("haTransferBatchSize", Number(1, 4 * 1024**2 - 12), "32768", unit="bytes")
    yield _both("haSlaveFallbehindMax", POSITIVE, str(256 * 1024**2), unit="bytes")
    yield _both("slaveTimeout", POSITIVE, "3000", unit="ms")
    yield _both("slaveReadEnable", SWITCH, "false")
    yield _both("offsetCheckInSlave", SWITCH, "false")
    yield KnownSetting(name="syncMetadataPeriod", accepts=Number(100, _INT), default="1000", gantry="live", unit="ms")


def _of_failover() -> Iterator[KnownSetting]:
    yield _at_start("enableControllerMode", SWITCH, "false")
    yield _at_start("controllerAddr", PLACES, "")
    yield _at_start("brokerHeartbeatInterval", Number(100, 60_000), "500", unit="ms")
    yield _at_start("minInSyncReplicas", Number(1, 64), "1")
    yield _at_start("replicaGoneAfter", Number(100, _INT), "1000", unit="ms")
    yield _at_start("haMaxTimeSlaveNotCatchup", Number(1_000, _INT), "15000", unit="ms")
    yield _at_start("limitUnconfirmedBytes", Number(16 * 1024**2, _INT), str(64 * 1024**2), unit="bytes")
    yield _at_start("limitCopyHoldBytes", Number(0, 2**50), str(10 * 1024**3), unit="bytes")
    yield _at_start("maxHaTransferByteInSecond", Number(65_536, 2**40), str(100 * 1024**2), unit="bytes")
    yield _at_start("syncFromLastFile", SWITCH, "false")
    yield _at_start("asyncLearner", SWITCH, "false")
    yield _at_start("brokerElectionPriority", Number(0, _INT), str(2**31 - 1))
    yield _at_start("forwardWhenNotMaster", SWITCH, "true")


def _of_rocketmq() -> Iterator[KnownSetting]:
    yield _rocketmq("waitTimeMillsInSendQueue", POSITIVE, "200", unit="ms", risk="stops_clients")
    yield _rocketmq("osPageCacheBusyTimeOutMills", POSITIVE, "1000", unit="ms", risk="stops_clients")
    yield _rocketmq("notifyConsumerIdsChangedEnable", SWITCH, "true", risk="stops_consumers")
    yield _rocketmq("disableConsumeIfConsumerReadSlowly", SWITCH, "false", risk="stops_consumers")


def _limits() -> Iterator[KnownSetting]:
    frame, header = 16 * 1024**2, 16 * 1024**2 - 1
    yield _at_start("limitTlsHandshakeSeconds", Number(1, 3_600), "10", unit="s")
    yield _at_start("limitFrameBytes", Number(4096, frame), str(frame), unit="bytes")
    yield _at_start("limitHeaderBytes", Number(4096, header), "524288", unit="bytes")
    yield KnownSetting(
        name="limitPropertiesBytes", accepts=Number(0, 32_767), default="32767", gantry="live", unit="bytes"
    )
    counts = {
        "Connections": 10_000,
        "TlsHandshakes": 1_000,
        "Topics": 20_000,
        "Groups": 20_000,
        "GroupsPerClient": 1_000,
        "QueuesPerTopic": 65_536,
        "Queues": 30_000,
        "QueueLocks": 200_000,
        "ParkedPulls": 100_000,
        "ParkedPops": 100_000,
        "PopBatch": 32,
        "RequestModes": 20_000,
        "LeasesPerGroup": 100_000,
        "TimerMessages": 10_000_000,
        "OpenTransactions": 100_000,
        "UnflushedWaiters": 100_000,
        "ForwardedRequests": 10_000,
        "UnansweredRequests": 10_000,
        "CallsPerConnection": 10_000,
    }
    for name, default in counts.items():
        yield _at_start(f"limit{name}", POSITIVE, str(default))
    sizes = {
        "JsonBytes": 1024**2,
        "LooseJsonBytes": 64 * 1024,
        "WriteBufferBytes": 256 * 1024,
        "UnreadBytes": 64 * 1024**2,
    }
    for name, size in sizes.items():
        yield _at_start(f"limit{name}", POSITIVE, str(size), unit="bytes")
    yield _at_start("limitMemoryBytes", Number(frame, 1 << 50), str(1024**3), unit="bytes")


CATALOGUE: Final = {
    setting.name: setting
    for part in (_of_clients(), _of_the_store(), _of_replicas(), _of_failover(), _of_rocketmq(), _limits())
    for setting in part
}
"""All settings that Gantry knows, by name."""
