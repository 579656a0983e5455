"""Which process holds an end of a TCP connection on this machine, by what Linux tells in ``/proc``.

A relay sees an address only, and all processes of a test have the same one.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

Address = tuple[str, int]


def owner_of(theirs: Address, ours: Address, processes: Iterable[int]) -> int | None:
    """Return which of `processes` connected from `theirs` to `ours`; None if none of them does any more."""
    inode = _inode(theirs, ours)
    if inode is None:
        return None
    return next((process for process in processes if _holds(process, f"socket:[{inode}]")), None)


def _inode(theirs: Address, ours: Address) -> str | None:
    wanted = [_as_printed(theirs), _as_printed(ours)]
    for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]:
        words = line.split()
        if words[1:3] == wanted:
            return words[9]
    return None


def _as_printed(address: Address) -> str:
    # Four bytes in the machine's own order, which is the reverse on all that these tests run on.
    return f"{socket.inet_aton(address[0])[::-1].hex().upper()}:{address[1]:04X}"


def _holds(process: int, name: str) -> bool:
    with suppress(FileNotFoundError, PermissionError):
        return any(_target(each) == name for each in Path(f"/proc/{process}/fd").iterdir())
    return False


def _target(descriptor: Path) -> str | None:
    with suppress(FileNotFoundError):
        return str(descriptor.readlink())
    return None
