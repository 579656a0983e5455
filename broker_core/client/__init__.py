"""The client of a RocketMQ-compatible cluster: produce, consume, administer (docs/python-client.md).

These are the public names. All errors are in `broker_core.client.errors`.
"""

from __future__ import annotations

from broker_core.client.admin import Admin
from broker_core.client.answers import Answers
from broker_core.client.blocking import BlockingSession, CallEnded, CallTimedOut, LoopThread
from broker_core.client.config import ClientConfig, ProducerConfig, PushConfig
from broker_core.client.consumer.handling import MessageHandler
from broker_core.client.consumer.leases import LeasedMessage, LeaseReceipt
from broker_core.client.consumer.lite import LITE, LitePullConsumer
from broker_core.client.consumer.pop import LeaseConsumer, Received
from broker_core.client.consumer.pull import PullConsumer, PullResult, PullStatus
from broker_core.client.consumer.push import PushConsumer, RetryLater
from broker_core.client.consumer.strategies import fixed, machine_room, machine_room_nearby
from broker_core.client.consumer.subscriptions import SQL92
from broker_core.client.errors import (
    AccessDenied,
    BrokerBusy,
    BrokerRefused,
    BrokerUnavailable,
    ClientClosed,
    ClientError,
    FilterNotServed,
    GroupNotFound,
    GroupPaused,
    GroupTaken,
    LeaseExpired,
    MessageIllegal,
    MessageRefused,
    MessageTooLarge,
    NameIllegal,
    NoMaster,
    NoPermission,
    NoRoute,
    NotConfirmed,
    SendUncertain,
    SubscriptionRefused,
    TimedOut,
    TopicNotFound,
    TopicPaused,
    TopicReadOnly,
    TopicsUnknown,
    Unreachable,
)
from broker_core.client.faults import FaultAvoidance
from broker_core.client.members import Prepared
from broker_core.client.producer import Producer
from broker_core.client.selection import queue_for_key
from broker_core.client.sending import SendResult, SendStatus
from broker_core.client.session import Session
from broker_core.client.transactions import Committed, Decision, TransactionProducer
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.message import Message, StoredMessage
from broker_core.protocol.signature import Credentials
from broker_core.remoting import ClientTls, ClientTlsFiles, TlsRefused

__all__ = [
    "LITE",
    "SQL92",
    "AccessDenied",
    "Admin",
    "Answers",
    "BlockingSession",
    "BrokerBusy",
    "BrokerRefused",
    "BrokerUnavailable",
    "CallEnded",
    "CallTimedOut",
    "ClientClosed",
    "ClientConfig",
    "ClientError",
    "ClientTls",
    "ClientTlsFiles",
    "Committed",
    "Credentials",
    "Decision",
    "FaultAvoidance",
    "FilterNotServed",
    "GroupNotFound",
    "GroupPaused",
    "GroupTaken",
    "LeaseConsumer",
    "LeaseExpired",
    "LeaseReceipt",
    "LeasedMessage",
    "LitePullConsumer",
    "LoopThread",
    "Message",
    "MessageHandler",
    "MessageIllegal",
    "MessageQueue",
    "MessageRefused",
    "MessageTooLarge",
    "NameIllegal",
    "NoMaster",
    "NoPermission",
    "NoRoute",
    "NotConfirmed",
    "Prepared",
    "Producer",
    "ProducerConfig",
    "PullConsumer",
    "PullResult",
    "PullStatus",
    "PushConfig",
    "PushConsumer",
    "Received",
    "RetryLater",
    "SendResult",
    "SendStatus",
    "SendUncertain",
    "Session",
    "StoredMessage",
    "SubscriptionRefused",
    "TimedOut",
    "TlsRefused",
    "TopicNotFound",
    "TopicPaused",
    "TopicReadOnly",
    "TopicsUnknown",
    "TransactionProducer",
    "Unreachable",
    "fixed",
    "machine_room",
    "machine_room_nearby",
    "queue_for_key",
]
