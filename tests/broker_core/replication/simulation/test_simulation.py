"""Automatic failover under faults, in simulated time. `SEED=17 pytest -k one_seed` runs one seed alone.

A seed that fails is run again with fewer and fewer faults, and the shortest failure is shown.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from broker_core.store import abort
from tests.broker_core.replication.simulation.checks import Violation
from tests.broker_core.replication.simulation.mutations import BY_CHANCE, ON_REAL_STORES
from tests.broker_core.replication.simulation.run import run, shrunk
from tests.broker_core.replication.simulation.schedules import late_copy
from tests.broker_core.replication.simulation.world import LAST, Figures

SEEDS = 300
MEMORY = Path("/dev/shm")
PART = 30


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder in memory if there is such a file system."""
    monkeypatch.setattr(abort, "BOOT_ID", abort.BOOT_ID)  # each replica has a machine of its own
    with TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else tmp_path) as name:
        yield Path(name)


@pytest.mark.parametrize("first", range(0, SEEDS, PART))
def test_nothing_acknowledged_is_lost(first: int) -> None:
    figures = Figures()
    for seed in range(first, first + PART):
        try:
            figures.add(run(seed))
        except Violation:
            pytest.fail(shrunk(seed))
    print(figures)
    assert figures.acked > PART * 50
    assert figures.elections > PART * 3
    assert figures.power_losses > PART


@pytest.mark.parametrize("seed", range(0, SEEDS, 50))
def test_so_it_is_on_the_real_store(seed: int, folder: Path) -> None:
    run(seed, folder=folder)


def test_a_late_copy_goes_on_with_every_queue_on_the_real_store(folder: Path) -> None:
    late_copy(folder)


@pytest.mark.parametrize("name", ON_REAL_STORES)
def test_runs_on_real_stores_find(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ON_REAL_STORES[name](monkeypatch)
    assert not all(_passes(seed, folder / str(seed)) for seed in range(20))


def test_a_seed_gives_the_same_run_again() -> None:
    assert run(1) == run(1)


@pytest.mark.skipif("SEED" not in os.environ, reason="SEED names no seed")
def test_one_seed() -> None:
    print(run(int(os.environ["SEED"])))


def test_a_failing_seed_is_told_with_few_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    BY_CHANCE["an expansion counts after it is decided"](monkeypatch)
    seed = next(each for each in range(100) if not _passes(each))
    told = shrunk(seed)
    assert told.startswith(f"seed {seed}, without faults [")
    assert len(told.splitlines()) <= 2 + LAST


def _passes(seed: int, folder: Path | None = None) -> bool:
    if folder is not None:
        folder.mkdir()
    try:
        run(seed, folder=folder)
    except Violation:
        return False
    return True
