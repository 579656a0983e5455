"""The settings of RocketMQ's own broker that nothing here corresponds to, and that change nothing a client can see.

They size its thread pools and their queues, its buffers and the intervals of its own tasks, or tune replication, which
a master without replicas has no use for. A configuration file may have them; the log names those that it has.
"""

from __future__ import annotations

from typing import Final

_THREADS: Final = (
    *(f"{pool}MessageThreadPoolNums" for pool in ("ack", "litePull", "processReply", "pull", "query", "send")),
    *(f"{pool}ThreadPoolNums" for pool in ("adminBroker", "clientManage", "consumerManage", "endTransaction")),
    *(f"{pool}ThreadPoolNums" for pool in ("heartbeat", "loadBalanceProcessor", "recover")),
    "clientCallbackExecutorThreads", "clientWorkerThreads", "putMessageFutureThreadPoolNums",
    "serverCallbackExecutorThreads", "serverSelectorThreads", "serverWorkerThreads",
)  # fmt: skip
_QUEUES: Final = (
    *(
        f"{pool}ThreadPoolQueueCapacity"
        for pool in ("ack", "adminBroker", "clientManager", "consumerManager", "heartbeat", "litePull", "loadBalance")
    ),
    *(f"{pool}ThreadPoolQueueCapacity" for pool in ("pull", "put", "query", "reply", "send")),
    "endTransactionPoolQueueCapacity", "clientAsyncSemaphoreValue", "clientOnewaySemaphoreValue",
    "serverAsyncSemaphoreValue", "serverOnewaySemaphoreValue", "putMsgIndexHightWater",
)  # fmt: skip
_WAITS: Final = (
    "brokerFastFailureEnable", "osPageCacheBusyTimeOutMills", "waitTimeMillsInAckQueue",
    "waitTimeMillsInHeartbeatQueue", "waitTimeMillsInLitePullQueue", "waitTimeMillsInPullQueue",
    "waitTimeMillsInSendQueue", "waitTimeMillsInTransactionQueue",
)  # fmt: skip
_BUFFERS: Final = (
    "clientPooledByteBufAllocatorEnable", "clientSocketRcvBufSize", "clientSocketSndBufSize", "debugLockEnable",
    "diskFallRecorded", "fastFailIfNoBufferInStorePool", "serverPooledByteBufAllocatorEnable", "serverSocketBacklog",
    "serverSocketRcvBufSize", "serverSocketSndBufSize", "transferMsgByHeap", "transientStorePoolEnable",
    "transientStorePoolSize", "useEpollNativeSelector", "useReentrantLockWhenPutMessage", "warmMapedFileEnable",
    "writeBufferHighWaterMark", "writeBufferLowWaterMark",
)  # fmt: skip
_INTERVALS: Final = (
    "cleanResourceInterval", "commitCommitLogLeastPages", "commitCommitLogThoroughInterval", "commitIntervalCommitLog",
    "deleteCommitLogFilesInterval", "deleteConsumeQueueFilesInterval", "destroyMapedFileIntervalForcibly",
    "flushCommitLogLeastPages", "flushCommitLogThoroughInterval", "flushCommitLogTimed", "flushConsumeQueueLeastPages",
    "flushConsumeQueueThoroughInterval", "flushConsumerOffsetHistoryInterval", "flushDelayOffsetInterval",
    "flushIntervalConsumeQueue", "flushLeastPagesWhenWarmMapedFile", "redeleteHangedFileInterval",
)  # fmt: skip
# RocketMQ overwrites it when it starts.
_FILTERS: Final = ("bitMapLengthConsumeQueueExt",)
_REPLICATION: Final = (
    "brokerIP2", "haHousekeepingInterval", "haListenPort", "haSendHeartbeatInterval", "haSlaveFallbehindMax",
    "haTransferBatchSize", "offsetCheckInSlave", "slaveTimeout",
)  # fmt: skip
_REST: Final = (
    "autoDeleteUnusedStats", "channelNotActiveInterval", "clientChannelMaxIdleTimeSeconds",
    "clientCloseSocketIfTimeout", "commercialBaseCount", "commercialBigCount", "commercialEnable",
    "commercialTimerCount", "commercialTransCount", "compressedRegister", "connectTimeoutMillis",
    "consumerFallbehindThreshold", "enableDetailStat", "enableScheduleAsyncDeliver", "enableScheduleMessageStats",
    "forceRegister", "isolateLogEnable", "maxTransferBytesOnMessageInDisk", "maxTransferCountOnMessageInDisk",
    "messageIndexSafe", "rocketmqHome", "scheduleAsyncDeliverMaxPendingLimit",
    "scheduleAsyncDeliverMaxResendNum2Blocked", "highSpeedMode", "isEnableBatchPush", "maxDelayTime",
    "maxLmqConsumeQueueNum",
)  # fmt: skip
# Guides to 4.9 still have them; they were spelt so in 3.x, or never were settings, and 4.9 does not know them either.
_OLD: Final = (
    "checkTransactionMessageEnable", "defaultReadQueueNums", "defaultWriteQueueNums", "mapedFileSizeCommitLog",
    "mapedFileSizeConsumeQueue",
)  # fmt: skip
# Of 5.x: how its broker records leases and checks, registers, and tunes what `fixed.py` takes only when switched off.
_LEASES: Final = (
    "appendAckAsync", "appendCkAsync", "enablePopBatchAck", "enablePopBufferMerge", "enablePopLog",
    "enableRetryTopicV2", "popCkMaxBufferSize", "popCkOffsetMaxQueueSize", "popCkStayBufferTime",
    "popCkStayBufferTimeOut", "popConsumerFSServiceInit", "popConsumerKVServiceEnable", "popConsumerKVServiceInit",
    "popConsumerKVServiceLog", "popReviveMaxReturnSizePerRead", "retrieveMessageFromPopRetryTopicV1",
    "reviveAckWaitMs", "reviveInterval", "reviveMaxSlow", "reviveQueueNum", "reviveScanTime",
)  # fmt: skip
_REGISTRATION: Final = (
    "brokerHeartbeatInterval", "compatibleWithOldNameSrv", "consumerOffsetUpdateVersionStep",
    "delayOffsetUpdateVersionStep", "enableSingleTopicRegister", "enableSplitRegistration", "fetchNamesrvAddrInterval",
    "loadBalancePollNameServerInterval", "sendHeartbeatTimeoutMillis", "splitRegistrationSize",
    "updateNameServerAddrPeriod",
)  # fmt: skip
_SWITCHED_OFF: Final = (
    *(f"{cache}Cache{what}" for cache in ("acl", "user") for what in ("ExpiredSecond", "MaxNum", "RefreshSecond")),
    *(f"stateful{part}CacheExpiredSecond" for part in ("Authentication", "Authorization")),
    *(f"stateful{part}CacheMaxNum" for part in ("Authentication", "Authorization")),
    "checkSyncStateSetPeriod", "controllerHeartBeatTimeoutMills", "forwardTimeout",
    "metricGrpcExporterIntervalInMills", "metricGrpcExporterTimeOutInMills", "metricLoggingExporterIntervalInMills",
    "metricsGrpcExporterHeader", "metricsGrpcExporterTarget", "metricsInDelta", "metricsLabel",
    "metricsOtelCardinalityLimit", "metricsPromExporterHost", "metricsPromExporterPort", "storePathBrokerIdentity",
    "storePathEpochFile", "syncBrokerMemberGroupPeriod", "syncBrokerMetadataPeriod", "syncControllerMetadataPeriod",
)  # fmt: skip
_INSIDE: Final = (
    "asyncSendEnable", "disableCallbackExecutor", "disableNettyWorkerGroup", "enableFastChannelEventProcess",
    "printChannelGroups", "printChannelGroupsMinNum", "recoverConcurrently", "serverNettyWorkerGroupEnable",
    "shutdownWaitTimeSeconds", "timerFlushIntervalMs", "timerGetMessageThreadNum", "timerPutMessageThreadNum",
    "transactionMetricFlushInterval", "transactionOpBatchInterval", "transactionOpMsgMaxSize",
    "waitTimeMillsInAdminBrokerQueue",
)  # fmt: skip
_NEWER: Final = (*_LEASES, *_REGISTRATION, *_SWITCHED_OFF, *_INSIDE)

WITHOUT_EFFECT: Final = frozenset(
    (*_THREADS, *_QUEUES, *_WAITS, *_BUFFERS, *_INTERVALS, *_FILTERS, *_REPLICATION, *_REST, *_OLD, *_NEWER)
)
