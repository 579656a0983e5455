"""Bodies of leased consumption, 5.x (protocol/README.md#pop)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

from broker_core.protocol.bodies.heartbeat import MessageModel
from broker_core.protocol.bodies.queues import MessageQueue


@dataclass(frozen=True, slots=True)
class BatchAck:
    """Messages of one pop that are done.

    Bit n of `bit_set` stands for the message at `start_offset` + n; the bits are bytes in Base64, lowest bit first.
    """

    consumer_group: str = field(metadata={"wire": "c", "also": "consumerGroup"})
    topic: str = field(metadata={"wire": "t", "also": "topic"})
    retry: str = field(default="0", metadata={"wire": "r", "also": "retry"})
    start_offset: int = field(default=0, metadata={"wire": "so", "also": "startOffset"})
    queue_id: int = field(default=0, metadata={"wire": "q", "also": "queueId"})
    revive_queue_id: int = field(default=0, metadata={"wire": "rq", "also": "reviveQueueId"})
    pop_time: int = field(default=0, metadata={"wire": "pt", "also": "popTime"})
    invisible_time: int = field(default=0, metadata={"wire": "it", "also": "invisibleTime"})
    bit_set: str = field(default="", metadata={"wire": "b", "also": "bitSet"})


@dataclass(frozen=True, slots=True)
class BatchAckMessageRequestBody:
    """Messages of many pops that are done (200151)."""

    broker_name: str = ""
    acks: list[BatchAck] = field(default_factory=list)


class AckResult(IntEnum):
    """What became of one acknowledgement."""

    DONE = 0
    ALREADY_DONE = 1
    LOST = 2


@dataclass(frozen=True, slots=True)
class BatchAckMessageResponseBody:
    """The result of each message of a 200151, in the order of the request and of its bits. Only Gantry answers it."""

    results: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class QueryAssignmentRequestBody:
    """Asks for the queues of a client (400)."""

    topic: str
    consumer_group: str
    client_id: str
    strategy_name: str | None = None
    message_model: MessageModel | None = None


@dataclass(frozen=True, slots=True)
class MessageQueueAssignment:
    """One queue and its request mode: ``PULL`` or ``POP``."""

    message_queue: MessageQueue
    mode: str = "PULL"
    attachments: dict[str, str] | None = None


@dataclass(frozen=True, slots=True)
class QueryAssignmentResponseBody:
    """The queues of one member; without a list the member keeps its queues."""

    message_queue_assignments: list[MessageQueueAssignment] | None = None


@dataclass(frozen=True, slots=True)
class SetMessageRequestModeRequestBody:
    """Sets how a group reads a topic (401)."""

    topic: str
    consumer_group: str
    mode: str = "PULL"
    pop_share_queue_num: int = 0
