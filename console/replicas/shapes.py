"""The shapes of the replicas of a broker name. None means unknown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Meta, Struct

from console.moments import Moment

ReplicaRole = Literal["master", "slave"]


class Replica(Struct, frozen=True, kw_only=True):
    """One process of a broker name."""

    broker_id: int
    address: str
    role: ReplicaRole
    reachable: bool
    reason: Annotated[str | None, Meta(description="Why it does not answer.")]
    version: str | None
    started_at: Annotated[Moment | None, Meta(description="When this run of its process began.")]
    log_begin: Annotated[int | None, Meta(description="The log offset of its first record.")]
    log_end: Annotated[int | None, Meta(description="The log offset behind its last record.")]
    behind_bytes: Annotated[
        int | None,
        Meta(description="What the master has and it has not; null for a master, and while one does not answer."),
    ]
    behind_ms: Annotated[
        int | None,
        Meta(
            description="Between the last messages of both, 0 where no byte is missing; null while one of them does "
            "not tell the time, as Apache RocketMQ's never do."
        ),
    ]


class Replicas(Struct, frozen=True, kw_only=True):
    """The processes of one broker name, as they are now."""

    broker: str
    at: Moment
    master_id: Annotated[int | None, Meta(description="Null while no name server lists a master.")]
    replicas: Sequence[Replica]
