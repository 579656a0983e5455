"""In-process append of 1 KiB messages, beside the packing, checksum and copy that no writer can do without."""

from __future__ import annotations

import mmap
import struct
import tempfile
import time
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

from broker_core.protocol.host import encode_host
from broker_core.store.config import StoreConfig
from broker_core.store.incoming import Incoming
from broker_core.store.message_store import MessageStore
from tests.benchmarks.measure import Row

RUN = 8_192
ROUNDS = 40
BODY = b"x" * 1024
HOST = encode_host("127.0.0.1", 10911)
# As it comes with a request.
TEXT = "KEYS\x01A17\x02TAGS\x01created\x02UNIQ_KEY\x017F000001000000000000000000000000"


def run() -> list[Row]:
    """Return the rates of put, of dispatch, and of a plain copy, each the best of many short rounds."""
    with tempfile.TemporaryDirectory() as folder:
        store = MessageStore.open(StoreConfig.embedded(Path(folder) / "store"), now=_now())
        try:
            puts, dispatches = [], []
            for _ in range(ROUNDS):
                messages = _incoming(_now())
                puts.append(_seconds(partial(_put, store, messages)))
                dispatches.append(_seconds(store.dispatch))
        finally:
            store.close()
        copied = RUN / min(_copies(Path(folder) / "plain"))
    put, dispatch = RUN / min(puts), RUN / min(dispatches)
    both = 1 / (1 / put + 1 / dispatch)
    return [
        Row("append 1 KiB", put, "msg/s", "pack, checksum and copy alone", copied),
        Row("dispatch to queue and index (tag, key, id)", dispatch, "msg/s", "append", put),
        Row("append and dispatch", both, "msg/s", "append", put),
    ]


def _incoming(now: int) -> list[Incoming]:
    return [Incoming("bench", number & 3, BODY, TEXT, 0, 0, now, HOST, now, HOST, 0, 0) for number in range(RUN)]


def _put(store: MessageStore, messages: list[Incoming]) -> None:
    for incoming in messages:
        store.put(incoming)


def _copies(file: Path) -> list[float]:
    """Return the seconds of each round of what no writer of this format can do without."""
    head = struct.Struct(">iiiiiqqiq8sq8siqi")
    with file.open("w+b") as opened:
        opened.truncate(RUN * (head.size + len(BODY)))
        with mmap.mmap(opened.fileno(), 0) as mapped:

            def copy() -> None:
                position = 0
                for number in range(RUN):
                    checksum = zlib.crc32(BODY) & 0x7FFFFFFF
                    fields = (1112, 0, checksum, 0, 0, number, position, 0, 0, b"", 0, b"", 0, 0, len(BODY))
                    record = b"".join((head.pack(*fields), BODY))
                    mapped[position : position + len(record)] = record
                    position += len(record)

            return [_seconds(copy) for _ in range(ROUNDS)]


def _seconds(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def _now() -> int:
    return int(time.time() * 1000)
