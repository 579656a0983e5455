"""The limits of a connection and of a server, and what happens when they are reached."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.protocol.frame import MAX_FRAME, MAX_HEADER


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """The limits. The defaults suit some thousand clients in a process of a few gigabytes.

    The broker's table of limits, logs and errors use the same names.
    """

    frame_bytes: int = MAX_FRAME
    """Bytes of one frame; a larger frame closes its connection."""

    header_bytes: int = MAX_HEADER
    """Bytes of one header; a larger header closes its connection. Requests have short headers, but the answer to a
        large batch names every message in its header."""

    connections: int = 10_000
    """Connections of one server; a further one is closed at once, before anything is read."""

    unanswered_requests: int = 16_384
    """Requests of one peer that handlers are working on; a further one is answered SYSTEM_BUSY."""

    calls_per_connection: int = 65_536
    """Calls of this side that wait on one connection; a further one raises Overloaded."""

    memory_bytes: int = 1024 * 1024 * 1024
    """Bytes held by all connections of a server (`memory.py`); above it the connection that holds most is closed."""

    write_buffer_bytes: int = 4 * 1024 * 1024
    """Bytes that a peer has not read yet; from here on a server stops reading from it, and a client's calls wait."""

    unread_bytes: int = 64 * 1024 * 1024
    """Bytes that a peer has not read yet; from here on its connection is closed."""

    idle_seconds: float = 120.0
    """Seconds after which an idle connection is closed; 0: never."""

    tls_handshake_seconds: float = 10.0
    """Seconds for a TLS handshake, from its first byte; afterwards the connection is closed. The same as in Netty."""

    tls_handshakes: int = 1_000
    """TLS handshakes of one server at once, each of which takes 80 KB; a further one closes the oldest."""

    connect_timeout_ms: int = 3_000
    """Time limit for opening a connection."""
