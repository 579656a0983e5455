"""Where webhooks may go: public addresses, and the networks of GANTRY_WEBHOOK_NETWORKS.

A URL of a channel comes from a user of the console, but the request comes from this host, which may reach what the
user may not: its own ports, the cloud's metadata, the inner network.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

Address = IPv4Address | IPv6Address


class NotReachable(Exception):
    """The host has no address that webhooks may use; the text says why."""


def allowed(host: str, port: int, networks: Iterable[str]) -> Address:
    """Return the first address of a host that webhooks may use; raise NotReachable.

    The request must go to this address, not to the name: a second look-up may answer differently.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise NotReachable(f"{host} has no address: {getattr(error, 'strerror', None) or error}") from error
    addresses = [_plain(str(each[4][0])) for each in found]
    kept = tuple(networks)
    for address in addresses:
        if is_allowed(address, kept):
            return address
    raise NotReachable(
        f"{host} is at {addresses[0]}, which is not public; webhooks may use it if GANTRY_WEBHOOK_NETWORKS has it"
    )


def is_allowed(address: Address, networks: Iterable[str]) -> bool:
    """Return whether webhooks may use an address."""
    if any(address in ip_network(each, strict=False) for each in networks):
        return True
    return address.is_global and not address.is_multicast


def _plain(text: str) -> Address:
    address = ip_address(text.partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
