"""Requirements of `gateway.ingress`: one port, on which clients cannot see who answers them."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from gateway.data.parts import DataPlaneParts
from gateway.ingress.heads import may_pass
from gateway.limits import GatewayLimits, RateLimit
from tests.gateway.data.conftest import Api
from tests.gateway.installation import Installation
from tests.gateway.running import make_parts, running_plane
from tests.support.cluster import RunningBroker

PATIENT = {"timeout_ms": 30_000}
MESSAGE = {"keys": ["A17"], "body": {"encoding": "json", "data": {"a": 1}}}
USUAL = MESSAGE | {"options": PATIENT}
PLAIN = "application/json"
WHOLE_WAY = "application/json; charset=utf-8"


@pytest.fixture
def parts(shared_broker: RunningBroker, redis_url: str) -> DataPlaneParts:
    """The parts of a data plane that reaches the broker of all tests."""
    return make_parts(shared_broker.name_server, redis_url)


@pytest.fixture
async def api(parts: DataPlaneParts) -> AsyncIterator[Api]:
    """The API of the test's data plane."""
    async with running_plane(parts) as where, httpx.AsyncClient(base_url=f"http://{where}", trust_env=False) as client:
        yield Api(client, parts)


@asynccontextmanager
async def connected(api: Api) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Open a connection of its own."""
    url = api.client.base_url
    reader, writer = await asyncio.open_connection(url.host, url.port)
    try:
        yield reader, writer
    finally:
        writer.close()


def request(topic: str, body: Any = USUAL, *, token: str = "admin", kind: str = PLAIN, more: str = "") -> bytes:
    """Return the bytes of a request to produce."""
    content = json.dumps(body).encode()
    head = (
        f"POST /api/v1/clusters/local/topics/{topic}/messages HTTP/1.1\r\nHost: 127.0.0.1\r\n{more}"
        f"Authorization: Bearer {token}\r\nContent-Type: {kind}\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


async def answer(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], Any]:
    """Read one answer: status, headers and content."""
    line, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().rstrip().split("\r\n")
    headers = {name.lower(): value for name, _, value in (each.partition(": ") for each in lines)}
    return int(line.split()[1]), headers, json.loads(await reader.readexactly(int(headers["content-length"])))


async def test_requests_sent_at_once_are_answered_in_their_order_whoever_answers(api: Api) -> None:
    topic = await api.topic()
    await api.post(f"/topics/{topic}/messages", USUAL)  # the token and the route are known now
    sent = [
        request(topic),
        request(topic, {"body": 1}),
        request(topic, {"messages": [USUAL | {"options": None}] * 2}),
        request(topic, {"messages": [{"body": USUAL["body"]}] * 2}),
        request(topic, token="nobody"),
        request(topic),
        request(topic, more="Connection: Keep-Alive\r\nExpect: nothing\r\nX-Request-Id: last\r\n"),
        request(topic),
    ]
    async with connected(api) as (reader, writer):
        writer.write(b"".join(sent))
        got = [await answer(reader) for _ in sent]
    assert [status for status, _, _ in got] == [201, 422, 422, 201, 401, 201, got[6][0], 201]
    offsets = [each["offset"] for status, _, content in got if status == 201 for each in content["results"]]
    assert offsets == sorted(offsets)
    assert all("date" in headers for _, headers, _ in got)


async def test_a_client_that_sends_no_more_gets_the_answers_to_all_that_it_sent(api: Api) -> None:
    topic = await api.topic()
    for sent, statuses in (
        (request(topic) + request(topic) + request(topic, kind=WHOLE_WAY), [201, 201, 201]),
        (request(topic) + request(topic)[:-1], [201, 400]),  # the last one is cut off
    ):
        async with connected(api) as (reader, writer):
            writer.write(sent)
            writer.write_eof()
            assert [(await answer(reader))[0] for _ in statuses] == statuses
            assert await reader.read() == b""


async def test_nothing_is_leased_to_a_client_that_sends_no_more_and_waits(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    wanted = json.dumps({"wait_ms": 20_000}).encode()
    head = (
        f"POST /api/v1/clusters/local/groups/{group}/topics/{topic}:receive HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Authorization: Bearer admin\r\nContent-Type: {PLAIN}\r\nContent-Length: {len(wanted)}\r\n\r\n"
    )
    async with connected(api) as (reader, writer):
        writer.write(head.encode() + wanted)
        writer.write_eof()
        # Then the wait ends: it may be gone
        assert await asyncio.wait_for(reader.read(), 10) == b""


@pytest.mark.parametrize(
    "fields",
    [
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Content-Length: 5\r\nTransfer-Encoding : chunked",
        "Content-Length: 5\r\nTransfer-Encoding:\r\n chunked",
        "Content-Length: 5\r\nX: a\rTransfer-Encoding: chunked",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunked, identity",
        "Content-Length: 5\r\nContent-Length: 500",
        "Content-Length: 5, 500",
        "Content-Length: +5",
        "Content-Length: 0x5",
        "Content-Length: 5\r\n Content-Length: 500",
        "Content-Length: 5\r\nContent-Length: 5",
        "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked",
    ],
)
async def test_a_head_that_can_be_read_in_two_ways_ends_the_connection_and_smuggles_nothing(
    api: Api, fields: str
) -> None:
    topic = await api.topic()
    path = f"/api/v1/clusters/local/topics/{topic}/messages"
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer admin\r\n{fields}\r\n\r\n0\r\n\r\n"
    async with connected(api) as (reader, writer):
        writer.write(head.encode() + request(topic))
        got = await reader.read()
    assert got.startswith((b"HTTP/1.1 400", b"HTTP/1.1 422")), got
    assert got.count(b"HTTP/1.1 ") == 1, got


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("Content-Length:", "Transfer-Encoding: chunked\r\nContent-Length:", "Transfer-Encoding"),
        ("Content-Length:", "Content-Length: 5\r\nContent-Length:", "Content-Length"),
        ("Host: 127.0.0.1\r\n", "", "Host"),
    ],
)
async def test_what_it_refuses_ends_the_connection_with_a_problem_that_says_why(
    api: Api, old: str, new: str, named: str
) -> None:
    async with connected(api) as (reader, writer):
        writer.write(request(await api.topic()).replace(old.encode(), new.encode()) + request("never"))
        status, headers, problem = await answer(reader)
        assert await reader.read() == b""
    assert (status, problem["code"], headers["connection"]) == (400, "MALFORMED", "close")
    assert named in problem["detail"]


def lengthy(head: bytes) -> bytes:
    return head.replace(b" HTTP/1.1\r\n", b" HTTP/1.1\r\nX-Long: " + b"x" * 9000 + b"\r\n")


@pytest.mark.parametrize(
    ("fault", "named"),
    [
        (b"Host: a\r\nContent-Length: 6\r\nTransfer-Encoding: chunked", "Transfer-Encoding"),
        (b"Host: a\r\nContent-Length: 6\r\nContent-Length: 6", "Content-Length"),
        (b"Content-Length: 0", "Host"),
    ],
)
@pytest.mark.parametrize("method", [b"GET /healthz", b"POST /api/v1/clusters/local/topics/orders/messages"])
async def test_a_head_is_refused_alike_however_it_arrives(api: Api, method: bytes, fault: bytes, named: str) -> None:
    head = method + b" HTTP/1.1\r\nAuthorization: Bearer admin\r\n" + fault + b"\r\n\r\n"
    for pieces in ([head], [head[:40], head[40:-1], head[-1:]], [lengthy(head)], [b"\r\n\r\n" + head]):
        async with connected(api) as (reader, writer):
            for piece in pieces[:-1]:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0.7)  # the rest of a body would be late now
            writer.write(pieces[-1] + b"6\r\n")
            status, headers, problem = await answer(reader)
            assert await reader.read() == b""
        assert (status, problem["code"], headers["connection"]) == (400, "MALFORMED", "close"), pieces
        assert named in problem["detail"]


@pytest.mark.parametrize("place", [b" HTTP/1.1", b"Host: a", b"X: b", b"X: b\r\n"])
async def test_a_line_that_ends_with_a_line_feed_alone_is_refused(api: Api, place: bytes) -> None:
    head = b"POST /api/v1/clusters/local/topics/orders/messages HTTP/1.1\r\nHost: a\r\nX: b\r\n\r\n"
    for damaged in (head.replace(place + b"\r\n", place + b"\n"), head.replace(b"\r\n", b"\n"), b"\n" + head):
        async with connected(api) as (reader, writer):
            writer.write(damaged)
            status, _, problem = await answer(reader)
            assert await reader.read() == b""
        assert status == 400
        assert "LF alone" in problem["detail"]


async def test_a_head_of_any_size_up_to_the_limit_is_served_however_it_arrives(api: Api) -> None:
    text = request(await api.topic(), more=f"X-Long: {'x' * 60_000}\r\n")
    async with connected(api) as (reader, writer):
        for begin in range(0, len(text), 7000):
            writer.write(text[begin : begin + 7000])
            await writer.drain()
            await asyncio.sleep(0.02)
        assert (await answer(reader))[0] == 201


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /healthz HTTP/1.1\r\nX-Long: " + b"x" * 500_000, 431),
        (b"GET /healthz HTTP/1.1\r\nX-Long: " + b"x" * 65_600 + b"\r\nHost: a\r\n\r\n", 431),
        (b"GET /" + b"x" * 500_000, 414),
        (b"\r\n" * 250_000, 414),
    ],
)
async def test_a_head_above_the_limit_is_refused_and_the_client_reads_the_answer(
    api: Api, head: bytes, status: int
) -> None:
    async with connected(api) as (reader, writer):
        writer.write(head)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 %d " % status)
        assert await reader.read() == b""
        await writer.drain()  # it took the rest too


async def test_what_is_no_request_is_refused_at_once(api: Api) -> None:
    for start in (b"\x16\x03\x01\x02\x00\x01", b"GET /healthz\r\n"):
        async with connected(api) as (reader, writer):
            writer.write(start)
            assert (await reader.read()).startswith(b"HTTP/1.1 400 ")


async def test_a_request_with_two_hosts_is_refused(api: Api) -> None:
    async with connected(api) as (reader, writer):
        writer.write(request(await api.topic(), more="Host: 127.0.0.1\r\n"))
        status, _, problem = await answer(reader)
    assert (status, problem["code"]) == (400, "MALFORMED")


@pytest.mark.parametrize("pause", [0.0, 0.8])
async def test_a_request_in_pieces_is_answered_like_a_whole_one(api: Api, pause: float) -> None:
    topic = await api.topic()
    text = request(topic)
    async with connected(api) as (reader, writer):
        for piece in (text[:30], text[30:-20], text[-20:]):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)
        assert (await answer(reader))[0] == 201
        writer.write(request(topic))
        assert (await answer(reader))[0] == 201


@pytest.mark.parametrize(
    ("topic", "body", "token"),
    [
        (None, USUAL, "admin"),
        (None, USUAL | {"entry_id": "é"}, "admin"),
        (None, USUAL | {"options": {"flush": "async", "timeout_ms": 30_000}}, "admin"),
        (None, USUAL | {"options": {"flush": "sync"}}, "admin"),
        (None, USUAL | {"colour": "red"}, "admin"),
        (None, USUAL | {"tag": "*"}, "admin"),
        (None, {"messages": [MESSAGE] * 3, "options": PATIENT}, "admin"),
        (None, {"messages": [MESSAGE] * 3, "options": PATIENT, "tag": "t"}, "admin"),
        (None, {"messages": [MESSAGE | {"entry_id": "a"}, MESSAGE], "options": PATIENT}, "admin"),
        ("missing", {"messages": [MESSAGE] * 2}, "admin"),
        ("missing", USUAL, "admin"),
        (None, USUAL, "viewer"),
        (None, USUAL, "nobody"),
    ],
)
async def test_the_quick_way_answers_as_the_whole_way_does(api: Api, topic: str | None, body: Any, token: str) -> None:
    topic = topic or await api.topic()
    await api.post(f"/topics/{topic}/messages", USUAL)
    async with connected(api) as (reader, writer):
        writer.write(request(topic, body, token=token) + request(topic, body, token=token, kind=WHOLE_WAY))
        quick, whole = await answer(reader), await answer(reader)
    assert (quick[0], list(quick[1])) == (whole[0], list(whole[1]))
    for each in (quick, whole):
        for found in (each[2], *each[2].get("results", ())):
            for changing in ("request_id", "message_id", "offset", "stored_at"):
                found.pop(changing, None)
    assert quick[2] == whole[2]


async def test_the_quick_way_counts_and_limits_rates(shared_broker: RunningBroker, redis_url: str) -> None:
    limits = GatewayLimits(produce=RateLimit("produce", 1, 3))
    parts = make_parts(shared_broker.name_server, redis_url, limits=limits)
    async with running_plane(parts) as where, httpx.AsyncClient(base_url=f"http://{where}", trust_env=False) as client:
        api = Api(client, parts)
        topic = await api.topic()
        statuses = [(await api.post(f"/topics/{topic}/messages", USUAL)).status_code for _ in range(4)]
    assert statuses == [201, 201, 201, 429]
    found = {
        sample.name + str(sample.labels): sample.value for each in parts.metrics.families() for sample in each.samples
    }
    assert found["gantry_gateway_messages_total{'what': 'produced'}"] == 3
    assert found["gantry_gateway_requests_total{'route': 'produce', 'status': '201'}"] == 3
    assert found["gantry_gateway_refused_total{'code': 'RATE_LIMITED'}"] == 1


async def test_a_client_that_leaves_gives_its_place_in_a_long_poll_back(api: Api) -> None:
    topic, group = await api.topic(), api.group()
    content = b'{"wait_ms":30000}'
    head = (
        f"POST /api/v1/clusters/local/groups/{group}/topics/{topic}:receive HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Authorization: Bearer admin\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    async with connected(api) as (_, writer):
        writer.write(head.encode() + content)
        while not await api.waiting(group, topic):  # noqa: ASYNC110 - the broker does not tell
            await asyncio.sleep(0.02)
    await api.produce(topic, "for the next one")
    assert len(await api.receive(group, topic, wait_ms=20_000)) == 1


def test_the_address_of_a_client_is_its_own_whoever_answers(installation: Installation) -> None:
    transport = httpx.HTTPTransport(local_address="127.0.0.7")
    viewer = {"Authorization": f"Bearer {installation.tokens['viewer']}"}
    with httpx.Client(base_url=installation.url, transport=transport, headers=viewer, timeout=60) as client:
        assert client.post("/api/v1/clusters/local/topics/ingress/messages", json=USUAL).status_code == 403
        assert client.post("/api/v1/clusters/local/topics", json={"name": "ingress"}).status_code == 403
    with installation.client("admin") as admin:
        entries = admin.get("/api/v1/audit", params={"result": "refused"}).json()["items"]
    assert {each["action"] for each in entries if each["address"] == "127.0.0.7"} >= {"access.produce"}
    assert len([each for each in entries if each["address"] == "127.0.0.7"]) >= 2


async def test_a_large_head_that_comes_byte_by_byte_is_not_looked_at_with_every_byte(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[int] = []

    def look(data: bytes) -> bool:
        looked.append(len(data))
        return may_pass(data)

    monkeypatch.setattr("gateway.ingress.connection.may_pass", look)
    lines = "".join(f"X-{number}: a\r\n" for number in range(4000))
    head = f"GET /healthz HTTP/1.1\r\nContent-Length: 0\r\nHost: a\r\n{lines}Host: b\r\n".encode()
    assert 40_000 < len(head) < 64 * 1024
    async with connected(api) as (reader, writer):
        for begin in range(0, len(head), 100):
            writer.write(head[begin : begin + 100])
            await writer.drain()
            await asyncio.sleep(0)
        seen = len(looked)
        # The end of the head is found wherever it is cut
        for byte in (b"\r", b"\n"):
            writer.write(byte)
            await asyncio.sleep(0.01)
        first = await reader.readline()
    assert first == b"HTTP/1.1 400 Bad Request\r\n"
    assert seen <= 4096 / 100 + 6
    assert looked[-1] == len(head) + 2


def test_a_host_in_the_request_line_is_asked_like_the_header(installation: Installation) -> None:
    here = f"127.0.0.1:{installation.port}"
    for target, host, status in (
        ("http://evil.example/api/v1/me", here, 400),
        ("HTTPS://evil.example/api/v1/me", here, 400),
        (f"http://user@{here}/api/v1/me", here, 400),
        ("http:///api/v1/me", here, 400),
        (f"http://{here}/healthz", here, 200),
        ("/healthz?next=http://evil.example/", here, 200),
        ("/healthz", "127.0.0.1:65535", 200),
        ("/api/v1/me", "127.0.0.1:65535", 401),
        ("/api/v1/me", "127.0.0.1:65536", 400),
        ("/api/v1/me", "127.0.0.1:99999999999999999999", 400),
    ):
        answer = _asked(installation, f"GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        assert answer.startswith(f"HTTP/1.1 {status} ".encode()), (target, host, answer)
    plain = request("orders").replace(b"Host: 127.0.0.1", b"Host: 127.0.0.1:65536\r\nX-Test: a")
    for kind in (b"Connection: keep-alive", b"Connection: close"):  # the ingress answers, or the server behind it
        answer = _asked(installation, plain.replace(b"X-Test: a", kind), until=b"HOST_NOT_SERVED")
        assert answer.startswith(b"HTTP/1.1 400 "), answer


def _asked(installation: Installation, data: bytes, until: bytes | None = None) -> bytes:
    """Return the answer up to the end of the connection, or until it holds a word."""
    with socket.create_connection(("127.0.0.1", installation.port), timeout=60) as connection:
        connection.sendall(data)
        answer = b""
        while (until is None or until not in answer) and (piece := connection.recv(65536)):
            answer += piece
    return answer
