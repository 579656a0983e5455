"""Counts the rows of the running tasks of a read, since Spark reports only ended tasks."""

from __future__ import annotations

import secrets
import socket
import threading
import time
from dataclasses import astuple, dataclass, field
from typing import Final

import msgspec

from broker_core.spark.bytes_read import BytesRead
from broker_core.structs import decoded

_EVERY_S: Final = 0.3
_MOST_BYTES: Final = 4096


@decoded
class _PartTotal(msgspec.Struct, frozen=True):
    token: str
    part: str
    rows: int
    read: tuple[int, int, int, int, int]
    """The fields of `BytesRead`."""


@dataclass(slots=True)
class RowCounter:
    """The driver's side."""

    host: str = "127.0.0.1"
    _token: str = field(default_factory=lambda: secrets.token_hex(16))
    _socket: socket.socket = field(default_factory=lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    _parts: dict[str, int] = field(default_factory=dict)
    _read: dict[str, BytesRead] = field(default_factory=dict)

    def start(self) -> str:
        """Listen; return the value of the option ``countTo`` for the reads to count."""
        self._socket.bind((self.host, 0))
        threading.Thread(target=self._listen, name="row counter", daemon=True).start()
        return f"{self.host}:{self._socket.getsockname()[1]}:{self._token}"

    def rows(self) -> int:
        """Return the rows of all parts so far."""
        return sum(list(self._parts.values()))

    def bytes_read(self) -> BytesRead:
        """Return the bytes that all parts have read so far; a part that was read twice counts once."""
        total = BytesRead()
        for read in list(self._read.values()):
            total.add(read)
        return total

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
                read = BytesRead(*total.read)
                if read.total() >= self._read.get(total.part, BytesRead()).total():
                    self._read[total.part] = read


class RowReporter:
    """The task's side: sends the totals of one part, a few times a second and at the end."""

    def __init__(self, address: str, part: str, read: BytesRead) -> None:
        """`address` is what `RowCounter.start` returned; `read` is counted by the reader."""
        host, port, self._token = address.split(":")
        self._address = (host, int(port))
        self._part = part
        self._read = read
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
        total = _PartTotal(self._token, self._part, self._rows, astuple(self._read))
        self._socket.sendto(msgspec.json.encode(total), self._address)
