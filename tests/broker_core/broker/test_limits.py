"""Every limit is named in its answer."""

from __future__ import annotations

import asyncio
import re
from dataclasses import fields
from pathlib import Path

import pytest

from broker_core.broker import limits as module
from broker_core.broker.answers import ANSWERS, refusal
from broker_core.broker.errors import LimitReached, MessageIllegal
from broker_core.broker.limits import BrokerLimits
from broker_core.broker.settings.table import SETTINGS
from broker_core.protocol import bodies
from broker_core.protocol.bodies.heartbeat import ConsumerData, HeartbeatData, ProducerData
from broker_core.protocol.bodies.locks import LockBatchRequestBody
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.clients import (
    GetConsumerListByGroupRequest,
    HeartBeatRequest,
    LockBatchMqRequest,
    UnregisterClientRequest,
)
from broker_core.protocol.headers.topics import CreateTopicRequest
from broker_core.remoting import ConnectionClosed
from tests.support.broker import Wire, started

_COLUMNS = (slice(23, 59), slice(60, None))  # what is bounded, and the answer


@pytest.mark.parametrize(
    ("limit", "code"),
    [
        ("topics", ResponseCode.SYSTEM_ERROR),
        ("groups", ResponseCode.SYSTEM_ERROR),
        ("parked_pulls", ResponseCode.SYSTEM_BUSY),
        ("parked_pops", ResponseCode.POLLING_FULL),
        ("leases_per_group", ResponseCode.FLOW_CONTROL),
        ("unflushed_waiters", ResponseCode.SYSTEM_BUSY),
    ],
)
def test_a_limit_that_is_reached_is_named_with_its_value(limit: str, code: ResponseCode) -> None:
    error = BrokerLimits().refuse(limit, "one too many")
    answer = refusal(error)

    assert isinstance(error, LimitReached)
    assert answer.code == code
    assert answer.remark == f"limit {limit}={getattr(BrokerLimits(), limit)} reached: one too many"


def test_sizes_are_checked_against_the_limits() -> None:
    limits = BrokerLimits(body_bytes=10, properties_bytes=5)
    limits.check_sizes(10, 5)

    with pytest.raises(MessageIllegal, match="body_bytes=10"):
        limits.check_sizes(11, 5)
    with pytest.raises(MessageIllegal, match="properties_bytes=5"):
        limits.check_sizes(10, 6)


def test_the_table_at_the_head_of_the_file_names_every_limit() -> None:
    assert module.__doc__ is not None
    for field in fields(BrokerLimits):
        assert f"\n{field.name} " in module.__doc__


def test_every_limit_is_a_setting() -> None:
    places = {place for setting in SETTINGS.values() for place in setting.places}
    assert {f"limits.{field.name}" for field in fields(BrokerLimits)} <= places


def test_the_manual_says_of_every_limit_what_the_broker_does() -> None:
    manual = (Path(__file__).parents[3] / "docs/compatibility.md").read_text()
    rows = re.findall(r"^\| (\w+) \| `(\w+)` \| ([\d,]+) \| (.+) \| (.+) \|$", manual, re.MULTILINE)
    settings = {place: setting.name for setting in SETTINGS.values() for place in setting.places}
    said = {name: (setting, int(default.replace(",", "")), *texts) for name, setting, default, *texts in rows}

    described = rows_of_the_table()
    assert said == {
        name: (settings[f"limits.{name}"], getattr(BrokerLimits(), name), *described[name])
        for name in (field.name for field in fields(BrokerLimits))
    }


def rows_of_the_table() -> dict[str, tuple[str, str]]:
    """Return what the table at the head of the file says about each limit: what it bounds, and the answer."""
    assert module.__doc__ is not None
    _, _, table, _ = re.split(r"(?m)^={3,}(?: ={3,})+\n", module.__doc__)
    rows: dict[str, tuple[str, str]] = {}
    name = ""
    for line in table.splitlines():
        name = line[:22].strip() or name
        before = rows.get(name, ("", ""))
        bounds, answer = (f"{text} {line[cut].strip()}".strip() for text, cut in zip(before, _COLUMNS, strict=True))
        rows[name] = (bounds, answer)
    return rows


def test_limits_of_bytes_are_watched_where_they_come_in_under_the_same_names() -> None:
    limits = BrokerLimits(**{field.name: number for number, field in enumerate(fields(BrokerLimits), start=1)})
    watched = limits.of_connections()
    names = {field.name for field in fields(watched)} - {"connect_timeout_ms"}
    assert names == {
        "frame_bytes",
        "header_bytes",
        "connections",
        "unanswered_requests",
        "calls_per_connection",
        "memory_bytes",
        "write_buffer_bytes",
        "unread_bytes",
        "idle_seconds",
        "tls_handshake_seconds",
        "tls_handshakes",
    }
    assert {name: getattr(watched, name) for name in names} == {name: getattr(limits, name) for name in names}


async def test_a_topic_of_too_many_queues_is_refused(tmp_path: Path) -> None:
    async with started(tmp_path, limits=BrokerLimits(queues_per_topic=8)) as wire:
        await wire.create_topic("orders", queues=8)
        answer = await wire.ask(CreateTopicRequest("wide", 8, 9, 6))
        assert answer.code == ResponseCode.INVALID_PARAMETER
        assert answer.remark == "writeQueueNums 9 is not between 0 and limit queues_per_topic=8"


