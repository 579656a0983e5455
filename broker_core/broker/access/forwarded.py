"""Fields by which a replica says for whom it forwards a request (broker/replication/README.md#forwarding)."""

from __future__ import annotations

from typing import Final

from broker_core.protocol.command import Command

CLIENT: Final = "gantryForwardedFor"
"""``ip:port`` of the client; its presence says that the request was forwarded."""
ACCOUNT: Final = "gantryForwardedAccount"
"""The account with which the client signed; left out if it needed none."""


def is_forwarded(request: Command) -> bool:
    """Return whether a request came by another replica, or says so."""
    return CLIENT in request.ext_fields
