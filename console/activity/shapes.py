"""The shape of an event, for the feed, the HTTP API and the live channel. Knows no Django."""

from __future__ import annotations

from typing import Annotated, Final, Literal, get_args

from msgspec import Meta, Struct

from broker_core.structs import decoded
from console.moments import Moment

EventKind = Literal[
    "client_joined",
    "client_left",
    "group_rebalanced",
    "group_behind",
    "group_caught_up",
    "group_created",
    "group_changed",
    "group_paused",
    "group_resumed",
    "group_deleted",
    "offsets_changed",
    "topic_created",
    "topic_changed",
    "topic_purged",
    "topic_deleted",
    "broker_went",
    "broker_came",
    "broker_restarted",
    "broker_changed",
    "master_changed",
    "name_server_went",
    "name_server_came",
    "alert_fired",
    "alert_resolved",
    "watch_began",
    "left_out",
]
KINDS: Final[tuple[EventKind, ...]] = get_args(EventKind)
MOST_MOVES: Final = 50
"""How many moves of queues one event names; `moves_total` counts all of them."""


class EventClient(Struct, frozen=True, kw_only=True):
    """A client of a consumer group as its broker names it."""

    client_id: str
    address: str
    language: str | None
    version: str


class QueueMove(Struct, frozen=True, kw_only=True):
    """A queue that another client reads now."""

    topic: str
    broker: str
    queue_id: int
    from_client: Annotated[str | None, Meta(description="Null if nobody was seen to read it before.")]
    to_client: str


class ChangedValue(Struct, frozen=True, kw_only=True):
    """A setting that has another value now."""

    name: str
    before: str | None
    after: str | None


class EventAlert(Struct, frozen=True, kw_only=True):
    """The alert that fired or was resolved."""

    rule: str
    metric: str
    subject: str


@decoded
class ActivityEvent(Struct, frozen=True, kw_only=True):
    """One thing that happened in a cluster."""

    seq: Annotated[int, Meta(description="Grows with each event of the cluster.")] = 0
    seen_at: Moment
    kind: EventKind
    source: Annotated[
        Literal["seen", "audit"],
        Meta(description="`audit`: done over Gantry, at `seen_at`; `seen`: noticed at `seen_at`, it happened before."),
    ] = "seen"
    topic: str | None = None
    group: str | None = None
    broker: str | None = None
    client: EventClient | None = None
    moves: list[QueueMove] = []
    moves_total: int | None = None
    changes: list[ChangedValue] = []
    alert: EventAlert | None = None
    by: Annotated[str | None, Meta(description="Who did it over Gantry; only for callers who may read the audit.")] = (
        None
    )
    partial: Annotated[bool, Meta(description="Whether some brokers did not make the change.")] = False
    lag: int | None = None
    reason: Annotated[
        str | None, Meta(description="Why a broker or the name servers do not answer, or why there is another master.")
    ] = None
    left_out: Annotated[int | None, Meta(description="How many more events of a kind came at once.")] = None
    left_out_kind: EventKind | None = None


class ActivityPage(Struct, frozen=True, kw_only=True):
    """A page of a cluster's events, the newest first."""

    items: list[ActivityEvent]
    next_cursor: str | None
    prev_cursor: str | None
    total: int | None
    last_seq: Annotated[
        int, Meta(description="The number of the cluster's newest event; ask with it as `after` for what came since.")
    ]
    complete: Annotated[
        bool, Meta(description="Whether every event since `after` is still kept; false: some were lost in between.")
    ]