async def test_a_client_of_too_many_groups_is_not_registered(tmp_path: Path) -> None:
    async with started(tmp_path, limits=BrokerLimits(groups_per_client=2)) as wire:
        groups = HeartbeatData("c", [ProducerData(f"p{number}") for number in range(3)])
        answer = await wire.ask(HeartBeatRequest(), bodies.encode(groups))
        assert answer.code == ResponseCode.SYSTEM_ERROR
        assert answer.remark == "limit groups_per_client=2 reached: client 'c' was not registered"


async def beat(wire: Wire, *producers: str, consumer: str | None = None) -> Command:
    consumers = [ConsumerData(consumer)] if consumer else []
    data = HeartbeatData("c", [ProducerData(name) for name in producers], consumers)
    return await wire.ask(HeartBeatRequest(), bodies.encode(data))


async def test_a_connection_does_not_collect_groups_by_many_heartbeats(tmp_path: Path) -> None:
    async with started(tmp_path, limits=BrokerLimits(groups_per_client=2)) as wire:
        for number in (1, 2):
            assert (await beat(wire, f"p{number}")).code == ResponseCode.SUCCESS
        refused = await beat(wire, "p3")
        assert refused.code == ResponseCode.SYSTEM_ERROR
        assert refused.remark == (
            "limit groups_per_client=2 reached: the producer groups of client 'c' were not registered"
        )
        assert (await beat(wire, "p1", "p2")).code == ResponseCode.SUCCESS
        await wire.ask(UnregisterClientRequest("c", producer_group="p1"))
        assert (await beat(wire, "p3")).code == ResponseCode.SUCCESS


async def test_consumers_are_registered_although_their_producers_are_refused(tmp_path: Path) -> None:
    async with started(tmp_path, limits=BrokerLimits(groups=10)) as wire:
        refused = await beat(wire, *(f"p{number}" for number in range(11)), consumer="billing")
        assert refused.remark == "limit groups=10 reached: the producer groups of client 'c' were not registered"
        components = wire.broker.components
        assert components.clients.find_consumers("billing") is not None
        assert len(components.clients.producers) == 0


async def test_json_that_would_hold_up_others_is_not_read(tmp_path: Path) -> None:
    async with started(tmp_path, limits=BrokerLimits(json_bytes=1000)) as wire:
        answer = await wire.ask(HeartBeatRequest(), bodies.encode(HeartbeatData("c" * 1000)))
        assert answer.code == ResponseCode.SYSTEM_ERROR
        assert str(answer.remark).startswith("limit json_bytes=1000 reached: a body of ")


async def test_json_that_is_not_strict_has_a_smaller_limit(tmp_path: Path) -> None:
    async with started(tmp_path, limits=BrokerLimits(loose_json_bytes=200)) as wire:
        strict = bodies.encode(HeartbeatData("c" * 200))
        loose = strict.replace(b'"clientID"', b"clientID")
        assert (await wire.ask(HeartBeatRequest(), strict)).code == ResponseCode.SUCCESS
        answer = await wire.ask(HeartBeatRequest(), loose)
        assert answer.code == ResponseCode.SYSTEM_ERROR
        assert answer.remark == (
            f"limit loose_json_bytes=200 reached: a body of {len(loose)} bytes that are not strict JSON was not read"
        )


async def test_locks_are_limited_and_those_that_are_held_can_be_renewed(tmp_path: Path) -> None:
    async with started(tmp_path, limits=BrokerLimits(queue_locks=4)) as wire:

        async def lock(count: int) -> Command:
            queues = [MessageQueue("orders", "broker-a", queue_id) for queue_id in range(count)]
            return await wire.ask(LockBatchMqRequest(), bodies.encode(LockBatchRequestBody("g", "c", queues)))

        await wire.create_topic("orders", queues=5)
        assert (await lock(4)).code == ResponseCode.SUCCESS
        assert (await lock(5)).remark == "limit queue_locks=4 reached: client 'c' got no lock"
        assert (await lock(4)).code == ResponseCode.SUCCESS


async def test_producer_groups_are_limited_like_groups(tmp_path: Path) -> None:
    async with started(tmp_path, limits=BrokerLimits(groups=20)) as wire:
        for number in range(20):
            assert (await wire.heartbeat("c", producer_group=f"p{number}")).code == ResponseCode.SUCCESS
        answer = await wire.heartbeat("c", producer_group="one too many")
        assert "limit groups=20 reached" in str(answer.remark)
        assert (await wire.heartbeat("c", producer_group="p3")).code == ResponseCode.SUCCESS


@pytest.mark.parametrize(
    ("limits", "size", "reason"),
    [
        (BrokerLimits(header_bytes=8192), 9000, "is larger than the limit of 8192"),
        (BrokerLimits(frame_bytes=8192), 9000, "is larger than the limit of 8192"),
    ],
)
async def test_what_is_too_long_closes_its_connection_and_the_log_says_why(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, limits: BrokerLimits, size: int, reason: str
) -> None:
    async with started(tmp_path, limits=limits) as wire:
        with pytest.raises(ConnectionClosed):
            await wire.ask(GetConsumerListByGroupRequest("g" * size))
        assert reason in caplog.text
        assert await wire.parked_pulls() == 0


async def test_requests_that_one_connection_has_unanswered_are_limited(tmp_path: Path) -> None:
    async with started(tmp_path, limits=BrokerLimits(unanswered_requests=1)) as wire:
        asked = [wire.ask(CreateTopicRequest(f"t{number}", 1, 1, 6)) for number in range(8)]
        answers = await asyncio.gather(*asked)
        busy = [answer for answer in answers if answer.code == ResponseCode.SYSTEM_BUSY]
        assert busy
        assert "[OVERLOAD]" in str(busy[0].remark)


def test_every_refusal_has_a_code() -> None:
    assert all(issubclass(kind, Exception) for kind in ANSWERS)
