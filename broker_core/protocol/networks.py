"""Where a peer may be: on this machine, or in networks that a setting names, ``10.0.0.0/8,fd00::7``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network


@dataclass(frozen=True, slots=True)
class Networks:
    """Addresses and networks; none of them means this machine alone."""

    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Networks:
        """Return those of a comma list, which may be empty; raises ValueError with the part that is none."""
        return cls(tuple(_network(part.strip()) for part in text.split(",") if part.strip()))

    @property
    def text(self) -> str:
        """The list as `parse` reads it."""
        return ",".join(map(str, self.networks))

    def admit(self, peer: str, local: str) -> bool:
        """Return whether a connection is from this machine or from one of these networks.

        `peer` and `local` are the names of its two ends, ``ip:port`` or ``[ip]:port``. Whoever connects from this
        machine to an address of this machine has that address too, unless both are loopback addresses.
        """
        address = _address_of(peer)
        if address is None:
            return False
        return address.is_loopback or address == _address_of(local) or any(address in each for each in self.networks)


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text, strict=False)
    except ValueError:
        raise ValueError(f"{text[:80]!r} is not an address or a network such as 10.0.0.0/8") from None


@lru_cache(maxsize=4096)
def _address_of(name: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(name.rpartition(":")[0].strip("[]").partition("%")[0])
    except ValueError:
        return None
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address
