"""The shapes of one more replica of a broker name. None means unknown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Meta, Struct

WhyNone = Literal["set_back", "no_room", "most_here"]
Missing = Literal["address", "settings", "accounts", "tls", "reachable_names"]


class SetWithNew(Struct, frozen=True, kw_only=True):
    """Who has every acknowledged message at one stage of adding a replica."""

    replicas: Sequence[int]
    in_sync: Sequence[int]
    effective_min_in_sync: Annotated[
        int | None, Meta(description="So many sends need; null while the master does not tell its setting.")
    ]
    failures: Annotated[
        int | None,
        Meta(description="So many of `in_sync` may fail, one after the other, before sends are refused."),
    ]


class NewReplica(Struct, frozen=True, kw_only=True):
    """What one more replica would be. Its process is started on its machine, by nobody but an operator."""

    broker: str
    replica_id: Annotated[int, Meta(description="The id that it gets, unless another one comes first.")]
    refused: Annotated[
        WhyNone | None,
        Meta(
            description="Why none can be added: nothing is decided since the engine was set back; the controllers have "
            "no room for another until one that is gone is removed; `make up` starts no more."
        ),
    ]
    most_replicas: Annotated[
        int | None, Meta(description="So many `make up` starts; null on machines of their own: no such number.")
    ]
    master_id: Annotated[int | None, Meta(description="Null while there is none: then it waits for one.")]
    copy_bytes: Annotated[int | None, Meta(description="What the master's log has now; null if it does not tell.")]
    copy_bytes_per_second: Annotated[
        int | None, Meta(description="The most that the master sends to all that copy; null if it does not tell.")
    ]
    before: SetWithNew
    started: Annotated[
        SetWithNew, Meta(description="From its start until it has copied the log: it counts for nothing.")
    ]
    caught_up: SetWithNew
    settings_of: Annotated[
        int | None, Meta(description="The replica whose settings the file has; null if none told them.")
    ]
    file: Annotated[str | None, Meta(description="Where the configuration belongs, on the new machine.")]
    configuration: str | None
    command: Annotated[str, Meta(description="What starts it.")]
    missing: Annotated[
        Sequence[Missing],
        Meta(
            description="What the configuration lacks: `address` of the new machine; the `settings` of the others, "
            "which did not answer; the `accounts` file, to be copied from another replica; the certificate for `tls`; "
            "`reachable_names`: name servers or controllers are named by an address that leads nowhere from elsewhere."
        ),
    ]
