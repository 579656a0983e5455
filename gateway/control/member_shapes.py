"""JSON shapes of what the members of a consumer group say of themselves."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from console.lag.shapes import MissingBroker
from console.moments import Moment


class GroupSubscription(Struct, frozen=True, kw_only=True):
    """The subscription of a group, or of some of its members, to a topic."""

    topic: str
    expression: str
    type: str
    clients: Annotated[list[str] | None, Meta(description="Who subscribes so; null where no member was asked.")]


class SilentMember(Struct, frozen=True, kw_only=True):
    """A member that did not say what it does."""

    client_id: str
    reason: str


class GroupSubscriptions(Struct, frozen=True, kw_only=True):
    """All subscriptions of a group."""

    items: list[GroupSubscription]
    consistent: Annotated[
        bool | None,
        Meta(description="Whether all members subscribe to the same; null while one that may differ is not known."),
    ]
    silent: list[SilentMember]
    missing: Annotated[list[MissingBroker], Meta(description="Brokers that may have more members and did not answer.")]


class MemberQueue(Struct, frozen=True, kw_only=True):
    """A queue that a member reads; a moment is null if there was none."""

    topic: str
    broker: str
    queue_id: int
    commit_offset: int
    cached_messages: int
    cached_mib: int
    locked: bool
    dropped: Annotated[bool, Meta(description="Whether the member gave the queue away.")]
    last_pull_at: Moment | None
    last_consume_at: Moment | None


class MemberTopic(Struct, frozen=True, kw_only=True):
    """The pace of a member in a topic, over the last minute by its own clock."""

    topic: str
    pull_ms: float
    pull_per_second: float
    consume_ms: Annotated[float, Meta(description="Mean time that the listener takes for a message.")]
    consumed_per_second: float
    failed_per_second: float
    failed_last_hour: int


class GroupMember(Struct, frozen=True, kw_only=True):
    """The inner state of a native client, as it reports it itself."""

    client_id: str
    consume_type: str | None
    started_at: Moment | None
    threads: int | None
    cached_messages: int
    subscriptions: list[GroupSubscription]
    queues: list[MemberQueue]
    topics: list[MemberTopic]
