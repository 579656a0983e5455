"""One change of a topic, group or broker at a time: brokers cannot compare a version and change it in one step.

The processes of an installation share its data folder, and there a file whose bytes they lock: one byte, far behind the
end of the file, for each resource. The operating system frees what a process held when it ends, however it ends.
"""

from __future__ import annotations

import fcntl
import math
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from django.conf import settings

from console.errors import BrokersSilent, Conflict

WAIT_SECONDS: Final = 30.0
"""How long a change waits for the earlier ones of the same resource."""
FILE_NAME: Final = "changes.lock"

_PAUSE_SECONDS: Final = 0.01
# Offsets of a file go up to 2**63 - 1.
_PLACE_BITS: Final = 62

Key = tuple[str, str, str]
"""Cluster, kind and name of a resource."""

_guard: Final = threading.Lock()
# Locks that somebody in this process holds or waits for, and how many do.
_locks: Final[dict[Key, tuple[threading.Lock, int]]] = {}
# When one of them found the brokers silent, and how; for as long as others wait.
_silences: Final[dict[Key, tuple[float, str]]] = {}


@contextmanager
def change_lock(cluster: str, kind: str, name: str, *, wait_seconds: float | None = None) -> Iterator[None]:
    """Run the block while nothing else of this installation changes the resource.

    Raises Conflict after 30 s of waiting, or `wait_seconds`. If the block raises BrokersSilent, those of this process
    that wait meanwhile raise it, too: each would be as long in finding it out. It cannot be taken twice by one thread.
    """
    key = (cluster, kind, name)
    begun, wait_seconds = time.monotonic(), WAIT_SECONDS if wait_seconds is None else wait_seconds
    lock = _join(key)
    try:
        # Locks of a file belong to the process: its threads take turns before they ask for one.
        if not lock.acquire(timeout=wait_seconds):
            raise _still_running(name)
        try:
            silent_at, words = _silences.get(key, (-math.inf, ""))
            if silent_at >= begun:
                raise BrokersSilent(words)
            with _among_processes(key, begun + wait_seconds), _silence_noted(key):
                yield
        finally:
            lock.release()
    finally:
        _leave(key)


@contextmanager
def _silence_noted(key: Key) -> Iterator[None]:
    try:
        yield
    except BrokersSilent as error:
        _silences[key] = time.monotonic(), str(error.detail)
        raise


@contextmanager
def _among_processes(key: Key, until: float) -> Iterator[None]:
    file, place = _file(settings.GANTRY_DATA_DIR, os.getpid()), _place_of(key)
    while not _taken(file, place):
        if time.monotonic() >= until:
            raise _still_running(key[2])
        time.sleep(_PAUSE_SECONDS)
    try:
        yield
    finally:
        fcntl.lockf(file, fcntl.LOCK_UN, 1, place)


def _taken(file: int, place: int) -> bool:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
    except (BlockingIOError, PermissionError):  # POSIX allows both
        return False
    return True


@cache
def _file(folder: Path, _: int) -> int:
    """Return the descriptor of the locks for this process; it stays open, since closing one frees all its locks."""
    return os.open(folder / FILE_NAME, os.O_RDWR | os.O_CREAT, 0o600)


def _place_of(key: Key) -> int:
    digest = sha256("\0".join(key).encode()).digest()
    return int.from_bytes(digest[:8]) >> (64 - _PLACE_BITS)


def _still_running(name: str) -> Conflict:
    return Conflict(f"Earlier changes of {name!r} are still running; try again later.")


def _join(key: Key) -> threading.Lock:
    with _guard:
        lock, users = _locks.get(key) or (threading.Lock(), 0)
        _locks[key] = lock, users + 1
    return lock


def _leave(key: Key) -> None:
    with _guard:
        lock, users = _locks[key]
        if users == 1:
            del _locks[key]
            _silences.pop(key, None)
        else:
            _locks[key] = lock, users - 1
