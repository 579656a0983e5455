"""Handles a stop signal before the server does.

The server finishes running requests before it stops the application. A request that waits for messages would delay
that by half a minute, so the application handles the signal itself and ends such waits at once.
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
    """Call `act` on the running loop after SIGTERM or SIGINT, in addition to the existing handlers.

    Only the main thread of a process may set signal handlers; in other threads (tests, an embedded server) this does
    nothing.
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

        # Replaces only the handler: the descriptor that wakes the loop for its own handlers stays the same.
        signal.signal(number, handle)
