"""The shapes of the replicas of a broker name. None means unknown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Meta, Struct

from console.moments import Moment

ReplicaRole = Literal["master", "slave"]
ReplicaMode = Literal["static", "failover"]


class LogEpoch(Struct, frozen=True, kw_only=True):
    """A part of a log that was written under one mastership."""

    epoch: int
    start: int
    end: int


class FailoverOfReplica(Struct, frozen=True, kw_only=True):
    """What controllers know of one replica; what replicas tell of it where there is `told`."""

    in_sync: Annotated[bool, Meta(description="Whether it has every acknowledged message.")]
    heard: Annotated[bool | None, Meta(description="Whether the controller that answered hears it.")]
    clean: Annotated[bool, Meta(description="False: it may have lost what it had acknowledged.")]
    life: Annotated[str, Meta(description="The run of its process that is registered.")]
    confirm: Annotated[int | None, Meta(description="Up to here it knows that every replica in sync has the log.")]
    last_epoch: Annotated[
        int,
        Meta(
            description="The newest in its log when this run of its process registered, 0 if it had none; one that "
            "began since, as its own as master, is in `epochs`."
        ),
    ]
    epochs: Annotated[Sequence[LogEpoch] | None, Meta(description="The last ones of its log.")]
    in_sync_since: Annotated[
        Moment | None,
        Meta(
            description="When it entered the in-sync set, at the latest; null outside, and if the console never saw it."
        ),
    ] = None


class LogStream(Struct, frozen=True, kw_only=True):
    """A connection on which a master sends its log."""

    address: Annotated[str, Meta(description="From where the slave connected.")]
    broker_id: Annotated[int | None, Meta(description="Slaves in static mode do not tell theirs.")]
    acked: Annotated[int, Meta(description="Up to here the slave says that it has the log.")]
    lacking_bytes: int
    in_sync: bool
    bytes_per_second: int
    from_offset: Annotated[int, Meta(description="Where in the log the connection began.")]


class HeldReplica(Struct, frozen=True, kw_only=True):
    """Why a replica takes no part until somebody does something, as it says itself."""

    code: Annotated[
        str,
        Meta(
            description="`ahead`: its log goes on beyond what it has in common with the master's, as after an accepted "
            "loss; `apart`: it is in the in-sync set, and has nothing in common with the master; `damaged`: its log "
            "cannot be cut or go on; `replaced`: its id runs in a later life; `removed`: its id was removed; "
            "`refused`: by controllers, for another reason."
        ),
    ]
    reason: Annotated[str, Meta(description="In its words.")]
    common_end: Annotated[int | None, Meta(description="Up to this log offset its log is the master's; null: unknown.")]
    more_bytes: Annotated[
        int | None,
        Meta(description="What its log has behind that, and the master lacks: its folder may be the last copy."),
    ]
    advice: Annotated[str, Meta(description="What to do.")]


class Replica(Struct, frozen=True, kw_only=True):
    """One process of a broker name."""

    broker_id: int
    address: str
    role: Annotated[ReplicaRole | None, Meta(description="Null while nobody tells who is master.")]
    reachable: bool
    reason: Annotated[str | None, Meta(description="Why it does not answer.")]
    listed: Annotated[bool | None, Meta(description="Whether a name server lists it; null while none answers.")]
    last_seen_at: Annotated[
        Moment | None, Meta(description="When a name server listed it last; null of one that is listed now.")
    ]
    version: str | None
    started_at: Annotated[Moment | None, Meta(description="When this run of its process began.")]
    log_begin: Annotated[int | None, Meta(description="The log offset of its first record.")]
    log_end: Annotated[int | None, Meta(description="The log offset behind its last record.")]
    behind_bytes: Annotated[
        int | None,
        Meta(
            description="What the master has and it has not; null for a master, while one does not answer, and for one "
            "that is held: its log is not the master's."
        ),
    ]
    behind_ms: Annotated[
        int | None,
        Meta(
            description="Between the last messages of both, 0 where no byte is missing; null while one of them does "
            "not tell the time, as Apache RocketMQ's never do."
        ),
    ]
    follows: Annotated[str | None, Meta(description="The master whose log it copies, as it says itself.")]
    held: Annotated[
        HeldReplica | None,
        Meta(description="Why it takes no part by itself any more; null while it does, and if it does not tell."),
    ]
    failover: FailoverOfReplica | None


class LastDecision(Struct, frozen=True, kw_only=True):
    """The last change of a state."""

    why: str
    by: Annotated[str, Meta(description="The controller.")]
    at: Moment | None


class DecidedState(Struct, frozen=True, kw_only=True):
    """What controllers decided about a broker name."""

    master_id: int | None
    epoch: int
    version: int
    in_sync: list[int]
    set_version: int
    replicas: list[int]
    min_in_sync: int
    unclean_allowed: bool
    last: LastDecision


class FailoverOfName(DecidedState, frozen=True, kw_only=True):
    """The same, and whether it takes messages now."""

    writable: Annotated[
        bool | None,
        Meta(description="Whether sends are taken and answered, by what the master says; null while nobody tells."),
    ]
    writable_reason: Annotated[str | None, Meta(description="Why not, or why that is not known.")]
    effective_min_in_sync: Annotated[
        int | None,
        Meta(
            description="So many replicas must be in sync for sends: the larger of `min_in_sync` and the master's "
            "`minInSyncReplicas`. Null while the master does not tell."
        ),
    ]
    stuck: Annotated[str | None, Meta(description="Why it has no master and gets none by itself.")]
    set_back: Annotated[bool, Meta(description="The engine is older than what it told: nothing is decided.")]
    age_ms: Annotated[int, Meta(description="How old the controller's knowledge is.")]


class ToldState(DecidedState, frozen=True, kw_only=True):
    """The newest state that a replica knows, and whether sends are taken, as its master says."""

    writable: Annotated[bool | None, Meta(description="As in `failover`.")]
    writable_reason: Annotated[str | None, Meta(description="As in `failover`.")]
    effective_min_in_sync: Annotated[int | None, Meta(description="As in `failover`.")]


class PastDecision(Struct, frozen=True, kw_only=True):
    """A state of a broker name, from when it was decided until the next one."""

    epoch: int
    version: int
    master_id: Annotated[int | None, Meta(description="Null while there was none.")]
    in_sync: list[int]
    added: Annotated[
        Sequence[int],
        Meta(description="Replicas that came since the decision before; none where it is not known which there were."),
    ]
    removed: Annotated[Sequence[int], Meta(description="Those that were forgotten since then.")]
    why: str
    by: Annotated[str, Meta(description="The controller.")]
    at: Annotated[Moment | None, Meta(description="When it was decided.")]
    seen_at: Annotated[Moment, Meta(description="When the console saw it first.")]


class SilentServer(Struct, frozen=True, kw_only=True):
    """A name server that did not answer."""

    address: str
    reason: str


class Replicas(Struct, frozen=True, kw_only=True):
    """The processes of one broker name, as they are now."""

    broker: str
    at: Moment
    mode: Annotated[ReplicaMode, Meta(description="`failover`: controllers choose the master.")]
    master_id: Annotated[int | None, Meta(description="Null while there is none.")]
    failover: Annotated[
        FailoverOfName | None, Meta(description="Null in static mode, and while no controller answers.")
    ]
    failover_reason: Annotated[str | None, Meta(description="Why no controller answers.")]
    may_adopt: Annotated[
        bool | None,
        Meta(
            description="Whether a state can be adopted: controllers hold one that is older than what replicas know "
            "(`set_back`), or none, as with an empty etcd. Null while no controller tells."
        ),
    ]
    told: Annotated[
        ToldState | None,
        Meta(
            description="What the replicas say themselves, where no controller tells what is decided, or what the "
            "controllers hold is older (`set_back`). It counts then: `master_id`, roles and what is behind follow it."
        ),
    ]
    last_known: Annotated[
        PastDecision | None,
        Meta(description="The last decision that the console saw, while neither controllers nor replicas tell any."),
    ]
    replicas: Sequence[Replica]
    streams: Annotated[Sequence[LogStream] | None, Meta(description="Who copies the master's log, as it says.")]
    streams_reason: Annotated[str | None, Meta(description="Why the master does not tell.")]
    silent_name_servers: Annotated[
        Sequence[SilentServer],
        Meta(description="Those that did not answer within a second, and with them their controllers."),
    ]


class ReplicaHistory(Struct, frozen=True, kw_only=True):
    """What controllers decided about a broker name, the newest first."""

    broker: str
    items: Sequence[PastDecision]


class EngineServer(Struct, frozen=True, kw_only=True):
    """A server of what keeps the decisions."""

    endpoint: str
    reached: Annotated[bool | None, Meta(description="At the last try; null: not tried yet.")]
    since: Moment | None


class ControllerState(Struct, frozen=True, kw_only=True):
    """One name server with a controller."""

    address: str
    reachable: bool
    reason: str | None
    leading: bool
    leading_ms: Annotated[int | None, Meta(description="For how many ms it still leads if that is not renewed.")]
    led_since: Annotated[
        Moment | None, Meta(description="Since when it leads; null where it does not, and if it does not tell.")
    ]
    engine: Annotated[str | None, Meta(description="`etcd` or `file`.")]
    engine_version: str | None
    members: Sequence[EngineServer]
    revision: int | None
    size_bytes: int | None
    quota_bytes: int | None
    alarms: list[str] | None
    last_decision_ms: Annotated[
        int | None,
        Meta(description="How many ms the engine took to keep the last decision; null before this controller's first."),
    ]
    names: list[str]
    set_back: list[str]
    unsettled: list[str]
    age_ms: Annotated[int | None, Meta(description="How old its knowledge is.")]
    conflicts: int | None
    unsettled_count: int | None


class Controllers(Struct, frozen=True, kw_only=True):
    """The controllers of a cluster; none in static mode."""

    at: Moment
    leader: Annotated[str | None, Meta(description="The address of the one that says that it leads.")]
    controllers: Sequence[ControllerState]


class DecidedName(Struct, frozen=True, kw_only=True):
    """Who has every acknowledged message of a broker name, from the sampler to metrics."""

    broker: str
    in_sync: list[int]
    replicas: list[int]


class DecidedNames(Struct, frozen=True, kw_only=True):
    """All names of a cluster; none while no controller knows what is decided."""

    items: list[DecidedName]
