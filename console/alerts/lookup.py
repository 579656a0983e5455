"""Looks names up without a pool: a name server that is silent holds up nobody but who asks for its names."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import Future
from threading import Lock, Thread
from typing import Final

_running: Final[dict[tuple[str, int], Future[list[str]]]] = {}
_lock: Final = Lock()


async def addresses_of(host: str, port: int) -> list[str]:
    """Return the addresses of a host, the one to use first; raise OSError or UnicodeError.

    The look-up goes on when its caller gives up, since the system has no way to end it, and the next caller waits for
    the same one: each name has one thread at most.
    """
    return await asyncio.wrap_future(_lookup(host, port))


def literal(host: str) -> str | None:
    """Return the address that a host is written as, in any of the system's spellings; None for a name."""
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except (OSError, UnicodeError):
        return None
    return str(found[0][4][0])


def _lookup(host: str, port: int) -> Future[list[str]]:
    with _lock:
        running = _running.get((host, port))
        if running is not None:
            return running
        found: Future[list[str]] = Future()
        found.set_running_or_notify_cancel()  # from now on a caller that gives up does not cancel it for the others
        _running[host, port] = found
    # A thread that nobody waits for when the process or the event loop ends.
    Thread(target=_run, args=(host, port, found), name=f"look up {host}", daemon=True).start()
    return found


def _run(host: str, port: int, found: Future[list[str]]) -> None:
    try:
        addresses = [str(each[4][0]) for each in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except BaseException as error:  # noqa: BLE001 - its callers raise it
        _forget(host, port)
        found.set_exception(error)
    else:
        _forget(host, port)
        found.set_result(addresses)


def _forget(host: str, port: int) -> None:
    with _lock:
        del _running[host, port]
