"""Two topics of the same sales that differ in 137 places, chosen at random."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from broker_core.protocol.message import Message
from broker_core.store import MessageStore, StoreConfig
from tests.support.stores import NOW, put_batch

FAULTS = {"missing_right": 40, "missing_left": 30, "different": 47, "duplicate_left": 10, "duplicate_right": 10}
QUEUES = 4
_BATCH = 200


def write_sales(folder: Path, count: int, seed: int) -> None:
    """Write the topics ``ledger`` and ``orders`` with so many sales and `FAULTS`, one sale each millisecond."""
    rng = random.Random(seed)
    chosen = rng.sample(range(count), sum(FAULTS.values()))
    faults: dict[int, str] = {}
    for kind, number in FAULTS.items():
        faults |= dict.fromkeys(chosen[len(faults) : len(faults) + number], kind)
    config = StoreConfig(folder, commit_log_file_size=64 << 20, min_free_bytes=0)
    with MessageStore.open(config, now=NOW) as store:
        for topic, side, other in (("ledger", "left", "right"), ("orders", "right", "left")):
            sales = _sales(topic, count, faults, side, other)
            number = 0
            while batch := list(islice(sales, _BATCH)):
                queue_id = (number + (side == "right")) % QUEUES
                put_batch(store, batch, topic=topic, queue_id=queue_id, now=NOW + number * _BATCH)
                store.dispatch()
                number += 1


def _sales(topic: str, count: int, faults: dict[int, str], side: str, other: str) -> Iterator[Message]:
    for number in range(count):
        fault = faults.get(number)
        if fault == f"missing_{side}":
            continue
        amount = number + (fault == "different" and side == "right")
        body = b'{"id":"s-%08d","amount":%d,"currency":"EUR","state":"paid","note":"%s"}' % (number, amount, b"x" * 60)
        sale = Message.create(topic, body, keys=[f"s-{number:08d}"])
        yield sale
        if fault == f"duplicate_{side}":
            yield sale
