"""Controllers on a real etcd of one member, which a file's tests share, each below a cluster name of its own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

import pytest

from broker_core.controller.etcd.config import EtcdConfig
from broker_core.controller.etcd.decisions import EtcdDecisions
from tests.support.etcd import NOT_INSTALLED, Etcd, etcd, find_etcd

Open = Callable[..., Coroutine[Any, Any, EtcdDecisions]]


@pytest.fixture(scope="session")
def etcd_is_installed() -> None:
    """Skip what needs etcd where there is none."""
    if find_etcd() is None:
        pytest.skip(NOT_INSTALLED)


@pytest.fixture(scope="module")
def member(etcd_is_installed: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Etcd]:
    """An etcd of one member."""
    with etcd(tmp_path_factory.mktemp("etcd")) as started:
        yield started


@pytest.fixture
def config(member: Etcd, request: pytest.FixtureRequest) -> EtcdConfig:
    """How a controller reaches it, with keys of the test's own."""
    return EtcdConfig(member.endpoints, cluster=request.node.name)


@asynccontextmanager
async def running(config: EtcdConfig, **changes: Any) -> AsyncIterator[EtcdDecisions]:
    """Decisions that poll and watch until the block ends."""
    decisions = await EtcdDecisions.open(replace(config, **changes))
    task = asyncio.create_task(decisions.run())
    try:
        yield decisions
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await decisions.close()


@pytest.fixture
async def opened(config: EtcdConfig) -> AsyncIterator[Open]:
    """Opens the decisions of one more controller."""
    async with AsyncExitStack() as stack:

        async def opened(**changes: Any) -> EtcdDecisions:
            return await stack.enter_async_context(running(config, **changes))

        yield opened
