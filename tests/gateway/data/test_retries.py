"""Requirements of `gateway.data.retries`: a send with an unknown outcome is retried and stored once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from broker_core.client.admin.clusters import BrokerRuntime, Clusters
from broker_core.client.admin.messages import Messages
from broker_core.client.errors import SendUncertain, Unreachable
from broker_core.client.producer import Producer
from gateway.data import idempotency, retries
from tests.gateway.data.conftest import Api, code_of

BODY = {"body": {"encoding": "text", "data": "x"}}
KEY = {"Idempotency-Key": "order-A21"}

Send = Callable[..., Awaitable[Any]]


async def stored_in(api: Api, topic: str) -> int:
    return (await (await api.parts.connections.admin("local")).topics.stats(topic)).messages


def break_first(monkeypatch: pytest.MonkeyPatch, name: str, *, stores: bool) -> list[str]:
    """Let the first call of a producer's method end with an unknown outcome, before or after storing."""
    whole: Send = getattr(Producer, name)
    calls: list[str] = []

    async def broken(producer: Producer, *given: Any, **options: Any) -> Any:
        calls.append(name)
        if len(calls) > 1:
            return await whole(producer, *given, **options)
        if stores:
            await whole(producer, *given, **options)
        raise SendUncertain("orders", "h:1", "the connection broke")

    monkeypatch.setattr(Producer, name, broken)
    return calls


@pytest.mark.parametrize("stores", [True, False], ids=["stored", "lost"])
@pytest.mark.in_process
async def test_a_message_of_which_nobody_knew_is_stored_once(
    api: Api, monkeypatch: pytest.MonkeyPatch, stores: bool
) -> None:
    topic = await api.topic()
    break_first(monkeypatch, "send", stores=stores)
    path = f"/topics/{topic}/messages"

    first = await api.post(path, BODY, headers=KEY)
    assert code_of(first) == (504, "SEND_UNCERTAIN")
    again = await api.post(path, BODY, headers=KEY)
    third = await api.post(path, BODY, headers=KEY)

    assert (again.status_code, third.status_code) == (201, 201)
    assert "idempotency-replayed" not in again.headers
    assert third.headers["idempotency-replayed"] == "true"
    (result,) = again.json()["results"]
    assert (result["status"], result["queue_id"], result["offset"]) == ("stored", 0, 0)
    assert set(result) == {"entry_id", "status", "message_id", "broker", "queue_id", "offset", "stored_at"}
    assert third.json() == again.json()
    assert await stored_in(api, topic) == 1


