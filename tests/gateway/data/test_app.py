"""Requirements of `gateway.data.app`: rights, sizes, and no request that ends in a 500."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import httpx
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.data.request_ids import RequestIds
from gateway.limits import GatewayLimits, RateLimit
from tests.gateway.data.conftest import Api, Door, code_of
from tests.gateway.running import make_parts, plane_in_a_thread, running_plane
from tests.support.cluster import RunningBroker

BODY = {"body": {"encoding": "text", "data": "x"}}
PATHS = ["/topics/orders/messages", *(f"/groups/g/topics/t:{verb}" for verb in ("receive", "ack", "nack", "extend"))]
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)
FIELDS = st.sampled_from(
    ["body", "messages", "keys", "tag", "properties", "ordering_key", "delay_ms", "options", "receipts", "filter",
     "max_messages", "wait_ms", "lease_ms", "attempt_id", "reason", "dead_letter", "entry_id"]
)  # fmt: skip


def _json(value: Any) -> bytes:
    try:
        return orjson.dumps(value)
    except TypeError:  # an integer beyond 64 bits
        return repr(value).encode()


def _fits_a_header(value: bytes) -> bool:
    # The server itself refuses invalid headers, before the application is called.
    return all(byte >= 32 and byte != 127 for byte in value) and value == value.strip()


async def test_every_answer_carries_a_request_id_and_keeps_the_clients(api: Api) -> None:
    topic = await api.topic()
    first = await api.post(f"/topics/{topic}/messages", BODY)
    second = await api.post(f"/topics/{topic}/messages", BODY)
    assert first.headers["x-request-id"] != second.headers["x-request-id"]
    own = await api.post(f"/topics/{topic}/messages", BODY, headers={"X-Request-Id": "my-own:1"})
    assert own.headers["x-request-id"] == "my-own:1"


def test_a_request_id_that_is_not_fit_for_a_log_is_replaced() -> None:
    ids = RequestIds()
    for given_id in (None, b"", b"a\nb", b"\xff", b"x" * 129):
        made = ids.of(given_id)
        assert made.isascii()
        assert made.isprintable()
        assert len(made) < 40


async def test_without_a_valid_token_nothing_is_revealed(api: Api) -> None:
    for path in ("/topics/orders/messages", "/groups/g/topics/t:receive", "/groups/g/topics/t:ack"):
        for headers in ({}, {"Authorization": "Bearer nobody"}, {"Authorization": "Basic YTpi"}):
            answer = await api.client.post(f"/api/v1/clusters/local{path}", headers=headers)
            assert code_of(answer) == (401, "NOT_AUTHENTICATED")
            assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_rights_are_those_of_role_and_scopes(api: Api) -> None:
    topic = await api.topic()
    produce, receive = f"/topics/{topic}/messages", f"/groups/g/topics/{topic}:receive"
    assert code_of(await api.post(produce, BODY, token="viewer")) == (403, "FORBIDDEN")
    assert code_of(await api.post(receive, {}, token="viewer")) == (403, "FORBIDDEN")
    assert (await api.post(produce, BODY, token="narrow")).status_code == 201
    assert (await api.post(receive, {}, token="narrow")).status_code == 200
    assert code_of(await api.post("/topics/payments/messages", BODY, token="narrow")) == (403, "FORBIDDEN")
    assert code_of(await api.post("/groups/g/topics/payments:ack", {}, token="narrow")) == (403, "FORBIDDEN")


async def test_another_method_is_told_which_one_is_right(api: Api) -> None:
    answer = await api.client.get(
        "/api/v1/clusters/local/groups/g/topics/t:receive", headers={"Authorization": "Bearer admin"}
    )
    assert code_of(answer) == (405, "METHOD_NOT_ALLOWED")
    assert answer.headers["allow"] == "POST"


async def test_an_address_without_a_token_or_with_a_wrong_one_is_counted(
    shared_broker: RunningBroker, redis_url: str
) -> None:
    limits = GatewayLimits(produce=RateLimit("produce", 0.001, 2))
    parts = make_parts(shared_broker.name_server, redis_url, limits=limits)
    async with running_plane(parts) as where, httpx.AsyncClient(base_url=f"http://{where}", trust_env=False) as client:
        api = Api(client, parts)
        answers = [await api.post("/topics/orders/messages", BODY, token="nobody") for _ in range(3)]
        assert [answer.status_code for answer in answers] == [401, 401, 429]
        assert all("ratelimit" in answer.headers for answer in answers)
        known = await api.post("/topics/missing/messages", BODY)
    assert code_of(known) == (404, "TOPIC_NOT_FOUND"), "whoever is known has a rate of its own"


async def test_a_caller_over_its_rate_gets_a_429_and_others_do_not(
    shared_broker: RunningBroker, redis_url: str
) -> None:
    limits = GatewayLimits(produce=RateLimit("produce", 1, 3), consume=RateLimit("consume", 1, 1))
    parts = make_parts(shared_broker.name_server, redis_url, limits=limits)
    async with running_plane(parts) as where, httpx.AsyncClient(base_url=f"http://{where}", trust_env=False) as client:
        api = Api(client, parts)
        topic = await api.topic()
        answer = await api.post(f"/topics/{topic}/messages", {"messages": [BODY] * 3})
        assert answer.headers["ratelimit-policy"] == '"produce";q=3;w=3'
        assert answer.headers["ratelimit"].startswith('"produce";r=0')
        refused = await api.post(f"/topics/{topic}/messages", BODY)
        assert code_of(refused) == (429, "RATE_LIMITED")
        assert int(refused.headers["retry-after"]) >= 1
        assert refused.headers["ratelimit"]
        assert (await api.post(f"/topics/{topic}/messages", BODY, token="developer")).status_code == 201
        await api.receive("g", topic)
        assert code_of(await api.post(f"/groups/g/topics/{topic}:receive", {})) == (429, "RATE_LIMITED")


@pytest.mark.in_process
async def test_an_error_nobody_foresaw_is_a_500_with_its_id_in_the_log(
    api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(cluster: str) -> Any:
        raise ZeroDivisionError(cluster)

    api.parts.connections.producer = broken  # type: ignore[method-assign]
    with caplog.at_level(logging.ERROR):
        answer = await api.post("/topics/orders/messages", BODY)
    assert code_of(answer) == (500, "INTERNAL")
    assert answer.json()["retryable"], "nobody knows whether it is stored"
    assert "ZeroDivisionError" not in answer.text
    assert answer.headers["x-request-id"] in caplog.text


@pytest.mark.in_process
async def test_requests_are_counted_by_route_and_status(api: Api) -> None:
    topic = await api.topic()
    await api.post(f"/topics/{topic}/messages", BODY)
    await api.post("/topics/nowhere/messages", BODY)
    samples = {
        (sample.labels.get("route"), sample.labels.get("status")): sample.value
        for family in api.parts.metrics.families()
        for sample in family.samples
        if sample.name == "gantry_gateway_requests_total"
    }
    assert samples == {("produce", "201"): 1, ("produce", "404"): 1}


async def test_a_client_that_breaks_off_in_its_body_harms_nobody(api: Api, door: Door) -> None:
    host, port = door.next().split(":")
    _, writer = await asyncio.open_connection(host, int(port))
    writer.write(
        b"POST /api/v1/clusters/local/topics/orders/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\n"
        b"Content-Length: 1000\r\n\r\nhalf"
    )
    await writer.drain()
    writer.close()
    await writer.wait_closed()
    assert (await api.post("/topics/nowhere/messages", BODY)).status_code == 404


@pytest.fixture(scope="module")
def client(shared_broker: RunningBroker, redis_url: str) -> Iterator[httpx.Client]:
    """A client of a plane that runs in a thread: hypothesis asks it a thousand times."""
    with (
        plane_in_a_thread(shared_broker.name_server, redis_url) as where,
        httpx.Client(base_url=f"http://{where}/api/v1/clusters/local", trust_env=False) as client,
    ):
        client.headers["Authorization"] = "Bearer admin"
        yield client


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    path=st.sampled_from(PATHS),
    content=st.binary(max_size=100)
    | JSON_VALUES.map(_json)
    | st.dictionaries(FIELDS, JSON_VALUES, max_size=4).map(_json),
    kind=st.sampled_from(["application/json", "text/plain", "application/x-ndjson", "", "é"]),
    header=st.sampled_from(["MQ-Key", "MQ-Delay-Ms", "MQ-Property-x", "Idempotency-Key", "Accept", "X-Request-Id"]),
    value=st.binary(max_size=20).filter(_fits_a_header),
)
def test_no_body_and_no_header_ends_in_a_500(
    client: httpx.Client, path: str, content: bytes, kind: str, header: str, value: bytes
) -> None:
    headers = {b"content-type": kind.encode(), header.encode(): value}
    answer = client.post(path, content=content, headers=headers)
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        code_of(answer)


@pytest.mark.parametrize(
    ("path", "content_type", "named"),
    [
        ("/topics/{}/messages", "application/json; charset=utf-16", "utf-16"),
        ("/topics/{}/messages", 'application/json;CHARSET="latin1"', "latin1"),
        ("/topics/{}/messages", "application/x-ndjson; charset=iso-8859-1", "iso-8859-1"),
        ("/groups/g/topics/{}:receive", "text/plain", "text/plain"),
        ("/groups/g/topics/{}:receive", "application/json; charset=utf-16", "utf-16"),
        ("/groups/g/topics/{}:ack", "application/x-www-form-urlencoded", "application/x-www-form-urlencoded"),
        ("/groups/g/topics/{}:nack", "application/x-ndjson", "application/x-ndjson"),
        ("/groups/g/topics/{}:extend", "text/plain", "text/plain"),
    ],
)
async def test_what_is_not_json_in_utf_8_is_refused_by_name(api: Api, path: str, content_type: str, named: str) -> None:
    topic = await api.topic()
    answer = await api.post(path.format(topic), content=b"{}", headers={"Content-Type": content_type})
    assert code_of(answer) == (415, "UNSUPPORTED_MEDIA_TYPE")
    assert repr(named) in answer.json()["detail"]


async def test_an_empty_content_type_is_no_content_type(api: Api) -> None:
    topic = await api.topic()
    for path in (f"/topics/{topic}/messages", f"/groups/g/topics/{topic}:receive"):
        answer = await api.post(path, content=b"{}", headers={"Content-Type": ""})
        assert code_of(answer) == (415, "UNSUPPORTED_MEDIA_TYPE")
        assert "empty" in answer.json()["detail"]


async def test_utf_8_may_be_named_and_a_raw_body_has_any_charset(api: Api) -> None:
    topic = await api.topic()
    receive = f"/groups/g/topics/{topic}:receive"
    for headers in ({"Content-Type": "application/json; charset=UTF-8"}, {}):
        assert (await api.post(receive, content=b"{}", headers=headers)).status_code == 200
    headers = {"Content-Type": "text/plain; charset=utf-16"}
    stored = await api.post(f"/topics/{topic}/messages", content="ä".encode("utf-16"), headers=headers)
    assert stored.status_code == 201, stored.text
