"""Files of the store other than the log: damaged ones are reported, repaired or rebuilt."""

from __future__ import annotations

import os
import shutil
from itertools import islice
from pathlib import Path
from random import Random
from typing import Final

import pytest

from broker_core.protocol.errors import MalformedRecord
from broker_core.protocol.record import body_is_sound, read_head
from broker_core.store import MessageStore, mapped_file
from broker_core.store.checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from broker_core.store.consume_queue import ConsumeQueue
from broker_core.store.errors import Corrupt, StoreError
from broker_core.store.index_file import IndexFile
from broker_core.store.layout import CHECKPOINT, INDEX, index_files
from tests.fuzz.cases import run_cases
from tests.fuzz.mutations import mutate
from tests.support.stores import NOW, bodies, fill, opened, packed, queue_file, segment, small

MESSAGES: Final = 30
MOST_MESSAGES: Final = 1000


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip syncs, which only a power failure could test."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setattr(mapped_file, "sync_file", lambda _: 0)


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """Return the folder of a closed store with several files of each kind."""
    with opened(tmp_path / "sound") as store:
        fill(store, MESSAGES)
    return tmp_path / "sound"


def test_a_damaged_checkpoint_knows_of_something_or_nothing(tmp_path: Path) -> None:
    write_checkpoint(tmp_path, Checkpoint(NOW, NOW, NOW))
    sound = (tmp_path / CHECKPOINT).read_bytes()

    def case(random: Random) -> None:
        (tmp_path / CHECKPOINT).write_bytes(mutate(random, sound[: random.choice((24, len(sound)))]))
        assert isinstance(read_checkpoint(tmp_path).recover_from, int)

    run_cases(3_000, case, named=())


def test_a_damaged_index_file_is_read_to_where_it_is_intact(filled: Path, tmp_path: Path) -> None:
    path = index_files(filled / INDEX)[0]
    sound, copy = path.read_bytes(), tmp_path / path.name

    def case(random: Random) -> None:
        # The header and the slots, or any place.
        head = random.choice((40, 80, len(sound)))
        copy.write_bytes(mutate(random, sound[:head]) + sound[head:])
        file = IndexFile.load(copy, slots=10, entries=20, writable=False)
        try:
            assert sum(1 for _ in file.chain(random.randrange(1 << 31))) <= 20
            assert sum(1 for _ in islice(file.all_entries(), MOST_MESSAGES)) <= 10 * 20
        finally:
            file.close()

    run_cases(4_000, case, named=Corrupt)


def test_keys_go_into_a_damaged_index_file_or_it_is_named(filled: Path, tmp_path: Path) -> None:
    path = index_files(filled / INDEX)[-1]
    sound, copy = path.read_bytes(), tmp_path / path.name

    def case(random: Random) -> None:
        copy.write_bytes(mutate(random, sound[:80]) + sound[80:])
        file = IndexFile.load(copy, slots=10, entries=20)
        try:
            file.put(packed((random.randrange(1 << 31), 100 + n, NOW + n) for n in range(5)))
        finally:
            file.close()

    run_cases(1_500, case, named=StoreError)


def test_a_damaged_queue_file_ends_where_it_is_intact(filled: Path, tmp_path: Path) -> None:
    sound = queue_file(filled, start=0).read_bytes()

    def case(random: Random) -> None:
        root = tmp_path / "one"
        shutil.rmtree(root, ignore_errors=True)
        copy = queue_file(root)
        copy.parent.mkdir(parents=True)
        copy.write_bytes(mutate(random, sound)[: len(sound)].ljust(len(sound), b"\0"))
        queue = ConsumeQueue.load(root, "T", 0, file_units=8)
        try:
            queue.recover(trusted=random.random() < 0.5)
            assert 0 <= queue.min_offset <= queue.max_offset <= 8
            queue.find_unit(random.randrange(8))
        finally:
            queue.close()

    run_cases(1_500, case, named=StoreError)


@pytest.mark.parametrize("stopped", ["well", "badly"])
def test_a_store_with_any_damaged_file_opens_or_names_it(filled: Path, tmp_path: Path, stopped: str) -> None:
    files = [path.relative_to(filled) for path in sorted(filled.rglob("*")) if path.is_file() and path.stat().st_size]
    files += [segment(Path()), Path(CHECKPOINT)] * 3

    def case(random: Random) -> None:
        folder = tmp_path / "damaged"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(filled, folder)
        path = folder / random.choice(files)
        path.write_bytes(mutate(random, path.read_bytes()))
        if stopped == "badly":
            (folder / "abort").touch()
        with MessageStore.open(small(folder), now=NOW) as store:
            _use(store)

    run_cases(400, case, named=(StoreError, MalformedRecord))  # the latter reports one message of a damaged log


def sound_bodies(store: MessageStore) -> set[bytes]:
    """Return the bodies of a queue that match the checksum in their record, as a client checks them."""
    found, offset = set(), int(store.min_offset("T", 0))
    while (answer := store.get("T", 0, offset, max_messages=32, max_bytes=1 << 20)).next_offset != offset:
        for data in answer.records:
            head = read_head(data)
            if body_is_sound(data, head):
                found.add(bytes(data[head.body_begin : head.body_begin + head.body_length]))
        offset = answer.next_offset
    return found


def _use(store: MessageStore) -> None:
    """Use an open store as a broker does."""
    assert sound_bodies(store) <= {b"%d" % number for number in range(MESSAGES)}
    store.search("T", "k7", begin=0, end=2 * NOW, max_count=32)
    store.offset_by_time("T", 0, NOW + 7)
    store.store_time("T", 0, 7)
    fill(store, 1, topic="U")
    assert bodies(store, "U") == [b"0"]
