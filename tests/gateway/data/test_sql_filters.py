"""Receiving by SQL92 filter, against a real broker over real HTTP, and against brokers that refuse it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from broker_core.protocol.codes import RequestCode
from broker_core.protocol.headers.pop import PopMessageRequest
from tests.gateway.data.conftest import Api, Door, code_of
from tests.gateway.running import make_parts, running_plane
from tests.support.scripted import Cluster, refuse, scripted_cluster
from tests.support.wait import eventually


def sql(expression: str) -> dict[str, str]:
    return {"type": "sql", "expression": expression}


def texts(messages: list[dict[str, Any]]) -> list[str]:
    return [message["body"]["data"] for message in messages]


async def store_orders(api: Api, topic: str) -> None:
    """Store messages with amounts as numbers, as another text and without one."""
    for name, properties in {
        "small": {"amount": "50", "region": "eu"},
        "large": {"amount": "250", "region": "us"},
        "half": {"amount": "250.5", "region": "eu"},
        "word": {"amount": "many", "region": "eu"},
        "none": {"region": "eu"},
        "bare": {},
    }.items():
        await api.produce(topic, name, properties=properties)


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("amount > 100", ["large"]),
        ("amount > 100.0", ["large", "half"]),
        ("region = 'eu' AND amount < 100", ["small"]),
        ("region IN ('us')", ["large"]),
        ("NOT (region = 'eu')", ["large"]),
        ("amount IS NULL", ["none", "bare"]),
        ("region IS NOT NULL AND amount IS NULL", ["none"]),
        ("amount IS NULL OR amount > 100", ["large", "none", "bare"]),
        ("amount CONTAINS 'an'", ["word"]),
    ],
)
async def test_an_expression_brings_what_it_selects_and_nothing_of_which_it_is_unknown(
    api: Api, expression: str, found: list[str]
) -> None:
    topic, group = await api.topic(), api.group()
    await store_orders(api, topic)
    assert texts(await api.receive(group, topic, filter=sql(expression))) == found


async def test_what_a_filter_leaves_out_is_done_for_the_group_by_tag_and_by_sql_alike(api: Api) -> None:
    filters = {"type": "tag", "expression": "large"}, sql("amount > 100 -- large")
    for wanted in filters:
        topic, group = await api.topic(), api.group()
        for name, amount in (("small", 50), ("large", 250), ("late", 10)):
            await api.produce(topic, name, tag=name, properties={"amount": str(amount)})
        (large,) = await api.receive(group, topic, filter=wanted)
        assert texts([large]) == ["large"]
        assert (await api.settle("ack", group, topic, large["receipt"])).status_code == 200
        # The read ended at the match; the next one of the group passes over what it does not want.
        assert await api.receive(group, topic, filter=wanted) == []
        assert await api.receive(group, topic) == []


async def test_two_filters_of_one_group_share_its_messages_by_tag_and_by_sql_alike(api: Api) -> None:
    for one, other in (
        ({"type": "tag", "expression": "a"}, {"type": "tag", "expression": "b"}),
        (sql("kind = 'a'"), sql("kind = 'b'")),
        (sql("kind = 'a'"), {"type": "tag", "expression": "b"}),
    ):
        topic, group = await api.topic(), api.group()
        for kind in "ba":
            await api.produce(topic, kind, tag=kind, properties={"kind": kind})
        (first,) = await api.receive(group, topic, filter=one)
        assert texts([first]) == ["a"]
        # The first receive passed over the message that the other one wants: each message is decided once.
        assert await api.receive(group, topic, filter=other) == []
        # What comes again is due to those alone whose filter selects it.
        assert (await api.settle("nack", group, topic, first["receipt"])).status_code == 200
        assert await api.receive(group, topic, filter=other) == []
        (again,) = await api.receive(group, topic, filter=one, wait_ms=20_000)
        assert (again["body"]["data"], again["delivery_count"]) == ("a", 2)


async def test_a_receive_that_waits_is_answered_by_what_its_filter_selects(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    waiting = asyncio.create_task(api.receive(group, topic, wait_ms=30_000, filter=sql("amount >= 10")))
    await eventually(lambda: api.waiting(group, topic))
    await api.produce(topic, "not this", properties={"amount": "9"})
    await api.produce(topic, "nor this")
    await api.produce(topic, "this", properties={"amount": "10"})
    assert texts(await waiting) == ["this"]


async def test_in_order_and_by_attempt_a_filter_holds(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    for number in range(4):
        await api.produce(topic, str(number), properties={"n": str(number)})
    wanted = {"filter": sql("n BETWEEN 1 AND 2"), "order": "fifo", "max_messages": 1, "attempt_id": "try-1"}
    first = await api.receive(group, topic, **wanted)
    assert texts(first) == ["1"]
    assert [each["receipt"] for each in await api.receive(group, topic, **wanted)] == [first[0]["receipt"]]
    locked = await api.post(f"/groups/{group}/topics/{topic}:receive", {**wanted, "attempt_id": "try-2"})
    assert locked.json()["reason"] == "ordering_locked"
    await api.settle("ack", group, topic, first[0]["receipt"])
    assert texts(await api.receive(group, topic, **{**wanted, "attempt_id": "try-3"})) == ["2"]


@pytest.mark.parametrize(
    ("filter_", "pointer", "words"),
    [
        (sql("amount LIKE 'x%'"), "#/filter/expression", "the expression ends before it, at character 8."),
        (sql("amount >"), "#/filter/expression", "is needed here, at character 9."),
        (sql("created || paid"), "#/filter/expression", "'|' means nothing here, at character 9."),
        (sql("a = 1".ljust(4_097)), "#/filter/expression", "Must have at most 4,096 characters."),
        (sql("s = '\0'"), "#/filter/expression", "'\\x00' means nothing here, at character 6."),
        (sql(""), "#/filter/expression", "Must not be empty."),
        ({"type": "sql"}, "#/filter/expression", "An expression is required for the type 'sql'"),
        (sql("*"), "#/filter/expression", "'*', every message, is of the type 'tag'."),
        ({"expression": "t" * 256}, "#/filter/expression", "Must have at most 255 characters."),
        ({"type": "tag", "expression": "paid", "sql": "amount > 1"}, "#/filter/sql", "'sql' is not a field here"),
        ({"type": "sql", "expression": "amount > 1", "tag": "paid"}, "#/filter/tag", "'tag' is not a field here"),
        ({"type": "sql92", "expression": "a > 1"}, "#/filter/type", "Must be 'sql' or 'tag'."),
    ],
)
async def test_a_filter_that_cannot_be_is_refused_with_its_place(
    api: Api, filter_: dict[str, str], pointer: str, words: str
) -> None:
    topic, group = await api.topic(), api.group()
    answer = await api.post(f"/groups/{group}/topics/{topic}:receive", {"filter": filter_})
    assert code_of(answer) == (422, "INVALID")
    (error,) = answer.json()["errors"]
    assert error["pointer"] == pointer
    assert words in error["detail"]


@asynccontextmanager
async def plane_of(cluster: Cluster, redis_url: str) -> AsyncIterator[Api]:
    parts = make_parts(cluster.name_server.addr, redis_url)
    async with (
        running_plane(parts) as where,
        httpx.AsyncClient(base_url=f"http://{where}", trust_env=False, timeout=60) as client,
    ):
        yield Api(client, parts, Door([where], {}))


@pytest.mark.parametrize(
    ("code", "remark", "problem", "words"),
    [
        (
            1,
            "The broker does not support consumer to filter message by SQL92",
            (422, "NOT_SERVED_BY_BROKER"),
            "filters by tags alone: its enablePropertyFilter is off.",
        ),
        (23, "parse the consumer's subscription failed", (422, "FILTER_REFUSED"), "subscription failed."),
        (3, " request type 200050 not supported", (422, "NOT_SERVED_BY_BROKER"), "does not support leases"),
    ],
)
async def test_what_a_broker_refuses_is_a_problem_of_its_own(
    redis_url: str, code: int, remark: str, problem: tuple[int, str], words: str
) -> None:
    async with scripted_cluster() as cluster:
        cluster.add_topic("orders")
        cluster["broker-a"].on(RequestCode.POP_MESSAGE, refuse(code, remark))
        async with plane_of(cluster, redis_url) as api:
            answer = await api.post("/groups/billing/topics/orders:receive", {"filter": sql("amount > 1")})
        assert code_of(answer) == problem
        assert words in answer.json()["detail"]
        assert answer.json().get("capability") == {1: "sql", 3: "lease"}.get(code)
        (asked,) = cluster["broker-a"].asked(RequestCode.POP_MESSAGE)
        header = asked.header(PopMessageRequest)
        assert (header.exp_type, header.exp) == ("SQL92", "amount > 1")
