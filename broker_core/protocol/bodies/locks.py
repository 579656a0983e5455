"""Bodies of orderly consumption's locks."""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.protocol.bodies.queues import MessageQueue


@dataclass(frozen=True, slots=True)
class LockBatchRequestBody:
    """Queues this client wants for itself (41)."""

    consumer_group: str
    client_id: str
    mq_set: list[MessageQueue] = field(default_factory=list)
    only_this_broker: bool | None = None  # 5.x


@dataclass(frozen=True, slots=True)
class LockBatchResponseBody:
    """Those it got."""

    lock_ok_mq_set: list[MessageQueue] = field(default_factory=list, metadata={"wire": "lockOKMQSet"})


@dataclass(frozen=True, slots=True)
class UnlockBatchRequestBody:
    """Queues it gives back (42)."""

    consumer_group: str
    client_id: str
    mq_set: list[MessageQueue] = field(default_factory=list)
    only_this_broker: bool | None = None  # 5.x
