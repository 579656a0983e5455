"""What a master keeps beside its log (9002, ours): broker/replication/README.md#state-beside-the-log."""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.protocol.bodies.groups import SubscriptionGroupWrapper
from broker_core.protocol.bodies.pop import SetMessageRequestModeRequestBody
from broker_core.protocol.bodies.topics import TopicConfigSerializeWrapper


@dataclass(frozen=True, slots=True)
class HeldLock:
    """A queue that a client has locked, and how long ago it renewed that, ms."""

    group: str
    topic: str
    broker_name: str
    queue_id: int
    client_id: str
    age_ms: int
    account: str = ""


@dataclass(frozen=True, slots=True)
class LeaseChanges:
    """Changes of leases as the journal writes them, compressed (RFC 1950), in Base64.

    `is_whole`: those that make all leases; there are no others.
    """

    is_whole: bool
    frames: str


@dataclass(frozen=True, slots=True)
class BrokerState:
    """What changed; a part that did not is absent. `log_end` is where the master's log ended at that moment.

    Offsets are those of whole groups: group → topic → queue id → offset; a group without any has none left.
    `is_whole`: groups that are not named have none. `locks_rest_ms`: so long the master grants no queue that is not in
    `locks`, since the master before it may have.
    """

    log_end: int
    topics: TopicConfigSerializeWrapper | None = None
    groups: SubscriptionGroupWrapper | None = None
    request_modes: list[SetMessageRequestModeRequestBody] | None = None
    offsets: dict[str, dict[str, dict[int, int]]] = field(default_factory=dict)
    is_whole: bool = False
    delays: dict[int, int] | None = None
    locks: list[HeldLock] | None = None
    locks_rest_ms: int = 0
    leases: LeaseChanges | None = None
