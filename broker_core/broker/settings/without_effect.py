"""The settings of RocketMQ's own broker that nothing here corresponds to, and that change nothing a client can see.

They size its thread pools and their queues, its buffers and the intervals of its own tasks. A configuration file may
have them; the log names those that it has.
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
# The port for slaves is the one above the main port, in RocketMQ too, whatever a file says.
_REPLICATION: Final = ("brokerIP2", "haListenPort")
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
# Of a log in DLedger, which `fixed.py` takes only when switched off.
_DLEDGER: Final = ("dLegerGroup", "dLegerPeers", "dLegerSelfId", "preferredLeaderId")
# Of 5.x: how its broker records leases and checks, registers, and tunes what `fixed.py` takes only when switched off.
_LEASES: Final = (
    "appendAckAsync", "appendCkAsync", "enablePopBatchAck", "enablePopBufferMerge", "enablePopLog",
    "enableRetryTopicV2", "popCkMaxBufferSize", "popCkOffsetMaxQueueSize", "popCkStayBufferTime",
    "popCkStayBufferTimeOut", "popConsumerFSServiceInit", "popConsumerKVServiceEnable", "popConsumerKVServiceInit",
    "popConsumerKVServiceLog", "popReviveMaxReturnSizePerRead", "retrieveMessageFromPopRetryTopicV1",
    "reviveAckWaitMs", "reviveInterval", "reviveMaxSlow", "reviveQueueNum", "reviveScanTime",
    "enableNotifyAfterPopOrderLockRelease", "enableNotifyBeforePopCalculateLag", "enableSkipLongAwaitingAck",
    "initPopOffsetByCheckMsgInMem", "maxPopPollingSize", "popFromRetryProbability", "popInflightMessageThreshold",
    "popLongPollingForceNotifyInterval", "popPollingMapSize", "popPollingSize", "popReviveMaxAttemptTimes",
    "skipWhenCKRePutReachMaxTimes",
)  # fmt: skip
_REGISTRATION: Final = (
    "compatibleWithOldNameSrv", "consumerOffsetUpdateVersionStep",
    "delayOffsetUpdateVersionStep", "enableSingleTopicRegister", "enableSplitRegistration", "fetchNamesrvAddrInterval",
    "loadBalancePollNameServerInterval", "sendHeartbeatTimeoutMillis", "splitRegistrationSize",
    "updateNameServerAddrPeriod", "brokerNotActiveTimeoutMillis",
    "cleanOfflineBrokerInterval", "skipPreOnline",
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
    "cgColdReadThreshold", "globalColdReadThreshold", "usePIDColdCtrStrategy",
)  # fmt: skip
_QUEUES_IN_ROCKSDB: Final = (
    "bottomMostCompressionTypeForConsumeQueueStore", "cleanRocksDBDirtyCQIntervalMin", "enableRocksDBLog",
    "memTableFlushIntervalMs", "realTimePersistRocksDBConfig", "rocksdbCompressionType", "rocksdbFlushWalFrequency",
    "rocksdbWalFileRollingThreshold", "statRocksDBCQIntervalSec",
)  # fmt: skip
# No topic is compacted: one that asks for it is refused.
_COMPACTION: Final = (
    "compactionCqMappedFileSize", "compactionMappedFileSize", "compactionScheduleInternal", "compactionThreadNum",
    "enableCompaction", "maxOffsetMapSize",
)  # fmt: skip
_MAPPED_FILES: Final = (
    "cleanSwapedMapInterval", "commitLogForceSwapMapInterval", "commitLogSwapMapInterval",
    "commitLogSwapMapReserveFileNum", "dataReadAheadEnable", "deleteFileBatchMax", "logicQueueForceSwapMapInterval",
    "logicQueueSwapMapInterval", "logicQueueSwapMapReserveFileNum", "mappedFileSizeTimerLog", "mappedFileSwapEnable",
    "mapperFileSizeBatchConsumeQueue", "maxBatchDeleteFilesNum", "putConsumeQueueDataByFileChannel",
    "logicalDiskSpaceCleanForciblyThreshold",
)  # fmt: skip
_STORE_5: Final = (
    "accessMessageInMemoryHotRatio", "autoMessageVersionOnTopicLen", "batchDispatchRequestThreadPoolNums",
    "correctLogicMinOffsetForceInterval", "correctLogicMinOffsetSleepInterval", "disappearTimeAfterStart",
    "dispatchCqCacheNum", "dispatchCqThreads", "dispatchFromSenderThread", "enableAsyncReput", "enableBatchPush",
    "enableBuildConsumeQueueConcurrently", "maxAsyncPutMessageRequests", "maxChecksumRange", "maxConsumeQueueScan",
    "maxFilterMessageSize", "maxRecoveryCommitlogFiles", "pullBatchMaxMessageCount", "putMessageTimeout",
    "recheckReputOffsetFromCq", "sampleCountThreshold", "sampleSteps", "searchBcqByCacheEnable",
    "spinLockCollisionRetreatOptimalDegree", "topicQueueLockNum", "travelCqFileNumWhenGetMessage", "useABSLock",
    "wakeCommitWhenPutMessage", "wakeFlushWhenPutMessage",
)  # fmt: skip
_TIMERS_5: Final = (
    "timerCheckMetricsWhen", "timerColdDataCheckIntervalMs", "timerCongestNumEachSlot", "timerEnableCheckMetrics",
    "timerEnableDisruptor", "timerEnableRetryUntilSuccess", "timerMetricSmallThreshold", "timerProgressLogIntervalMs",
    "timerRollWindowSlot", "timerSkipUnknownError", "timerWarmEnable",
)  # fmt: skip
_REPLICATION_5: Final = (
    "haFlowControlEnable", "haMaxGapNotInSync", "maxSlaveResendLength", "syncMasterFlushOffsetWhenStartup",
    # A master waits for all replicas of the in-sync set, always.
    "allAckInSyncStateSet", "inSyncReplicas",
)  # fmt: skip
# Offsets of broadcasting consumers are the consumers' own; only RocketMQ's proxies leave them to the broker.
_CLIENTS_5: Final = (
    "broadcastOffsetExpireMaxSecond", "broadcastOffsetExpireSecond", "clearRetryTopicWhenDeleteTopic",
    "enableBroadcastOffsetStore", "enableMixedMessageType", "enableReconnectForGoAway", "isScanAvailableNameSrv",
    "maxReconnectIntervalTimeSeconds",
)  # fmt: skip
_STATISTICS_5: Final = (
    "accountStatsEnable", "accountStatsPrintZeroValues", "commercialSizePerMsg", "enableLmqStats",
    "estimateAccumulation", "maxStatsIdleTimeInMinutes",
)  # fmt: skip
_INSIDE: Final = (
    "asyncSendEnable", "disableCallbackExecutor", "disableNettyWorkerGroup", "enableFastChannelEventProcess",
    "printChannelGroups", "printChannelGroupsMinNum", "recoverConcurrently", "serverNettyWorkerGroupEnable",
    "shutdownWaitTimeSeconds", "timerFlushIntervalMs", "timerGetMessageThreadNum", "timerPutMessageThreadNum",
    "transactionMetricFlushInterval", "transactionOpBatchInterval", "transactionOpMsgMaxSize",
    "waitTimeMillsInAdminBrokerQueue",
)  # fmt: skip
_NEWER: Final = (
    *_LEASES, *_REGISTRATION, *_SWITCHED_OFF, *_INSIDE, *_QUEUES_IN_ROCKSDB, *_COMPACTION, *_MAPPED_FILES, *_STORE_5,
    *_TIMERS_5, *_REPLICATION_5, *_CLIENTS_5, *_STATISTICS_5,
)  # fmt: skip

WITHOUT_EFFECT: Final = frozenset(
    (*_THREADS, *_QUEUES, *_WAITS, *_BUFFERS, *_INTERVALS, *_FILTERS, *_REPLICATION, *_REST, *_OLD, *_DLEDGER, *_NEWER)
)
