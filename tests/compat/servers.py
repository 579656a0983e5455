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
FROM_DISK = {
    # Everything counts as long ago, so that a new group may begin elsewhere than at the beginning.
    "accessMessageInMemoryMaxRatio": "0",
    "messageDelayLevel": "1s 1s 1s 1s 1s",
}
PLAIN: Mapping[str, str] = {}
SHARED_SETTINGS = (SHARED, FROM_DISK, PLAIN)
"""The settings of servers that several modules share: these change nothing that another one could see."""


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
    """One server of each kind for each of `SHARED_SETTINGS`, started when first wanted."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started: dict[tuple[str, int], Server] = {}
        self._to_stop = contextlib.ExitStack()

    def get(self, kind: str, settings: Mapping[str, str]) -> Server:
        """Return the server of this kind with these settings."""
        number = SHARED_SETTINGS.index(settings)
        if (kind, number) not in self._started:
            folder = self._folder / f"{kind}-{number}"
            self._started[kind, number] = self._to_stop.enter_context(started(kind, folder, settings))
        return self._started[kind, number]

    def stop(self) -> None:
        """Stop what was started."""
        self._to_stop.close()
