"""Shared by all tests of the store."""

from __future__ import annotations

import os

import pytest

from broker_core.store import mapped_file


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip syncs, which only a power failure could test, and which would take most of the time of these tests.

    The crash tests and the scenarios wait for the real disk.
    """
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setattr(mapped_file, "sync_file", lambda _: 0)
