"""The changes of leases in an append-only file, which is rewritten from time to time.

::

    leases.journal   ┌──────┬──────┬──────────────┐┌──────┬──────┬─────────┐
                     │ crc  │ size │ payload      ││ crc  │ size │ payload │ …
                     │ u32  │ u32  │ size bytes   ││      │      │         │
                     └──────┴──────┴──────────────┘└──────┴──────┴─────────┘
    payload          kind u8, then
      1 opened       queue u32, queue id i32, start i64, length of group u16, group, topic
      2 leased       queue u32, next i64, pop time i64, visible at i64, offsets i64 each
      3 acknowledged queue u32, offset i64
      4 held         queue u32, offset i64, pop time i64, visible at i64, deliveries u32
      5 closed       queue u32
      6 held         as 4, then first pop time i64
      7 acknowledged queue u32, offsets i64 each
      8 failed       queue u32, offset i64, reason
      9 replaced     the frames of all changes that make the new state, so that a torn one counts for nothing

Each change is written to the operating system before its request is answered, so a killed process loses none. A host
that loses power may lose the tail: those messages are delivered again. A torn tail (too short, or with a wrong
checksum) is cut off; a torn record before intact ones cannot occur, because the file is append-only.

A rewrite has three steps: `begin_rewrite` takes the current state and from then on also buffers what is appended;
`write_beside` writes the state to ``leases.journal.new`` and syncs it, which is slow and may run in another thread;
`end_rewrite` appends the buffer and renames the new file over the old one. At any time one of the files is complete.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from errno import ENOSPC
from pathlib import Path
from struct import Struct, pack, unpack
from struct import error as StructError  # noqa: N812 - its own name says nothing
from typing import Final
from zlib import crc32

from broker_core.broker.errors import BadConfigFile
from broker_core.broker.pop.changes import (
    Acknowledged,
    AllAcknowledged,
    Change,
    Failed,
    Held,
    Leased,
    Opened,
    QueueClosed,
    Replaced,
)
from broker_core.broker.pop.feed import LeaseFeed

FILE_NAME: Final = "leases.journal"
REWRITE_BYTES: Final = 8 * 1024 * 1024
"""The file is rewritten after it has grown by this many bytes, about 200,000 changes."""

_FRAME: Final = Struct(">II")
_OPENED: Final = Struct(">BIiqH")
_LEASED: Final = Struct(">BIqqq")
_ACKNOWLEDGED: Final = Struct(">BIq")
_HELD: Final = Struct(">BIqqqI")
_FAILED: Final = Struct(">BIq")
_CLOSED: Final = Struct(">BI")
_ALL_ACKNOWLEDGED: Final = Struct(">BI")
_HELD_SINCE: Final = Struct(">BIqqqIq")
_REPLACED: Final = 9


def encode(change: Change) -> bytes:
    """Return the encoded frame of one change."""
    payload = _encode_payload(change)
    return _FRAME.pack(crc32(payload), len(payload)) + payload


def decode_all(data: bytes) -> tuple[list[Change], int]:
    """Return the complete changes of a file and the position of its torn tail, or of its end if nothing is torn.

    Raises BadConfigFile for a complete change of an unknown kind: a later version wrote it.
    """
    changes: list[Change] = []
    position = 0
    while position + _FRAME.size <= len(data):
        checksum, size = _FRAME.unpack_from(data, position)
        payload = data[position + _FRAME.size : position + _FRAME.size + size]
        if len(payload) < size or not payload or crc32(payload) != checksum:
            break
        try:
            changes.append(_DECODERS[payload[0]](payload))
        except (KeyError, StructError, UnicodeDecodeError) as error:
            raise BadConfigFile(f"{FILE_NAME}: the change at byte {position} is of an unknown kind") from error
        position += _FRAME.size + size
    return changes, position


class Journal:
    """The lease journal of one broker. Raises OSError when a write fails, and BadConfigFile from `load`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / FILE_NAME
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._beside = folder / (FILE_NAME + ".new")
        self._size = 0
        self._rewritten_size = 0
        self._since: list[bytes] | None = None
        self.feed = LeaseFeed()
        """The same changes, for slaves."""

    @property
    def wants_rewrite(self) -> bool:
        """Whether the file has grown enough to be rewritten."""
        return self._since is None and self._size - self._rewritten_size > REWRITE_BYTES

    def load(self) -> list[Change]:
        """Return the changes in the file, cut off its torn tail if it has one, and prepare to append."""
        with os.fdopen(os.dup(self._file), "rb") as file:
            file.seek(0)
            data = file.read()
        changes, end = decode_all(data)
        os.ftruncate(self._file, end)
        os.lseek(self._file, end, os.SEEK_SET)
        self._size = self._rewritten_size = end
        return changes

    def append(self, change: Change) -> None:
        """Write one change to the operating system; after an OSError the file is unchanged."""
        data = encode(change)
        if os.write(self._file, data) != len(data):
            os.ftruncate(self._file, self._size)
            os.lseek(self._file, self._size, os.SEEK_SET)
            raise OSError(ENOSPC, "only part of a lease change was written", str(self._path))
        self._size += len(data)
        if self._since is not None:
            self._since.append(data)
        self.feed.note(data)

    def begin_rewrite(self, snapshot: Iterable[Change]) -> bytes:
        """Return the current state as bytes for `write_beside`; from now on appends go to both files."""
        self._since = []
        return b"".join(map(encode, snapshot))

    def write_beside(self, state: bytes) -> int:
        """Write and sync the new file; return its descriptor. Uses nothing that `append` uses."""
        file = os.open(self._beside, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        try:
            _write_all(file, state)
            os.fsync(file)
        except OSError:
            os.close(file)
            raise
        return file

    def end_rewrite(self, file: int | None) -> None:
        """Make the new file the journal; None, after a failed rewrite, keeps the old one."""
        since, self._since = self._since or [], None
        if file is None:
            self._rewritten_size = self._size  # do not retry before the file has grown by the same amount again
            return
        _write_all(file, b"".join(since))
        self._beside.replace(self._path)
        os.close(self._file)
        self._file = file
        self._size = self._rewritten_size = os.lseek(file, 0, os.SEEK_CUR)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def _encode_payload(change: Change) -> bytes:
    if isinstance(change, Acknowledged):
        return _ACKNOWLEDGED.pack(3, change.queue, change.offset)
    if isinstance(change, Leased):
        head = _LEASED.pack(2, change.queue, change.next_offset, change.pop_time, change.visible_at)
        return head + _packed(change.offsets)
    if isinstance(change, AllAcknowledged):
        return _ALL_ACKNOWLEDGED.pack(7, change.queue) + _packed(change.offsets)
    if isinstance(change, Held):
        return _HELD_SINCE.pack(
            6,
            change.queue,
            change.offset,
            change.pop_time,
            change.visible_at,
            change.deliveries,
            change.first_pop_time,
        )
    if isinstance(change, Failed):
        return _FAILED.pack(8, change.queue, change.offset) + change.reason.encode()
    if isinstance(change, Opened):
        group = change.group.encode()
        head = _OPENED.pack(1, change.queue, change.queue_id, change.start, len(group))
        return head + group + change.topic.encode()
    if isinstance(change, Replaced):
        return bytes([_REPLACED]) + b"".join(map(encode, change.changes))
    return _CLOSED.pack(5, change.queue)


def _packed(offsets: tuple[int, ...]) -> bytes:
    return pack(f">{len(offsets)}q", *offsets)


def _decode_opened(payload: bytes) -> Opened:
    _, queue, queue_id, start, group_size = _OPENED.unpack_from(payload)
    names = payload[_OPENED.size :]
    return Opened(queue, names[:group_size].decode(), names[group_size:].decode(), queue_id, start)


def _decode_leased(payload: bytes) -> Leased:
    _, queue, next_offset, pop_time, visible_at = _LEASED.unpack_from(payload)
    return Leased(queue, next_offset, pop_time, visible_at, _unpacked(payload[_LEASED.size :]))


def _decode_all_acknowledged(payload: bytes) -> AllAcknowledged:
    _, queue = _ALL_ACKNOWLEDGED.unpack_from(payload)
    return AllAcknowledged(queue, _unpacked(payload[_ALL_ACKNOWLEDGED.size :]))


def _decode_failed(payload: bytes) -> Failed:
    _, queue, offset = _FAILED.unpack_from(payload)
    return Failed(queue, offset, payload[_FAILED.size :].decode())


def _decode_replaced(payload: bytes) -> Replaced:
    changes, end = decode_all(payload[1:])
    if end != len(payload) - 1:
        raise BadConfigFile(
            f"{FILE_NAME}: leases that replace others are torn after {end} bytes, inside a whole change"
        )
    return Replaced(tuple(changes))


def _unpacked(offsets: bytes) -> tuple[int, ...]:
    return unpack(f">{len(offsets) // 8}q", offsets)


_DECODERS: Final[dict[int, Callable[[bytes], Change]]] = {
    1: _decode_opened,
    2: _decode_leased,
    3: lambda payload: Acknowledged(*_ACKNOWLEDGED.unpack(payload)[1:]),
    4: lambda payload: Held(*_HELD.unpack(payload)[1:]),
    5: lambda payload: QueueClosed(*_CLOSED.unpack(payload)[1:]),
    6: lambda payload: Held(*_HELD_SINCE.unpack(payload)[1:]),
    7: _decode_all_acknowledged,
    8: _decode_failed,
    _REPLACED: _decode_replaced,
}
