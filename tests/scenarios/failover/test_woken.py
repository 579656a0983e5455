"""A master that was stopped wakes up deposed: what its clients have sent again meanwhile is there once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from broker_core.clock import now_ms
from broker_core.protocol.command import Command
from broker_core.protocol.headers.send import SendMessageV2Request
from broker_core.protocol.properties import format_properties
from broker_core.remoting import RemotingClient
from broker_core.remoting.errors import RemotingError
from tests.scenarios.failover.at_work import QUEUES, TOPIC, at_work
from tests.scenarios.failover.cluster import Replica, failover_group
from tests.scenarios.failover.nemesis import Kind
from tests.scenarios.failover.operations import Record
from tests.scenarios.failover.reading import read_all
from tests.support.wait import eventually

pytestmark = pytest.mark.scenario

SENDERS, IMPATIENT_MS, PATIENT_MS = 16, 500, 10_000


def message(name: str) -> Command:
    header = SendMessageV2Request(
        TOPIC, 0, 0, now_ms(), 0, "senders", "TBW102", QUEUES, properties=format_properties({"UNIQ_KEY": name})
    )
    return Command.request(header, name.encode())


async def is_answered(client: RemotingClient, replica: Replica, name: str, within_ms: int) -> bool:
    try:
        return (await client.invoke(replica.address, message(name), within_ms)).code == 0
    except RemotingError:
        return False


async def given_up(
    clients: Sequence[RemotingClient], replica: Replica, names: Sequence[str], within_ms: int
) -> list[str]:
    """Send each message by a client of its own; return those that were not answered in time."""
    sends = (is_answered(each, replica, name, within_ms) for each, name in zip(clients, names, strict=False))
    return [name for name, is_there in zip(names, await asyncio.gather(*sends), strict=True) if not is_there]


async def test_what_lay_in_the_sockets_of_a_stopped_master_is_there_once(tmp_path: Path) -> None:
    record = Record(tmp_path / "operations.jsonl")
    with failover_group(tmp_path) as group:
        async with at_work(group, record) as (switching, _):
            before, meanwhile = ([RemotingClient() for _ in range(SENDERS)] for _ in range(2))
            old = await switching.master()
            await asyncio.gather(*(each.connection(old.address) for each in before))
            async with switching.nemesis.fault(Kind.PAUSE, old.name):
                names = [f"sent {each}" for each in range(2 * SENDERS)]
                lost = await given_up([*before, *meanwhile], old, names, IMPATIENT_MS)

                async def is_other() -> bool:
                    return (await switching.master()) is not old

                await eventually(is_other, within=60.0)
                new = await switching.master()

                async def all_sent_again() -> bool:
                    lost[:] = await given_up([*before, *meanwhile], new, lost, PATIENT_MS)
                    return not lost

                await eventually(all_sent_again, within=30.0)
            await switching.until_all_in_sync()
            found = Counter(read.text for read in await read_all(switching.session, TOPIC, QUEUES, "counting"))
            for client in (*before, *meanwhile):
                await client.close()
        assert {name: found[name] for name in names} == dict.fromkeys(names, 1)
