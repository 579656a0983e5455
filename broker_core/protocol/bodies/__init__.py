"""Every JSON body, one file per subject, and one coder for all of them (protocol/README.md#bodies).

::

    data = bodies.encode(TopicList(["Orders"]))
    topics = bodies.decode(TopicList, data)
"""

from broker_core.protocol.bodies.clusters import BrokerStatsData, BrokerStatsItem, ClusterInfo
from broker_core.protocol.bodies.coder import decode, encode, encode_strict
from broker_core.protocol.bodies.groups import (
    Connection,
    ConsumerConnection,
    ConsumerOffsetSerializeWrapper,
    DelayOffsetSerializeWrapper,
    GroupList,
    ProducerConnection,
    ProducerInfo,
    ProducerTableInfo,
    QueryCorrectionOffsetBody,
    SubscriptionGroupConfig,
    SubscriptionGroupWrapper,
)
from broker_core.protocol.bodies.heartbeat import (
    CheckClientRequestBody,
    ConsumeFromWhere,
    ConsumerData,
    ConsumeType,
    GetConsumerListByGroupResponseBody,
    HeartbeatData,
    MessageModel,
    ProducerData,
    SubscriptionData,
)
from broker_core.protocol.bodies.locks import LockBatchRequestBody, LockBatchResponseBody, UnlockBatchRequestBody
from broker_core.protocol.bodies.pop import (
    BatchAck,
    BatchAckMessageRequestBody,
    BatchAckMessageResponseBody,
    MessageQueueAssignment,
    QueryAssignmentRequestBody,
    QueryAssignmentResponseBody,
    SetMessageRequestModeRequestBody,
)
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.bodies.routes import BrokerData, KVTable, QueueData, RegisterBrokerBody, TopicRouteData
from broker_core.protocol.bodies.running import (
    ConsumeMessageDirectlyResult,
    ConsumeResult,
    ConsumerRunningInfo,
    ConsumeStatus,
    ProcessQueueInfo,
)
from broker_core.protocol.bodies.stats import (
    ConsumeStats,
    ConsumeStatsList,
    GetConsumerStatusBody,
    OffsetWrapper,
    QueryConsumeTimeSpanBody,
    QueueOffsetForC,
    QueueTimeSpan,
    ResetOffsetBody,
    ResetOffsetBodyForC,
    TopicOffset,
    TopicStatsTable,
)
from broker_core.protocol.bodies.topics import (
    ConsumeQueueData,
    DataVersion,
    QueryConsumeQueueResponseBody,
    TopicConfig,
    TopicConfigSerializeWrapper,
    TopicList,
)

__all__ = [
    "BatchAck",
    "BatchAckMessageRequestBody",
    "BatchAckMessageResponseBody",
    "BrokerData",
    "BrokerStatsData",
    "BrokerStatsItem",
    "CheckClientRequestBody",
    "ClusterInfo",
    "Connection",
    "ConsumeFromWhere",
    "ConsumeMessageDirectlyResult",
    "ConsumeQueueData",
    "ConsumeResult",
    "ConsumeStats",
    "ConsumeStatsList",
    "ConsumeStatus",
    "ConsumeType",
    "ConsumerConnection",
    "ConsumerData",
    "ConsumerOffsetSerializeWrapper",
    "ConsumerRunningInfo",
    "DataVersion",
    "DelayOffsetSerializeWrapper",
    "GetConsumerListByGroupResponseBody",
    "GetConsumerStatusBody",
    "GroupList",
    "HeartbeatData",
    "KVTable",
    "LockBatchRequestBody",
    "LockBatchResponseBody",
    "MessageModel",
    "MessageQueue",
    "MessageQueueAssignment",
    "OffsetWrapper",
    "ProcessQueueInfo",
    "ProducerConnection",
    "ProducerData",
    "ProducerInfo",
    "ProducerTableInfo",
    "QueryAssignmentRequestBody",
    "QueryAssignmentResponseBody",
    "QueryConsumeQueueResponseBody",
    "QueryConsumeTimeSpanBody",
    "QueryCorrectionOffsetBody",
    "QueueData",
    "QueueOffsetForC",
    "QueueTimeSpan",
    "RegisterBrokerBody",
    "ResetOffsetBody",
    "ResetOffsetBodyForC",
    "SetMessageRequestModeRequestBody",
    "SubscriptionData",
    "SubscriptionGroupConfig",
    "SubscriptionGroupWrapper",
    "TopicConfig",
    "TopicConfigSerializeWrapper",
    "TopicList",
    "TopicOffset",
    "TopicRouteData",
    "TopicStatsTable",
    "UnlockBatchRequestBody",
    "decode",
    "encode",
    "encode_strict",
]
