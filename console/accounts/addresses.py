"""The address of a client: the peer of its connection, or the address that a trusted proxy reports."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest

Network = IPv4Network | IPv6Network


def address_of(request: HttpRequest) -> str:
    """Return the address of the client of a request; empty if the server does not provide one."""
    forwarded = str(request.META.get("HTTP_X_FORWARDED_FOR", ""))
    return client_address(str(request.META.get("REMOTE_ADDR") or ""), forwarded)


def client_address(address: str, forwarded: str) -> str:
    """Return the address of the client, given the peer's `address` and the ``X-Forwarded-For`` it sent.

    Each proxy appends the address from which it got the request. The entries are read backwards and trusted as long as
    they name proxies of the setting GANTRY_PROXIES; the first other one is the client.
    """
    return _address_behind(address, forwarded, tuple(settings.GANTRY_PROXIES))


# Every request asks, and callers are few.
@lru_cache(maxsize=1024)
def _address_behind(address: str, forwarded: str, trusted: tuple[str, ...]) -> str:
    proxies = _networks(trusted)
    for entry in reversed(forwarded.split(",")):
        if not _is_one_of(address, proxies) or not _is_address(entry.strip()):
            break
        address = entry.strip()
    return address


@lru_cache(maxsize=8)
def _networks(written: tuple[str, ...]) -> tuple[Network, ...]:
    return tuple(ip_network(each, strict=False) for each in written)


def _is_one_of(address: str, networks: Sequence[Network]) -> bool:
    return _is_address(address) and any(ip_address(address) in network for network in networks)


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True
