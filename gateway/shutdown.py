"""Hearing a stop signal before the server acts on it.

A server lets requests under way end before it tells the application to stop. A request that waits for messages would
hold it up for half a minute, so the application listens to the signal itself and ends such waits at once.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Final

_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


def on_stop_signal(act: Callable[[], None]) -> None:
    """Have `act` called on the running loop when the process is told to stop; whoever handled the signal still does.

    Only a process's main thread may do so; elsewhere (a test, an embedded server) nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        before = signal.getsignal(number)

        def handle(number: int, frame: FrameType | None, before: object = before) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(act)
            if callable(before):
                before(number, frame)

        # Replaces the handler alone: the descriptor that wakes the loop's own signal handling stays as it is.
        signal.signal(number, handle)
