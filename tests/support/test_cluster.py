"""The helper that starts the real broker."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cluster import NotStarted, RunningBroker, started_broker


def test_a_broker_keeps_its_addresses_over_a_restart_and_ends_cleanly(tmp_path: Path) -> None:
    with started_broker(tmp_path) as running:
        before = running.name_server, running.address
        running.restart()

        assert (running.name_server, running.address) == before
        assert running.stop() == 0


def test_a_broker_that_does_not_start_says_why(tmp_path: Path) -> None:
    with started_broker(tmp_path), pytest.raises(NotStarted, match="in use by another process"):
        RunningBroker(tmp_path).start()
