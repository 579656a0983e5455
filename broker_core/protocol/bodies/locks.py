"""Bodies for the locks of orderly consumption."""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.protocol.bodies.queues import MessageQueue


@dataclass(frozen=True, slots=True)
class LockBatchRequestBody:
    """The queues that a client asks to lock (41)."""

    consumer_group: str
    client_id: str
    mq_set: list[MessageQueue] = field(default_factory=list)
    only_this_broker: bool | None = None  # 5.x


@dataclass(frozen=True, slots=True)
class LockBatchResponseBody:
    """The queues that the client now holds (41)."""

    lock_ok_mq_set: list[MessageQueue] = field(default_factory=list, metadata={"wire": "lockOKMQSet"})


@dataclass(frozen=True, slots=True)
class UnlockBatchRequestBody:
    """The queues that a client unlocks (42)."""

    consumer_group: str
    client_id: str
    mq_set: list[MessageQueue] = field(default_factory=list)
    only_this_broker: bool | None = None  # 5.x
