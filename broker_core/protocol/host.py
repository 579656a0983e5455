"""An IP address with a port: 4 or 16 address bytes, then an int32 port."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import ip_address
from typing import Final

from broker_core.protocol.errors import MalformedHost

IPV4_BYTES: Final = 8
IPV6_BYTES: Final = 20
_MAX_PORT: Final = 0xFFFFFFFF
_MAX_PORT_DIGITS: Final = 10
_LONGEST_ADDRESS: Final = 255 + len(":65535")  # a DNS name has 255 characters at most
_ADDRESS: Final = re.compile(r"(?:[\w.-]+|\[?[0-9A-Fa-f:.]+(?:%[\w.-]+)?\]?):([0-9]{1,5})")


@lru_cache(maxsize=65536)
def encode_host(ip: str, port: int) -> bytes:
    """Return 8 bytes for IPv4, 20 for IPv6; raise MalformedHost for a host name, or a port out of range."""
    if not 0 <= port <= _MAX_PORT:
        raise MalformedHost(f"port {port} of host {ip!r} is out of range")
    try:
        return ip_address(ip.partition("%")[0]).packed + port.to_bytes(4, "big")
    except ValueError as error:
        raise MalformedHost(f"{ip!r} is not an IP address") from error


@lru_cache(maxsize=65536)
def decode_host(data: bytes) -> str:
    """Return `ip:port`, or `[ip]:port` for IPv6."""
    ip, port = split_host(data)
    return f"[{ip}]:{port}" if len(data) == IPV6_BYTES else f"{ip}:{port}"


def split_host(data: bytes) -> tuple[str, int]:
    """Return the address text and the port of 8 or 20 bytes."""
    if len(data) not in (IPV4_BYTES, IPV6_BYTES):
        raise MalformedHost(f"a host has 8 or 20 bytes, not {len(data)}")
    return str(ip_address(data[:-4])), int.from_bytes(data[-4:], "big")


def parse_host(text: str) -> tuple[str, int]:
    """Return address and port of `ip:port` or `[ip]:port`."""
    ip, colon, port = text.rpartition(":")
    if not colon or not port.isdecimal() or len(port) > _MAX_PORT_DIGITS:
        raise MalformedHost(f"{text!r} is not ip:port")
    return ip.strip("[]"), int(port)


def is_address(text: str) -> bool:
    """Return whether a text is where a server is reached: ``host:port``, the host a name or an IP address."""
    found = _ADDRESS.fullmatch(text) if len(text) <= _LONGEST_ADDRESS else None
    return found is not None and int(found[1]) <= 0xFFFF
