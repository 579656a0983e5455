"""Requirements of `gateway.data.sending` for faults of brokers: scripted brokers answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from broker_core.protocol.codes import RequestCode, ResponseCode
from broker_core.protocol.command import Command
from broker_core.protocol.headers.send import SendMessageResponse
from broker_core.remoting.dispatch import Handler
from tests.gateway.data.conftest import Api, code_of
from tests.gateway.running import make_parts, running_plane
from tests.support.ports import free_ports
from tests.support.scripted import Cluster, hang_up, in_turn, refuse, say_nothing, scripted_cluster

BODY = {"body": {"encoding": "text", "data": "x"}}
ORDERS = "/topics/orders/messages"


@asynccontextmanager
async def api_of(cluster: Cluster) -> AsyncIterator[Api]:
    """A data plane in front of a scripted cluster with the topic orders."""
    cluster.add_topic("orders", queues=1)
    parts = make_parts(cluster.name_server.addr, "unix:///nowhere.sock")
    async with running_plane(parts) as where, httpx.AsyncClient(base_url=f"http://{where}", trust_env=False) as client:
        yield Api(client, parts)


def on_send(cluster: Cluster, handler: Handler) -> None:
    for code in (RequestCode.SEND_MESSAGE, RequestCode.SEND_MESSAGE_V2, RequestCode.SEND_BATCH_MESSAGE):
        cluster["broker-a"].on(code, handler)


def stored_with(code: int) -> Handler:
    def handler(request: Command, _: object) -> Command:
        return Command.response(code, SendMessageResponse(msg_id="0A" * 16, queue_id=0, queue_offset=7))

    return handler


@pytest.mark.parametrize(
    "code",
    [ResponseCode.FLUSH_DISK_TIMEOUT, ResponseCode.FLUSH_SLAVE_TIMEOUT, ResponseCode.SLAVE_NOT_AVAILABLE],
)
async def test_a_message_that_is_stored_less_safely_is_never_called_a_success(code: ResponseCode) -> None:
    async with scripted_cluster() as cluster, api_of(cluster) as api:
        on_send(cluster, stored_with(code))
        answer = await api.post(ORDERS, BODY)
        assert code_of(answer) == (504, "STORED_NOT_FLUSHED")
        assert code.name in answer.json()["detail"]
        (result,) = answer.json()["results"]
        assert (result["status"], result["offset"]) == ("stored_not_flushed", 7)
        assert answer.json()["retryable"] is False
        batch = await api.post(ORDERS, {"messages": [BODY, BODY | {"delay_ms": 5}]})
        assert batch.status_code == 207
        assert [result["status"] for result in batch.json()["results"]] == ["stored_not_flushed", "failed"]
        assert batch.json()["stored"] == 0


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"delay_ms": 5_000}, 201),
        ({"deliver_at": "2020-01-01T00:00:00Z"}, 201),
        ({"delay_ms": 5_001}, 422),
        ({"deliver_at": "2100-01-01T00:00:00Z"}, 422),
    ],
)
async def test_a_cluster_without_delivery_times_has_its_delay_levels_and_says_so(
    asked: dict[str, object], code: int
) -> None:
    async with scripted_cluster() as cluster, api_of(cluster) as api:
        on_send(cluster, stored_with(ResponseCode.SUCCESS))
        cluster["broker-a"].on(
            RequestCode.GET_BROKER_CONFIG,
            lambda *_: Command.response(ResponseCode.SUCCESS, body=b"messageDelayLevel=1s 5s"),
        )
        answer = await api.post(ORDERS, BODY | asked)

        sent = [request.ext_fields["i"] for request in cluster["broker-a"].asked(RequestCode.SEND_MESSAGE_V2)]
        if code == 201:
            assert answer.status_code == code, answer.text
            assert ("DELAY\x012" in sent[0]) is ("delay_ms" in asked)
            assert "TIMER" not in sent[0]
        else:
            assert code_of(answer) == (422, "DELAY_NOT_SERVED")
            assert "broker broker-a has no delivery times" in answer.json()["detail"]
            assert sent == []


@pytest.mark.parametrize("handler", [say_nothing(), hang_up()], ids=["silence", "hang up"])
async def test_a_send_without_an_answer_is_unknown_and_says_so(handler: Handler) -> None:
    async with scripted_cluster() as cluster, api_of(cluster) as api:
        on_send(cluster, handler)
        answer = await api.post(ORDERS, BODY | {"options": {"timeout_ms": 3_000}})
        assert code_of(answer) == (504, "SEND_UNCERTAIN")
        assert answer.json()["results"][0]["status"] == "unknown"


@pytest.mark.parametrize("request_", [BODY, {"messages": [BODY, BODY]}], ids=["one", "two"])
async def test_what_the_gateway_sends_again_is_called_a_repetition(request_: dict[str, Any]) -> None:
    """So that the broker, or its next master, looks whether it has it, and stores no second copy."""
    async with scripted_cluster() as cluster, api_of(cluster) as api:
        on_send(cluster, in_turn(hang_up(), stored_with(ResponseCode.SUCCESS)))
        answer = await api.post(ORDERS, request_ | {"options": {"timeout_ms": 30_000}})
        sends = [each for each in cluster["broker-a"].requests if "gantryRepeated" in each.ext_fields]
        assert answer.status_code == 201, answer.text
        assert [each.ext_fields["gantryRepeated"] for each in sends] == ["true"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (ResponseCode.SYSTEM_BUSY, (503, "BROKER_BUSY")),
        (ResponseCode.SERVICE_NOT_AVAILABLE, (503, "BROKER_CANNOT_STORE")),
        (ResponseCode.NO_PERMISSION, (409, "NOT_PERMITTED_BY_BROKER")),
        (ResponseCode.MESSAGE_ILLEGAL, (422, "MESSAGE_ILLEGAL")),
        (ResponseCode.INVALID_PARAMETER, (422, "INVALID")),
        (ResponseCode.TOPIC_NOT_EXIST, (404, "TOPIC_NOT_FOUND")),
        (ResponseCode.SYSTEM_ERROR, (502, "BROKER_REFUSED")),
    ],
)
async def test_a_refusal_of_the_broker_is_its_own_problem(code: ResponseCode, expected: tuple[int, str]) -> None:
    async with scripted_cluster() as cluster, api_of(cluster) as api:
        on_send(cluster, refuse(code, "because"))
        answer = await api.post(ORDERS, BODY)
        assert code_of(answer) == expected
        assert ("retry-after" in answer.headers) == (answer.status_code == 503)


async def test_a_broker_that_is_gone_is_a_503(unused_address: str) -> None:
    parts = make_parts(unused_address, "unix:///nowhere.sock")
    async with running_plane(parts) as where, httpx.AsyncClient(base_url=f"http://{where}", trust_env=False) as client:
        answer = await Api(client, parts).post(ORDERS, BODY)
        assert code_of(answer) == (503, "BROKER_UNREACHABLE")
        assert answer.json()["retryable"] is True


@pytest.mark.parametrize("more", [{}, {"delay_ms": 5_001}], ids=["at once", "delayed"])
async def test_while_no_broker_is_listed_nothing_is_said_not_to_exist(more: dict[str, int]) -> None:
    """As by name servers that were just started, or after the death of all brokers."""
    async with scripted_cluster() as cluster, api_of(cluster) as api:
        cluster.routes.clear()
        cluster.brokers.clear()
        answer = await api.post(ORDERS, BODY | more)
        assert code_of(answer) == (503, "BROKER_UNREACHABLE")
        assert (answer.json()["retryable"], "list no broker" in answer.json()["detail"]) == (True, True)


@pytest.mark.parametrize("path", [ORDERS, "/groups/billing/topics/orders:receive"], ids=["send", "receive"])
async def test_a_name_server_that_lists_slaves_alone_does_not_say_that_a_topic_does_not_exist(path: str) -> None:
    """As one that was just started, and heard the slaves first: only masters tell their topics."""
    async with scripted_cluster() as cluster, api_of(cluster) as api:
        cluster.routes.clear()
        cluster.without_master.add("broker-a")
        answer = await api.post(path, BODY if path is ORDERS else {})
        assert code_of(answer) == (503, "BROKER_UNREACHABLE")
        assert "no master of broker 'broker-a' is known" in answer.json()["detail"]


@pytest.mark.parametrize("code", [ResponseCode.SYSTEM_BUSY, ResponseCode.SERVICE_NOT_AVAILABLE])
async def test_a_broker_that_is_busy_is_not_said_to_serve_no_delays(code: ResponseCode) -> None:
    async with scripted_cluster() as cluster, api_of(cluster) as api:
        cluster["broker-a"].on(RequestCode.GET_BROKER_CONFIG, refuse(code))
        answer = await api.post(ORDERS, BODY | {"delay_ms": 5_001})
        assert (answer.status_code, answer.json()["retryable"]) == (503, True), answer.text


async def test_a_later_message_of_a_key_does_not_overtake_one_that_failed() -> None:
    async with scripted_cluster() as cluster, api_of(cluster) as api:
        on_send(cluster, refuse(ResponseCode.SYSTEM_BUSY))
        entries = [{"body": {"encoding": "text", "data": letter * 2_000_000}, "ordering_key": "k"} for letter in "abc"]
        answer = await api.post(ORDERS, {"messages": entries}, timeout=20)
        assert code_of(answer) == (503, "BROKER_BUSY")
        assert len(answer.json()["results"]) == 3
        sent = {request.body for request in cluster["broker-a"].requests if request.code != RequestCode.HEART_BEAT}
        assert len(sent) == 1, "only the first message was tried"


async def test_nor_one_with_a_delay_and_other_keys_of_the_queue_go_on() -> None:
    async with scripted_cluster() as cluster, api_of(cluster) as api:
        on_send(cluster, refuse(ResponseCode.SYSTEM_BUSY))
        cluster["broker-a"].on(RequestCode.SEND_BATCH_MESSAGE, stored_with(ResponseCode.SUCCESS))
        late = BODY | {"ordering_key": "k", "delay_ms": 5_000}
        others = [BODY | {"ordering_key": key} for key in ("k", "m", "m")]
        answer = await api.post(ORDERS, {"messages": [late, *others]})
        assert answer.status_code == 207
        assert [each["status"] for each in answer.json()["results"]] == ["failed", "failed", "stored", "stored"]


@pytest.mark.parametrize("fields", [{"properties": {"UNIQ_KEY": "a"}}, {"delay_ms": 7}])
async def test_nor_one_that_was_refused_before_it_was_sent(fields: dict[str, Any]) -> None:
    async with scripted_cluster() as cluster, api_of(cluster) as api:
        on_send(cluster, stored_with(ResponseCode.SUCCESS))
        first, later, other = (BODY | {"ordering_key": key} for key in ("k", "k", "m"))
        answer = await api.post(ORDERS, {"messages": [first | fields, later, other]})
        assert answer.status_code == 207
        results = answer.json()["results"]
        assert [each["status"] for each in results] == ["failed", "failed", "stored"]
        assert results[0]["problem"] == results[1]["problem"]


@pytest.fixture
def unused_address() -> str:
    """An address without a listener."""
    return f"127.0.0.1:{free_ports()}"
