"""The file of a replica's identity, in the folder of its store (broker/replication/README.md#identity)."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Final

from broker_core.broker.replication.identity import (
    WrongIdentity,
    check_identity,
    decode_identity,
    encode_identity,
    next_life,
)
from broker_core.broker.replication.messages import Identity
from broker_core.store.replacing import replace_file

FILE_NAME: Final = "brokerIdentity"


def load_identity(folder: Path) -> Identity | None:
    """Return the identity of the folder; None if it has none yet. Raises WrongIdentity."""
    try:
        text = (folder / FILE_NAME).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise WrongIdentity(f"{folder / FILE_NAME} is no text") from error
    return decode_identity(text)


def save_identity(folder: Path, identity: Identity) -> None:
    """Replace the file, synced when this returns. Raises StoreFull and OSError, and the old file stays."""
    replace_file(folder / FILE_NAME, encode_identity(identity).encode("utf-8"))


def begin_life(folder: Path, cluster: str, name: str, *, has_log: bool, was_power_lost: bool) -> Identity:
    """Return the identity of the life that begins now, kept in the file before anything else is done.

    Raises WrongIdentity for the folder of another replica, or one whose file is missing, StoreFull, OSError.
    """
    kept = load_identity(folder)
    check_identity(kept, cluster, name, has_log=has_log)
    known = kept or Identity(cluster=cluster, name=name, broker_id=0, check=secrets.token_hex(8), life="0-0")
    identity = next_life(known, secrets.token_hex(4), was_power_lost=was_power_lost)
    save_identity(folder, identity)
    return identity
