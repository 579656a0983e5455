"""A real broker under thousands of clients: memory stays bounded, and others are served as before."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.support.cluster import RunningBroker, broker, started_broker
from tests.support.crowd import (
    connect,
    create_wide_topic,
    crowd,
    lowered_open_files,
    message,
    open_files_limit,
    park_all,
    parked_pulls,
    pull,
    resident_bytes,
    send_latencies,
)
from tests.support.wait import eventually

CONNECTIONS: Final = 2_000
PULLS_EACH: Final = 5
PARKED: Final = CONNECTIONS * PULLS_EACH
WAIT_MS: Final = 60_000
KIB: Final = 1024
MIB: Final = 1024 * KIB


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningBroker]:
    """A broker shared by the tests of this file."""
    with started_broker(tmp_path_factory.mktemp("broker")) as started:
        yield started


async def test_two_thousand_connections_and_ten_thousand_parked_pulls(running: RunningBroker) -> None:
    async with crowd(running.address, 4) as senders:
        # Given a broker that has served requests before
        await create_wide_topic(senders[0], "flow", 4)
        await create_wide_topic(senders[0], "parked", PARKED)
        await send_latencies(senders, "flow", 300)
        before = resident_bytes(running)

        async with crowd(running.address, CONNECTIONS) as clients:
            # When many clients wait
            waiting = park_all(clients, "parked", per_client=PULLS_EACH, wait_ms=WAIT_MS)
            await eventually(lambda: _parked(senders[0], PARKED))

            # Then each costs little
            grown = resident_bytes(running) - before
            assert grown < 200 * MIB, f"{grown >> 20} MiB"

            # … sends continue
            assert len(await send_latencies(senders, "flow", 300)) == 4 * 300

            # … and one message wakes the client that waits for it
            client, number = waiting[PARKED // 2]
            await senders[0].ask(message("parked", PARKED // 2, b"for you"))
            await eventually(lambda: number in client.answers)
            assert client.answers[number].body
            assert await parked_pulls(senders[0]) == PARKED - 1
            assert sum(len(each.answers) for each in clients) == 1

        # When all of them leave, nothing of them stays
        await eventually(lambda: _parked(senders[0], 0))
        async with crowd(running.address, CONNECTIONS) as clients:
            park_all(clients, "parked", per_client=PULLS_EACH, wait_ms=WAIT_MS)
            await eventually(lambda: _parked(senders[0], PARKED - 1))  # one of them gets the message
        again = resident_bytes(running) - before
        assert again < grown + 50 * MIB, f"{again >> 20} MiB the second time, {grown >> 20} MiB the first"


async def test_clients_that_take_no_answers_do_not_fill_the_memory(running: RunningBroker) -> None:
    async with crowd(running.address, 1) as [good]:
        await create_wide_topic(good, "large", 1)
        for _ in range(16):
            assert (await good.ask(message("large", 0, bytes(MIB)))).code == 0
        before = resident_bytes(running)
        async with crowd(running.address, 20) as slow:
            # Given clients that request 4 GiB altogether, and read nothing
            for client in slow:
                client.transport.pause_reading()
                for _ in range(200):
                    client.post(pull("large", 0))
            # Then others are served, and the broker holds little for them
            assert len(await send_latencies([good], "flow", 200)) == 200
            assert resident_bytes(running) - before < 150 * MIB
            # When they read again, they get what they requested
            slow[0].transport.resume_reading()
            await eventually(lambda: len(slow[0].answers) == 200)


async def test_all_that_connections_hold_together_is_bounded(tmp_path: Path) -> None:
    async with broker(tmp_path, arguments=("--setting", f"limitMemoryBytes={32 * MIB}")) as small:
        async with crowd(small.address, 12) as greedy, crowd(small.address, 1) as [good]:
            await create_wide_topic(good, "flow", 4)
            for client in greedy:  # half a frame each: 96 MiB
                client.transport.write(struct.pack(">II", 15 * MIB, 2) + b"{}" + bytes(8 * MIB))
            await eventually(lambda: sum(each.is_closed for each in greedy) >= 8)
            assert len(await send_latencies([good], "flow", 50)) == 50
            assert not good.is_closed
        assert "limit memory_bytes=" in small.log.read_text()


async def test_a_long_poll_without_memory_is_answered_busy(tmp_path: Path) -> None:
    arguments = ("--setting", f"limitMemoryBytes={16 * MIB}")
    async with broker(tmp_path, arguments=arguments) as small, crowd(small.address, 1) as [client]:
        await create_wide_topic(client, "parked", 10_000)
        for queue_id in range(9_000):
            client.post(pull("parked", queue_id, wait_ms=WAIT_MS))
        await eventually(lambda: client.answers)
        answer = next(iter(client.answers.values()))
        assert answer.code == 2
        assert answer.remark == f"limit memory_bytes={16 * MIB} reached: no memory left for another waiting pull"


async def test_connections_beyond_the_limit_are_closed_and_the_log_says_why(tmp_path: Path) -> None:
    async with broker(tmp_path, arguments=("--setting", "limitConnections=20")) as small:
        async with crowd(small.address, 30) as clients:
            await eventually(lambda: sum(each.is_closed for each in clients) == 10)
            first = next(each for each in clients if not each.is_closed)
            assert await parked_pulls(first) == 0
        assert "limit connections=20 reached" in small.log.read_text()
        await eventually(lambda: _serves(small))


async def test_idle_connections_are_closed_and_busy_ones_are_not(tmp_path: Path) -> None:
    async with (
        broker(tmp_path, arguments=("--setting", "serverChannelMaxIdleTimeSeconds=1")) as small,
        crowd(small.address, 300) as idle,
        crowd(small.address, 1) as [busy],
    ):

        async def all_idle_are_gone() -> bool:
            await parked_pulls(busy)
            return all(each.is_closed for each in idle)

        await eventually(all_idle_are_gone)
        assert not busy.is_closed


async def test_the_limit_of_open_files_is_raised_at_the_start(tmp_path: Path) -> None:
    with lowered_open_files(1024):
        small = RunningBroker(tmp_path)
        await asyncio.to_thread(small.start)
    try:
        soft, hard = open_files_limit(small)
        assert soft == hard > 1024
    finally:
        await asyncio.to_thread(small.stop)


class FewFiles(RunningBroker):
    """A broker whose system allows it 256 open files."""

    def _command(self) -> list[str]:
        return ["sh", "-c", 'ulimit -n 256 && exec "$@"', "sh", *super()._command()]


async def test_where_few_files_may_be_open_limits_are_lower_and_nothing_breaks(tmp_path: Path) -> None:
    small = FewFiles(tmp_path)
    await asyncio.to_thread(small.start)
    try:
        async with crowd(small.address, 1) as [good]:
            # Given a topic with more queues than possible files
            await create_wide_topic(good, "wide", 200)
            answers = [await good.ask(message("wide", queue_id, b"x")) for queue_id in range(200)]
            # Then queues beyond the limit are refused by name, before anything is stored
            refused = [answer for answer in answers if answer.code]
            assert len(refused) == 200 - 96
            assert refused[0].remark == "limit queues=96 reached: queue 96 of topic wide was not created"
            # … and connections beyond the limit are closed, and the others served
            async with crowd(small.address, 200) as clients:
                await eventually(lambda: sum(each.is_closed for each in clients) > 60)
                for client in clients:
                    if not client.is_closed:
                        assert (await client.ask(message("wide", 1, b"y"))).code == 0
            assert (await good.ask(message("wide", 95, b"x"))).code == 0
        await asyncio.to_thread(small.restart)
        async with crowd(small.address, 1) as [good]:
            assert (await good.ask(pull("wide", 95))).body
    finally:
        await asyncio.to_thread(small.stop)
    log = small.log.read_text()
    assert "the system allows 256, so the limit connections is 128 instead of 10000" in log
    assert "Traceback" not in log


async def _parked(client: object, count: int) -> bool:
    return await parked_pulls(client) == count  # type: ignore[arg-type]


async def _serves(small: RunningBroker) -> bool:
    client = await connect(small.address)
    try:
        return await parked_pulls(client) == 0
    except ConnectionError:
        return False
    finally:
        client.transport.abort()
