"""Running many cases of one kind: each has its own seed, by which a failing case can be repeated.

``GANTRY_FUZZ_SEED=17 GANTRY_FUZZ_TIMES=50`` starts with another seed and runs fifty times as many cases.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable
from random import Random
from typing import Final

import pytest

BASE_SEED: Final = int(os.environ.get("GANTRY_FUZZ_SEED", "1"))
TIMES: Final = float(os.environ.get("GANTRY_FUZZ_TIMES", "1"))
SLOW_SECONDS: Final = 5.0  # of processor time; a case takes microseconds
MOST_MEMORY: Final = 256 * 1024 * 1024  # bytes by which a run may raise the process's peak memory
_STRIDE: Final = 1_000_003


def run_cases(
    count: int, case: Callable[[Random], object], *, named: type[Exception] | tuple[type[Exception], ...]
) -> None:
    """Call `case` with `count` seeded generators; it may raise only `named` errors, must end and use little memory."""
    before = _peak_bytes()
    for number in range(int(count * TIMES)):
        seed = BASE_SEED * _STRIDE + number
        started = time.process_time()
        try:
            case(Random(seed))
        except named:
            pass
        except Exception as error:
            raise AssertionError(f"seed {seed}: {type(error).__name__}: {error}") from error
        took = time.process_time() - started
        if took > SLOW_SECONDS:
            pytest.fail(f"seed {seed} took {took:.1f} s of processor time")
    grown = _peak_bytes() - before
    assert grown < MOST_MEMORY, f"the peak of the memory rose by {grown >> 20} MiB"


def repeat(seed: int, case: Callable[[Random], object]) -> object:
    """Run the single case of a seed, to investigate a failure."""
    return case(Random(seed))


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
