"""`brokerIdentity`: who a replica is, over all its lives (broker/replication/README.md#identity)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from broker_core.broker.replication.messages import Identity
from broker_core.errors import GantryError
from broker_core.protocol.bodies.controller import NameState, life_number
from broker_core.protocol.errors import MalformedBody

_SEPARATOR: Final = "#"
_KEYS: Final = ("check", "life", "applied", "unclean", "epoch", "version")


class WrongIdentity(GantryError):
    """The file is missing, damaged, or that of another replica; the broker must not start on this folder."""


class UsedElsewhere(GantryError):
    """Another broker has written into the folder of this replica, so its epochs do not tell what its log has."""


def encode_identity(identity: Identity) -> str:
    """Return the text of the file: 5.x's `cluster#broker#id`, then ours as `key=value`."""
    values = identity.check, identity.life, identity.applied_id, int(identity.is_unclean), *identity.known
    head = _SEPARATOR.join((identity.cluster, identity.name, str(identity.broker_id)))
    return "".join(
        f"{line}\n" for line in (head, *(f"{key}={value}" for key, value in zip(_KEYS, values, strict=True)))
    )


def decode_identity(text: str) -> Identity:
    """Return the identity; raises WrongIdentity for a text that is none."""
    head, *lines = text.splitlines() or [""]
    parts = head.rsplit(_SEPARATOR, 2)
    values = dict(line.split("=", 1) for line in lines if "=" in line)
    try:
        life_number(values["life"])
        cluster, name, broker_id = parts
        return Identity(
            cluster=cluster,
            name=name,
            broker_id=int(broker_id),
            check=values["check"],
            life=values["life"],
            applied_id=int(values["applied"]),
            is_unclean=bool(int(values["unclean"])),
            known=(int(values["epoch"]), int(values["version"])),
        )
    except (KeyError, ValueError, MalformedBody) as error:
        raise WrongIdentity(f"the file of the replica's identity cannot be read: {error!r}") from error


def check_identity(kept: Identity | None, cluster: str, name: str, *, has_log: bool) -> None:
    """Raise WrongIdentity if a folder is not that of a replica of this broker name."""
    if kept is None:
        if has_log:
            raise WrongIdentity("the store has messages, but no file that says which replica it belongs to")
        return
    if (kept.cluster, kept.name) != (cluster, name):
        raise WrongIdentity(
            f"the store is that of a replica of {kept.name} in {kept.cluster}, not of {name} in {cluster}"
        )


def next_life(kept: Identity, random_part: str, *, was_power_lost: bool) -> Identity:
    """Return the identity of the next life. To be written and synced before the store's mark of a new boot is.

    Unclean stays unclean until the controllers know it, over any number of crashes.
    """
    life = f"{life_number(kept.life) + 1}-{random_part}"
    return replace(kept, life=life, is_unclean=stays_unclean(kept.is_unclean, was_power_lost))


def remembering(kept: Identity, state: NameState) -> Identity:
    """Return the identity that knows how new a state was, and is not unclean any more if the state has this life."""
    is_told = state.is_registered(kept.broker_id, kept.life)
    return replace(kept, known=state.view, is_unclean=kept.is_unclean and not is_told)


def stays_unclean(was_unclean: bool, was_power_lost: bool) -> bool:
    """Tell whether a tail of the log may be lost without the controllers knowing it."""
    return was_unclean or was_power_lost
