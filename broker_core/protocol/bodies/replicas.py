"""Bodies about replicas, of 5.x with additions of ours, for masters and administration (controller/README.md#wire)."""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.protocol.bodies.controller import NameState


@dataclass(frozen=True, slots=True)
class SyncStateSet:
    """The ids of an in-sync set with its version; the lives of its members are ours, and only in 1001."""

    sync_state_set: list[int] = field(default_factory=list)
    sync_state_set_epoch: int = 0
    lives: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReplicaIdentity:
    """One replica; `alive` is whether the controller that answers hears it."""

    broker_name: str = ""
    broker_id: int = 0
    broker_address: str = ""
    alive: bool = False


@dataclass(frozen=True, slots=True)
class ReplicasInfo:
    """The replicas of one name; without a master there is no id, address and epoch of one."""

    master_broker_id: int | None = None
    master_address: str | None = None
    master_epoch: int | None = None
    sync_state_set_epoch: int = 0
    in_sync_replicas: list[ReplicaIdentity] = field(default_factory=list)
    not_in_sync_replicas: list[ReplicaIdentity] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class BrokerReplicasInfo:
    """The replicas by name (1006)."""

    replicas_info_table: dict[str, ReplicasInfo] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EpochEntry:
    """An epoch of a log, from `start_offset` up to `end_offset`."""

    epoch: int = 0
    start_offset: int = 0
    end_offset: int = 0


@dataclass(frozen=True, slots=True)
class EpochEntryCache:
    """All epochs of a broker's log, and its end (1007)."""

    cluster_name: str = ""
    broker_name: str = ""
    broker_id: int = 0
    epoch_list: list[EpochEntry] = field(default_factory=list)
    max_offset: int = 0


@dataclass(frozen=True, slots=True)
class HeardReplica:
    """What a replica last told a controller; `view_epoch` and `view_version` are of the newest state that it knows."""

    id: int = 0
    life: str = ""
    address: str = ""
    last_epoch: int = 0
    end: int = 0
    confirm: int = 0
    view_epoch: int = 0
    view_version: int = 0


@dataclass(frozen=True, slots=True)
class PossibleLoss:
    """So much of what was acknowledged is lost at most: `age_ms` ago replica `id` had all of it, and ended at `end`."""

    most_bytes: int = 0
    id: int = 0
    end: int = 0
    age_ms: int = 0


@dataclass(frozen=True, slots=True)
class Preview:
    """What a change does, or would do: the state before and after it, and the replicas that are heard.

    `handed_over` is whether an election that was made waited until the new master had the old one's whole log; None
    where none was made. `loss` is of an accepted loss; None: how much it may be is not known.
    """

    after: NameState
    before: NameState | None = None
    heard: list[HeardReplica] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    handed_over: bool | None = None
    loss: PossibleLoss | None = None


@dataclass(frozen=True, slots=True)
class EngineMember:
    """A server of the engine; `reached` at the last try, since `since` (ms since 1970); None: not tried yet."""

    endpoint: str = ""
    reached: bool | None = None
    since: int | None = None


@dataclass(frozen=True, slots=True)
class ControllerInfo:
    """A controller and its engine (1005). None is what is not known; times in ms, `age_ms` of what it knows.

    `conflicts` and `unsettled_count` count commands since its start: those that lost a comparison, and those of which
    it was not known in time whether they were done. `last_decision_ms` is how long the engine took for its last
    writing, `leading_ms` how long the lead holds if it is not renewed, `led_ms` how long it has been this controller's.
    """

    controller_id: str = ""
    engine: str = ""
    engine_version: str | None = None
    members: list[EngineMember] = field(default_factory=list)
    revision: int | None = None
    size_bytes: int | None = None
    quota_bytes: int | None = None
    alarms: list[str] | None = None
    last_decision_ms: float | None = None
    unsettled: list[str] = field(default_factory=list)
    set_back: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    leading_ms: int = 0
    led_ms: int | None = None
    age_ms: int | None = None
    conflicts: int = 0
    unsettled_count: int = 0


@dataclass(frozen=True, slots=True)
class QueueTip:
    """The next offset of a queue, and log offset and size of the record before it."""

    next_offset: int
    log_offset: int
    size: int


@dataclass(frozen=True, slots=True)
class QueueEnds:
    """Topic → queue id → where a queue ends that has no message in a copy of the log (906)."""

    queues: dict[str, dict[int, QueueTip]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HaConnectionInfo:
    """A slave at its master; log offsets, and `diff`, the bytes that it lacks.

    `broker_id` is ours, of a replica in failover mode; other slaves do not tell theirs.
    """

    addr: str = ""
    slave_ack_offset: int = 0
    diff: int = 0
    in_sync: bool = False
    transferred_byte_in_second: int = 0
    transfer_from_where: int = 0
    broker_id: int | None = None


@dataclass(frozen=True, slots=True)
class HaClientRuntimeInfo:
    """What a slave has of the log of its master, whose main port is told."""

    master_addr: str = ""
    max_offset: int = 0


@dataclass(frozen=True, slots=True)
class HaRuntimeInfo:
    """Who copies a broker's log, or what a slave has of it (907)."""

    master: bool = False
    master_commit_log_max_offset: int = 0
    in_sync_slave_nums: int = 0
    ha_connection_info: list[HaConnectionInfo] = field(default_factory=list)
    ha_client_runtime_info: HaClientRuntimeInfo | None = None
