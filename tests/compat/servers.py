"""Gantry's broker and Apache RocketMQ's, started for one module or for all that are content with the same settings."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from tests.support.apache import ApacheBroker
from tests.support.cluster import RunningBroker

Server: TypeAlias = RunningBroker | ApacheBroker

KINDS: Mapping[str, type[Server]] = {"gantry": RunningBroker, "apache": ApacheBroker}

SHARED = {
    # The first retry is on level 3, after a second; the next ones after two and three.
    "messageDelayLevel": "1s 1s 1s 2s 3s",
    "traceTopicEnable": "true",
}
"""The settings of the servers that several modules share."""


@contextmanager
def started(kind: str, folder: Path, settings: Mapping[str, str]) -> Iterator[Server]:
    """Start a broker with its name server; they are killed at the end, when nobody wants their store."""
    running = KINDS[kind](folder, settings=settings)
    try:
        running.start()
        yield running
    finally:
        running.stop(kill=True)


class SharedServers:
    """One server of each kind, started when first wanted."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started: dict[str, Server] = {}
        self._to_stop = contextlib.ExitStack()

    def get(self, kind: str) -> Server:
        """Return the server of this kind."""
        if kind not in self._started:
            self._started[kind] = self._to_stop.enter_context(started(kind, self._folder / kind, SHARED))
        return self._started[kind]

    def stop(self) -> None:
        """Stop what was started."""
        self._to_stop.close()
