"""Every test of remoting runs on both loops: uvloop and that of the standard library."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import pytest
import uvloop


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Run each test on both loops."""
    del config, item
    return {"uvloop": uvloop.new_event_loop, "asyncio": asyncio.new_event_loop}
