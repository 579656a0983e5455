"""Requirements of the data plane while one of two brokers is down or hangs: scripted brokers answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from broker_core.clock import now_ms
from broker_core.protocol import record
from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.pop import PopMessageResponse
from broker_core.protocol.headers.send import SendMessageResponse
from gateway.data import delays
from gateway.data.audit_notes import Note
from gateway.transaction_ids import HalfPlace
from tests.gateway.data.conftest import Api, code_of
from tests.gateway.running import make_parts, running_plane
from tests.support.scripted import Cluster, hang_up, refuse, say_nothing, scripted_cluster, succeed

RECEIVE = "/groups/billing/topics/orders:receive"


def lend_one(_request: Command, _connection: object) -> Command:
    host = b"\x7f\0\0\x01\0\0\0\1"
    topic, origin = record.encode_topic("orders"), record.MessageOrigin(0, host, 0, host)
    stored = record.encode(topic, b"a", b"", origin, record.size_of(topic, b"a", b"", origin), 0, 0, 0)
    return Command.response(ResponseCode.SUCCESS, PopMessageResponse(now_ms(), 600_000, 0, 0), stored)


@asynccontextmanager
async def two_brokers(redis_url: str = "unix:///nowhere.sock") -> AsyncIterator[tuple[Cluster, Api]]:
    """A data plane in front of broker-a and broker-b, which both have the topic orders and no messages."""
    async with scripted_cluster("broker-a", "broker-b") as cluster:
        cluster.add_topic("orders", queues=1)
        for peer in cluster.brokers.values():
            peer.on(RequestCode.POP_MESSAGE, refuse(ResponseCode.PULL_NOT_FOUND))
        parts = make_parts(cluster.name_server.addr, redis_url)
        async with (
            running_plane(parts) as where,
            httpx.AsyncClient(base_url=f"http://{where}", trust_env=False) as client,
        ):
            yield cluster, Api(client, parts)


async def test_an_empty_answer_says_so_if_a_broker_was_not_asked() -> None:
    async with two_brokers() as (cluster, api):
        whole = (await api.post(RECEIVE, {})).json()
        assert (whole["reason"], whole["missing"]) == ("timeout", [])

        # When a broker is down, also once no name server lists it
        await cluster["broker-b"].stop()
        for reason in ("refused the connection", "no name server lists it now"):
            for wait_ms in (0, 50):
                found = (await api.post(RECEIVE, {"wait_ms": wait_ms})).json()
                # Then the topic is not said to be empty
                assert (found["messages"], found["reason"]) == ([], "incomplete")
                (missing,) = found["missing"]
                assert missing["broker"] == "broker-b"
                assert reason in missing["reason"]
            cluster.add_topic("orders", queues=1, on=("broker-a",))
            cluster.brokers.pop("broker-b", None)
            await (await api.parts.connections.session("local")).routes.refresh("orders")


def on_settings(cluster: Cluster, name: str, limit_s: int) -> None:
    text = f"timerWheelEnable=true\ntimerMaxDelaySec={limit_s}\n".encode()
    cluster[name].on(
        RequestCode.GET_BROKER_CONFIG, succeed(lambda _: Command.response(ResponseCode.SUCCESS, body=text))
    )


def stored(_request: Command, _connection: object) -> Command:
    return Command.response(ResponseCode.SUCCESS, SendMessageResponse(msg_id="0A" * 16, queue_id=0, queue_offset=7))


@pytest.mark.parametrize("is_known", [True, False])
async def test_a_broker_that_hangs_stops_no_delayed_send(is_known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delays, "KEEP_SECONDS", 0.0)
    later = {"body": {"encoding": "text", "data": "x"}, "delay_ms": 60_000}
    async with two_brokers() as (cluster, api):
        cluster.add_topic("orders", queues=1, on=("broker-a",))
        cluster["broker-a"].on(RequestCode.SEND_MESSAGE_V2, stored)
        on_settings(cluster, "broker-a", 100)
        on_settings(cluster, "broker-b", 70)
        if is_known:
            assert (await api.post("/topics/orders/messages", later)).status_code == 201
        cluster["broker-b"].on(RequestCode.GET_BROKER_CONFIG, say_nothing())

        answer = await api.post("/topics/orders/messages", later)
        assert answer.status_code == 201, answer.text
        # What every broker serves stays what was known
        longer = await api.post("/topics/orders/messages", later | {"delay_ms": 90_000})
        assert longer.status_code == (422 if is_known else 201), longer.text


async def test_a_decision_that_was_sent_and_not_answered_is_unknown_and_stands_in_the_audit() -> None:
    async with two_brokers() as (cluster, api):
        notes: list[Note] = []
        api.parts.note = notes.append
        place = HalfPlace("local", "orders", "billing", "broker-b", 0, 0, "A17")
        cluster["broker-b"].on(RequestCode.END_TRANSACTION, hang_up())
        path = f"/transactions/{api.parts.transaction_ids.seal(place)}:commit"

        answer = await api.post(path, {"reason": "paid by hand"})

        assert code_of(answer) == (504, "TIMED_OUT")
        assert answer.json()["retryable"] is True
        (note,) = notes
        assert (note.action, note.result) == ("transaction.commit", "failed")
        assert "not confirmed by the broker, which may have stored it: paid by hand" in note.reason

        # When the broker is down, then nothing was decided
        await cluster["broker-b"].stop()
        assert code_of(await api.post(path, {"reason": "paid by hand"})) == (503, "BROKER_UNREACHABLE")
        assert len(notes) == 1


async def test_an_acknowledgement_that_was_sent_and_not_answered_is_unknown() -> None:
    async with two_brokers() as (cluster, api):
        cluster["broker-b"].on(RequestCode.POP_MESSAGE, lend_one)
        cluster["broker-b"].on(RequestCode.ACK_MESSAGE, hang_up())
        (message,) = (await api.post(RECEIVE, {"max_messages": 1})).json()["messages"]

        answer = await api.post("/groups/billing/topics/orders:ack", {"receipts": [message["receipt"]]})

        assert code_of(answer) == (504, "TIMED_OUT")


async def test_an_attempt_that_was_not_answered_may_be_made_again(redis_url: str) -> None:
    async with two_brokers(redis_url) as (cluster, api):
        for peer in cluster.brokers.values():
            peer.on(RequestCode.POP_MESSAGE, hang_up())
        attempt = {"max_messages": 1, "attempt_id": "not-answered"}
        assert code_of(await api.post(RECEIVE, attempt)) == (504, "TIMED_OUT")
        for peer in cluster.brokers.values():
            peer.on(RequestCode.POP_MESSAGE, lend_one)

        assert len((await api.post(RECEIVE, attempt)).json()["messages"]) == 1


async def test_a_broker_that_hangs_does_not_hold_up_what_the_other_has() -> None:
    async with two_brokers() as (cluster, api):
        for code in (RequestCode.POP_MESSAGE, RequestCode.POLLING_INFO, RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG):
            cluster["broker-b"].on(code, say_nothing())
        cluster["broker-a"].on(RequestCode.POP_MESSAGE, lend_one)
        for _ in range(4):
            found = (await api.post(RECEIVE, {"max_messages": 2})).json()
            assert [each["broker"] for each in found["messages"]] == ["broker-a"]
            assert found["waited_ms"] < 3_000
        assert found["waited_ms"] < 1_000
