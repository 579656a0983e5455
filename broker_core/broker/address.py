"""Where clients find the broker: the advertised host, and the IP address that message ids carry."""

from __future__ import annotations

import socket
from ipaddress import ip_address

from broker_core.broker.errors import CannotStart

_ANY = ("0.0.0.0", "::", "")  # noqa: S104 - compared with, not bound to


def advertised_host(bind: str, advertise: str | None) -> str:
    """Return the host announced to clients: the configured one, else the bound one, else this machine's own address."""
    if advertise:
        return advertise
    return _own_address() if bind in _ANY else bind


def ip_of(host: str) -> str:
    """Return the IP address of a host, for records and message ids; raise CannotStart for an unknown name."""
    try:
        return str(ip_address(host))
    except ValueError:
        pass
    try:
        return str(socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][4][0])
    except OSError as error:
        raise CannotStart(f"the advertised host {host!r} has no address: {error}") from error


def join(host: str, port: int) -> str:
    """Return ``host:port``, or ``[host]:port`` for an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _own_address() -> str:
    """Return the address from which this machine reaches others; no packet is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"
