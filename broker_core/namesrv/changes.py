"""Who may change what a name server tells: anybody, as in the reference, or this machine and named networks.

Requests to a name server have no accounts. Whoever registers a broker is sent what clients and administration have for
one, with their signatures.
"""

from __future__ import annotations

import argparse
import logging
from typing import Final

from broker_core.errors import GantryError
from broker_core.protocol import Command, RequestCode
from broker_core.protocol.networks import Networks
from broker_core.remoting import Connection
from broker_core.remoting.dispatch import BeforeHook
from broker_core.remoting.rare_warnings import RareWarnings

CHANGES: Final = frozenset(
    {
        RequestCode.REGISTER_BROKER,
        RequestCode.UNREGISTER_BROKER,
        RequestCode.QUERY_DATA_VERSION,  # an unchanged version keeps a broker registered
        RequestCode.DELETE_TOPIC_IN_NAMESRV,
        RequestCode.WIPE_WRITE_PERM_OF_BROKER,
        RequestCode.ADD_WRITE_PERM_OF_BROKER,
        RequestCode.PUT_KV_CONFIG,
        RequestCode.DELETE_KV_CONFIG,
        RequestCode.UPDATE_NAMESRV_CONFIG,
    }
)
"""The requests that change something."""

_log: Final = logging.getLogger(__name__)


class ChangeRefused(GantryError):
    """Raised for a change from where none is taken."""

    def __init__(self, code: int, host: str) -> None:
        super().__init__(
            f"request code={code} ({RequestCode(code).name}) changes this name server, which takes changes only from "
            f"its own machine and from the networks of changeNetworks (GANTRY_NAMESRV_NETWORKS), not from {host}"
        )


def networks_option(text: str) -> Networks:
    """Return the networks of an option of a command; raise argparse's error for what is none."""
    try:
        return Networks.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def changes_from(networks: Networks) -> BeforeHook:
    """Return a hook that raises ChangeRefused for changes from elsewhere than this machine and these networks."""
    warnings = RareWarnings()

    def check(request: Command, connection: Connection) -> None:
        if request.code in CHANGES and not networks.admit(connection.peer, connection.local):
            refused = ChangeRefused(request.code, connection.peer.rpartition(":")[0])
            warnings.warn(_log, "peer=%s: refused: %s", connection.peer, refused)
            raise refused

    return check
