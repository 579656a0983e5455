"""The figures of a store."""

from __future__ import annotations

from pathlib import Path

from broker_core.protocol.message import Message
from tests.support.stores import NOW, fill, incoming, opened


def test_an_empty_store_has_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        stats = store.stats()
        assert (stats.log_bytes, stats.log_segments, stats.queues, stats.index_entries) == (0, 0, 0, 0)
        assert stats.oldest_store_time is None


def test_figures_include_log_queues_and_backlog(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        fill(store, 50)
        store.flush()
        end = store.appended_log_offset
        store.put(incoming(Message("T", b"")))
        stats = store.stats()
        assert (stats.log_begin, stats.log_end, stats.flushed, stats.dispatched) == (0, end + 92, end, end)
        assert (stats.unflushed_bytes, stats.undispatched_bytes) == (92, 92)
        assert (stats.queues, stats.queue_bytes, stats.index_entries, stats.oldest_store_time) == (1, 1000, 50, NOW)
        assert stats.log_segments == stats.log_bytes // 2048 + 1
