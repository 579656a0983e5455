"""The brokers that `make up` runs: their names, and where each keeps its messages.

The first keeps name and folder when there are more of them, so that an installation with one broker can get others.
Replicas of one broker have folders of their own.
"""

from __future__ import annotations

from pathlib import Path
from string import ascii_lowercase
from typing import Final

MOST_BROKERS: Final = 16
MOST_REPLICAS: Final = 5
FIRST_FOLDER: Final = "broker"
_FEWEST_FOR_TWO: Final = 3


def broker_names(count: int) -> list[str]:
    """Return the names of `count` brokers: ``broker-a``, ``broker-b``, …"""
    return [f"broker-{letter}" for letter in ascii_lowercase[:count]]


def replica_names(count: int) -> list[str]:
    """Return what `make up` calls `count` replicas of its one broker: ``replica-1``, ``replica-2``, …"""
    return [f"replica-{number}" for number in range(1, count + 1)]


def least_in_sync(replicas: int) -> int:
    """Return how many of so many replicas `make up` wants in sync for sends.

    With three or more a message is answered when two have it, so that it survives the loss of one. Two could not go on
    after the loss of one then.
    """
    return 2 if replicas >= _FEWEST_FOR_TWO else 1


def folder_of(data: Path, broker: str) -> Path:
    """Return the store's folder of a broker or replica, in the data folder."""
    return data / (FIRST_FOLDER if broker == broker_names(1)[0] else broker)


def stores(data: Path, count: int) -> dict[str, Path]:
    """Return the folder of each of `count` brokers, by name."""
    return {name: folder_of(data, name) for name in broker_names(count)}
