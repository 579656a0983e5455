"""Where clients find the broker: the advertised host, and the IP address that message ids carry."""

from __future__ import annotations

import socket
from ipaddress import ip_address

from broker_core.broker.errors import CannotStart
from broker_core.remoting.own_address import reached_host


def advertised_host(bind: str, advertise: str | None) -> str:
    """Return the host announced to clients: the configured one, else the bound one, else this machine's own address."""
    return advertise or reached_host(bind)


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
