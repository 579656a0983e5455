"""Planted defects are found: a simulation that finds none of them would prove nothing."""

from __future__ import annotations

import pytest

from tests.broker_core.replication.simulation.checks import Violation
from tests.broker_core.replication.simulation.mutations import BY_CHANCE, DIRECTED
from tests.broker_core.replication.simulation.run import run
from tests.broker_core.replication.simulation.schedules import SCHEDULES

SEEDS = 100


@pytest.mark.parametrize("name", BY_CHANCE)
def test_random_runs_find(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    BY_CHANCE[name](monkeypatch)
    _check_found()


def _check_found() -> None:
    for seed in range(SEEDS):
        try:
            run(seed)
        except Violation:
            return
    pytest.fail(f"not found in {SEEDS} seeds")


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_finds(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    SCHEDULES[name]()
    DIRECTED[name](monkeypatch)
    with pytest.raises(Violation):
        SCHEDULES[name]()
