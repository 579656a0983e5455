"""The brokers that `make up` runs: their names, and where each keeps its messages.

The first keeps name and folder when there are more of them, so that an installation with one broker can get others.
"""

from __future__ import annotations

from pathlib import Path
from string import ascii_lowercase
from typing import Final

MOST_BROKERS: Final = 16
FIRST_FOLDER: Final = "broker"


def broker_names(count: int) -> list[str]:
    """Return the names of `count` brokers: ``broker-a``, ``broker-b``, …"""
    return [f"broker-{letter}" for letter in ascii_lowercase[:count]]


def folder_of(data: Path, broker: str) -> Path:
    """Return the store's folder of a broker, in the data folder."""
    return data / (FIRST_FOLDER if broker == broker_names(1)[0] else broker)


def stores(data: Path, count: int) -> dict[str, Path]:
    """Return the folder of each of `count` brokers, by name."""
    return {name: folder_of(data, name) for name in broker_names(count)}
