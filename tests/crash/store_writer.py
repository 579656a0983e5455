"""A process that writes to a store until it is killed: `python -m tests.crash.store_writer FOLDER SEED`.

Prints the number of each message after the store has accepted it.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

from broker_core.protocol.message import Message
from broker_core.store import MessageStore
from tests.support.stores import BROKER, PRODUCER, incoming, small


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def main(folder: Path, seed: int) -> None:
    """Put numbered messages, continuing after the existing ones; flush and checkpoint now and then."""
    chance = random.Random(seed)
    config = small(folder, commit_log_file_size=64 * 1024, consume_queue_file_units=100, index_entries=400)
    with MessageStore.open(config, now=now_ms()) as store:
        number: int = sum(store.max_offset("T", queue_id) for queue_id in range(3))
        say("ready")
        while True:
            for _ in range(chance.randint(1, 50)):
                message = Message("T", b"%d " % number + b"x" * chance.randint(0, 800), {"KEYS": f"k{number}"})
                store.put(
                    incoming(
                        message,
                        queue_id=number % 3,
                        born_timestamp=now_ms(),
                        born_host=PRODUCER,
                        store_host=BROKER,
                        now=now_ms(),
                    )
                )
                say(str(number))
                number += 1
            store.dispatch()
            if chance.random() < 0.2:
                store.flush()
            if chance.random() < 0.05:
                store.checkpoint()


def say(line: str) -> None:
    """Write a line at once; a killed process has no time to empty a buffer."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
