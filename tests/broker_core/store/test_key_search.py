"""Search by key, and whether its result is complete."""

from __future__ import annotations

from pathlib import Path

import pytest

from broker_core.store import IndexSearch, MessageStore, key_search
from tests.support.stores import NOW, fill, opened, overwrite, put

ALWAYS = 1 << 60


def find(store: MessageStore, key: str, *, begin: int = 0, end: int = ALWAYS, max_count: int = 10) -> IndexSearch:
    return store.search("T", key, begin=begin, end=end, max_count=max_count)


def found(answer: IndexSearch) -> list[bytes]:
    return [message.body for message in answer.messages]


def test_a_message_is_found_by_each_of_its_keys_and_its_unique_id(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        put(store, b"one", keys=["a", "b"], properties={"UNIQ_KEY": "U1"})
        put(store, b"two", keys=["b"])
        assert found(find(store, "a")) == [b"one"]
        assert found(find(store, "b")) == [b"one", b"two"]
        assert found(find(store, "U1")) == [b"one"]
        assert found(find(store, "c")) == []
        assert found(store.search("Other", "a", begin=0, end=ALWAYS, max_count=10)) == []


def test_nothing_found_is_reported_with_what_was_looked_at(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 50)
        answer = find(store, "nothing")
        assert (answer.records, answer.complete) == ([], True)
        assert (answer.index_files, answer.index_files_skipped_by_time) == (3, 0)
        assert answer.entries_visited > 0


def test_files_outside_the_time_are_not_looked_at(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        for number in range(50):
            put(store, b"%d" % number, keys=["k"], now=NOW + number * 10_000)
        answer = find(store, "k", begin=NOW + 450_000, end=NOW + 470_000)
        assert found(answer) == [b"45", b"46", b"47"]
        assert (answer.index_files, answer.index_files_skipped_by_time, answer.complete) == (3, 2, True)


def test_the_time_is_exact_to_the_millisecond(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        put(store, b"first", keys=["x"], now=NOW + 5)
        put(store, b"second", keys=["k"], now=NOW + 6705)
        for begin, end, expected in (
            (NOW + 6705, NOW + 6705, [b"second"]),
            (NOW + 6706, ALWAYS, []),
            (0, NOW + 6704, []),
            (NOW + 6705, ALWAYS, [b"second"]),
        ):
            assert found(find(store, "k", begin=begin, end=end)) == expected


def test_the_newest_are_kept_when_there_are_more_than_wanted(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        for number in range(30):
            put(store, b"%d" % number, keys=["k"])
        answer = find(store, "k", max_count=3)
        assert (found(answer), answer.complete) == ([b"27", b"28", b"29"], False)
        assert find(store, "k", max_count=30).complete
        assert not find(store, "k", max_count=29).complete
        nothing = find(store, "k", max_count=0)
        assert (nothing.records, nothing.complete) == ([], False)


def test_keys_that_only_share_the_hash_are_dropped_and_counted(tmp_path: Path) -> None:
    # "Aa" and "BB" have the same hash in Java.
    with opened(tmp_path) as store:
        put(store, b"Aa", keys=["Aa"])
        put(store, b"BB", keys=["BB"])
        answer = find(store, "Aa")
        assert (found(answer), answer.collisions_dropped) == ([b"Aa"], 1)


def test_messages_that_left_the_log_are_counted(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        for number in range(19):
            put(store, b"x" * 300, keys=["k"], now=NOW + number)
        store.drop_expired(NOW * 2)
        answer = find(store, "k", max_count=100)
        assert answer.expired_messages > 0
        assert answer.expired_messages + len(answer.records) == 19
        assert answer.complete


def test_a_message_with_the_same_key_twice_is_found_once(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        put(store, b"one", keys=["k", "k"], properties={"UNIQ_KEY": "k"})
        assert found(find(store, "k")) == [b"one"]


def test_a_chain_above_the_limit_is_reported_as_incomplete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(key_search, "MAX_ENTRIES", 5)
    with opened(tmp_path) as store:
        for _ in range(15):
            put(store, keys=["k"])
        answer = store.search("T", "k", begin=NOW + 1000, end=ALWAYS, max_count=10)
        assert (answer.entries_visited, answer.complete) == (5, False)


def test_a_damaged_index_file_is_reported_as_incomplete(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        put(store, b"one", keys=["k"])
        put(store, b"two", keys=["k"])
        file = next((tmp_path / "index").iterdir())
        overwrite(file, 40 + 10 * 4 + 2 * 20 + 16, (9).to_bytes(4, "big"))
        answer = find(store, "k")
        assert (found(answer), answer.complete) == ([b"two"], False)
