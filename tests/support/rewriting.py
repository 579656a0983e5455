"""Sharing out what pytest does to the asserts of all test files, which takes longer than the rest of collecting them.

Every worker collects everything, and in a fresh clone all begin at once: each would rewrite each file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.assertion import AssertionState
from _pytest.assertion.rewrite import (
    PYC_TAIL,
    _read_pyc,
    _rewrite_test,
    _write_pyc,
    assertstate_key,
    get_cache_dir,
    try_makedirs,
)


def rewrite_share(config: pytest.Config, share: int, shares: int) -> None:
    """Rewrite each of so many files of those to be collected, and leave the result where pytest looks for it."""
    state = config.stash[assertstate_key]
    for file in sorted(_wanted(config))[share::shares]:
        _rewrite(file, config, state)


def _wanted(config: pytest.Config) -> Iterator[Path]:
    for argument in config.args:
        place = config.invocation_params.dir / argument.partition("::")[0]
        yield from place.rglob("test_*.py") if place.is_dir() else (place,)


def _rewrite(file: Path, config: pytest.Config, state: AssertionState) -> None:
    folder = get_cache_dir(file)
    target = folder / f"{file.stem}{PYC_TAIL}"
    if _read_pyc(file, target) is None and try_makedirs(folder):
        source_hash, code = _rewrite_test(file, config)
        _write_pyc(state, code, source_hash, target)
