"""Requirements of `gateway.data.produce` and `gateway.data.sending`, against a real broker over real HTTP."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.message import StoredMessage
from tests.gateway.data.conftest import Api, code_of

FOUR_DAYS_MS = 4 * 24 * 3_600_000
JSON_BODY = {"encoding": "json", "data": {"id": "A17", "n": 1.50}}


async def stored(api: Api, topic: str, offset: int = 0, queue_id: int = 0) -> StoredMessage:
    """Return a message as the broker stores it."""
    admin = await api.parts.connections.admin("local")
    placed = await admin.messages.at(MessageQueue(topic, "broker-a", queue_id), offset)
    assert placed is not None
    return placed.message


async def test_one_json_message_is_stored_with_all_its_attributes(api: Api) -> None:
    topic = await api.topic()
    answer = await api.post(
        f"/topics/{topic}/messages",
        {"entry_id": "a", "keys": ["A17", "c9"], "tag": "created", "properties": {"source": "web"}, "body": JSON_BODY},
    )
    assert answer.status_code == 201
    (result,) = answer.json()["results"]
    assert answer.json() | {"results": []} == {"results": [], "stored": 1, "failed": 0}
    assert (result["entry_id"], result["status"], result["queue_id"], result["offset"]) == ("a", "stored", 0, 0)
    assert result["broker"] == "broker-a"
    found = await stored(api, topic)
    assert found.body == b'{"id":"A17","n":1.5}'
    assert found.message_id == result["message_id"]
    assert (found.keys, found.tag, found.properties["source"]) == (["A17", "c9"], "created", "web")


async def test_a_raw_body_is_the_message(api: Api) -> None:
    topic = await api.topic()
    answer = await api.post(
        f"/topics/{topic}/messages",
        content=b"<order/>",
        headers={"Content-Type": "application/xml", "MQ-Key": "A17", "MQ-Tag": "created", "MQ-Property-Source": "web"},
    )
    assert answer.status_code == 201
    found = await stored(api, topic)
    assert found.body == b"<order/>"
    assert (found.keys, found.tag) == (["A17"], "created")
    assert (found.properties["source"], found.properties["CONTENT_TYPE"]) == ("web", "application/xml")


async def test_a_batch_gets_one_result_for_each_message_in_its_order(api: Api) -> None:
    topic = await api.topic()
    results = await api.produce(topic, "a", "b", "c")
    assert [result["entry_id"] for result in results] == ["0", "1", "2"]
    assert [result["offset"] for result in results] == [0, 1, 2]
    assert len({result["message_id"] for result in results}) == 3
    assert [(await stored(api, topic, offset)).body for offset in range(3)] == [b"a", b"b", b"c"]


async def test_a_batch_without_ordering_keys_is_one_request_to_the_broker(api: Api) -> None:
    topic = await api.topic(queues=4)
    results = await api.produce(topic, *map(str, range(20)))
    assert len({result["queue_id"] for result in results}) == 1
    assert [result["offset"] for result in results] == list(range(20))


@pytest.mark.sample
async def test_messages_of_one_ordering_key_go_to_one_queue_in_order(api: Api) -> None:
    topic = await api.topic(queues=4)
    keys = ["cust-1", "cust-2", "cust-3", "cust-1", "cust-2", "cust-1"]
    messages = [{"ordering_key": key, "body": {"encoding": "text", "data": str(n)}} for n, key in enumerate(keys)]
    answer = await api.post(f"/topics/{topic}/messages", {"messages": messages})
    placed: dict[str, list[tuple[int, int]]] = {}
    for key, result in zip(keys, answer.json()["results"], strict=True):
        placed.setdefault(key, []).append((result["queue_id"], result["offset"]))
    for places in placed.values():
        assert len({queue_id for queue_id, _ in places}) == 1
        assert places == sorted(places)


async def test_a_message_comes_at_the_time_it_asks_for_and_at_once_if_that_has_passed(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    at = (datetime.now(UTC) + timedelta(milliseconds=700)).isoformat(timespec="milliseconds")
    (later,) = await api.produce(topic, "later", deliver_at=at)
    assert datetime.fromisoformat(later["deliver_at"]) == datetime.fromisoformat(at)
    passed = {"MQ-Deliver-At": "2020-01-01T00:00:00Z", "Content-Type": "text/plain"}
    answer = await api.post(f"/topics/{topic}/messages", content=b"now", headers=passed)
    assert {"queue_id", "offset"} <= answer.json()["results"][0].keys()

    received: list[Any] = []
    while len(received) < 2:
        received += await api.receive(group, topic, wait_ms=20_000)
    assert [message["body"]["data"] for message in received] == ["now", "later"]
    assert received[1]["stored_at"] >= later["deliver_at"]


async def test_a_delayed_message_says_when_it_is_due_and_comes_then(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    (result,) = await api.produce(topic, "later", delay_ms=234)
    assert "deliver_at" in result
    assert "queue_id" not in result
    (message,) = await api.receive(group, topic, wait_ms=20_000)
    assert message["body"] == {"encoding": "text", "data": "later"}
    assert message["message_id"] == result["message_id"]


async def test_what_can_be_stored_is_stored_although_another_message_is_refused(api: Api) -> None:
    topic = await api.topic()
    good, bad = {"body": JSON_BODY}, {"body": JSON_BODY, "delay_ms": FOUR_DAYS_MS}
    answer = await api.post(f"/topics/{topic}/messages", {"messages": [good, bad, good]})
    assert answer.status_code == 207
    assert (answer.json()["stored"], answer.json()["failed"]) == (2, 1)
    assert [result["status"] for result in answer.json()["results"]] == ["stored", "failed", "stored"]
    assert answer.json()["results"][1]["problem"]["code"] == "DELAY_NOT_SERVED"


async def test_messages_that_all_fail_alike_are_one_problem_with_each_pointed_at(api: Api) -> None:
    topic = await api.topic()
    bad = {"body": JSON_BODY, "delay_ms": FOUR_DAYS_MS}
    answer = await api.post(f"/topics/{topic}/messages", {"messages": [bad, bad]})
    assert code_of(answer) == (422, "DELAY_NOT_SERVED")
    assert (
        "would wait 4 days; cluster 'local' keeps messages for at most 3 days (timerMaxDelaySec=259200)"
        in answer.json()["errors"][0]["detail"]
    )
    assert [error["pointer"] for error in answer.json()["errors"]] == ["#/messages/0/delay_ms", "#/messages/1/delay_ms"]
    assert [result["status"] for result in answer.json()["results"]] == ["failed", "failed"]


async def test_an_atomic_batch_is_stored_whole_in_one_queue(api: Api) -> None:
    topic = await api.topic(queues=4)
    answer = await api.post(
        f"/topics/{topic}/messages", {"messages": [{"body": JSON_BODY}] * 5, "options": {"atomic": True}}
    )
    assert answer.status_code == 201
    assert len({result["queue_id"] for result in answer.json()["results"]}) == 1


async def test_a_time_that_has_passed_is_no_delay_in_an_atomic_batch_either(api: Api) -> None:
    topic = await api.topic(queues=4)
    past, at_once = {"deliver_at": "2020-01-01T00:00:00Z"}, {"delay_ms": 0}
    messages = [{"body": JSON_BODY, **fields} for fields in (past, {}, at_once, past)]
    answer = await api.post(f"/topics/{topic}/messages", {"messages": messages, "options": {"atomic": True}})
    assert answer.status_code == 201, answer.text
    results = answer.json()["results"]
    assert [each["offset"] for each in results] == [0, 1, 2, 3]
    assert {(each["queue_id"], each.get("deliver_at")) for each in results} == {(results[0]["queue_id"], None)}


@pytest.mark.parametrize(
    "messages",
    [
        [{"body": JSON_BODY}, {"body": JSON_BODY, "delay_ms": 1000}],
        [{"body": JSON_BODY}, {"body": JSON_BODY, "deliver_at": "2999-01-01T00:00:00Z"}],
        [{"body": JSON_BODY, "ordering_key": "a"}, {"body": JSON_BODY, "ordering_key": "b"}],
        [{"body": {"encoding": "text", "data": "x" * 1_900_000}}] * 2,
    ],
    ids=["delay", "time to come", "two ordering keys", "too many bytes"],
)
async def test_what_cannot_be_atomic_is_refused_and_nothing_is_stored(api: Api, messages: list[Any]) -> None:
    topic = await api.topic()
    answer = await api.post(f"/topics/{topic}/messages", {"messages": messages, "options": {"atomic": True}})
    assert code_of(answer) == (422, "ATOMIC_NOT_POSSIBLE")
    assert (await (await api.parts.connections.admin("local")).topics.stats(topic)).messages == 0


async def test_an_atomic_batch_with_one_bad_message_is_refused_whole(api: Api) -> None:
    topic = await api.topic()
    bad = {"body": JSON_BODY, "keys": ["a b"]}
    answer = await api.post(
        f"/topics/{topic}/messages", {"messages": [{"body": JSON_BODY}, bad], "options": {"atomic": True}}
    )
    assert code_of(answer) == (422, "INVALID")
    assert answer.json()["errors"][0]["pointer"] == "#/messages/1/keys/0"


async def test_a_batch_larger_than_a_broker_takes_at_once_is_cut(api: Api) -> None:
    topic = await api.topic()
    results = await api.produce(topic, *("x" * 900_000 for _ in range(8)))
    assert sorted(result["offset"] for result in results) == list(range(8))


async def test_a_topic_that_does_not_exist_is_a_404_and_is_not_created(api: Api) -> None:
    answer = await api.post("/topics/nowhere/messages", {"body": JSON_BODY})
    assert code_of(answer) == (404, "TOPIC_NOT_FOUND")
    assert answer.json()["results"][0]["status"] == "failed"


async def test_a_cluster_that_does_not_exist_is_a_404(api: Api) -> None:
    answer = await api.client.post(
        "/api/v1/clusters/moon/topics/orders/messages",
        json={"body": JSON_BODY},
        headers=api.door.authorization("admin"),
    )
    assert code_of(answer) == (404, "CLUSTER_NOT_FOUND")


@pytest.mark.parametrize(
    "document",
    [
        {"body": JSON_BODY},
        {"body": JSON_BODY, "ordering_key": "c9"},
        {"messages": [{"body": JSON_BODY, "ordering_key": "c9"}]},
        {"messages": [{"body": JSON_BODY, "ordering_key": "c9"}], "options": {"atomic": True}},
    ],
    ids=["alone", "in order", "a list in order", "an atomic list in order"],
)
async def test_a_topic_that_may_not_be_written_is_a_409(api: Api, document: dict[str, Any]) -> None:
    topic = await api.topic()
    admin = await api.parts.connections.admin("local")
    await admin.topics.update(topic, perm=4)
    answer = await api.post(f"/topics/{topic}/messages", document)
    assert code_of(answer) == (409, "TOPIC_READ_ONLY")


async def test_a_message_that_is_too_large_is_a_413(api: Api) -> None:
    topic = await api.topic()
    answer = await api.post(f"/topics/{topic}/messages", content=b"x" * (4 * 1024 * 1024 + 1))
    assert code_of(answer) == (413, "MESSAGE_TOO_LARGE")
    (result,) = await api.produce(topic, "y" * (4 * 1024 * 1024))
    assert result["status"] == "stored"


async def test_a_body_over_the_limit_is_refused_announced_or_not(api: Api) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(9):
            yield b"x" * 1024 * 1024

    for content in (b"x" * (8 * 1024 * 1024 + 1), chunks()):
        answer = await api.post("/topics/orders/messages", content=content)
        assert code_of(answer) == (413, "BODY_TOO_LARGE")


@pytest.mark.parametrize(
    ("body", "expected", "pointer"),
    [
        ({}, (422, "INVALID"), "#/body"),
        ({"messages": [], "body": JSON_BODY}, (422, "INVALID"), "#/messages"),
        ({"messages": [{"body": JSON_BODY}], "tag": "x"}, (422, "INVALID"), "#/tag"),
        ({"messages": [{"body": JSON_BODY}], "body": JSON_BODY}, (422, "INVALID"), "#/body"),
        (
            {"messages": [{"entry_id": "a", "body": JSON_BODY}, {"entry_id": "a", "body": JSON_BODY}]},
            (422, "INVALID"),
            "#/messages/1/entry_id",
        ),
        ({"messages": [{"body": JSON_BODY}] * 1001}, (422, "INVALID"), "#/messages"),
        ({"body": JSON_BODY, "options": {"flush": "sync"}}, (422, "INVALID"), "#/options/flush"),
        ({"body": JSON_BODY, "colour": "red"}, (422, "INVALID"), "#/colour"),
        ({"body": JSON_BODY, "properties": {"a/b": ""}}, (422, "INVALID"), "#/properties/a~1b"),
        ({"body": {"encoding": "base64", "data": "!"}}, (422, "INVALID"), "#/body/data"),
    ],
)
async def test_a_bad_request_is_told_where_it_is_bad(
    api: Api, body: dict[str, Any], expected: tuple[int, str], pointer: str
) -> None:
    answer = await api.post("/topics/orders/messages", body)
    assert code_of(answer) == expected
    assert answer.json()["errors"][0]["pointer"] == pointer


async def test_a_batch_that_fails_as_a_whole_points_at_the_fault_in_each_message(api: Api) -> None:
    topic, faults = await api.topic(), ({"tag": "*"}, {"keys": ["a b"]}, {"properties": {"a/b": ""}})
    answer = await api.post(f"/topics/{topic}/messages", {"messages": [{"body": JSON_BODY, **each} for each in faults]})
    assert code_of(answer) == (422, "INVALID")
    pointers = [error["pointer"] for error in answer.json()["errors"]]
    assert pointers == ["#/messages/0/tag", "#/messages/1/keys/0", "#/messages/2/properties/a~1b"]


async def test_what_is_not_served_says_so(api: Api) -> None:
    unknown = await api.post("/topics/t/messages?colour=red", {"body": JSON_BODY})
    assert code_of(unknown) == (422, "INVALID")


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("MQ-Tag", ("a", "b")),
        ("MQ-Delay-Ms", ("1000", "5000")),
        ("MQ-Ordering-Key", ("a", "a")),
        ("MQ-Property-colour", ("red", "blue")),
        ("Idempotency-Key", ("one", "two")),
        ("MQ-Ordering-Key", ("",)),
    ],
)
async def test_a_header_that_stands_twice_or_says_nothing_is_refused(
    api: Api, name: str, values: tuple[str, ...]
) -> None:
    topic = await api.topic()
    more = [("Content-Type", "text/plain"), *((name, value) for value in values)]
    headers = [*api.door.authorization("admin").items(), *more]
    path = f"/api/v1/clusters/local/topics/{topic}/messages"
    answer = await api.client.post(path, content=b"x", headers=headers)
    assert code_of(answer) == (422, "INVALID")
    assert answer.json()["errors"][0]["pointer"].lower() == name.lower()


@pytest.mark.parametrize("name", ["MQ-Tag", "MQ-Key", "MQ-Delay-Ms", "MQ-Property-colour", "MQ-Bogus"])
async def test_a_header_of_a_raw_message_is_refused_where_it_would_be_lost(api: Api, name: str) -> None:
    topic, headers = await api.topic(), {name: "1000", "X-MQ-Tag": "fine"}
    for path in (f"/topics/{topic}/messages", f"/groups/billing/topics/{topic}:receive"):
        answer = await api.post(path, {"body": JSON_BODY} if "messages" in path else {}, headers=headers)
        assert code_of(answer) == (422, "INVALID")
        assert answer.json()["errors"][0]["pointer"].lower() == name.lower()
    del headers[name]
    assert (await api.post(f"/topics/{topic}/messages", {"body": JSON_BODY}, headers=headers)).status_code == 201


async def test_a_body_that_is_encoded_is_refused_and_keys_may_be_many(api: Api) -> None:
    topic = await api.topic()
    path = f"/api/v1/clusters/local/topics/{topic}/messages"
    plain = [*api.door.authorization("admin").items(), ("Content-Type", "text/plain")]
    zipped = await api.client.post(path, content=b"\x1f\x8b", headers=[*plain, ("Content-Encoding", "gzip")])
    assert code_of(zipped) == (415, "UNSUPPORTED_MEDIA_TYPE")
    keys = [("MQ-Key", "a"), ("MQ-Key", "b"), ("Content-Encoding", "identity")]
    assert (await api.client.post(path, content=b"x", headers=[*plain, *keys])).status_code == 201


@pytest.mark.parametrize("verb", ["receive", "ack", "nack", "extend"])
async def test_a_query_parameter_is_refused_by_its_name(api: Api, verb: str) -> None:
    answer = await api.post(f"/groups/billing/topics/orders:{verb}?dry_run=true", {"receipts": ["x"]})
    assert code_of(answer) == (422, "INVALID")
    assert answer.json()["errors"][0]["pointer"] == "?dry_run"


async def test_offsets_are_text_for_readers_whose_numbers_are_doubles(api: Api) -> None:
    topic = await api.topic()
    answer = await api.post(
        f"/topics/{topic}/messages", {"body": JSON_BODY}, headers={"Accept": "application/json;offsets=string"}
    )
    assert answer.json()["results"][0]["offset"] == "0"


async def test_a_request_that_waits_for_no_disk_says_so_to_the_broker(api: Api) -> None:
    topic = await api.topic()
    answer = await api.post(f"/topics/{topic}/messages", {"body": JSON_BODY, "options": {"flush": "async"}})
    assert answer.status_code == 201


async def test_json_with_a_charset_is_json(api: Api) -> None:
    topic = await api.topic()
    answer = await api.post(
        f"/topics/{topic}/messages",
        content=b'{"body":{"encoding":"text","data":"x"}}',
        headers={"Content-Type": "Application/JSON; charset=utf-8"},
    )
    assert answer.status_code == 201
    assert (await stored(api, topic)).body == b"x"


async def test_bytes_that_are_no_text_travel_as_base64(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    data = base64.b64encode(b"\xde\xad\xbe\xef").decode()
    await api.post(f"/topics/{topic}/messages", {"body": {"encoding": "base64", "data": data}})
    (message,) = await api.receive(group, topic, wait_ms=5000)
    assert message["body"] == {"encoding": "base64", "data": data}


async def test_many_requests_at_once_are_all_stored(api: Api) -> None:
    topic = await api.topic(queues=4)
    answers = await asyncio.gather(*(api.post(f"/topics/{topic}/messages", {"body": JSON_BODY}) for _ in range(100)))
    assert {answer.status_code for answer in answers} == {201}
    places = {(result["queue_id"], result["offset"]) for answer in answers for result in answer.json()["results"]}
    assert len(places) == 100