@pytest.mark.in_process
async def test_another_request_under_the_key_is_refused_also_then(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    topic = await api.topic()
    break_first(monkeypatch, "send", stores=True)
    await api.post(f"/topics/{topic}/messages", BODY, headers=KEY)

    other = await api.post(f"/topics/{topic}/messages", BODY | {"tag": "t"}, headers=KEY)

    assert code_of(other) == (422, "IDEMPOTENCY_MISMATCH")


@pytest.mark.in_process
async def test_a_storm_of_tries_after_an_uncertain_one_stores_one_message(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = await api.topic()
    break_first(monkeypatch, "send", stores=False)
    path = f"/topics/{topic}/messages"
    await api.post(path, BODY, headers=KEY)

    answers = await asyncio.gather(*(api.post(path, BODY, headers=KEY) for _ in range(30)))

    assert {answer.status_code for answer in answers} <= {201, 409}
    assert await stored_in(api, topic) == 1


@pytest.mark.parametrize("stores", [True, False], ids=["stored", "lost"])
@pytest.mark.in_process
async def test_of_many_messages_only_those_are_sent_again_that_no_broker_has(
    api: Api, monkeypatch: pytest.MonkeyPatch, stores: bool
) -> None:
    topic = await api.topic(queues=2)
    break_first(monkeypatch, "send_batch", stores=stores)
    entries = [
        {"entry_id": "a", **BODY, "delay_ms": 1234},
        {"entry_id": "bad", **BODY, "tag": "*"},
        {"entry_id": "b", **BODY},
        {"entry_id": "c", **BODY},
    ]
    path = f"/topics/{topic}/messages"

    first = await api.post(path, {"messages": entries}, headers=KEY)
    assert first.status_code == 207
    assert [each["status"] for each in first.json()["results"]] == ["stored", "failed", "unknown", "unknown"]
    again = await api.post(path, {"messages": entries}, headers=KEY)

    results = again.json()["results"]
    assert [each["status"] for each in results] == ["stored", "failed", "stored", "stored"]
    assert results[0]["deliver_at"]
    assert (await api.post(path, {"messages": entries}, headers=KEY)).headers["idempotency-replayed"] == "true"
    received: list[Any] = []
    while len(received) < 3:
        received += await api.receive("billing", topic, wait_ms=10_000)
    assert await stored_in(api, topic) == 3


@pytest.mark.in_process
async def test_while_a_broker_does_not_tell_it_stays_unknown_and_nothing_is_sent(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = await api.topic()
    calls = break_first(monkeypatch, "send", stores=True)
    path = f"/topics/{topic}/messages"
    await api.post(path, BODY, headers=KEY)

    async def silent(*_: Any, **__: Any) -> Any:
        raise Unreachable("h:1", "no answer")

    with monkeypatch.context() as broken:
        broken.setattr(Messages, "search", silent)
        assert code_of(await api.post(path, BODY, headers=KEY)) == (504, "SEND_UNCERTAIN")
        assert len(calls) == 1

    assert (await api.post(path, BODY, headers=KEY)).status_code == 201
    assert await stored_in(api, topic) == 1


@pytest.mark.in_process
async def test_a_later_message_of_an_ordering_key_waits_for_one_that_stays_unknown(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = await api.topic()
    break_first(monkeypatch, "send_batch", stores=False)
    entries = [{"entry_id": name, **BODY, "ordering_key": "k"} for name in "ab"]
    path = f"/topics/{topic}/messages"
    await api.post(path, {"messages": entries}, headers=KEY)
    whole, asked = Messages.search, []

    async def first_silent(messages: Messages, *given: Any, **options: Any) -> Any:
        asked.append(given)
        if len(asked) == 1:
            raise Unreachable("h:1", "no answer")
        return await whole(messages, *given, **options)

    with monkeypatch.context() as broken:
        broken.setattr(Messages, "search", first_silent)
        assert code_of(await api.post(path, {"messages": entries}, headers=KEY)) == (504, "SEND_UNCERTAIN")
    assert await stored_in(api, topic) == 0

    again = await api.post(path, {"messages": entries}, headers=KEY)
    assert [each["offset"] for each in again.json()["results"]] == [0, 1]


@pytest.mark.in_process
async def test_what_a_process_was_at_when_it_died_counts_as_unknown(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    topic = await api.topic()
    path = f"/topics/{topic}/messages"
    whole: Send = Producer.send
    stuck, waiting = asyncio.Event(), asyncio.Event()

    async def stores_and_hangs(producer: Producer, *given: Any, **options: Any) -> Any:
        result = await whole(producer, *given, **options)
        waiting.set()
        await stuck.wait()
        return result

    with monkeypatch.context() as dying:
        dying.setattr(idempotency, "RUNNING_MS", 0)
        dying.setattr(Producer, "send", stores_and_hangs)
        dead = asyncio.create_task(api.post(path, BODY, headers=KEY))
        await waiting.wait()

    assert (await api.post(path, BODY, headers=KEY)).status_code == 201
    assert await stored_in(api, topic) == 1
    stuck.set()
    await dead


@pytest.mark.in_process
async def test_what_a_broker_has_and_does_not_show_yet_is_not_sent_again(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a new master until the other replicas have all of its log."""
    topic = await api.topic()
    break_first(monkeypatch, "send", stores=False)
    figures = {"commitLogMaxOffset": "900", "dispatchBehindBytes": "100"}

    async def runtime_of(*_: Any, **__: Any) -> BrokerRuntime:
        return BrokerRuntime(figures)

    monkeypatch.setattr(Clusters, "runtime_of", runtime_of)
    monkeypatch.setattr(retries, "_SHOWN_S", 0.05)
    path = f"/topics/{topic}/messages"

    for _ in range(2):
        assert code_of(await api.post(path, BODY, headers=KEY)) == (504, "SEND_UNCERTAIN")
    assert await stored_in(api, topic) == 0
    figures["dispatchBehindBytes"] = "0"
    assert (await api.post(path, BODY, headers=KEY)).status_code == 201
    assert await stored_in(api, topic) == 1
