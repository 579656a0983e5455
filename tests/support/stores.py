"""Builders for small stores: what a test does not say is filled in, and always the same."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from broker_core.protocol.batch import encode_batch
from broker_core.protocol.host import encode_host
from broker_core.protocol.message import Message
from broker_core.protocol.record import MessageOrigin, decode_many
from broker_core.store import AppendedBatch, AppendedRecord, Incoming, MessageStore, StoreConfig
from broker_core.store.index_file import KEY

Host = tuple[str, int]

PRODUCER = ("10.0.0.1", 5000)
BROKER = ("10.0.0.2", 10911)
NOW = 1_700_000_000_000


def small(folder: Path, **changes: Any) -> StoreConfig:
    """Return a store of which a few messages fill each kind of file: 2 KiB segments, 8 units, 19 keys.

    It cleans at any hour, and does not look at how full the disk of this machine is.
    """
    sizes: dict[str, Any] = {
        "commit_log_file_size": 2048,
        "consume_queue_file_units": 8,
        "index_slots": 10,
        "index_entries": 20,
        "delete_when": tuple(range(24)),
        "max_used_ratio": 1.0,
        "forced_used_ratio": 1.0,
        "full_used_ratio": 1.0,
        "min_free_bytes": 0,
    }
    return StoreConfig(folder, **sizes | changes)


def opened(folder: Path, *, now: int = NOW, **changes: Any) -> MessageStore:
    """Open a small store."""
    return MessageStore.open(small(folder, **changes), now=now)


def packed(keys: Iterable[tuple[int, int, int]]) -> bytes:
    """Return index keys (hash, log offset, store time in ms) as an index file takes them."""
    return b"".join([KEY.pack(*key) for key in keys])


def incoming(
    message: Message,
    *,
    queue_id: int = 0,
    now: int = NOW,
    born_timestamp: int = NOW,
    born_host: Host = PRODUCER,
    store_host: Host = BROKER,
    reconsume_times: int = 0,
) -> Incoming:
    """Return what a put takes of a message, stored at `now` (ms)."""
    origin = MessageOrigin(born_timestamp, encode_host(*born_host), now, encode_host(*store_host), reconsume_times)
    return Incoming.of(message, queue_id, origin)


def incoming_batch(
    messages: Sequence[Message],
    *,
    topic: str = "T",
    queue_id: int = 0,
    now: int = NOW,
    sys_flag: int = 0,
    common: str = "",
) -> Incoming:
    """Return what a put takes of messages side by side in one queue; their own topics do not count."""
    origin = MessageOrigin(NOW, encode_host(*PRODUCER), now, encode_host(*BROKER))
    return Incoming(topic, queue_id, encode_batch(messages), common, 0, sys_flag, *origin)


def put_batch(store: MessageStore, messages: Sequence[Message], **words: Any) -> AppendedBatch:
    """Put messages side by side into one queue; the words are those of `incoming_batch`."""
    return store.put_batch(incoming_batch(messages, **words))


def put(
    store: MessageStore,
    body: bytes = b"hi",
    *,
    topic: str = "T",
    queue_id: int = 0,
    now: int = NOW,
    keys: Sequence[str] = (),
    tag: str | None = None,
    properties: dict[str, str] | None = None,
    sys_flag: int = 0,
) -> AppendedRecord:
    """Put one message and dispatch it."""
    created = Message.create(topic, body, keys=keys, tag=tag, properties=properties)
    message = Message(topic, body, created.properties, 0, sys_flag)
    result = store.put(incoming(message, queue_id=queue_id, now=now))
    store.dispatch()
    return result


def fill(store: MessageStore, count: int, *, topic: str = "T", queue_id: int = 0, now: int = NOW) -> None:
    """Put messages with the bodies 0, 1, 2, …, the keys k0, k1, k2, …, one each ms."""
    for number in range(count):
        put(store, b"%d" % number, topic=topic, queue_id=queue_id, now=now + number, keys=[f"k{number}"])


def bodies(store: MessageStore, topic: str = "T", queue_id: int = 0) -> list[bytes]:
    """Return the bodies of all messages of a queue, read as a consumer would."""
    found: list[bytes] = []
    offset = int(store.min_offset(topic, queue_id))
    while True:
        answer = store.get(topic, queue_id, offset, max_messages=32, max_bytes=1 << 20)
        if answer.next_offset == offset:
            return found
        found += [message.body for message in decode_many(b"".join(answer.records))]
        offset = answer.next_offset


def crashed(folder: Path) -> Path:
    """Return a copy of the folder of an open store: what `kill -9` would leave of it this moment."""
    copies = len(list(folder.parent.glob(f"{folder.name}-crashed-*")))
    copy = folder.parent / f"{folder.name}-crashed-{copies}"
    shutil.copytree(folder, copy)
    return copy


def segment(folder: Path, start: int = 0) -> Path:
    """Return the path of a segment of the log."""
    return folder / "commitlog" / f"{start:020d}"


def queue_file(folder: Path, topic: str = "T", queue_id: int = 0, start: int = 0) -> Path:
    """Return the path of a file of a consume queue."""
    return folder / "consumequeue" / topic / str(queue_id) / f"{start:020d}"


def overwrite(path: Path, at: int, data: bytes) -> None:
    """Replace bytes of a file."""
    with path.open("r+b") as file:
        file.seek(at)
        file.write(data)


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the names and contents of all files below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
