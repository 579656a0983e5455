"""Requirements of `gateway.data.settle`, `settlement` and `dead_letters`, against a real broker over real HTTP."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from broker_core.errors import GantryError
from broker_core.protocol.bodies.queues import MessageQueue
from broker_core.protocol.dead_letters import Cause, cause_of
from gateway.data.audit_notes import Note
from gateway.data.dead_letter_topics import DeadLetterTopics
from gateway.data.parts import DataPlaneParts
from tests.gateway.data.conftest import Api, code_of
from tests.gateway.running import make_parts, running_plane
from tests.support.cluster import RunningBroker
from tests.support.wait import eventually


async def one(api: Api, topic: str, group: str, **wanted: object) -> str:
    """Produce one message, lease it and return its receipt."""
    await api.produce(topic, "a")
    (message,) = await api.receive(group, topic, **wanted)
    receipt: str = message["receipt"]
    return receipt


async def test_an_acknowledged_message_never_comes_again(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    receipt = await one(api, topic, group, lease_ms=3000)
    answer = await api.settle("ack", group, topic, receipt)
    assert answer.json() == {"results": [{"receipt": receipt, "status": "acked"}], "settled": 1, "failed": 0}
    assert await api.receive(group, topic, wait_ms=3200) == []


async def test_a_second_acknowledgement_is_a_success_that_says_so(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    receipt = await one(api, topic, group)
    await api.settle("ack", group, topic, receipt)
    again = await api.settle("ack", group, topic, receipt)
    assert (again.status_code, again.json()["results"][0]["status"]) == (200, "already_acked")


async def test_an_expired_receipt_is_a_409_that_says_how_long_ago(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    receipt = await one(api, topic, group, lease_ms=1000)
    await asyncio.sleep(1.05)
    answer = await api.settle("ack", group, topic, receipt)
    assert code_of(answer) == (409, "RECEIPT_EXPIRED")
    assert "ms ago" in answer.json()["detail"]
    assert answer.json()["errors"][0]["pointer"] == "#/receipts/0"
    assert answer.json()["results"][0]["status"] == "failed"


@pytest.mark.sample
async def test_some_settled_and_some_not_is_a_207_with_a_result_for_each(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    receipt = await one(api, topic, group)
    answer = await api.settle("ack", group, topic, receipt, "v3.broken")
    assert answer.status_code == 207
    assert (answer.json()["settled"], answer.json()["failed"]) == (1, 1)
    assert answer.json()["results"][1]["problem"]["code"] == "INVALID_RECEIPT"


@pytest.mark.in_process
async def test_a_receipt_is_settled_through_any_gateway_process(
    api: Api, shared_broker: RunningBroker, redis_url: str
) -> None:
    topic, group = await api.topic(), api.group()
    receipt = await one(api, topic, group, lease_ms=10_000)
    other_parts = make_parts(shared_broker.name_server, redis_url)
    async with (
        running_plane(other_parts) as where,
        httpx.AsyncClient(base_url=f"http://{where}", trust_env=False) as client,
    ):
        other = Api(client, other_parts)
        extended = await other.settle("extend", group, topic, receipt, lease_ms=60_000)
        renewed = extended.json()["results"][0]["new_receipt"]
    assert (await api.settle("ack", group, topic, renewed)).json()["settled"] == 1


@pytest.mark.sample
async def test_an_extended_lease_runs_on_and_the_old_receipt_is_void(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    receipt = await one(api, topic, group, lease_ms=1000)
    (result,) = (await api.settle("extend", group, topic, receipt, lease_ms=60_000)).json()["results"]
    assert result["status"] == "extended"
    assert result["lease_expires_at"]
    assert await api.receive(group, topic, wait_ms=1200) == []
    assert code_of(await api.settle("ack", group, topic, receipt)) == (409, "RECEIPT_EXPIRED")
    assert (await api.settle("ack", group, topic, result["new_receipt"])).json()["settled"] == 1


async def test_a_refused_receipt_is_said_to_be_what_it_is(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    receipt = await one(api, topic, group, lease_ms=600_000)
    (extended,) = (await api.settle("extend", group, topic, receipt, lease_ms=600_000)).json()["results"]
    void = await api.settle("ack", group, topic, receipt)
    await api.settle("ack", group, topic, extended["new_receipt"])
    done = await api.settle("extend", group, topic, extended["new_receipt"], lease_ms=600_000)

    assert "the receipt is void: its lease was extended or returned" in void.json()["detail"]
    assert done.json()["detail"].endswith("offset 0: the message is already done")


async def test_a_failed_message_comes_again_at_once_or_after_the_delay(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    receipt = await one(api, topic, group, lease_ms=600_000)
    answer = await api.settle("nack", group, topic, receipt, reason="db down")
    assert answer.json()["results"][0]["status"] == "nacked"
    (again,) = await api.receive(group, topic, wait_ms=10_000, lease_ms=600_000)
    assert (again["delivery_count"], again["nack_reason"]) == (2, "db down")
    await api.settle("nack", group, topic, again["receipt"], delay_ms=3000)
    assert await api.receive(group, topic) == []
    (third,) = await api.receive(group, topic, wait_ms=10_000)
    assert third["delivery_count"] == 3


async def test_a_message_that_nobody_can_handle_becomes_a_dead_letter_with_its_reason(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    await api.produce(topic, "poison", keys=["A17"], properties={"source": "web"})
    (message,) = await api.receive(group, topic, lease_ms=3000)
    answer = await api.settle("nack", group, topic, message["receipt"], dead_letter=True, reason="no such customer")
    assert answer.json()["results"][0]["status"] == "dead_lettered"
    assert await api.receive(group, topic, wait_ms=3200) == []
    admin = await api.parts.connections.admin("local")
    placed = await admin.messages.at(MessageQueue(f"%DLQ%{group}", "broker-a", 0), 0)
    assert placed is not None
    letter = placed.message
    assert (letter.body, letter.keys) == (b"poison", ["A17"])
    assert letter.message_id == message["message_id"]
    assert letter.properties["source"] == "web"
    assert letter.properties["DEAD_LETTER_REASON"] == "no such customer"
    assert letter.properties["RETRY_TOPIC"] == topic
    assert letter.reconsume_times == 1


async def test_the_broker_s_own_dead_letter_has_the_last_reason_and_the_number_of_tries(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    admin = await api.parts.connections.admin("local")
    (await admin.groups.create(group, retry_max_times=2)).raise_if_none()
    await api.produce(topic, "poison")
    for reason in ("db slow", "db\1down", None):
        (message,) = await api.receive(group, topic, wait_ms=10_000)
        more = {} if reason is None else {"reason": reason}
        await api.settle("nack", group, topic, message["receipt"], **more)

    async def is_dead() -> bool:
        assert await api.receive(group, topic) == []
        try:
            return await admin.messages.at(MessageQueue(f"%DLQ%{group}", "broker-a", 0), 0) is not None
        except GantryError:
            return False

    await eventually(is_dead)
    placed = await admin.messages.at(MessageQueue(f"%DLQ%{group}", "broker-a", 0), 0)
    assert placed is not None
    assert cause_of(placed.message) == Cause("db down", "reason")
    assert placed.message.reconsume_times == 3


async def letters(api: Api, group: str) -> int:
    """Return how many dead letters the group has."""
    admin = await api.parts.connections.admin("local")
    queue = MessageQueue(f"%DLQ%{group}", "broker-a", 0)
    return sum([await admin.messages.at(queue, offset) is not None for offset in range(5)])


@pytest.mark.sample
async def test_a_receipt_makes_one_dead_letter_however_often_it_is_sent(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    receipt = await one(api, topic, group)
    at_once = [api.settle("nack", group, topic, receipt, dead_letter=True) for _ in range(4)]
    answers = [*await asyncio.gather(*at_once), await api.settle("nack", group, topic, receipt, dead_letter=True)]
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409, 409]
    assert await letters(api, group) == 1
    # Then, as docs/http-api.md says: "`:nack` and `:extend` with it are 409, and `:ack` says `already_acked`"
    assert code_of(await api.settle("extend", group, topic, receipt)) == (409, "RECEIPT_EXPIRED")
    (result,) = (await api.settle("ack", group, topic, receipt)).json()["results"]
    assert result["status"] == "already_acked"


async def test_a_message_that_is_done_or_held_by_another_receipt_makes_no_dead_letter(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    await api.produce(topic, "done", "failed", "held", "dead")
    done, failed, held, dead = [message["receipt"] for message in await api.receive(group, topic)]
    await api.settle("ack", group, topic, done)
    await api.settle("nack", group, topic, failed, delay_ms=60_000)
    await api.settle("extend", group, topic, held, lease_ms=60_000)
    for receipt in (done, failed, held):
        answer = await api.settle("nack", group, topic, receipt, dead_letter=True)
        assert code_of(answer) == (409, "RECEIPT_EXPIRED")
    assert (await api.settle("nack", group, topic, dead, dead_letter=True)).status_code == 200
    assert await letters(api, group) == 1


async def test_many_receipts_are_settled_in_one_request(api: Api) -> None:
    topic, group = await api.topic(queues=4), api.group()
    await api.produce(topic, *map(str, range(100)))
    receipts: list[str] = []

    async def all_leased() -> bool:
        receipts.extend(message["receipt"] for message in await api.receive(group, topic, max_messages=32))
        return len(receipts) == 100

    await eventually(all_leased)
    answer = await api.settle("ack", group, topic, *receipts)
    assert answer.json()["settled"] == 100
    assert [result["receipt"] for result in answer.json()["results"]] == receipts


@pytest.mark.parametrize("verb", ["ack", "nack", "extend"])
async def test_an_invalid_request_to_settle_is_refused(api: Api, verb: str) -> None:
    topic, group = await api.topic(), api.group()
    receipt = await one(api, topic, group)
    path = f"/groups/{group}/topics/{topic}:{verb}"
    assert code_of(await api.post(path, {})) == (422, "INVALID")
    assert code_of(await api.post(path, {"receipts": []})) == (422, "INVALID")
    assert code_of(await api.post(path, {"receipts": [receipt, receipt]})) == (422, "INVALID")
    assert code_of(await api.post(path, {"receipts": ["x"] * 1001})) == (422, "INVALID")
    assert code_of(await api.post(path, {"receipts": [receipt[:-8]]})) == (422, "INVALID_RECEIPT")
    assert code_of(await api.post(path, {"receipts": ["nonsense"]})) == (422, "INVALID_RECEIPT")


async def test_a_receipt_of_another_group_is_refused(api: Api) -> None:
    topic = await api.topic()
    receipt = await one(api, topic, "billing-x")
    assert code_of(await api.settle("ack", "billing-y", topic, receipt)) == (422, "INVALID_RECEIPT")


@pytest.mark.parametrize("action", ["ack", "nack", "extend"])
async def test_with_a_key_a_repetition_is_answered_as_the_first_one_was(api: Api, action: str) -> None:
    topic, group = await api.topic(), api.group()
    receipt = await one(api, topic, group)
    path = f"/groups/{group}/topics/{topic}:{action}"
    headers = {"Idempotency-Key": f"k-{group}"}
    body = {"receipts": [receipt], **({"lease_ms": 60_000} if action == "extend" else {})}
    first = await api.post(path, body, headers=headers)
    again = await api.post(path, body, headers=headers)
    assert (first.status_code, again.status_code, again.json()) == (200, 200, first.json())
    assert again.headers["idempotency-replayed"] == "true"
    other = await api.post(path, {**body, "receipts": ["v3.other"]}, headers=headers)
    assert code_of(other) == (422, "IDEMPOTENCY_MISMATCH")


def noted(parts: DataPlaneParts) -> list[Note]:
    """Return what the plane will report of the dead-letter topics that it makes."""
    notes: list[Note] = []
    parts.dead_letter_topics = DeadLetterTopics(parts.connections, parts.redis, notes.append)
    return notes


@pytest.mark.in_process
async def test_many_dead_letters_at_once_in_two_processes_make_their_topic_once(
    api: Api, shared_broker: RunningBroker, redis_url: str
) -> None:
    topic, group = await api.topic(), api.group()
    await api.produce(topic, *"abcdefghij")
    leased = await api.receive(group, topic, max_messages=10, lease_ms=60_000)
    receipts = [message["receipt"] for message in leased]
    other_parts = make_parts(shared_broker.name_server, redis_url)
    async with (
        running_plane(other_parts) as where,
        httpx.AsyncClient(base_url=f"http://{where}", trust_env=False) as client,
    ):
        notes, elsewhere = noted(api.parts), noted(other_parts)
        place = f"/groups/{group}/topics/{topic}:nack"
        one, two = await asyncio.gather(
            api.post(place, {"receipts": receipts[:5], "dead_letter": True}, headers={"X-Request-Id": "r-here"}),
            Api(client, other_parts).post(
                place, {"receipts": receipts[5:], "dead_letter": True}, headers={"X-Request-Id": "r-there"}
            ),
        )
        assert (one.json()["settled"], two.json()["settled"]) == (5, 5)
        (made,) = notes + elsewhere
        assert (made.action, made.resource) == ("topic.create", f"local/topics/%DLQ%{group}")
        assert made.request_id == ("r-here" if notes else "r-there")
