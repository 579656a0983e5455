"""Who may change what a name server tells: anybody, as in the reference, or this machine and named networks.

Requests to a name server have no accounts. Whoever registers a broker is sent what clients and administration have for
one, with their signatures. A controller is asked by brokers and operators only, so it also tells nothing to others.
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
OF_CONTROLLER: Final = frozenset(
    {
        RequestCode.BROKER_HEARTBEAT,
        RequestCode.CONTROLLER_ALTER_SYNC_STATE_SET,
        RequestCode.CONTROLLER_ELECT_MASTER,
        RequestCode.CONTROLLER_REGISTER_BROKER,
        RequestCode.CONTROLLER_GET_REPLICA_INFO,
        RequestCode.CONTROLLER_GET_METADATA_INFO,
        RequestCode.CONTROLLER_GET_SYNC_STATE_DATA,
        RequestCode.CLEAN_BROKER_DATA,
        RequestCode.CONTROLLER_GET_NEXT_BROKER_ID,
        RequestCode.CONTROLLER_APPLY_BROKER_ID,
        RequestCode.NAME_STATE,
        RequestCode.SET_REPLICA_POLICY,
        RequestCode.ACCEPT_LOSS,
        RequestCode.ADOPT_STATE,
    }
)
"""The requests to a controller, which clients never send."""

_GUARDED: Final = CHANGES | OF_CONTROLLER

_log: Final = logging.getLogger(__name__)


class ChangeRefused(GantryError):
    """Raised for a change from where none is taken."""

    def __init__(self, code: int, host: str) -> None:
        what = (
            "is for a controller, which takes requests only"
            if code in OF_CONTROLLER
            else "changes this name server, which takes changes only"
        )
        super().__init__(
            f"request code={code} ({RequestCode(code).name}) {what} from its own machine and from the networks of "
            f"changeNetworks (GANTRY_NAMESRV_NETWORKS), not from {host}"
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
        if request.code in _GUARDED and not networks.admit(connection.peer, connection.local):
            refused = ChangeRefused(request.code, connection.peer.rpartition(":")[0])
            warnings.warn(_log, "peer=%s: refused: %s", connection.peer, refused)
            raise refused

    return check
