"""The fixture of most wire tests: a started broker."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.broker import Wire, started


@pytest.fixture
async def wire(tmp_path: Path) -> AsyncIterator[Wire]:
    async with started(tmp_path / "store") as wire:
        yield wire
