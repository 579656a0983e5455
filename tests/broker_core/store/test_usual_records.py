"""Records that are read in one loop are the ones that are read one by one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.protocol.record import read_head
from broker_core.store import MessageStore
from broker_core.store.dispatcher import Pending
from broker_core.store.following import whole_size
from broker_core.store.mapped_file import MappedFile
from broker_core.store.usual_records import take_usual
from tests.support.replicated import MESSAGES, fill_with
from tests.support.stores import opened, put

SEGMENT = 1 << 16


def tail_of(store: MessageStore) -> MappedFile:
    tail = store._log.tail
    assert tail is not None
    return tail


def taken(store: MessageStore) -> tuple[list[Pending], int]:
    """Return what is taken from the begin of the log on, and where that ends."""
    pending = list[Pending]()
    end = take_usual(tail_of(store), 0, store._queues, pending)
    return pending, end


def one_by_one(store: MessageStore, upto: int) -> list[Pending | None]:
    view = tail_of(store).view
    at, found = 0, list[Pending | None]()
    while at < upto:
        head = read_head(view, at)
        found.append(store._dispatcher.find_pending(head, view))
        at += head.size
    return found


@settings(max_examples=60, deadline=None)
@given(messages=MESSAGES)
def test_all_records_of_a_broker_are_usual(messages: Sequence[Any]) -> None:
    with TemporaryDirectory() as name, opened(Path(name), commit_log_file_size=SEGMENT) as store:
        put(store, b"first")
        fill_with(store, messages)
        pending, end = taken(store)
        assert end == store.appended_log_offset
        assert pending == one_by_one(store, end)


@settings(max_examples=300, deadline=None)
@given(at=st.integers(0, 200), value=st.integers(0, 255))
def test_what_is_taken_is_a_sound_record_whatever_its_bytes_are(at: int, value: int) -> None:
    with TemporaryDirectory() as name, opened(Path(name), commit_log_file_size=SEGMENT) as store:
        put(store, b"body of the first", keys=["k"], tag="red")
        first = store.appended_log_offset
        put(store, b"second")
        tail = tail_of(store)
        tail.write(min(at, first - 1), bytes([value]))
        pending, end = taken(store)
        if end >= first:
            assert whole_size(tail.view[: tail.wrote], 0, tail.size) == read_head(tail.view, 0).size == first
            assert pending == one_by_one(store, end)


@pytest.mark.parametrize("missing", [1, 40, 91])
def test_a_record_that_is_not_whole_is_left(tmp_path: Path, missing: int) -> None:
    with opened(tmp_path, commit_log_file_size=SEGMENT) as store:
        put(store, b"first")
        first = store.appended_log_offset
        put(store, b"second")
        tail_of(store).wrote_to(store.appended_log_offset - missing)
        pending, end = taken(store)
        assert (len(pending), end) == (1, first)


def test_a_queue_that_is_new_is_left(tmp_path: Path) -> None:
    with opened(tmp_path, commit_log_file_size=SEGMENT) as store:
        put(store, b"first")
        store.delete_topic("T")
        assert taken(store) == ([], 0)


def test_a_record_of_another_place_is_left(tmp_path: Path) -> None:
    with opened(tmp_path, commit_log_file_size=SEGMENT) as store:
        put(store, b"first")
        tail = tail_of(store)
        tail.write(28, (8).to_bytes(8))
        assert taken(store) == ([], 0)
