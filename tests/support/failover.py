"""A controller in a name server, with broker names whose replicas only beat, for tests without a loop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from typing import Final

from broker_core.client.blocking import LoopThread
from broker_core.protocol import ResponseCode
from tests.broker_core.controller.hosted import Broker, Hosted, hosted
from tests.support.wait import eventually

PAIR, PAIR_TO_HAND_OVER, PAIR_TO_SHRINK, PAIR_TO_PLAN = "pair", "pair-to-hand-over", "pair-to-shrink", "pair-to-plan"
UNCLEAN, SET_BACK, LOST = "unclean", "set-back", "lost"
_PAIRS: Final = (PAIR, PAIR_TO_HAND_OVER, PAIR_TO_SHRINK, PAIR_TO_PLAN)


@contextmanager
def replicas_that_beat(folder: Path) -> Iterator[str]:
    """Yield the address of a name server with a controller of cluster C.

    Each pair has replica 1 as master and both in sync. `UNCLEAN` has one that may have lost something, `LOST` one that
    lost 40 bytes since it was heard, and `SET_BACK` one that knows of more than the controller.
    """
    thread, stack = LoopThread("controller"), AsyncExitStack()
    try:
        yield thread.run(_begin(folder, stack), timeout_s=60)
    finally:
        thread.run(stack.aclose(), timeout_s=60)


async def _begin(folder: Path, stack: AsyncExitStack) -> str:
    served = await stack.enter_async_context(hosted(folder))
    for name in _PAIRS:
        await _pair(served, name, stack)
    unclean = _entered(Broker(served, 1, name=UNCLEAN), stack)
    await unclean.join(clean=False)
    await _lose(served, stack)
    knowing = _entered(Broker(served, 1, name=SET_BACK, view=(7, 70)), stack)
    knowing.begin()
    return served.address


async def _pair(served: Hosted, name: str, stack: AsyncExitStack) -> None:
    first, second = [_entered(Broker(served, each, name=name), stack) for each in (1, 2)]
    for each in (first, second):
        await each.join()
    state = await served.until(lambda known: known.master is not None, name)
    await eventually(lambda: bool(first.answers))
    altered = await first.alter(state, 1, 2)
    assert altered.code == ResponseCode.SUCCESS, altered.remark
    await served.until(lambda known: known.in_sync == [1, 2], name)


async def _lose(served: Hosted, stack: AsyncExitStack) -> None:
    first = _entered(Broker(served, 1, name=LOST, end=140), stack)
    await first.join()
    await served.until(lambda known: known.master is not None, LOST)
    answers = len(first.answers)
    await eventually(lambda: len(first.answers) > answers + 1)
    await first.leave_beating()
    again = _entered(Broker(served, 1, name=LOST, life="2-a", end=100), stack)
    await again.join(clean=False)
    await eventually(lambda: again.answers != [])


def _entered(broker: Broker, stack: AsyncExitStack) -> Broker:
    stack.push_async_callback(broker.leave)
    return broker
