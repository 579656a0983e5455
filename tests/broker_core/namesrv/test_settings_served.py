"""Key-value settings over real sockets: nothing else waits for their file, and what exceeds a limit is refused."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from broker_core.namesrv.settings import Settings
from broker_core.protocol import ResponseCode
from broker_core.protocol.headers import controller, routes
from tests.broker_core.controller.hosted import Broker, Hosted, hosted
from tests.support.wait import eventually


async def is_there(served: Hosted, key: str) -> bool:
    return (await served.ask(routes.GetKvConfigRequest("n", key))).code == ResponseCode.SUCCESS


async def test_puts_whose_file_is_being_written_hold_up_neither_requests_nor_heartbeats(tmp_path: Path) -> None:
    # Given a disk that takes no writing: to open a pipe for writing waits for who reads it
    draft = tmp_path / "kvConfig.json.tmp"
    os.mkfifo(draft)
    async with hosted(tmp_path) as served:
        broker = Broker(served, 1)
        await broker.join()
        # When many settings are put
        first = asyncio.create_task(served.ask(routes.PutKvConfigRequest("n", "first", "v")))
        await eventually(lambda: is_there(served, "first"))
        puts = [asyncio.create_task(served.ask(routes.PutKvConfigRequest("n", f"k{each}", "v"))) for each in range(50)]
        # Then name server and controller answer, elect and grant
        await served.until(lambda state: state.master is not None)
        assert (await broker.beat()).code == ResponseCode.SUCCESS
        assert (await served.ask(controller.GetMetadataInfoRequest())).code == ResponseCode.SUCCESS
        await eventually(lambda: is_there(served, "k49"))
        # And no put is answered before its writing has ended: the first fails, for a pipe cannot be synced
        assert not any(each.done() for each in (first, *puts))
        reader = os.open(draft, os.O_RDONLY | os.O_NONBLOCK)
        draft.unlink()
        assert (await first).code == ResponseCode.SYSTEM_ERROR
        os.close(reader)
        # And all others share one writing, which has everything
        assert {(await each).code for each in puts} == {ResponseCode.SUCCESS}
        assert Settings(tmp_path / "kvConfig.json").find_namespace("n") == {
            "first": "v", **{f"k{each}": "v" for each in range(50)}
        }  # fmt: skip
        await broker.leave()


async def test_a_setting_beyond_a_limit_is_refused_and_the_log_says_so_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with hosted(tmp_path) as served:
        for _ in range(3):
            refused = await served.ask(routes.PutKvConfigRequest("n", "k", "v" * 100_000))
            assert refused.code == ResponseCode.SYSTEM_ERROR
            assert refused.remark == (
                "limit setting_value_bytes=16384 reached: setting 'k' of namespace 'n' was not saved"
            )
    assert caplog.text.count("limit setting_value_bytes=16384 reached") == 1
    assert not (tmp_path / "kvConfig.json").exists()
