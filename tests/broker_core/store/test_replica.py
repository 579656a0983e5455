"""A store that is opened as a replica shows what is confirmed, and keeps the rest of its log."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_core.store import MessageStore
from broker_core.store.errors import StoreFollows
from broker_core.store.reader import StoreReader
from broker_core.store.verify import verify
from tests.support.replicated import follow, found, log_of, ranges_of
from tests.support.stores import NOW, bodies, crashed, fill, opened, put, small


def numbers(count: int) -> list[bytes]:
    return [b"%d" % number for number in range(count)]


def held_back(folder: Path, count: int, dispatched: int, confirmed: int = 0) -> MessageStore:
    """Return an open store of which so many of its messages are dispatched, and so many noted as confirmed."""
    store = opened(folder)
    store.limit_dispatch(0)
    fill(store, count)
    ends = [head.log_offset + head.size for head, _ in store.walk(0)]
    store.limit_dispatch(ends[dispatched - 1] if dispatched else 0)
    store.dispatch()
    store.note_confirmed(ends[confirmed - 1] if confirmed else 0)
    store.checkpoint()
    return store


@pytest.mark.parametrize("is_killed", [False, True])
@pytest.mark.parametrize(
    ("dispatched", "confirmed", "seen"), [(4, 0, 4), (0, 0, 0), (3, 7, 7), (7, 3, 7), (30, 30, 30)]
)
def test_what_is_confirmed_or_in_a_queue_is_dispatched(
    tmp_path: Path, is_killed: bool, dispatched: int, confirmed: int, seen: int
) -> None:
    store = held_back(tmp_path / "a", 30, dispatched, confirmed)
    end, newest = store.appended_log_offset, store.newest_store_time
    folder = crashed(tmp_path / "a") if is_killed else tmp_path / "a"
    store.close()
    with opened(folder, is_replica=True) as again:
        assert again.recovered.was_clean is not is_killed
        assert bodies(again) == numbers(seen)
        assert (again.appended_log_offset, again.followed_log_offset, again.newest_store_time) == (end, end, newest)
        assert again.dispatch() == []
        assert again.dispatched_log_offset == again.confirmed_log_offset <= end
        # When more is told to be confirmed
        again.limit_dispatch(end)
        again.dispatch()
        assert bodies(again) == numbers(30)
        assert again.dispatched_log_offset == end
    with opened(folder) as plain:
        assert bodies(plain) == numbers(30)


def test_a_closed_replica_with_unconfirmed_records_is_sound(tmp_path: Path) -> None:
    held_back(tmp_path, 30, 4, 4).close()
    with StoreReader.open(tmp_path, small(tmp_path)) as reader:
        findings = verify(reader)
        assert (findings.told, findings.records, findings.pending) == ([], 30, 26)


def test_a_plain_store_dispatches_everything_when_it_is_opened(tmp_path: Path) -> None:
    held_back(tmp_path, 30, 4, 4).close()
    with opened(tmp_path) as store:
        assert bodies(store) == numbers(30)


def test_a_replica_puts_nothing_before_it_takes_over(tmp_path: Path) -> None:
    held_back(tmp_path, 10, 4).close()
    with opened(tmp_path, is_replica=True) as store:
        with pytest.raises(StoreFollows):
            put(store, b"no")
        store.take_over()
        # Behind all records, whether they are confirmed or not
        assert put(store, b"10").queue_offset == 10
        assert bodies(store) == numbers(4)
        store.limit_dispatch(None)
        store.dispatch()
        assert bodies(store) == numbers(11)


def test_a_replica_goes_on_where_it_was(tmp_path: Path) -> None:
    with opened(tmp_path / "master") as master:
        fill(master, 40)
        log = log_of(master)
        for at in (1000, 2500, 4000):
            with opened(tmp_path / "copy", is_replica=True) as copy:
                begin = copy.appended_log_offset
                copy.append_raw(begin, log[begin:at])
                copy.note_confirmed(at - 500)
                copy.limit_dispatch(at - 500)
                copy.dispatch()
                seen = len(bodies(copy))
            with opened(tmp_path / "copy", is_replica=True) as copy:
                assert len(bodies(copy)) == seen
        with opened(tmp_path / "copy", is_replica=True) as copy:
            copy.limit_dispatch(None)
            follow(copy, log[copy.appended_log_offset :], begin=copy.appended_log_offset)
            assert (ranges_of(copy), found(copy)) == (ranges_of(master), found(master))


def test_confirmed_only_rises_but_for_what_is_gone(tmp_path: Path) -> None:
    with opened(tmp_path / "master") as master, opened(tmp_path / "copy", is_replica=True) as copy:
        ends = [put(master, b"%d" % number, now=NOW).end for number in range(4)]
        log = log_of(master)
        copy.append_raw(0, log[:-3])
        for told, known in ((ends[1], ends[1]), (ends[0], ends[1]), (ends[3] - 5, ends[3] - 5)):
            copy.note_confirmed(told)
            assert copy.confirmed_log_offset == known
        # A record of which only a half is confirmed is none
        copy.take_over()
        assert copy.confirmed_log_offset == copy.appended_log_offset == ends[2]
        copy.cut(ends[0])
        assert copy.confirmed_log_offset == ends[0]


def test_an_empty_replica_has_nothing_confirmed(tmp_path: Path) -> None:
    for _ in range(2):
        with opened(tmp_path, is_replica=True) as store:
            assert (store.confirmed_log_offset, store.dispatched_log_offset) == (0, 0)


@settings(max_examples=30, deadline=None)
@given(count=st.integers(1, 30), dispatched=st.integers(0, 30), confirmed=st.integers(0, 30), is_killed=st.booleans())
def test_opening_a_replica_shows_no_less_than_before_and_no_more_than_confirmed(
    count: int, dispatched: int, confirmed: int, is_killed: bool
) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name) / "a"
        dispatched, confirmed = min(dispatched, count), min(confirmed, count)
        store = held_back(folder, count, dispatched, confirmed)
        folder = crashed(folder) if is_killed else folder
        store.close()
        for _ in range(2):
            with opened(folder, is_replica=True) as again:
                assert bodies(again) == numbers(max(dispatched, confirmed))
                assert len(log_of(again)) == again.appended_log_offset
