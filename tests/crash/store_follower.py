"""A process that follows a log until it is killed: `python -m tests.crash.store_follower FOLDER LOG SEED`.

It prints a line after each step.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from broker_core.store import MessageStore, StoreConfig
from tests.support.stores import small


def config_of(folder: Path) -> StoreConfig:
    """Return a store that holds some hundred messages in each file."""
    return small(folder, commit_log_file_size=64 * 1024, consume_queue_file_units=100, index_entries=400)


def main(folder: Path, log: bytes, seed: int) -> None:
    """Append parts of the log where the store goes on; now and then dispatch, flush, cut or write a checkpoint."""
    chance = random.Random(seed)
    with MessageStore.open(config_of(folder), now=None) as store:
        while True:
            at = store.appended_log_offset
            store.append_raw(at, log[at : at + chance.randint(1, 20_000)])
            if chance.random() < 0.8:
                store.dispatch()
            if chance.random() < 0.1:
                store.flush()
            if chance.random() < 0.05:
                store.checkpoint()
            if chance.random() < 0.2 or at == len(log):
                store.cut(max(0, store.appended_log_offset - chance.randint(0, 30_000)))
            sys.stdout.write(f"{at}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]).read_bytes(), int(sys.argv[3]))
