"""Where webhooks may go: public addresses, and the networks of GANTRY_WEBHOOK_NETWORKS.

A URL of a channel comes from a user of the console, but the request comes from this host, which may reach what the
user may not: its own ports, the cloud's metadata, the inner network.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from console.alerts import lookup

Address = IPv4Address | IPv6Address

# What the Internet routes of IPv6 (RFC 4291, 2.4), and within it the examples of documentations (RFC 9637).
_ROUTED: Final = IPv6Network("2000::/3")
_EXAMPLES: Final = IPv6Network("3fff::/20")
_NAT64: Final = IPv6Network("64:ff9b::/96")
# Translators and tunnels whose last four bytes are an address of IPv4: RFC 4291 (compatible), RFC 2765 (translated),
# RFC 6052 and RFC 8215 (NAT64).
_WITH_IPV4_LAST: Final = (
    IPv6Network("::/96"), IPv6Network("::ffff:0:0:0/96"), _NAT64, IPv6Network("64:ff9b:1::/48")
)  # fmt: skip
# Interface identifiers of ISATAP (RFC 5214), whatever the network.
_ISATAP: Final = (0x00005EFE, 0x02005EFE)

_NOT_PUBLIC: Final = "is not public; webhooks may use it if GANTRY_WEBHOOK_NETWORKS has it"


class NotReachable(Exception):
    """The host has no address that webhooks may use; the text says why."""


async def allowed(host: str, port: int, networks: Iterable[str]) -> Address:
    """Return the first address of a host that webhooks may use; raise NotReachable.

    The request must go to this address, not to the name: a second look-up may answer differently.
    """
    try:
        found = await lookup.addresses_of(host, port)
    except (OSError, UnicodeError) as error:
        raise NotReachable(f"{host} has no address: {getattr(error, 'strerror', None) or error}") from error
    addresses = [_plain(each) for each in found]
    kept = tuple(networks)
    for address in addresses:
        if is_allowed(address, kept):
            return address
    raise NotReachable(f"{host} is at {addresses[0]}, which {_NOT_PUBLIC}")


def check_literal(host: str, networks: Iterable[str]) -> None:
    """Raise NotReachable for a host that is written as an address that webhooks may not use.

    A name is not looked up: it may have another address when it is posted to.
    """
    text = lookup.literal(host)
    if text is not None and not is_allowed(_plain(text), networks):
        raise NotReachable(f"{text} {_NOT_PUBLIC}")


def is_allowed(address: Address, networks: Iterable[str]) -> bool:
    """Return whether webhooks may use an address: it is public, and so is each one of IPv4 that it leads to."""
    kept = [ip_network(each, strict=False) for each in networks]

    def may(one: Address) -> bool:
        return any(one in each for each in kept) or _is_public(one)

    if any(address in each for each in kept):
        return True
    inner = _leads_to(address)
    # A network that has NAT64 and no IPv4 reaches the whole Internet of IPv4 by its prefix.
    return all(map(may, inner)) and (_is_public(address) or (bool(inner) and address in _NAT64))


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address) and (address not in _ROUTED or address in _EXAMPLES):
        return False
    return address.is_global and not address.is_multicast


def _leads_to(address: Address) -> list[Address]:
    """Return the addresses of IPv4 to which translators and tunnels bring what is sent to an address."""
    if isinstance(address, IPv4Address):
        return []
    found: list[Address | None] = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    middle = int(address) >> 32 & 0xFFFFFFFF
    if middle in _ISATAP or any(address in each for each in _WITH_IPV4_LAST):
        found.append(IPv4Address(int(address) & 0xFFFFFFFF))
    return [each for each in found if each is not None]


def _plain(text: str) -> Address:
    address = ip_address(text.partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
