"""The configuration of a store."""

from __future__ import annotations

from pathlib import Path

from broker_core.store.config import DELAY_LEVELS_MS, StoreConfig


def test_delay_levels_are_rocketmqs() -> None:
    seconds = [1, 5, 10, 30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 1200, 1800, 3600, 7200]
    assert [level // 1000 for level in DELAY_LEVELS_MS] == seconds


def test_the_defaults_are_rocketmqs_and_the_embedded_store_is_smaller(tmp_path: Path) -> None:
    config, embedded = StoreConfig(tmp_path), StoreConfig.embedded(tmp_path, flush="sync")
    assert (config.commit_log_file_size, config.consume_queue_file_units) == (1 << 30, 300_000)
    assert (config.index_slots, config.index_entries) == (5_000_000, 20_000_000)
    assert embedded.flush == "sync"
    assert embedded.commit_log_file_size < config.commit_log_file_size
    assert embedded.index_entries == 4 * embedded.index_slots
