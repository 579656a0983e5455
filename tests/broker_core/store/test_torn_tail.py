"""The last record, torn at every byte: earlier records stay, the torn one is removed, and the store works."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from broker_core.protocol.message import Message
from broker_core.store import AppendedBatch, AppendedRecord, MessageStore
from broker_core.store.reader import StoreReader
from broker_core.store.verify import verify
from tests.support.stores import (
    BROKER,
    NOW,
    PRODUCER,
    bodies,
    incoming,
    opened,
    overwrite,
    put,
    put_batch,
    segment,
    small,
)

FIRST = [b"a", b"b"]


def put_from(store: MessageStore, born: tuple[str, int], stored: tuple[str, int]) -> AppendedRecord:
    message = Message("T", b"torn", {"KEYS": "k"})
    return store.put(incoming(message, queue_id=0, born_timestamp=NOW, born_host=born, store_host=stored, now=NOW))


def put_three(store: MessageStore) -> AppendedBatch:
    return put_batch(store, [Message("T", b"torn%d" % number, {"KEYS": "k"}) for number in range(3)])


LAST: dict[str, Callable[[MessageStore], AppendedRecord | AppendedBatch]] = {
    "with a key": lambda store: put(store, b"torn", keys=["k"]),
    "with many properties": lambda store: put(store, b"torn", properties={"KEYS": "k", "CLUSTER": "c" * 20}, tag="t"),
    "without properties": lambda store: put(store, b"torn"),
    "without a body": lambda store: put(store, b"", keys=["k"]),
    "with a body of zeros": lambda store: put(store, bytes(30), keys=["k"]),
    "born over IPv6": lambda store: put_from(store, ("fe80::1", 7), BROKER),
    "stored over IPv6": lambda store: put_from(store, PRODUCER, ("fe80::2", 7)),
    "over IPv6 alone": lambda store: put_from(store, ("fe80::1", 7), ("fe80::2", 7)),
    "a batch": put_three,
    "first in its segment": lambda store: put(store, b"x" * 1800) and put(store, b"torn", keys=["k"]),
    "ready, in no queue": lambda store: put(store, b"torn", sys_flag=0x4, keys=["k"]),
}


def is_sound(folder: Path) -> bool:
    with StoreReader.open(folder, small(folder)) as reader:
        return verify(reader).is_sound


@pytest.mark.parametrize("kind", LAST)
def test_a_last_record_torn_at_any_byte_is_cut_and_the_rest_stays(tmp_path: Path, kind: str) -> None:
    # Given a store whose last record, or batch, is of this kind
    origin = tmp_path / "origin"
    with opened(origin) as store:
        for body in FIRST:
            put(store, body, keys=["k"])
        last = LAST[kind](store)
        store.dispatch()
        before = bodies(store)
    log_offset = last.log_offsets[0] if isinstance(last, AppendedBatch) else last.log_offset
    start = log_offset // 2048 * 2048
    data = segment(origin, start).read_bytes()
    begin = log_offset - start
    record = data[begin : last.end - start]
    (origin / "abort").touch()
    for kept in range(len(record)):
        # When only its first `kept` bytes reached the disk
        folder = shutil.copytree(origin, tmp_path / str(kept))
        overwrite(segment(folder, start), begin + kept, bytes(len(record) - kept))
        is_whole = record[kept:] == bytes(len(record) - kept)
        with opened(folder) as store:
            # Then only complete records are there, and the next message takes the place of the removed bytes
            found = bodies(store)
            end = store.appended_log_offset
            assert (end == last.end) == is_whole, kept
            assert found == before[: len(found)], kept
            assert store.search("T", "k", begin=0, end=1 << 60, max_count=9).damaged == []
            result = put(store, b"next", keys=["k"])
            assert (result.log_offset, result.queue_offset) == (end, len(found)), kept
            assert bodies(store) == [*found, b"next"], kept
        assert is_sound(folder), kept
        shutil.rmtree(folder)


def test_a_text_that_really_ends_with_a_zero_is_kept(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        last = put(store, b"whole", properties={"binary": "\1\0\0"})
    (tmp_path / "abort").touch()
    with opened(tmp_path) as store:
        found = store.find(last.log_offset)
        assert found is not None
        assert found.properties == {"binary": "\1\0\0"}
