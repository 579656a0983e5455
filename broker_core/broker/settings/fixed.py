"""Names that a configuration file may have for what is always so here: any other value asks for something missing.

The second half is of RocketMQ 5, whose files name replicas, authentication and exporters to switch them off.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from broker_core.broker.settings import kinds
from broker_core.broker.settings.table import SETTINGS
from broker_core.properties_file import Rule, only

_OFF: Final = (
    "disableConsumeIfConsumerReadSlowly", "duplicationEnable",
    "enableDLegerCommitLog", "enableLmq", "enableMultiDispatch", "enableSlaveActingMaster",
    "fetchNamesrvAddrByAddressServer", "filterSupportRetry",
)  # fmt: skip
_ON: Final = ("notifyConsumerIdsChangedEnable", "storeReplyMessageEnable")
_OFF_5: Final = (
    "authenticationEnabled", "authorizationEnabled",
    "coldCtrStrategyEnable", "coldDataFlowControlEnable", "coldDataScanEnable", "enableAutoInSyncReplicas",
    "enableCleanExpiredOffset", "enableNetWorkFlowControl", "enablePopMessageThreshold", "enableRemoteEscape",
    "enableShutdownGracefully", "enabledAppendPropCRC", "fetchControllerAddrByDnsLookup",
    "fetchNameSrvAddrByDnsLookup", "forceVerifyPropCRC", "isBrokerContainer", "isInBrokerContainer",
    "lockInStrictMode", "migrateAuthFromV1Enabled", "popResponseReturnActualRetryTopic", "readUnCommitted",
    "rejectPullConsumerEnable", "rocksdbCQDoubleWriteEnable", "timerInterceptDelayLevel",
    "timerStopDequeue", "timerStopEnqueue", "useStaticSubscription",
)  # fmt: skip
_ON_5: Final = (
    "allowRecallWhenBrokerNotWriteable", "enableCreateSysGroup", "enableRegisterProducer", "litePullMessageEnable",
    "realTimeNotifyConsumerChange", "serverLoadBalancerEnable", "useServerSideResetOffset",
    "validateSystemTopicWhenUpdateTopic",
)  # fmt: skip
_ALONE: Final = ("totalReplicas",)
_FINEST_TIMER_MS: Final = 100


def _black_list(text: str) -> None:
    changeable = sorted({name.strip() for name in text.split(";")} & SETTINGS.keys())
    if changeable:
        raise ValueError(f"{', '.join(changeable)} can always be changed")


FIXED: Final[Mapping[str, Rule]] = {
    **{name: only("false") for name in (*_OFF, *_OFF_5)},
    **{name: only("true") for name in (*_ON, *_ON_5)},
    **{name: only("1") for name in _ALONE},
    "configBlackList": _black_list,
    "brokerConfigPaths": only(""),
    "channelExpiredTimeout": only("120000"),
    "configManagerVersion": only("v1"),
    "defaultMessageRequestMode": only("PULL"),
    "defaultPopShareQueueNum": only("-1"),
    "maxTopicLength": only("127"),
    "messageStorePlugIn": only(""),
    "replicasPerDiskPartition": only("1"),
    "socksProxyConfig": only("{}"),
    "subscriptionExpiredTimeout": only("600000"),
    "metricsExporterType": only("DISABLE"),
    "startAcceptSendRequestTimeStamp": only("0"),
    "storeType": only("default"),
    # Messages come within 0.1 s of their time.
    "timerPrecisionMs": kinds.number(_FINEST_TIMER_MS, 3_600_000).read,
}
