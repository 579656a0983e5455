"""Requirements of `gateway.data.idempotency`: a repeated request is executed once."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from console.idempotency import KEEP_MS
from tests.gateway.data.conftest import Api, code_of
from tests.gateway.running import make_parts, running_plane
from tests.support.cluster import RunningBroker

BODY = {"body": {"encoding": "text", "data": "x"}}


def key(text: str) -> dict[str, str]:
    return {"Idempotency-Key": text}


async def count(api: Api, topic: str) -> int:
    return (await (await api.parts.connections.admin("local")).topics.stats(topic)).messages


async def test_a_repeated_request_gets_the_first_answer_and_stores_nothing(api: Api) -> None:
    topic = await api.topic()
    first = await api.post(f"/topics/{topic}/messages", BODY, headers=key("k"))
    again = await api.post(f"/topics/{topic}/messages", BODY, headers=key("k"))
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    assert await count(api, topic) == 1


@pytest.mark.sample
async def test_a_storm_of_retries_stores_one_message(api: Api) -> None:
    topic = await api.topic()
    answers = await asyncio.gather(
        *(api.post(f"/topics/{topic}/messages", BODY, headers=key("storm")) for _ in range(30))
    )
    assert {answer.status_code for answer in answers} <= {201, 409}
    for answer in answers:
        if answer.status_code == 409:
            assert code_of(answer) == (409, "IN_PROGRESS")
            assert answer.headers["retry-after"]
    assert await count(api, topic) == 1


async def test_another_request_under_the_same_key_is_refused(api: Api) -> None:
    topic = await api.topic()
    await api.post(f"/topics/{topic}/messages", BODY, headers=key("k"))
    other = await api.post(f"/topics/{topic}/messages", BODY | {"tag": "t"}, headers=key("k"))
    assert code_of(other) == (422, "IDEMPOTENCY_MISMATCH")


async def test_the_same_message_may_be_written_in_another_way(api: Api) -> None:
    path = f"/topics/{await api.topic()}/messages"
    headers = {**key("k"), "Content-Type": "application/json"}
    spellings = [
        b'{"body":{"encoding":"json","data":{"a": 1}},"keys":["A"],"properties":{"x":"1","y":"2"}}',
        b'{ "keys": ["A"],\n"properties": {"y": "2", "x": "1"}, "body": {"data": {"a":  1}, "encoding": "json"} }',
        b'{"body":{"encoding":"json","data":{"a": 1}},"keys":["A"],"properties":{"x":"1","y":"2"},"tag":null,'
        b'"options":{"timeout_ms":30000}}',
    ]
    answers = [await api.post(path, content=each, headers=headers) for each in spellings]
    assert [each.status_code for each in answers] == [201] * 3
    assert [each.headers.get("idempotency-replayed") for each in answers] == [None, "true", "true"]
    other = await api.post(path, content=spellings[0].replace(b'"a": 1', b'"a": 1.0'), headers=headers)
    assert code_of(other) == (422, "IDEMPOTENCY_MISMATCH")
    raw = await api.post(path, content=spellings[0], headers=key("k") | {"Content-Type": "text/plain"})
    assert code_of(raw) == (422, "IDEMPOTENCY_MISMATCH")


async def test_a_key_of_a_receive_is_the_name_of_its_attempt(api: Api) -> None:
    topic = await api.topic()
    await api.produce(topic, "a")
    path, wanted = f"/groups/g/topics/{topic}:receive", {"wait_ms": 5000, "lease_ms": 60_000}
    first = await api.post(path, wanted, headers=key("first"))
    again = await api.post(path, {**wanted, "attempt_id": "first"})
    assert len(first.json()["messages"]) == 1
    assert again.json() == first.json()


async def test_attributes_in_headers_belong_to_the_request(api: Api) -> None:
    topic = await api.topic()
    path = f"/topics/{topic}/messages"
    await api.post(path, content=b"x", headers={**key("k"), "MQ-Tag": "a"})
    other = await api.post(path, content=b"x", headers={**key("k"), "MQ-Tag": "b"})
    assert code_of(other) == (422, "IDEMPOTENCY_MISMATCH")


@pytest.mark.sample
async def test_keys_are_the_callers_and_the_routes_own(api: Api) -> None:
    topic, other_topic = await api.topic(), await api.topic()
    await api.post(f"/topics/{topic}/messages", BODY, headers=key("k"))
    await api.post(f"/topics/{topic}/messages", BODY, headers=key("k"), token="developer")
    await api.post(f"/topics/{other_topic}/messages", BODY, headers=key("k"))
    assert (await count(api, topic), await count(api, other_topic)) == (2, 1)


async def test_a_refusal_is_kept_too(api: Api) -> None:
    path = "/topics/nowhere-1/messages"
    first = await api.post(path, BODY, headers=key("k"))
    again = await api.post(path, BODY, headers=key("k"))
    assert code_of(first) == (404, "TOPIC_NOT_FOUND")
    assert again.headers["idempotency-replayed"] == "true"
    assert (again.status_code, again.json()["code"]) == (404, "TOPIC_NOT_FOUND")


async def test_an_answer_is_kept_for_a_day(api: Api) -> None:
    topic = await api.topic()
    await api.post(f"/topics/{topic}/messages", BODY, headers=key("day"))
    ages = [await api.parts.redis.pttl(name) async for name in api.parts.redis.scan_iter("gantry:once:*")]
    assert KEEP_MS - 60_000 < max(ages) <= KEEP_MS


@pytest.mark.parametrize("bad", ["", "x" * 256])
async def test_a_key_has_1_to_255_characters(api: Api, bad: str) -> None:
    answer = await api.post("/topics/orders/messages", BODY, headers=key(bad))
    assert code_of(answer) == (422, "INVALID")


async def test_without_redis_nothing_is_promised_to_be_done_once(shared_broker: RunningBroker) -> None:
    parts = make_parts(shared_broker.name_server, "unix:///nowhere.sock")
    async with running_plane(parts) as where, httpx.AsyncClient(base_url=f"http://{where}", trust_env=False) as client:
        api = Api(client, parts)
        topic = await api.topic()
        refused = await api.post(f"/topics/{topic}/messages", BODY, headers=key("k"))
        assert code_of(refused) == (503, "REDIS_UNREACHABLE")
        assert (await api.post(f"/topics/{topic}/messages", BODY)).status_code == 201
        assert await count(api, topic) == 1
