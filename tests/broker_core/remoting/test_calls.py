"""Requests that wait for their responses, on the loop that processes run on."""

from __future__ import annotations

import asyncio

import uvloop

from broker_core.remoting import RemotingTimeout
from broker_core.remoting.calls import PendingCalls


def test_calls_whose_time_is_over_before_they_wait_time_out() -> None:
    async def call() -> list[object]:
        loop = asyncio.get_running_loop()
        calls, before = PendingCalls(loop), loop.time() - 1
        waits = [calls.wait(number, before, timeout_ms=1) for number in range(3)]
        return await asyncio.gather(*waits, return_exceptions=True)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        outcomes = runner.run(call())
    assert [type(each) for each in outcomes] == [RemotingTimeout] * 3
