"""Where others reach a server of this machine."""

from __future__ import annotations

import socket
from typing import Final

_EVERYWHERE: Final = ("0.0.0.0", "::", "")  # noqa: S104 - compared with, not bound to


def local_ip() -> str:
    """Return the address from which this machine reaches others, ``127.0.0.1`` if it has none."""
    # Connecting a datagram socket sends nothing: it only makes the kernel choose the local address.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])


def reached_host(bind: str) -> str:
    """Return the host of a server that listens on `bind`: this machine's own address if it listens on all."""
    return local_ip() if bind in _EVERYWHERE else bind


def join(host: str, port: int) -> str:
    """Return ``host:port``, or ``[host]:port`` for an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
