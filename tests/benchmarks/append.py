"""In-process append of 1 KiB messages, beside copying the same bytes into a mapped file."""

from __future__ import annotations

import mmap
import tempfile
import time
from pathlib import Path

from broker_core.protocol.message import Message
from broker_core.store.config import StoreConfig
from broker_core.store.message_store import MessageStore
from tests.benchmarks.measure import Row, best_rate

COUNT = 100_000
BODY = b"x" * 1024
HOST = ("127.0.0.1", 10911)


def run() -> list[Row]:
    """Return the rates of put alone, and of put and dispatch together."""
    with tempfile.TemporaryDirectory() as folder:
        copied = best_rate(COUNT, lambda: _copy(Path(folder) / "plain"))
        store = MessageStore.open(StoreConfig.embedded(Path(folder) / "store"), now=_now())
        try:
            put = best_rate(COUNT, lambda: _put(store, dispatch_every=None))
            store.dispatch()
            both = best_rate(COUNT, lambda: _put(store, dispatch_every=64))
        finally:
            store.close()
    beside = "copying the bytes into a mapped file"
    return [
        Row("append 1 KiB", put, "msg/s", beside, copied),
        Row("append 1 KiB and dispatch each 64", both, "msg/s", "append", put),
    ]


def _put(store: MessageStore, *, dispatch_every: int | None) -> None:
    now = _now()
    message = Message("bench", BODY, {"KEYS": "A17", "TAGS": "created", "UNIQ_KEY": "7F000001000000000000000000000000"})
    for number in range(COUNT):
        store.put(message, queue_id=number & 3, born_timestamp=now, born_host=HOST, store_host=HOST, now=now)
        if dispatch_every and number % dispatch_every == 0:
            store.dispatch()


def _copy(file: Path) -> None:
    size = COUNT * len(BODY)
    with file.open("w+b") as opened:
        opened.truncate(size)
        with mmap.mmap(opened.fileno(), size) as mapped:
            for position in range(0, size, len(BODY)):
                mapped[position : position + len(BODY)] = BODY


def _now() -> int:
    return int(time.time() * 1000)
