"""How the brokers of a cluster are reached: travels to the tasks, pickled, and stands in no text that Spark shows."""

from __future__ import annotations

from typing import NamedTuple

from broker_core.protocol.signature import Credentials
from broker_core.remoting import ClientTls


class WirePlace(NamedTuple):
    """A cluster as a session needs it."""

    name_servers: tuple[str, ...]
    account: Credentials | None = None
    """Signs the requests."""
    tls: ClientTls | None = None
    """As texts, since files of this machine are on no other; None: in plaintext."""
