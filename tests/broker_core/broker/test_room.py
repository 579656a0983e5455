"""What a start waits for. A disk that is really full: tests/crash/test_full_disk.py."""

from __future__ import annotations

import asyncio
import errno
from pathlib import Path
from sqlite3 import OperationalError

import pytest

from broker_core.broker import Broker
from broker_core.broker.room import is_full_disk, open_with_room
from broker_core.store.errors import StoreFull


def caused(cause: Exception | None) -> StoreFull:
    error = StoreFull(Path("x"), 1)
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "is_full"),
    [
        (caused(OSError(errno.ENOSPC, "full")), True),
        (caused(OperationalError("full")), True),
        (OSError(errno.ENOSPC, "full"), True),
        (OSError(errno.EDQUOT, "full"), True),
        (caused(OSError(errno.EFBIG, "too large")), False),
        (OSError(errno.EFBIG, "too large"), False),
        (OSError(errno.EIO, "broken"), False),
    ],
)
async def test_it_waits_for_a_full_disk_alone(error: StoreFull | OSError, is_full: bool) -> None:
    assert is_full_disk(error) is is_full
    stop = asyncio.Event()

    async def fails() -> Broker:
        stop.set()
        raise error

    if is_full:
        assert await open_with_room(fails, "b", stop) is None
    else:
        with pytest.raises(type(error)):
            await open_with_room(fails, "b", stop)
