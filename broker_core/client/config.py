"""Settings of a client: a frozen dataclass per role. Defaults are the Java client's unless a field gives a reason."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from broker_core.client.faults import FaultAvoidance
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.signature import Credentials
from broker_core.protocol.topics import TRACE_TOPIC
from broker_core.remoting import TlsOfClient
from broker_core.remoting.own_address import local_ip

DEFAULT_TOPIC_QUEUES: Final = 4
MAX_BODY_BYTES: Final = 4 * 1024 * 1024

RETRIED_CODES: Final = frozenset(
    {
        ResponseCode.TOPIC_NOT_EXIST,
        ResponseCode.SERVICE_NOT_AVAILABLE,
        ResponseCode.SYSTEM_ERROR,
        ResponseCode.NO_PERMISSION,
        ResponseCode.NO_BUYER_ID,
        ResponseCode.NOT_IN_CURRENT_UNIT,
        ResponseCode.SYSTEM_BUSY,  # of 5.x: with this a broker sheds load and expects a retry
    }
)
"""Refusals after which another broker may accept the request (client/README.md#attempts)."""

Strategy = Callable[[str, Sequence[MessageQueue], Sequence[str]], list[MessageQueue]]
"""Maps (own client id, all queues sorted, all client ids sorted) to the own queues (client/README.md#strategies)."""

_instances = itertools.count(1)


def new_client_id() -> str:
    """Return a client id that no other client has: ``ip@pid#n``."""
    return f"{local_ip()}@{os.getpid()}#{next(_instances)}"


@dataclass(frozen=True, slots=True)
class ClientConfig:
    """The address of a cluster and the behaviour of a session."""

    name_servers: Sequence[str]
    """``host:port`` of each name server; one is used, the next one when it fails."""
    client_id: str = field(default_factory=new_client_id)
    timeout_ms: int = 3_000
    """Default timeout of a request."""
    admin_timeout_ms: int = 5_000
    """Default timeout of an administration request, whose answers are larger."""
    route_refresh_ms: int = 30_000
    heartbeat_ms: int = 30_000
    credentials: Credentials | None = None
    """The account with which every request is signed; without one nothing is."""
    tls: TlsOfClient | None = None
    """How to connect with TLS; None: without."""
    address_map: Mapping[str, str] = field(default_factory=dict)
    """Where to connect instead of an announced ``host:port`` that cannot be reached from here."""

    def __post_init__(self) -> None:
        """Refuse a single string in place of a list: its characters would be taken for addresses."""
        if isinstance(self.name_servers, str):
            raise TypeError(f"name_servers must be a list of host:port, not the string {self.name_servers!r}")


@dataclass(frozen=True, slots=True)
class ProducerConfig:
    """How messages are sent."""

    retries: int = 2
    """Number of retries, each on another broker if there is one."""
    retried_codes: frozenset[int] = RETRIED_CODES
    """Refusals that are retried; any other is raised at once."""
    timeout_ms: int = 3_000
    """Limits all attempts for one message together, including the route look-up."""
    fault_avoidance: FaultAvoidance = FaultAvoidance.V5
    """Off in Java; on here, because a gateway's callers would wait for every unreachable broker."""
    create_topics: bool = False
    """Let brokers create unknown topics. Off, unlike in Java: over HTTP a misspelt topic must be an error."""
    retry_when_not_stored_ok: bool = False
    """Try another broker when the answer is a flush or replica timeout; the message may then be stored twice."""
    compress_from_bytes: int = 4096
    compress_level: int = 5
    max_body_bytes: int = MAX_BODY_BYTES
    trace: bool = False
    """Write a trace of every message (client/README.md#traces)."""
    trace_topic: str = TRACE_TOPIC


@dataclass(frozen=True, slots=True)
class PushConfig:
    """The reading behaviour of a push consumer (client/README.md#reading-a-queue)."""

    start_from: Literal["first", "last", "time"] = "last"
    """Where a group without a committed offset starts: ``first``, ``last``, or ``time`` with `start_timestamp`."""
    start_timestamp: int = 0
    strategy: Literal["AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH"] | Strategy = "AVG"
    """All members of a group have to use the same one; those with settings of their own are functions of
    client/consumer/strategies.py: `fixed`, `machine_room`, `machine_room_nearby`."""
    orderly: bool = False
    broadcasting: bool = False
    concurrency: int = 20
    """Messages handled concurrently over all queues; an orderly queue handles one at a time."""
    pull_batch: int = 32
    pull_suspend_ms: int = 15_000
    pull_timeout_ms: int = 30_000
    pull_error_delay_ms: int = 1_000
    pull_idle_delay_ms: int = 100
    """Pause after an empty answer that came at once: the broker is not holding requests at the moment."""
    flow_control_delay_ms: int = 50
    busy_delay_ms: int = 20
    queue_max_messages: int = 1_000
    queue_max_bytes: int = 100 * 1024 * 1024
    queue_max_span: int = 2_000
    topic_max_messages: int = -1
    """Limit over all queues of a topic that are read here: each gets its share instead of `queue_max_messages`."""
    topic_max_bytes: int = -1
    """The same for `queue_max_bytes`."""
    max_reconsume_times: int = -1
    """Further deliveries before a message becomes a dead letter; -1, as in Java: 16, or without limit if orderly."""
    consume_timeout_ms: int = 15 * 60 * 1_000
    """A handler that takes longer is cancelled, and its message counts as failed."""
    retry_local_ms: int = 5_000
    """Pause before a message is handled here again when not even its retry could be stored."""
    suspend_queue_ms: int = 1_000
    """Pause before an orderly queue handles the same message again."""
    rebalance_ms: int = 20_000
    rebalance_again_ms: int = 1_000
    """The pause after a rebalance in which something was unknown."""
    lock_renewal_ms: int = 20_000
    persist_offsets_ms: int = 5_000
    shutdown_wait_ms: int = 5_000
    """How long `close` waits for messages that are being handled; the others are delivered again."""
    trace: bool = False
    """Write a trace of every call of the handler (client/README.md#traces)."""
    trace_topic: str = TRACE_TOPIC

    def __post_init__(self) -> None:
        """Refuse with ValueError values with which a consumer would silently receive nothing."""
        if self.start_from not in ("first", "last", "time"):
            raise ValueError(f"start_from must be first, last or time, not {self.start_from!r}")
        if isinstance(self.strategy, str) and self.strategy not in ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH"):
            raise ValueError(f"strategy is not AVG, AVG_BY_CIRCLE, CONSISTENT_HASH or a function: {self.strategy!r}")
        for name in ("concurrency", "pull_batch", "queue_max_messages", "queue_max_bytes"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")

    @property
    def locks_queues(self) -> bool:
        """Whether a member may read a queue only while it holds its lock."""
        return self.orderly and not self.broadcasting
