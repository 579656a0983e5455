"""The store of Apache RocketMQ 4.9.8 as a child process: opens a folder, tells what it finds."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from typing import Literal

from broker_core.store import StoreConfig
from tests.compat.java_build import CLIENT


@dataclass(frozen=True)
class Seen:
    """One message as RocketMQ reads it."""

    topic: str
    queue_id: int
    queue_offset: int
    key: str
    tag: str
    born_host: str
    body_hash: int


@dataclass
class Told:
    """What RocketMQ's store found in the folder."""

    end: int = 0
    queues: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)
    messages: list[Seen] = field(default_factory=list)
    found: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    other: list[list[str]] = field(default_factory=list)


def visit(
    config: StoreConfig, *, put: int = 0, end: Literal["stop", "halt"] = "stop", keys: list[tuple[str, str]]
) -> Told:
    """Open the folder with RocketMQ, read it, look for keys, put messages to the topic `Java`, and end it."""
    sizes = (config.commit_log_file_size, config.consume_queue_file_units, config.index_slots, config.index_entries)
    pairs = [word for pair in keys for word in pair]
    command = CLIENT.java("gantry.Store", str(config.folder), *map(str, sizes))
    done = subprocess.run([*command, str(put), end, *pairs], capture_output=True, text=True, timeout=120, check=True)
    told = Told()
    for line in done.stdout.splitlines():
        _take(told, line.split("\t"))
    return told


def _take(told: Told, row: list[str]) -> None:
    match row:
        case ["queue", topic, queue_id, low, high]:
            told.queues[topic, int(queue_id)] = (int(low), int(high))
        case ["message", topic, queue_id, offset, key, tag, host, hashed]:
            told.messages.append(Seen(topic, int(queue_id), int(offset), key, tag, host, int(hashed)))
        case ["found", _, key, queue_id, offset]:
            told.found.setdefault(key, []).append((int(queue_id), int(offset)))
        case ["end", end]:
            told.end = int(end)
        case _:
            told.other.append(row)
