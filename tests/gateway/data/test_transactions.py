"""Requirements of `gateway.data.transactions`, against a real broker over real HTTP."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from msgspec import structs

from broker_core.broker.waits import UNSURE
from broker_core.client import (
    Decision,
    Message,
    Producer,
    SendResult,
    SendUncertain,
    StoredMessage,
    TransactionProducer,
)
from broker_core.client.errors import NotConfirmed
from broker_core.client.transactions import end_transaction
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.codes import ResponseCode
from gateway.data.audit_notes import Note
from gateway.data.transaction_memory import keep_decision
from gateway.transaction_ids import HalfPlace
from tests.gateway.data.conftest import Api, code_of
from tests.support.wait import eventually

JSON_BODY = {"encoding": "json", "data": {"id": "A17"}}
PREPARE = "messages?transaction=prepare"


async def prepared(api: Api, topic: str, query: str = "", **entry: Any) -> dict[str, Any]:
    """Prepare a message, and return the answer."""
    answer = await api.post(f"/topics/{topic}/{PREPARE}{query}", {"body": JSON_BODY, **entry})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def seen(api: Api, topic: str) -> list[bytes]:
    """Return the bodies that consumers of a topic get."""
    admin = await api.parts.connections.admin("local")
    page = await admin.messages.page(MessageQueue(topic, "broker-a", 0), 0, 32)
    return [each.message.body for each in page.messages]


async def open_again(api: Api, topic: str, message_id: str) -> StoredMessage:
    """Return the message that consumers of a topic get."""
    admin = await api.parts.connections.admin("local")
    placed = await admin.messages.at(MessageQueue(topic, "broker-a", 0), 0)
    assert placed is not None
    assert placed.message.message_id == message_id
    return placed.message


async def forget(api: Api, half: dict[str, Any]) -> None:
    """Let the gateway forget the decision on a message."""
    await api.parts.redis.delete(f"gantry:transaction:decisions:local:broker-a:{half['message_id']}")


async def test_a_prepared_message_is_seen_when_it_is_committed(api: Api) -> None:
    topic = await api.topic()
    half = await prepared(api, topic, keys=["A17"], tag="paid", properties={"source": "web"})
    assert (half["topic"], half["group"], half["check_after_ms"]) == (topic, "GANTRY_TRANSACTIONS", None)
    assert await seen(api, topic) == []
    answer = await api.post(f"/transactions/{half['transaction_id']}:commit")
    assert answer.status_code == 200, answer.text
    assert answer.json() == {
        "transaction_id": half["transaction_id"],
        "message_id": half["message_id"],
        "topic": topic,
        "group": "GANTRY_TRANSACTIONS",
        "decision": "committed",
    }
    found = await open_again(api, topic, half["message_id"])
    assert (found.body, found.keys, found.tag) == (b'{"id":"A17"}', ["A17"], "paid")
    assert found.properties["source"] == "web"


async def test_a_raw_body_can_be_prepared(api: Api) -> None:
    topic = await api.topic()
    answer = await api.post(
        f"/topics/{topic}/{PREPARE}", content=b"<order/>", headers={"Content-Type": "application/xml", "MQ-Key": "A17"}
    )
    assert answer.status_code == 201, answer.text
    await api.post(f"/transactions/{answer.json()['transaction_id']}:commit")
    assert await seen(api, topic) == [b"<order/>"]


async def test_a_message_that_is_rolled_back_is_never_seen(api: Api) -> None:
    topic = await api.topic()
    half = await prepared(api, topic)
    answer = await api.post(f"/transactions/{half['transaction_id']}:rollback")
    assert (answer.status_code, answer.json()["decision"]) == (200, "rolled_back")
    assert await seen(api, topic) == []


@pytest.mark.parametrize(("first", "second"), [("commit", "rollback"), ("rollback", "commit")])
@pytest.mark.parametrize("is_remembered", [True, False])
async def test_a_decision_may_be_repeated_and_not_contradicted(
    api: Api, first: str, second: str, is_remembered: bool
) -> None:
    topic = await api.topic()
    half = await prepared(api, topic)
    place = f"/transactions/{half['transaction_id']}"
    once = await api.post(f"{place}:{first}")
    if not is_remembered:  # then the broker tells
        await forget(api, half)
    again = await api.post(f"{place}:{first}", {})
    assert (again.status_code, again.json()) == (200, once.json())
    if not is_remembered:
        await forget(api, half)
    refused = await api.post(f"{place}:{second}")
    assert code_of(refused) == (409, "TRANSACTION_DECIDED")
    assert refused.json()["decision"] == once.json()["decision"]
    assert len(await seen(api, topic)) == (first == "commit")


@pytest.mark.in_process
async def test_a_refused_transaction_is_never_acknowledged(api: Api) -> None:
    # Given a half message that another producer rolled back, without the gateway
    topic = await api.topic()
    half = await prepared(api, topic)
    place = api.parts.transaction_ids.open(half["transaction_id"], cluster="local")
    session = await api.parts.connections.session("local")
    await end_transaction(session, place.group, place.prepared, Decision.ROLLBACK)
    # When it is committed again and again, with and without a key
    key = {"Idempotency-Key": f"key-{topic}"}
    for headers in ({}, key, key, {}):
        answer = await api.post(f"/transactions/{half['transaction_id']}:commit", headers=headers)
        # Then every answer is a refusal, and nothing is seen
        assert code_of(answer) == (409, "TRANSACTION_DECIDED")
    assert await seen(api, topic) == []


@pytest.mark.in_process
async def test_the_broker_has_the_last_word_on_a_decision(api: Api) -> None:
    # Given a message that was committed without the gateway, which believes something else
    topic = await api.topic()
    half = await prepared(api, topic)
    place = api.parts.transaction_ids.open(half["transaction_id"], cluster="local")
    await end_transaction(await api.parts.connections.session("local"), place.group, place.prepared, Decision.COMMIT)
    await keep_decision(api.parts, place, "rolled_back")
    # When it is decided again
    refused = await api.post(f"/transactions/{half['transaction_id']}:rollback")
    repeated = await api.post(f"/transactions/{half['transaction_id']}:commit")
    # Then what the broker knows is answered
    assert (*code_of(refused), refused.json()["decision"]) == (409, "TRANSACTION_DECIDED", "committed")
    assert (repeated.status_code, repeated.json()["decision"]) == (200, "committed")
    assert len(await seen(api, topic)) == 1


@pytest.mark.in_process
async def test_two_half_messages_with_one_id_are_decided_each(api: Api) -> None:
    # Given a message that its producer sent twice, as after an answer that was lost
    topic, group = await api.topic(), api.group()
    session = await api.parts.connections.session("local")
    halves = []
    async with TransactionProducer(session, group, lambda _: Decision.UNKNOWN) as producer:
        for _ in range(2):
            message = Message(topic, b"x", {"UNIQ_KEY": f"{topic}-twice"})
            _, half = await producer.prepare(message)
            halves.append(HalfPlace.of("local", topic, group, half))
    # When one is committed and the other rolled back
    ids = [api.parts.transaction_ids.seal(place) for place in halves]
    answers = [await api.post(f"/transactions/{ids[0]}:commit"), await api.post(f"/transactions/{ids[1]}:rollback")]
    # Then the broker was told both
    assert [answer.json()["decision"] for answer in answers] == ["committed", "rolled_back"]
    assert len(await seen(api, topic)) == 1


@pytest.mark.parametrize("change", [lambda text: text[:-1], lambda text: "t1.AAAA" + text[7:], lambda text: "A17"])
async def test_an_id_that_was_changed_is_unknown(api: Api, change: Any) -> None:
    half = await prepared(api, await api.topic())
    answer = await api.post(f"/transactions/{change(half['transaction_id'])}:commit")
    assert code_of(answer) == (404, "TRANSACTION_NOT_FOUND")


async def test_the_broker_is_asked_about_the_group_and_time_of_the_request(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    half = await prepared(api, topic, f"&group={group}&check_after_s=1")
    assert (half["group"], half["check_after_ms"]) == (group, 1000)
    asked: list[str] = []

    async def check(message: StoredMessage) -> Decision:
        asked.append(message.message_id)
        return Decision.COMMIT

    session = await api.parts.connections.session("local")
    async with TransactionProducer(session, group, check):

        async def is_seen() -> bool:
            return bool(await seen(api, topic))

        await eventually(is_seen)
    assert asked == [half["message_id"]]
    # The check committed it: that may be repeated here, and not contradicted.
    assert (await api.post(f"/transactions/{half['transaction_id']}:commit")).status_code == 200
    assert len(await seen(api, topic)) == 1


@pytest.mark.parametrize(
    ("query", "entry", "pointer"),
    [
        ("", {"delay_ms": 1000}, "#/delay_ms"),
        ("", {"delay_ms": 0}, "#/delay_ms"),
        ("", {"deliver_at": "2040-01-01T00:00:00Z"}, "#/deliver_at"),
        ("", {"deliver_at": "2020-01-01T00:00:00Z"}, "#/deliver_at"),
        ("", {"ordering_key": "a"}, "#/ordering_key"),
        ("", {"options": {"atomic": True}}, "?transaction"),
        ("", {"options": {"flush": "sync"}}, "#/options/flush"),
        ("", {"body": {"encoding": "json", "data": 1}, "messages": [{"body": JSON_BODY}]}, "?transaction"),
        ("&group=GANTRY_GATEWAY", {}, "?group"),
        ("&group=CID_RMQ_SYS_TRANS", {}, "?group"),
        ("&group=", {}, "?group"),
        ("&group=a%20b", {}, "?group"),
        ("&group=%FF", {}, "?group"),
        ("&check_after_s=0", {}, "?check_after_s"),
        ("&check_after_s=1&check_after_s=2", {}, "?check_after_s"),
        ("&colour=red", {}, "?colour"),
    ],
)
async def test_what_a_transactional_message_cannot_have_is_refused_by_name(
    api: Api, query: str, entry: dict[str, Any], pointer: str
) -> None:
    answer = await api.post(f"/topics/orders/{PREPARE}{query}", {"body": JSON_BODY, **entry})
    assert code_of(answer) == (422, "INVALID")
    assert answer.json()["errors"][0]["pointer"] == pointer


@pytest.mark.parametrize("header", ["MQ-Delay-Ms", "MQ-Deliver-At"])
async def test_no_header_gives_a_transactional_message_a_time(api: Api, header: str) -> None:
    value = "0" if header == "MQ-Delay-Ms" else "2020-01-01T00:00:00Z"
    headers = {"Content-Type": "text/plain", header: value}
    answer = await api.post(f"/topics/orders/{PREPARE}", content=b"x", headers=headers)
    assert (*code_of(answer), answer.json()["errors"][0]["pointer"]) == (422, "INVALID", header)


@pytest.mark.parametrize("query", ["transaction=commit", "transaction=", "group=billing"])
async def test_the_query_of_a_produce_is_only_for_a_prepare(api: Api, query: str) -> None:
    answer = await api.post(f"/topics/orders/messages?{query}", {"body": JSON_BODY})
    assert code_of(answer) == (422, "INVALID")
    assert answer.json()["errors"][0]["pointer"] == "?transaction"


async def test_a_stream_of_lines_cannot_be_prepared(api: Api) -> None:
    lines = b'{"body":{"encoding":"text","data":"a"}}\n'
    answer = await api.post(
        f"/topics/{await api.topic()}/{PREPARE}", content=lines, headers={"Content-Type": "application/x-ndjson"}
    )
    assert code_of(answer) == (422, "INVALID")


async def test_a_prepare_with_a_key_is_made_once(api: Api) -> None:
    topic = await api.topic()
    path, headers = f"/topics/{topic}/{PREPARE}", {"Idempotency-Key": f"key-{topic}"}
    first = await api.post(path, {"body": JSON_BODY}, headers=headers)
    again = await api.post(path, {"body": JSON_BODY}, headers=headers)
    assert (again.json(), again.headers["idempotency-replayed"]) == (first.json(), "true")
    plain = await api.post(f"/topics/{topic}/messages", {"body": JSON_BODY}, headers=headers)
    assert code_of(plain) == (422, "IDEMPOTENCY_MISMATCH")


async def test_producing_to_the_topic_is_the_right_for_both_phases(api: Api) -> None:
    topic = await api.topic()
    refused = await api.post(f"/topics/{topic}/{PREPARE}", {"body": JSON_BODY}, token="viewer")
    assert code_of(refused) == (403, "FORBIDDEN")
    half = await prepared(api, topic)
    for verb in ("commit", "rollback"):
        refused = await api.post(f"/transactions/{half['transaction_id']}:{verb}", token="viewer")
        assert code_of(refused) == (403, "FORBIDDEN")
    assert (await api.post(f"/transactions/{half['transaction_id']}:commit", token="narrow")).status_code == 200


async def test_a_broker_without_transactions_says_so(api: Api) -> None:
    topic = await api.topic()
    admin = await api.parts.connections.admin("local")
    session = await api.parts.connections.session("local")
    (address,) = (await session.routes.get(topic)).masters.values()
    await admin.maintenance.change_settings_of(address, {"rejectTransactionMessage": "true"})
    try:
        answer = await api.post(f"/topics/{topic}/{PREPARE}", {"body": JSON_BODY})
    finally:
        await admin.maintenance.change_settings_of(address, {"rejectTransactionMessage": "false"})
    assert code_of(answer) == (422, "TRANSACTIONS_NOT_SERVED")


async def test_a_commit_to_a_topic_that_was_deleted_leaves_the_transaction_open(api: Api) -> None:
    topic = await api.topic()
    half = await prepared(api, topic)
    admin = await api.parts.connections.admin("local")
    await admin.topics.delete(topic)
    place = f"/transactions/{half['transaction_id']}"
    assert code_of(await api.post(f"{place}:commit")) == (404, "TOPIC_NOT_FOUND")
    assert (await api.post(f"{place}:rollback")).status_code == 200


async def test_a_commit_to_a_topic_that_has_become_read_only_is_stored(api: Api) -> None:
    topic = await api.topic()
    half = await prepared(api, topic)
    admin = await api.parts.connections.admin("local")
    await admin.topics.update(topic, perm=4)
    committed = await api.post(f"/transactions/{half['transaction_id']}:commit")
    assert (committed.status_code, committed.json()["decision"]) == (200, "committed")
    assert await seen(api, topic) == [b'{"id":"A17"}']


@pytest.mark.in_process
async def test_what_an_operator_decides_is_reported_with_the_reason(api: Api) -> None:
    notes: list[Note] = []
    api.parts.note = notes.append
    topic = await api.topic()
    quiet, told = await prepared(api, topic), await prepared(api, topic)
    await api.post(f"/transactions/{quiet['transaction_id']}:commit")
    answer = await api.post(f"/transactions/{told['transaction_id']}:commit", {"reason": "paid by hand"})
    assert answer.status_code == 200, answer.text
    (note,) = notes
    assert (note.action, note.resource, note.result) == ("transaction.commit", f"local/topics/{topic}", "ok")
    assert told["message_id"] in note.reason
    assert "paid by hand" in note.reason
    unknown = await api.post(f"/transactions/{told['transaction_id']}:commit", {"why": "x"})
    assert code_of(unknown) == (422, "INVALID")


async def test_the_topic_of_retries_takes_no_transactional_message(api: Api) -> None:
    answer = await api.post(f"/topics/%25RETRY%25billing/{PREPARE}", {"body": JSON_BODY})
    assert code_of(answer) == (422, "MESSAGE_ILLEGAL")
    assert "'%RETRY%billing' is a retry topic" in answer.json()["detail"]


@pytest.mark.in_process
async def test_an_id_of_another_cluster_is_unknown(api: Api) -> None:
    place = HalfPlace("elsewhere", "orders", "billing", "broker-a", 0, 0, "A17")
    answer = await api.post(f"/transactions/{api.parts.transaction_ids.seal(place)}:commit")
    assert code_of(answer) == (404, "TRANSACTION_NOT_FOUND")
    assert "cluster 'elsewhere'" in answer.json()["detail"]


async def test_a_decision_in_a_cluster_that_there_is_not_says_so(api: Api) -> None:
    half = await prepared(api, await api.topic())
    for transaction in (half["transaction_id"], "t1.nothing"):
        path = f"/api/v1/clusters/nowhere/transactions/{transaction}:commit"
        answer = await api.client.post(path, headers=api.door.authorization("admin"))
        assert code_of(answer) == (404, "CLUSTER_NOT_FOUND")
    assert (await api.post(f"/transactions/{half['transaction_id']}:rollback")).status_code == 200


@pytest.mark.in_process
@pytest.mark.parametrize(("group", "log_offset"), [("strangers", None), (None, 1)])
async def test_a_place_without_such_a_half_message_is_unknown(
    api: Api, group: str | None, log_offset: int | None
) -> None:
    half = await prepared(api, await api.topic())
    place = api.parts.transaction_ids.open(half["transaction_id"], cluster="local")
    other = structs.replace(
        place, group=group or place.group, log_offset=place.log_offset if log_offset is None else log_offset
    )
    answer = await api.post(f"/transactions/{api.parts.transaction_ids.seal(other)}:commit")
    assert code_of(answer) == (404, "TRANSACTION_NOT_FOUND")


@pytest.mark.in_process
async def test_a_decision_that_the_replicas_have_not_confirmed_is_to_be_said_again(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = await api.topic()
    half = await prepared(api, topic)
    path = f"/transactions/{half['transaction_id']}:commit"

    async def unconfirmed(*parts: Any, **terms: Any) -> bool:
        await end_transaction(*parts, **terms)
        remark = f"done, but {UNSURE[ResponseCode.SYSTEM_ERROR]}"
        raise NotConfirmed(ResponseCode.SYSTEM_ERROR, remark, "127.0.0.1:1")

    with monkeypatch.context() as patched:
        patched.setattr("gateway.data.transactions.end_transaction", unconfirmed)
        answer = await api.post(path)
    assert code_of(answer) == (504, "TIMED_OUT")
    assert answer.json()["retryable"] is True
    assert (await api.post(path)).status_code == 200
    assert len(await seen(api, topic)) == 1


@pytest.mark.in_process
async def test_a_prepare_that_may_have_been_stored_is_looked_up_before_it_is_sent_again(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a first try that stored the half message, and whose answer was lost
    topic = await api.topic()
    path, headers = f"/topics/{topic}/{PREPARE}", {"Idempotency-Key": f"key-{topic}"}
    send = Producer.send

    async def lost(self: Producer, message: Message, **terms: Any) -> SendResult:
        await send(self, message, **terms)
        raise SendUncertain(topic, "somewhere", "the connection was lost")

    with monkeypatch.context() as patched:
        patched.setattr(Producer, "send", lost)
        assert code_of(await api.post(path, {"body": JSON_BODY}, headers=headers)) == (504, "SEND_UNCERTAIN")
    # When the request is repeated until the brokers find it by its id
    monkeypatch.setattr(Producer, "send", None)

    async def is_found() -> bool:
        again = await api.post(path, {"body": JSON_BODY}, headers=headers)
        found.append(again)
        return again.status_code == 201

    found: list[httpx.Response] = []
    await eventually(is_found)
    # Then its transaction can be committed
    assert (await api.post(f"/transactions/{found[-1].json()['transaction_id']}:commit")).status_code == 200
    assert len(await seen(api, topic)) == 1
