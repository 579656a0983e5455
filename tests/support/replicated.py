"""Stores with the same log: messages of all kinds, the bytes of a log, and what two stores are compared by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from broker_core.protocol.message import Message
from broker_core.store import MessageStore
from tests.support.stores import NOW, put, put_batch

_places = {"topic": st.sampled_from(["T", "other"]), "queue_id": st.integers(0, 2)}
MESSAGES: Any = st.lists(
    st.one_of(
        st.fixed_dictionaries(
            _places
            | {
                "body": st.binary(max_size=900),
                "keys": st.lists(st.sampled_from(["a", "b", "c"]), max_size=2),
                "tag": st.sampled_from([None, "red"]),
                "sys_flag": st.sampled_from([0, 0, 0, 4, 12]),
            }
        ),
        st.lists(st.binary(max_size=60), min_size=1, max_size=5),
    ),
    max_size=20,
)


def fill_with(store: MessageStore, messages: Sequence[Any]) -> None:
    """Put single messages, given by their words, and batches, given by their bodies; one each ms."""
    for number, one in enumerate(messages):
        if isinstance(one, list):
            put_batch(store, [Message("T", body, {"KEYS": "a"}) for body in one], now=NOW + number)
            store.dispatch()
        else:
            put(store, **one, now=NOW + number)


def log_of(store: MessageStore, begin: int | None = None) -> bytes:
    """Return all bytes of a log, as far as they were appended."""
    at = store.begin_log_offset if begin is None else begin
    parts = []
    while part := store.read_log(at, 1 << 20):
        parts.append(bytes(part))
        at += len(part)
    assert at == store.appended_log_offset
    return b"".join(parts)


def follow(store: MessageStore, log: bytes, cuts: Sequence[int] = (), *, begin: int = 0) -> None:
    """Append the bytes of a log that begins at `begin`, in parts that end at these log offsets."""
    inside = sorted({cut for cut in cuts if begin < cut < begin + len(log)})
    for start, end in pairwise([begin, *inside, begin + len(log)]):
        store.append_raw(start, log[start - begin : end - begin])
        store.dispatch()


def logs_and_queues(folder: Path) -> dict[str, bytes]:
    """Return the names and contents of the files of log and queues."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for kind in ("consumequeue", "commitlog")
        for path in sorted((folder / kind).rglob("*"))
        if path.is_file()
    }


def ranges_of(store: MessageStore) -> dict[tuple[str, int], tuple[int, int]]:
    """Return the ranges of the queues that have messages: others are forgotten when a store is opened."""
    return {key: store.ranges()[key] for key in store.queues()}


def found(store: MessageStore) -> list[list[int]]:
    """Return the log offsets of all messages that each key finds."""
    return list(_found(store))


def _found(store: MessageStore) -> Iterator[list[int]]:
    for topic in ("T", "other"):
        for key in "abc":
            answer = store.search(topic, key, begin=0, end=1 << 60, max_count=99)
            yield sorted(message.log_offset for message in answer.messages)
