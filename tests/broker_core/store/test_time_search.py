"""Offsets by time."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.store import MessageStore
from broker_core.store.reader import StoreReader
from tests.support.stores import opened, put, small


def at_or_after(store: MessageStore, timestamp: int) -> int:
    with StoreReader.open(store.config.folder, store.config) as reader:
        return reader.offset_at_time("T", 0, timestamp)


@pytest.mark.parametrize(
    ("timestamp", "nearest", "first"),
    [
        (0, 0, 0),
        (5, 0, 0),
        (6, 0, 1),
        (3999, 1, 1),
        (4000, 1, 1),
        (4500, 1, 2),
        (5850, 2, 3),
        (5851, 3, 3),
        (6700, 3, 3),
        (6701, 3, 4),
        (1 << 50, 3, 4),
    ],
)
def test_times_lead_to_the_offsets_of_the_reference(tmp_path: Path, timestamp: int, nearest: int, first: int) -> None:
    # store/README.md#search-by-time
    with opened(tmp_path) as store:
        for now in (5, 4000, 5000, 6700):
            put(store, now=now)
        assert store.offset_by_time("T", 0, timestamp) == nearest
        assert at_or_after(store, timestamp) == first


def test_messages_that_expired_are_not_found(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        for number in range(100):
            put(store, now=1000 + number)
        store.drop_expired(1 << 42)
        low = store.min_offset("T", 0)
        assert low > 0
        assert store.offset_by_time("T", 0, 0) == low
        assert at_or_after(store, 0) == low
        assert store.store_time("T", 0, low) == 1000 + low
        assert store.store_time("T", 0, low - 1) is None


@given(st.lists(st.integers(1, 50), max_size=40).map(sorted), st.integers(0, 60))
def test_the_lower_bound_is_the_first_message_not_before_the_time(
    tmp_path_factory: pytest.TempPathFactory, times: list[int], timestamp: int
) -> None:
    with MessageStore.open(small(tmp_path_factory.mktemp("store")), now=1) as store:
        for now in times:
            put(store, now=now)
        expected = next((offset for offset, time in enumerate(times) if time >= timestamp), len(times))
        nearest = store.offset_by_time("T", 0, timestamp)
        last = next((offset for offset, time in reversed(list(enumerate(times))) if time <= timestamp), 0)
        assert (store.first_from("T", 0, timestamp), store.last_until("T", 0, timestamp)) == (expected, last)
        if times:
            assert at_or_after(store, timestamp) == expected
            assert abs(times[nearest] - timestamp) == min(abs(time - timestamp) for time in times)


@given(
    queues=st.lists(st.sampled_from("abc"), min_size=1, max_size=40),
    timestamp=st.integers(0, 50),
    gone=st.booleans(),
)
def test_what_was_stored_before_a_time_has_a_place_near_it(queues: list[str], timestamp: int, gone: bool) -> None:
    with TemporaryDirectory() as name, opened(Path(name), max_log_bytes=1) as store:
        puts = [put(store, b"x" * 100, topic=topic, now=at) for at, topic in enumerate(queues)]
        if gone:
            store.drop_expired(0)
        place, begin = store.place_before(timestamp), store.begin_log_offset
        before = [each for each in puts if each.store_timestamp < timestamp and each.log_offset >= begin]
        assert place == (before[-1].log_offset if before else begin)
