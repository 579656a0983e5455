"""Purging queues: what is gone stays gone, and no offset goes back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from broker_core.store import MessageStore
from broker_core.store.errors import Corrupt
from broker_core.store.fetch import GetStatus
from broker_core.store.reader import StoreReader
from tests.support.stores import bodies, crashed, fill, opened, put, small

FOREVER = 1 << 60


def keys_found(store: MessageStore) -> int:
    return len(store.search("T", "K", begin=0, end=FOREVER, max_count=99).messages)


def span(store: MessageStore) -> tuple[int, int]:
    return store.min_offset("T", 0), store.max_offset("T", 0)


def test_a_purge_hides_what_is_before_an_offset(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 30)
        assert store.purge("T", {0: 21, 7: 3}) == {0: 21}
        assert span(store) == (21, 30)
        assert bodies(store) == [b"%d" % number for number in range(21, 30)]
        low = store.get("T", 0, 20, max_messages=1, max_bytes=1 << 20)
        assert (low.status, low.next_offset, low.records) == (GetStatus.OFFSET_TOO_SMALL, 21, [])
        assert store.purge("T", {0: 5}) == {0: 21}
        assert store.purge("T", {0: 999}) == {0: 30}
        assert put(store, b"next").queue_offset == 30
        assert bodies(store) == [b"next"]


def test_purged_messages_are_not_found_by_key(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        for _ in range(10):
            put(store, keys=["K"])
        assert keys_found(store) == 10
        store.purge("T", {0: 8})
        assert keys_found(store) == 2
        found = store.search("T", "K", begin=0, end=FOREVER, max_count=99)
        assert found.expired_messages == 8


@pytest.mark.parametrize("how", ["closed", "killed", "killed, and the queue lost"])
def test_a_purge_outlasts_every_stop(tmp_path: Path, how: str) -> None:
    store = opened(tmp_path / "first")
    fill(store, 30)
    store.purge("T", {0: 21})
    fill(store, 4)
    if how == "closed":
        store.close()
        folder = tmp_path / "first"
    else:
        folder = crashed(tmp_path / "first")
        store.close()
    if "lost" in how:
        for path in (folder / "consumequeue" / "T" / "0").iterdir():
            path.unlink()
    with opened(folder) as again:
        assert span(again) == (21, 34)
        assert again.get("T", 0, 0, max_messages=1, max_bytes=99).status is GetStatus.OFFSET_TOO_SMALL
    with StoreReader.open(folder, small(folder)) as reader:
        assert reader.range("T", 0) == (21, 34)


def test_a_topic_that_is_made_again_has_nothing_purged(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 9)
        store.purge("T", {0: 9})
        store.delete_topic("T")
        fill(store, 3)
        assert span(store) == (0, 3)
    with opened(tmp_path) as store:
        assert span(store) == (0, 3)
        assert bodies(store) == [b"0", b"1", b"2"]


def test_what_is_stored_after_a_lost_end_of_the_log_is_not_purged(tmp_path: Path) -> None:
    """The machine stopped before the end of the log was on the disk: the purge names a place behind the new end."""
    with opened(tmp_path) as store:
        fill(store, 2)
        end = store.appended_log_offset
    (tmp_path / "purged").write_text(json.dumps({"T": {"0": end + 500}}))
    with opened(tmp_path) as store:
        assert span(store) == (2, 2)
        fill(store, 3)
    with opened(tmp_path) as store:
        assert span(store) == (2, 5)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 2)
    (tmp_path / "purged").write_text("[1]")
    with pytest.raises(Corrupt, match="what was purged"):
        opened(tmp_path)
