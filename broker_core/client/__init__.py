"""The client of a RocketMQ-compatible cluster: produce, consume, administer.

The synchronous door is `broker_core.client.blocking`, the errors are in `broker_core.client.errors`.
"""

from __future__ import annotations

from broker_core.client.admin import Admin
from broker_core.client.answers import Answers
from broker_core.client.config import ClientConfig, ProducerConfig, PushConfig
from broker_core.client.consumer.leases import LeasedMessage, LeaseReceipt
from broker_core.client.consumer.lite import LitePullConsumer
from broker_core.client.consumer.pop import LeaseConsumer, Received
from broker_core.client.consumer.pull import PullConsumer, PullResult, PullStatus
from broker_core.client.consumer.push import PushConsumer, RetryLater
from broker_core.client.producer import Producer
from broker_core.client.sending import SendResult, SendStatus
from broker_core.client.session import Session

__all__ = [
    "Admin",
    "Answers",
    "ClientConfig",
    "LeaseConsumer",
    "LeaseReceipt",
    "LeasedMessage",
    "LitePullConsumer",
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
    "Session",
]
