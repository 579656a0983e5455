"""The limits of a connection and of a server, each with what happens when it is reached."""

from __future__ import annotations

from dataclasses import dataclass

from broker_core.protocol.frame import MAX_FRAME, MAX_HEADER


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Values and answers. The defaults serve some thousand clients in a process of a few gigabytes.

    A broker's own table of limits has them under the same names, and so have logs and errors.
    """

    frame_bytes: int = MAX_FRAME
    """Bytes of one frame; a larger one closes its connection."""

    header_bytes: int = MAX_HEADER
    """Bytes of one header; a larger one closes its connection. No request needs much, but the answer to a large batch
    names every message in its header."""

    connections: int = 10_000
    """Connections of one server; one more is closed at once, before anything is read."""

    unanswered_requests: int = 16_384
    """Requests of one peer that handlers work on; one more is answered SYSTEM_BUSY."""

    calls_per_connection: int = 65_536
    """Own calls on one connection that wait for their answer; one more raises Overloaded."""

    memory_bytes: int = 1024 * 1024 * 1024
    """Bytes that all connections of a server hold (`memory.py`); beyond it the one that holds most is closed."""

    write_buffer_bytes: int = 4 * 1024 * 1024
    """Bytes a peer has not taken yet; from here on a server reads nothing more from it, a client's calls wait."""

    unread_bytes: int = 64 * 1024 * 1024
    """Bytes a peer has not taken yet; from here on its connection is closed."""

    idle_seconds: float = 120.0
    """A connection on which nothing was read or written for so long is closed; 0 means never."""

    connect_timeout_ms: int = 3_000
    """How long opening a connection may take."""
