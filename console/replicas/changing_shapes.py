"""The shapes of changes of replicas by hand. None means unknown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from console.moments import Moment
from console.replicas.shapes import DecidedState


class ReplicaPolicy(Struct, frozen=True, kw_only=True):
    """What operators decided for a broker name."""

    min_in_sync: Annotated[
        int, Meta(description="So many replicas must be in sync for sends, unless a broker's file wants more.")
    ]
    unclean_allowed: Annotated[bool, Meta(description="Whether one may be elected that may lack messages.")]


class RemovedReplica(Struct, frozen=True, kw_only=True):
    """A replica that is forgotten, and what remains of it on its machine."""

    replica_id: int
    address: Annotated[str | None, Meta(description="Where it registered; null if it never did.")]
    runs: Annotated[
        bool | None,
        Meta(
            description="Whether its process answers at its address, where it goes on without a part until it is "
            "stopped. False: another replica is there. Null: nobody answers, so it is not known."
        ),
    ]
    successor_id: Annotated[int | None, Meta(description="The other replica that is at its address now.")]
    folder: Annotated[
        str | None,
        Meta(description="Its data folder, on its machine, as its process says; null while that does not answer."),
    ]
    advice: Annotated[str, Meta(description="What to do with its process and its folder.")]


class LossBound(Struct, frozen=True, kw_only=True):
    """What an accepted loss loses of acknowledged messages at most, by the last log that had all of them."""

    most_bytes: Annotated[
        int, Meta(description="Of the log. What was acknowledged after `as_of` comes on top, and is not known.")
    ]
    replica_id: Annotated[int, Meta(description="Whose log that was.")]
    log_end: Annotated[int, Meta(description="Where that log ended.")]
    as_of: Annotated[Moment, Meta(description="Until when that replica surely had everything that was acknowledged.")]


class ReplicaChange(Struct, frozen=True, kw_only=True):
    """What a change did, or would do."""

    broker: str
    dry_run: bool
    before: DecidedState | None
    after: DecidedState
    told: Annotated[
        DecidedState | None,
        Meta(description="Of a preview: what the replicas say now, where `before`, which the engine holds, is older."),
    ]
    next_masters: Annotated[
        Sequence[int],
        Meta(description="Who may be elected after a change without a master: the longest logs, if all are heard."),
    ]
    lacking_bytes: Annotated[
        int | None,
        Meta(
            description="What the new master had not when it was heard last, or really lacks if it was made; null "
            "where it stays, and where somebody who may have more is silent."
        ),
    ]
    keeps_acknowledged: Annotated[
        bool | None,
        Meta(
            description="Whether the new master has every acknowledged message: what others have more was acknowledged "
            "to nobody. False: it may lack some. Null where the master stays."
        ),
    ]
    loss: Annotated[
        LossBound | None,
        Meta(
            description="Of a new master that may lack acknowledged messages; null where none is lost, and, where "
            "`keeps_acknowledged` is false, how many are lost is unknown."
        ),
    ]
    has_until: Annotated[
        Moment | None, Meta(description="When the last message of the new master was stored; later ones it lacks.")
    ]
    effective_min_in_sync: Annotated[
        int | None,
        Meta(description="So many sends need then, by the policy and the master's setting; null if it does not tell."),
    ]
    refuses_sends: Annotated[
        bool | None, Meta(description="Whether the set after it is smaller than sends need; null if that is not known.")
    ]
    orderly_groups: Annotated[
        Sequence[str] | None,
        Meta(
            description="Groups that consume in order from the old master, and pause until they hold their queues at "
            "the new one: up to 100; null where the master stays or does not tell."
        ),
    ]
    orderly_groups_total: int | None
    removed: Annotated[RemovedReplica | None, Meta(description="The replica that is forgotten; null where none is.")]
    warnings: Sequence[str]
    plan: Annotated[str | None, Meta(description="Of a preview: the change with this `plan` is made as previewed.")]
    plan_expires_at: Moment | None
