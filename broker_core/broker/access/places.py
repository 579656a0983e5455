"""Accounts that are served only on connections from this machine, or from networks that a setting names.

Whoever sees a request that an account has signed can send it again, and its signature with other requests too. Of an
account whose owner is on this machine nobody elsewhere can make use.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from broker_core.broker.errors import AccessRefused
from broker_core.protocol.networks import Networks


@dataclass(frozen=True, slots=True)
class LocalAccounts:
    """The access keys of such accounts, and the networks beside this machine."""

    access_keys: tuple[str, ...] = ()
    networks: Networks = field(default_factory=Networks)

    def check(self, access_key: str, peer: str, local: str) -> None:
        """Raise AccessRefused if a connection, of these two ends, comes from where the account is not served."""
        if access_key in self.access_keys and not self.networks.admit(peer, local):
            raise AccessRefused(
                f"The account {access_key} is served only on connections from the broker's own machine "
                f"(aclLocalAccounts) and from the networks of aclLocalNetworks, not from {peer.rpartition(':')[0]}"
            )
