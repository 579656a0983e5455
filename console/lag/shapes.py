"""The states that the sampler publishes: of a cluster, its topics, its groups and their queues. None means unknown.

Everything else derives from these structs: what Redis keeps, what the live sockets send, what the HTTP API answers and
the OpenAPI document (`console.shapes`). Knows no Django: the data plane writes lease consumers.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, get_args

from msgspec import Meta, Struct

from broker_core.structs import decoded
from console.moments import Moment
from console.replicas.shapes import HeldReplica

_DELIVERED: Final = (
    "Messages per second that brokers delivered: to each group, and again where one was delivered again."
)
_REFUSAL: Final = (
    "Why a master with automatic failover takes no sends, or cannot answer them; empty if it does. Null of others, and "
    "of a silent one."
)
_BEHIND: Final = (
    "What its master has and it has not; null for a master, one that is held, and while one of both is silent."
)
_HELD: Final = (
    "Why a replica takes no part by itself, as it says, also where no name server lists it; null if it does, or does "
    "not tell."
)

GroupWord = Literal["unknown", "idle", "caught_up", "consuming", "growing", "stalled", "inconsistent"]
BrokerRole = Literal["master", "slave"]
GroupMode = Literal["clustering", "broadcast"]
GroupDelivery = Literal["on", "partly_paused", "paused"]
DrainUnknown = Literal["lag_unknown", "rates_unknown", "not_falling", "growing"]
CallerKind = Literal["token", "user"]
GROUP_STATES: Final = list(get_args(GroupWord))
BROKER_ROLES: Final = list(get_args(BrokerRole))
GROUP_MODES: Final = list(get_args(GroupMode))
GROUP_DELIVERIES: Final = list(get_args(GroupDelivery))
CALLER_KINDS: Final = list(get_args(CallerKind))


class MissingBroker(Struct, frozen=True, kw_only=True):
    """A known broker that did not answer."""

    broker: str
    reason: str
    since: Moment | None


class LeaseConsumerState(Struct, frozen=True, kw_only=True):
    """A consumer that receives by lease over HTTP or WebSocket: a token or a user, at one address."""

    caller: Annotated[str, Meta(description="Name of the token, or of the user.")]
    user: str
    kind: CallerKind
    address: str
    since: Moment
    in_flight: Annotated[int, Meta(description="Messages received and not settled.")]
    last_receive_at: Moment


# Groups


class GroupLastKnown(Struct, frozen=True, kw_only=True):
    """The last known figures of a group, shown while they are unknown."""

    at: Moment
    lag: int | None
    time_lag_ms: int | None
    in_rate: float | None
    out_rate: float | None


class GroupFigures(Struct, kw_only=True):
    """What every view of a consumer group shows."""

    name: str
    state: GroupWord
    topics: list[str]
    lag: Annotated[int | None, Meta(description="Null if unknown, and before the group's first offset.")]
    time_lag_ms: Annotated[int | None, Meta(description="Age of the oldest message not consumed.")]
    in_rate: Annotated[float | None, Meta(description="Messages per second into its topics.")]
    out_rate: Annotated[float | None, Meta(description="Messages per second that it consumes.")]
    drain_eta_ms: Annotated[int | None, Meta(description="Lag by `out_rate` less `in_rate`; null if not falling.")]


class GroupSummary(GroupFigures, kw_only=True):
    """A consumer group in one line."""

    measured_at: Annotated[Moment | None, Meta(description="When the oldest of its figures was read.")]
    mode: GroupMode | None
    clients: Annotated[int | None, Meta(description="Native clients that are connected.")]
    lease_consumers: list[LeaseConsumerState] | None
    lag_per_second: Annotated[
        float | None,
        Meta(description="Change of the lag over five minutes; over less, but at least one, since it is watched."),
    ]
    leases: Annotated[
        int | None, Meta(description="Messages delivered and not settled, also those whose lease has ended.")
    ]
    unknown_reason: str | None
    missing: list[MissingBroker]
    last_known: GroupLastKnown | None = None
    drain_unknown: Annotated[
        DrainUnknown | None,
        Meta(
            description="Why `drain_eta_ms` is null. lag_unknown, rates_unknown: not measured. not_falling: consumes "
            "hardly faster than messages arrive, or slower. growing: the lag grew over the last minutes."
        ),
    ] = None
    dead_letters: Annotated[int | None, Meta(description="Messages that it gave up; null if unknown.")] = None
    delivery: Annotated[
        GroupDelivery | None,
        Meta(
            description="Whether its brokers deliver to it. paused: `consume_enabled` is false on all that have its "
            "settings; partly_paused: on some. Null without settings, and while a broker that has it does not answer."
        ),
    ] = None


class GroupQueue(Struct, frozen=True, kw_only=True):
    """The position of a group in one queue."""

    topic: str
    broker: str
    queue_id: int
    client: str | None = None
    broker_offset: int | None = None
    group_offset: int | None = None
    lag: int | None = None
    time_lag_ms: int | None = None
    unknown_reason: str | None = None


class GroupConfig(Struct, frozen=True, kw_only=True):
    """The settings of a group at its brokers."""

    consume_enabled: bool
    consume_broadcast_enabled: bool
    retry_queue_nums: int
    retry_max_times: int


class GroupState(GroupSummary, kw_only=True):
    """A consumer group, queue by queue."""

    at: Moment
    queues: list[GroupQueue]
    config: GroupConfig | None
    topics_hidden: Annotated[
        bool,
        Meta(description="Whether topics that the caller may not read are left out, with their queues."),
    ] = False

    def summary(self) -> GroupSummary:
        """Return the one-line form."""
        return GroupSummary(**{name: getattr(self, name) for name in GroupSummary.__struct_fields__})


class GroupList(Struct, frozen=True, kw_only=True):
    """The groups of a cluster at one moment."""

    at: Moment
    items: list[GroupSummary]


# Topics


class TopicLastKnown(Struct, frozen=True, kw_only=True):
    """The last known figures of a topic, shown while they are unknown."""

    at: Moment
    messages: int | None
    in_rate: float | None
    last_stored_at: Moment | None
    max_lag: int | None


class TopicState(Struct, kw_only=True):
    """The figures of a topic; null where they were not measured."""

    name: str
    measured_at: Annotated[Moment | None, Meta(description="When its figures were read.")] = None
    messages: int | None = None
    size_bytes: Annotated[
        int | None,
        Meta(description="Bytes of its messages in the logs; null if a broker does not tell, as Apache RocketMQ's."),
    ] = None
    in_rate: float | None = None
    out_rate: Annotated[float | None, Meta(description="Messages per second that all groups together consume.")] = None
    last_stored_at: Moment | None = None
    groups: int | None = None
    max_lag: int | None = None
    missing: list[MissingBroker] = []
    last_known: TopicLastKnown | None = None


class TopicList(Struct, frozen=True, kw_only=True):
    """The topics of a cluster at one moment."""

    at: Moment
    items: list[TopicState]


# The cluster


class BrokerState(Struct, kw_only=True):
    """One broker of a cluster, with its last answer."""

    name: str
    address: str
    broker_id: Annotated[
        int, Meta(description="What name servers list it by: 0 is whichever is master. Of a gone replica its own id.")
    ]
    role: BrokerRole
    replica_id: Annotated[
        int | None,
        Meta(description="What controllers know it by, whoever is master; null where roles are fixed, and until told."),
    ] = None
    version: str | None = None
    reachable: bool
    reason: str | None
    in_rate: float | None = None
    out_rate: Annotated[float | None, Meta(description=_DELIVERED)] = None
    uptime_ms: int | None = None
    disk_used_ratio: float | None = None
    commit_log_bytes: int | None = None
    log_end: Annotated[int | None, Meta(description="The log offset behind its last record.")] = None
    behind_bytes: Annotated[int | None, Meta(description=_BEHIND)] = None
    behind_ms: Annotated[
        int | None, Meta(description="Between the last messages of master and slave; null if one does not tell it.")
    ] = None
    send_refusal: Annotated[str | None, Meta(description=_REFUSAL)] = None
    held: Annotated[HeldReplica | None, Meta(description=_HELD)] = None


class OverviewLastKnown(Struct, frozen=True, kw_only=True):
    """The last known key figures of a cluster, shown while they are unknown."""

    at: Moment
    total_lag: int | None
    oldest_unconsumed_ms: int | None
    dead_letters: int | None
    topics: int | None
    groups: int | None
    in_rate: float | None
    out_rate: float | None
    disk_used_ratio: float | None


class OverviewState(Struct, kw_only=True):
    """The key figures of a cluster."""

    at: Moment
    in_rate: float | None
    out_rate: Annotated[
        float | None,
        Meta(description=_DELIVERED + " Where `limited`, what the groups that the caller may read consume."),
    ]
    total_lag: int | None
    lag_unknown_groups: int
    lag_per_second: Annotated[
        float | None,
        Meta(description="Change of the total lag over five minutes: the sum of its groups' `lag_per_second`."),
    ] = None
    oldest_unconsumed_ms: Annotated[
        int | None, Meta(description="Over all groups; null until all groups that are behind were timed.")
    ]
    oldest_group: str | None
    groups_behind: int | None
    groups_timed: Annotated[int | None, Meta(description="How many of the groups that are behind were timed.")]
    dead_letters: int | None
    dead_letter_groups: int | None
    disk_used_ratio: float | None
    disk_days_to_full: float | None
    uptime_ms: int | None
    brokers: list[BrokerState]
    brokers_answering: int
    topics: int | None
    groups: int | None
    worst_groups: list[GroupSummary]
    missing: list[MissingBroker]
    unknown_reason: str | None
    name_server_reason: Annotated[str | None, Meta(description="Why no name server answers.")]
    last_known: OverviewLastKnown | None = None
    limited: Annotated[
        bool, Meta(description="Whether these are the figures of the topics and groups that the caller may read alone.")
    ] = False


@decoded
class LastKnown(Struct, kw_only=True):
    """All last known figures of a cluster: they outlive the sampler."""

    overview: OverviewLastKnown | None = None
    topics: dict[str, TopicLastKnown] = {}
    groups: dict[str, GroupLastKnown] = {}


# Over time

Points = list[float | None]


class OverviewSeries(Struct, frozen=True, kw_only=True):
    """Values from `from` to `to`, one each step; null where nothing was measured."""

    in_rate: Points
    out_rate: Points
    total_lag: Points
    oldest_unconsumed_ms: Points
    disk_used_ratio: Points


class LagSeries(Struct, frozen=True, kw_only=True):
    """Values from `from` to `to`, one each step; null where nothing was measured."""

    lag: Points
    in_rate: Points
    out_rate: Points


class TimeRange(Struct, kw_only=True, rename={"begin": "from"}):
    """The time range of a history."""

    step_ms: int
    begin: Moment
    to: Moment


class OverviewHistory(TimeRange, kw_only=True):
    """The history of a cluster's key figures, and of the five groups with the largest lag."""

    series: OverviewSeries
    group_lag: dict[str, Points]


