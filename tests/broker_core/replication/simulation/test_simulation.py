"""Automatic failover under faults, in simulated time. `SEED=17 pytest -k one_seed` runs one seed alone."""

from __future__ import annotations

import os

import pytest

from tests.broker_core.replication.simulation.run import run
from tests.broker_core.replication.simulation.world import Figures

SEEDS = 300
PART = 30


@pytest.mark.parametrize("first", range(0, SEEDS, PART))
def test_nothing_acknowledged_is_lost(first: int) -> None:
    figures = Figures()
    for seed in range(first, first + PART):
        figures.add(run(seed))
    print(figures)
    assert figures.acked > PART * 50
    assert figures.elections > PART * 3
    assert figures.power_losses > PART


def test_a_seed_gives_the_same_run_again() -> None:
    assert run(1) == run(1)


@pytest.mark.skipif("SEED" not in os.environ, reason="SEED names no seed")
def test_one_seed() -> None:
    print(run(int(os.environ["SEED"])))
