"""What a replica acknowledges of a real store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from broker_core.broker.replication.replica_log import ReplicaLog
from broker_core.store import MessageStore
from broker_core.store.epochs import EpochFile
from tests.support.stores import opened, put


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MessageStore]:
    with opened(tmp_path / "copy", is_replica=True) as copy:
        yield copy


@pytest.fixture
def log(store: MessageStore, tmp_path: Path) -> ReplicaLog:
    return ReplicaLog(store, EpochFile(tmp_path / "copy"), waits_for_disk=True, most_held_bytes=1 << 20)


@pytest.fixture
def bytes_of_master(tmp_path: Path) -> tuple[bytes, int]:
    """Return the log of three messages, and where the first ends."""
    with opened(tmp_path / "master") as master:
        ends = []
        for _ in range(3):
            put(master)
            ends.append(int(master.appended_log_offset))
        return bytes(master.read_log(0, ends[-1])), ends[0]


def test_what_was_flushed_inside_a_record_is_acknowledged_up_to_the_record_before(
    store: MessageStore, log: ReplicaLog, bytes_of_master: tuple[bytes, int]
) -> None:
    data, size = bytes_of_master
    log.append_raw(0, data[: size + 10])
    assert log.safe_end == 0
    store.flush()
    assert log.safe_end == size
    log.append_raw(size + 10, data[size + 10 : 2 * size + 10])
    log.append_raw(2 * size + 10, data[2 * size + 10 :])
    assert log.safe_end == size
    store.flush()
    assert log.safe_end == 3 * size


def test_a_master_acknowledges_what_is_flushed_of_its_own_records(
    store: MessageStore, log: ReplicaLog, bytes_of_master: tuple[bytes, int]
) -> None:
    data, size = bytes_of_master
    log.append_raw(0, data[: size + 10])
    store.flush()
    log.append_raw(size + 10, data[size + 10 : 2 * size])
    log.finish_tail()
    assert log.safe_end == size
    put(store)
    store.flush()
    put(store)
    assert log.safe_end == 3 * size
    assert log.end == 4 * size


def test_nothing_counts_as_confirmed_that_was_cut(
    store: MessageStore, log: ReplicaLog, bytes_of_master: tuple[bytes, int]
) -> None:
    data, size = bytes_of_master
    log.append_raw(0, data)
    log.set_confirm(3 * size)
    log.cut(size)
    assert log.confirm == size
    assert log.cut_bytes == len(data) - size
    log.append_raw(size, data[size:])
    store.dispatch()
    assert store.dispatched_log_offset == size