class LagHistory(TimeRange, kw_only=True):
    """The history of a group's lag."""

    series: LagSeries


class TopicSeries(Struct, frozen=True, kw_only=True):
    """Values from `from` to `to`, one each step; null where nothing was measured."""

    in_rate: Annotated[Points, Meta(description="Messages per second stored.")]
    out_rate: Annotated[Points, Meta(description="Messages per second that all groups together consumed.")]
    messages: Annotated[Points, Meta(description="Messages that it held at the end of the step.")]
    size_bytes: Annotated[Points, Meta(description="Their bytes in the logs; null if a broker does not tell.")]
    max_lag: Annotated[Points, Meta(description="The largest lag of a group, the largest in the step.")]


class TopicTotals(Struct, frozen=True, kw_only=True):
    """What a topic saw in a time range."""

    measured_minutes: Annotated[int, Meta(description="Minutes of the range that were measured.")]
    messages_in: Annotated[
        int | None, Meta(description="Messages stored; null unless two minutes of the range were measured.")
    ]
    messages_in_since: Annotated[
        Moment | None, Meta(description="From when on `messages_in` counts; what came before is unknown.")
    ]
    messages_out: Annotated[int | None, Meta(description="Messages that all groups consumed in the measured minutes.")]
    peak_in_rate: Annotated[float | None, Meta(description="Messages per second in the busiest minute.")]
    peak_in_at: Moment | None
    peak_out_rate: float | None
    peak_out_at: Moment | None


class TopicStats(TimeRange, kw_only=True):
    """The statistics of a topic, up to a day of them."""

    series: TopicSeries
    totals: TopicTotals
    groups_hidden: Annotated[
        bool,
        Meta(description="Whether what is consumed and how far groups are behind is left out: not all may be read."),
    ]
