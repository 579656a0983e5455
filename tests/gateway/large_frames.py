"""Frames that end a socket, also while they are being sent."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect


def end_of_socket(url: str, headers: Mapping[str, str], frame: str | bytes) -> tuple[int | None, str | None]:
    """Open a socket, send one unfragmented text frame, and return code and reason of the end."""
    with connect(url, additional_headers=headers, proxy=None) as connection:
        connection.recv(20)
        with suppress(ConnectionClosed):
            connection.send(frame, text=True)
        with suppress(ConnectionClosed):
            connection.recv(20)
        return connection.close_code, connection.close_reason
