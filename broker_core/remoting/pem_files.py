"""Certificates and keys in files: only regular ones are read, and never on an event loop.

A pipe in the place of a file, or a disk that does not answer, would stop whoever reads it for good.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from threading import Thread
from typing import Final, TypeVar

T = TypeVar("T")

MAX_BYTES: Final = 16 * 1024 * 1024
"""The limit on one file; the authorities of a system are a quarter of a megabyte."""


def read_file(file: Path) -> bytes:
    """Return the content of a regular file; raises OSError, also for anything else and beyond `MAX_BYTES`."""
    descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe is opened without waiting
    with os.fdopen(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "not a regular file")
        content = opened.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise OSError(0, f"larger than {MAX_BYTES:,} bytes")
    return content


def in_thread(work: Callable[[], T]) -> Future[T]:
    """Do `work` in a thread that a process which ends does not wait for; it is not cancelled when its waiter is."""
    done: Future[T] = Future()
    done.set_running_or_notify_cancel()

    def run() -> None:
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001 - the top of a thread: whoever waits gets the error
            done.set_exception(error)
        else:
            done.set_result(result)

    Thread(target=run, name="certificates", daemon=True).start()
    return done
