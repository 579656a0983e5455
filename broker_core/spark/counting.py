"""Counts the rows of the running tasks of a read, since Spark reports only ended tasks."""

from __future__ import annotations

import secrets
import socket
import threading
import time
from dataclasses import dataclass, field
from typing import Final

import msgspec

_EVERY_S: Final = 0.3
_MOST_BYTES: Final = 4096


class _PartTotal(msgspec.Struct, frozen=True):
    token: str
    part: str
    rows: int


@dataclass(slots=True)
class RowCounter:
    """The driver's side."""

    host: str = "127.0.0.1"
    _token: str = field(default_factory=lambda: secrets.token_hex(16))
    _socket: socket.socket = field(default_factory=lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    _parts: dict[str, int] = field(default_factory=dict)

    def start(self) -> str:
        """Listen; return the value of the option ``countTo`` for the reads to count."""
        self._socket.bind((self.host, 0))
        threading.Thread(target=self._listen, name="row counter", daemon=True).start()
        return f"{self.host}:{self._socket.getsockname()[1]}:{self._token}"

    def rows(self) -> int:
        """Return the rows of all parts so far."""
        return sum(list(self._parts.values()))

    def close(self) -> None:
        """Stop listening."""
        self._socket.close()

    def _listen(self) -> None:
        while True:
            try:
                data = self._socket.recv(_MOST_BYTES)
            except OSError:
                return
            try:
                total = msgspec.json.decode(data, type=_PartTotal)
            except (msgspec.DecodeError, UnicodeDecodeError):  # not from a task
                continue
            if secrets.compare_digest(total.token, self._token):
                self._parts[total.part] = max(self._parts.get(total.part, 0), total.rows)


class RowReporter:
    """The task's side: sends the totals of one part, a few times a second and at the end."""

    def __init__(self, address: str, part: str) -> None:
        """`address` is what `RowCounter.start` returned."""
        host, port, self._token = address.split(":")
        self._address = (host, int(port))
        self._part = part
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._rows = 0
        self._sent_at = 0.0

    def add(self, rows: int) -> None:
        """Count rows."""
        self._rows += rows
        if time.monotonic() - self._sent_at > _EVERY_S:
            self._send_total()

    def close(self) -> None:
        """Send the last totals."""
        self._send_total()
        self._socket.close()

    def _send_total(self) -> None:
        self._sent_at = time.monotonic()
        total = _PartTotal(self._token, self._part, self._rows)
        self._socket.sendto(msgspec.json.encode(total), self._address)
