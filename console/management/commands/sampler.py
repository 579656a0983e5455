"""``manage.py sampler``: samples lag and rates of every cluster once a second, until it is stopped."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

from django.core.management.base import BaseCommand

from console.lag.sampler import Sampler


class Command(BaseCommand):
    """Runs the sampler."""

    # They import every view of the gateway, which the sampler does not serve; the tests run them.
    requires_system_checks = ()
    help = "Sample lag and rates of every cluster once a second."

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Work until SIGTERM or SIGINT."""
        asyncio.run(_run())


async def _run() -> None:
    work = asyncio.create_task(Sampler().run(), name="sampler")
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, work.cancel)
    try:
        await work
    except asyncio.CancelledError:
        return
