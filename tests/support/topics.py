"""Stores with topics in them, written by the real store: a test names what matters of each message."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from broker_core.protocol.message import Message
from broker_core.store import MessageStore, StoreConfig
from tests.support.stores import BROKER, NOW, PRODUCER, incoming

SEGMENT_BYTES = 64 * 1024


def order(number: int, *, topic: str = "orders", body: bytes | None = None, tag: str | None = None) -> Message:
    """Return a message with the keys ``k<number>`` and ``all``, and a body of its own."""
    properties = {"UNIQ_KEY": f"{number:032X}", "CLUSTER": "local"}
    text = b'{"n":%d}' % number if body is None else body
    return Message.create(topic, text, keys=[f"k{number}", "all"], tag=tag, properties=properties)


def write_topic(
    folder: Path,
    messages: Iterable[Message],
    *,
    queues: int = 2,
    begin: int = NOW,
    step_ms: int = 1,
    segment_bytes: int = SEGMENT_BYTES,
) -> None:
    """Append messages to a store, one each `step_ms`, queue by queue in turn; close it."""
    config = StoreConfig(
        folder, commit_log_file_size=segment_bytes, min_free_bytes=0, index_slots=100, index_entries=400
    )
    with MessageStore.open(config, now=begin) as store:
        for number, message in enumerate(messages):
            store.put(incoming(
                message, queue_id=number % queues, born_timestamp=begin, born_host=PRODUCER, store_host=BROKER,
                now=begin + number * step_ms,
            ))  # fmt: skip
            store.dispatch()


def orders(count: int, *, tags: Sequence[str] = ("A", "B")) -> list[Message]:
    """Return so many messages with tags in turn."""
    return [order(number, tag=tags[number % len(tags)]) for number in range(count)]
