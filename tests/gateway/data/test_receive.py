"""Requirements of `gateway.data.receive`, against a real broker over real HTTP."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import httpx
import pytest

from broker_core.protocol.headers.send import SendMessageV2Request
from broker_core.protocol.message import Message
from broker_core.protocol.sys_flag import COMPRESSED
from gateway.data.parts import DataPlaneParts
from gateway.limits import GatewayLimits
from tests.gateway.data.conftest import Api, code_of
from tests.gateway.running import CAST, make_parts, running_plane
from tests.support.cluster import RunningBroker
from tests.support.wait import eventually

# A client that hangs up soon after it asked; to connect it takes the time that a loaded machine needs.
LEFT_SOON: Final = httpx.Timeout(60, read=0.5)
# Times in answers are cut to milliseconds.
MILLISECOND: Final = timedelta(milliseconds=1)


def url(group: str, topic: str, verb: str = "receive") -> str:
    return f"/groups/{group}/topics/{topic}:{verb}"


def texts(messages: list[dict[str, Any]]) -> list[str]:
    return [message["body"]["data"] for message in messages]


async def test_a_message_comes_with_all_that_was_given_and_what_the_broker_knows(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    await api.post(
        f"/topics/{topic}/messages",
        {
            "keys": ["A17", "c9"],
            "tag": "created",
            "ordering_key": "c9",
            "properties": {"source": "web"},
            "body": {"encoding": "json", "data": {"id": "A17"}},
        },
    )
    before = datetime.now(UTC)
    (message,) = await api.receive(group, topic, lease_ms=60_000)
    after = datetime.now(UTC)
    times = {name: message.pop(name) for name in ("born_at", "stored_at", "lease_expires_at", "first_delivered_at")}
    assert {name: message[name] for name in message if name not in ("message_id", "receipt")} == {
        "topic": topic,
        "broker": "broker-a",
        "queue_id": 0,
        "offset": 0,
        "keys": ["A17", "c9"],
        "tag": "created",
        "ordering_key": "c9",
        "properties": {"source": "web"},
        "content_type": "application/json",
        "body": {"encoding": "json", "data": {"id": "A17"}},
        "delivery_count": 1,
        "nack_reason": None,
    }
    assert message["receipt"].startswith("v3.")
    leased_at = datetime.fromisoformat(times["lease_expires_at"]) - timedelta(minutes=1)
    assert before - MILLISECOND < leased_at <= after


async def test_an_empty_answer_says_that_the_time_is_over(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    answer = await api.post(url(group, topic), {"wait_ms": 0})
    assert answer.json() == {
        "messages": [],
        "waited_ms": answer.json()["waited_ms"],
        "reason": "timeout",
        "missing": [],
    }
    waited = await api.post(url(group, topic), {"wait_ms": 300})
    assert waited.json()["reason"] == "timeout"
    assert waited.json()["waited_ms"] >= 300


async def test_a_waiting_receive_is_answered_when_a_message_comes(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    waiting = asyncio.create_task(api.receive(group, topic, wait_ms=30_000))
    await eventually(lambda: api.waiting(group, topic))
    await api.produce(topic, "at last")
    assert texts(await waiting) == ["at last"]


async def test_receives_that_were_hung_up_take_nothing_and_count_as_no_delivery(api: Api) -> None:
    topic, group = await api.topic(), api.group()

    async def ask_and_leave() -> None:
        async with httpx.AsyncClient(
            base_url=f"http://{api.door.next()}", trust_env=False, timeout=LEFT_SOON
        ) as client:
            with pytest.raises(httpx.ReadTimeout):
                await client.post(
                    f"/api/v1/clusters/local{url(group, topic)}",
                    json={"wait_ms": 20_000},
                    headers=api.door.authorization("admin"),
                )

    async def nobody_waits() -> bool:
        return await api.waiting(group, topic) == 0

    await asyncio.gather(*(ask_and_leave() for _ in range(20)))
    await eventually(nobody_waits)
    await api.produce(topic, "a")

    (message,) = await api.receive(group, topic, wait_ms=10_000)
    assert (texts([message]), message["delivery_count"]) == (["a"], 1)


async def test_no_more_than_wanted_and_in_the_order_of_the_queue(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    await api.produce(topic, *"abcde")
    assert texts(await api.receive(group, topic, max_messages=2)) == ["a", "b"]
    assert texts(await api.receive(group, topic, max_messages=32)) == ["c", "d", "e"]


@pytest.mark.sample
async def test_in_fifo_order_a_queue_waits_until_each_message_of_it_is_settled(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    await api.produce(topic, *"abcd")
    first, second = await api.receive(group, topic, order="fifo", max_messages=2)
    assert await api.receive(group, topic, order="fifo") == []
    settled = await api.post(url(group, topic, "ack"), {"receipts": [second["receipt"]]})
    assert settled.status_code == 200, settled.text
    assert await api.receive(group, topic, order="fifo") == [], "the first one is still on lease"
    await api.post(url(group, topic, "nack"), {"receipts": [first["receipt"]]})
    (again,) = await api.receive(group, topic, order="fifo", max_messages=1, wait_ms=10_000)
    assert (again["body"]["data"], again["delivery_count"]) == ("a", 2), "what failed comes before what follows it"
    waiting = asyncio.create_task(api.receive(group, topic, order="fifo", wait_ms=20_000))
    both = await api.post(url(group, topic, "ack"), {"receipts": [again["receipt"]]})
    assert both.json()["results"][0]["status"] == "acked"
    rest = await waiting
    assert texts(rest) == ["c", "d"]
    done = await api.post(url(group, topic, "ack"), {"receipts": [each["receipt"] for each in rest]})
    assert [each["status"] for each in done.json()["results"]] == ["acked", "acked"]


async def test_an_empty_answer_in_order_says_whether_messages_are_held_back(api: Api) -> None:
    topic, group = await api.topic(queues=2), api.group()

    async def receive(**wanted: Any) -> dict[str, Any]:
        answer = await api.post(url(group, topic, "receive"), {"order": "fifo", **wanted})
        found: dict[str, Any] = answer.json()
        return found

    assert (await receive())["reason"] == "timeout", "nothing is stored"
    await api.produce(topic, *"ab", ordering_key="k1", tag="created")
    first = await receive(max_messages=1)
    assert first["reason"] == "messages"
    assert (await receive(wait_ms=50))["reason"] == "ordering_locked"
    paid = {"type": "tag", "expression": "paid"}
    assert (await receive(filter=paid))["reason"] == "ordering_locked", "a filter does not unlock the queue"
    await api.settle("ack", group, topic, first["messages"][0]["receipt"])
    assert (await receive(filter=paid))["reason"] == "timeout", "what is left does not match"
    assert (await receive())["reason"] == "timeout", "the filter has passed what did not match"


async def test_fifo_order_locks_a_queue_and_not_the_topic(api: Api) -> None:
    topic, group = await api.topic(queues=2), api.group()
    for key in ("k1", "k2", "k3", "k4"):
        await api.produce(topic, key, ordering_key=key)
    seen = [await api.receive(group, topic, order="fifo", max_messages=1) for _ in range(3)]
    queues = [each["queue_id"] for leased in seen for each in leased]
    assert sorted(queues) == [0, 1]


async def test_a_leased_message_comes_to_nobody_else_until_its_lease_is_over(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    await api.produce(topic, "a")
    await api.receive(group, topic, lease_ms=1000)
    assert await api.receive(group, topic) == []
    (again,) = await api.receive(group, topic, wait_ms=10_000)
    assert (again["body"]["data"], again["delivery_count"]) == ("a", 2)


async def test_the_first_delivery_is_told_whatever_ended_its_lease(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    await api.produce(topic, "a")
    before = datetime.now(UTC)
    (message,) = await api.receive(group, topic)
    first = message["first_delivered_at"]
    assert before - MILLISECOND < datetime.fromisoformat(first) <= datetime.now(UTC)

    await api.settle("nack", group, topic, message["receipt"], delay_ms=0)
    (message,) = await api.receive(group, topic, wait_ms=10_000, lease_ms=1_000)
    assert message["first_delivered_at"] == first

    (message,) = await api.receive(group, topic, wait_ms=10_000)
    assert (message["delivery_count"], message["first_delivered_at"]) == (3, first)


async def test_each_group_gets_every_message(api: Api) -> None:
    topic = await api.topic()
    await api.produce(topic, "a")
    for group in (api.group(), api.group()):
        assert texts(await api.receive(group, topic)) == ["a"]


async def test_a_tag_filter_brings_its_tags_alone(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    for tag in ("created", "paid", "shipped"):
        await api.produce(topic, tag, tag=tag)
    wanted = {"type": "tag", "expression": "created || paid"}
    assert texts(await api.receive(group, topic, filter=wanted)) == ["created", "paid"]


async def test_the_body_is_encoded_as_the_reader_wants(api: Api) -> None:
    topic = await api.topic()
    await api.post(f"/topics/{topic}/messages", {"body": {"encoding": "json", "data": [1]}})
    for encoding, data in (("auto", [1]), ("json", [1]), ("text", "[1]"), ("base64", "WzFd")):
        (message,) = await api.receive(api.group(), topic, body_encoding=encoding)
        assert message["body"] == {"encoding": encoding.replace("auto", "json"), "data": data}


async def test_messages_of_other_clients_are_read_by_their_bytes(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    producer = await api.parts.connections.producer("local")
    for body in (b'{"a":1}', "plain ö".encode(), b"\xff\x00", b"x" * 10_000):
        await producer.send(Message(topic, body))
    messages = await api.receive(group, topic)
    assert [message["body"]["encoding"] for message in messages] == ["json", "text", "base64", "text"]
    assert messages[3]["body"]["data"] == "x" * 10_000


@pytest.mark.sample
async def test_the_same_attempt_brings_the_same_messages_again(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    await api.produce(topic, "a", "b")
    wanted = {"attempt_id": "try-1", "max_messages": 1}
    first = await api.post(url(group, topic), wanted)
    again = await api.post(url(group, topic), wanted)
    assert first.json()["messages"]
    assert again.json() == first.json()
    assert again.headers["idempotency-replayed"] == "true"
    other = await api.post(url(group, topic), wanted | {"attempt_id": "try-2"})
    assert texts(other.json()["messages"]) == ["b"]


async def test_a_key_means_what_an_attempt_id_means(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    await api.produce(topic, "a", "b")
    headers = {"Idempotency-Key": f"k-{group}"}
    first = await api.post(url(group, topic), {"max_messages": 1}, headers=headers)
    again = await api.post(url(group, topic), {"max_messages": 1}, headers=headers)
    assert texts(first.json()["messages"]) == ["a"]
    assert again.json() == first.json()
    both = await api.post(url(group, topic), {"attempt_id": "try-1"}, headers=headers)
    assert (both.status_code, both.json()["errors"][0]["pointer"]) == (422, "Idempotency-Key")


async def test_an_attempt_that_brought_nothing_is_not_remembered(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    assert await api.receive(group, topic, attempt_id="try-1") == []
    await api.produce(topic, "a")
    assert texts(await api.receive(group, topic, attempt_id="try-1")) == ["a"]


async def test_a_client_that_goes_away_while_it_waits_takes_no_messages_with_it(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    with pytest.raises(httpx.ReadTimeout):
        await api.post(url(group, topic), {"wait_ms": 30_000, "lease_ms": 600_000}, timeout=LEFT_SOON)
    await api.produce(topic, "a")

    async def got() -> bool:
        return texts(await api.receive(group, topic, wait_ms=1000)) == ["a"]

    await eventually(got)


@pytest.mark.in_process
async def test_a_waiting_receive_is_told_when_the_gateway_drains(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    waiting = asyncio.create_task(api.post(url(group, topic), {"wait_ms": 30_000}))
    await eventually(lambda: api.waiting(group, topic))
    api.parts.draining.set()
    answer = await waiting
    assert answer.json()["reason"] == "draining"


async def test_leases_out_are_capped_by_group_and_settling_makes_room(
    shared_broker: RunningBroker, redis_url: str
) -> None:
    parts: DataPlaneParts = make_parts(shared_broker.name_server, redis_url, limits=GatewayLimits(leases_per_group=2))
    async with running_plane(parts) as where, httpx.AsyncClient(base_url=f"http://{where}", trust_env=False) as client:
        api = Api(client, parts)
        topic, group = await api.topic(), api.group()
        await api.produce(topic, *"abcde")
        first = await api.receive(group, topic, max_messages=32)
        assert len(first) == 2
        refused = await api.post(url(group, topic), {})
        assert code_of(refused) == (429, "TOO_MANY_IN_FLIGHT")
        assert refused.headers["retry-after"]
        await api.settle("ack", group, topic, first[0]["receipt"])
        assert texts(await api.receive(group, topic)) == ["c"]


async def test_a_topic_that_does_not_exist_is_a_404(api: Api) -> None:
    assert code_of(await api.post(url("billing", "nowhere"), {})) == (404, "TOPIC_NOT_FOUND")
    assert code_of(await api.post(url("a.b", "orders"), {})) == (404, "GROUP_NOT_FOUND")


async def test_a_filter_that_cannot_be_is_refused(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    sql = await api.post(url(group, topic), {"filter": {"type": "sql92", "expression": "a > 1"}})
    assert code_of(sql) == (422, "INVALID")
    assert sql.json()["errors"][0]["pointer"] == "#/filter/type"
    for blank in ("||", " || ||", " "):
        nothing = await api.post(url(group, topic), {"filter": {"expression": blank}})
        assert code_of(nothing) == (422, "INVALID"), blank
        assert nothing.json()["errors"][0]["pointer"] == "#/filter/expression"


async def test_offsets_are_text_for_readers_whose_numbers_are_doubles(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    await api.produce(topic, "a")
    answer = await api.post(url(group, topic), {}, headers={"Accept": "application/json;offsets=string"})
    assert answer.json()["messages"][0]["offset"] == "0"


async def test_a_token_consumes_its_topics_with_its_groups_alone(api: Api) -> None:
    topic = await api.topic()
    path = f"/topics/{topic}:receive"
    for group, status in (("billing-own", 200), ("shipping", 403)):
        answer = await api.post(f"/groups/{group}{path}", token="billing")
        assert answer.status_code == status, answer.text
        for verb in ("ack", "nack", "extend"):
            settled = await api.settle(verb, group, topic, "none")
            assert settled.status_code == 422
            refused = await api.post(f"/groups/{group}/topics/{topic}:{verb}", {"receipts": ["none"]}, token="billing")
            assert refused.status_code == (422 if status == 200 else 403)
    # A token whose scope names no group may use all groups
    assert (await api.post(f"/groups/shipping{path}", token="narrow")).status_code == 200


@pytest.mark.parametrize(
    ("topic", "group"),
    [("SCHEDULE_TOPIC_XXXX", "g"), ("TBW102", "g"), ("rmq_sys_wheel_timer", "g"), ("orders", "CID_RMQ_SYS_TRANS")],
)
async def test_what_is_the_systems_is_consumed_by_no_token(api: Api, topic: str, group: str) -> None:
    answer = await api.post(f"/groups/{group}/topics/{topic}:receive")
    assert code_of(answer) == (403, "FORBIDDEN")
    assert "is internal" in answer.json()["detail"]


@pytest.mark.in_process
async def test_who_waits_with_a_token_that_is_revoked_meanwhile_gets_nothing(
    api: Api, parts: DataPlaneParts, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic, group = await api.topic(), "billing-revoked"
    monkeypatch.setitem(CAST, "passing", CAST["developer"])
    # Given a waiting receive whose token is revoked meanwhile, after the cache of tokens has expired
    waiting = asyncio.create_task(
        api.post(f"/groups/{group}/topics/{topic}:receive", {"wait_ms": 20_000}, token="passing")
    )

    await eventually(lambda: api.waiting(group, topic))
    monkeypatch.delitem(CAST, "passing")
    parts.auth._cache.clear()
    # When a message comes
    await api.produce(topic, "a")
    # Then another caller gets it, at once
    assert code_of(await waiting) == (401, "NOT_AUTHENTICATED")
    assert [message["body"]["data"] for message in await api.receive(group, topic, wait_ms=5000)] == ["a"]


async def test_a_damaged_message_does_not_keep_its_neighbours_back_and_becomes_a_dead_letter(api: Api) -> None:
    # Given a message between two others whose sys flag says compressed although its body is not
    topic, group = await api.topic(), api.group()
    session = await api.parts.connections.session("local")
    (addr,) = (await session.routes.get(topic)).masters.values()
    await (await api.parts.connections.admin("local")).groups.create(group, retry_max_times=0)
    await api.produce(topic, "a")
    await session.call(addr, SendMessageV2Request(topic, 0, COMPRESSED, 0, 0, "checkout"), b"hello")
    await api.produce(topic, "b")

    assert texts(await api.receive(group, topic, max_messages=32, lease_ms=600_000)) == ["a", "b"]

    async def is_dead() -> bool:
        await api.receive(group, topic)
        admin = await api.parts.connections.admin("local")
        return f"%DLQ%{group}" in await admin.topics.names()

    await eventually(is_dead)
