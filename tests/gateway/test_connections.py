"""Requirements of `gateway.connections` and `gateway.arrival`, on a real gateway with many strangers."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest
from websockets.sync.client import connect

from gateway import own_sockets
from gateway.connections import OpenConnections
from gateway.limits import ArrivalLimits
from gateway.own_sockets import OwnSockets
from tests.gateway.installation import Installation, running_installation
from tests.support.cluster import RunningBroker
from tests.support.wait import wait_until

PLANES = [
    "/api/v1/clusters/local/topics/orders/messages",
    "/api/v1/login",
    "/api/v1/clusters/local/topics",
    "/topics",
]
HALF_SENT = b"POST /api/v1/login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Le"

HTTP2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5)
PING = bytes((0, 0, 8, 6)) + bytes(5) + b"whatever"

LIMITS = {"GANTRY_CONNECTIONS": "100", "GANTRY_IDLE_SECONDS": "1", "GANTRY_BODY_PAUSE_SECONDS": "4"}


@pytest.fixture(scope="module")
def small(
    tmp_path_factory: pytest.TempPathFactory, shared_broker: RunningBroker, redis_url: str
) -> Iterator[Installation]:
    """A gateway that keeps few connections, and idle ones only briefly."""
    data, server = tmp_path_factory.mktemp("small"), shared_broker.name_server
    with running_installation(data, name_server=server, redis_url=redis_url, **LIMITS) as running:
        yield running


def slow(path: str, installation: Installation) -> bytes:
    """Return the start of a request whose body never arrives."""
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {installation.tokens['admin']}\r\n"
        "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    ).encode()


@contextmanager
def opened(installation: Installation, count: int, text: bytes = b"") -> Iterator[list[socket.socket]]:
    """Open this many connections, and send only `text` on each."""
    with ExitStack() as stack:
        made = []
        for _ in range(count):
            each = stack.enter_context(socket.create_connection(("127.0.0.1", installation.port), timeout=60))
            if text:
                each.sendall(text)
            made.append(each)
        yield made


def assert_all_answers(installation: Installation) -> None:
    with installation.client(None) as stranger:
        assert stranger.get("/healthz").status_code == 200
    with installation.client("admin") as admin:
        assert admin.get("/api/v1/clusters/local/topics").status_code == 200
    headers = {"Authorization": f"Bearer {installation.tokens['admin']}"}
    with connect(f"{installation.sockets}/events", additional_headers=headers, proxy=None) as live:
        assert json.loads(live.recv())["type"] == "hello"


def read_to_end(each: socket.socket) -> bytes:
    """Return everything received until the other end closes."""
    parts = []
    while part := each.recv(65_536):
        parts.append(part)
    return b"".join(parts)


def test_2000_silent_connections_and_200_slow_bodies_keep_nobody_out(installation: Installation) -> None:
    with opened(installation, 2000), opened(installation, 200, slow(PLANES[1], installation)):
        assert_all_answers(installation)


def test_above_the_limit_the_longest_idle_ones_go_and_everybody_else_is_answered(small: Installation) -> None:
    with opened(small, 300) as silent:
        assert_all_answers(small)
        assert read_to_end(silent[0]) == b""
    with opened(small, 300, slow(PLANES[0], small)) as slow_ones:
        assert_all_answers(small)
        # Unless its own time was up first.
        ended = read_to_end(slow_ones[0])
        assert ended == b"" or ended.startswith(b"HTTP/1.1 408"), ended


@pytest.mark.parametrize("text", [b"", b"PRI * HT", b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"])
def test_an_idle_connection_ends(small: Installation, text: bytes) -> None:
    with opened(small, 1, text) as (idle,):
        answer = read_to_end(idle)
        assert answer.startswith(b"HTTP/1.1 200") == text.startswith(b"GET")


@pytest.mark.parametrize("pause", [0.0, 0.05])
def test_an_http2_connection_that_sends_nothing_but_pings_ends(small: Installation, pause: float) -> None:
    with opened(small, 1, HTTP2) as (idle,):
        idle.settimeout(pause)
        ends = time.monotonic() + 30
        while time.monotonic() < ends:
            try:
                idle.sendall(PING)
                if not idle.recv(65_536):
                    return
            except (BlockingIOError, TimeoutError):
                continue
            except (BrokenPipeError, ConnectionResetError):
                return
    pytest.fail("it is still open")


def test_a_socket_that_is_in_use_outlives_the_time_of_idle_ones(small: Installation) -> None:
    # Given an open WebSocket and a long poll
    admin = {"Authorization": f"Bearer {small.tokens['admin']}"}
    with connect(f"{small.sockets}/events", additional_headers=admin, proxy=None) as live, opened(small, 1) as (idle,):
        json.loads(live.recv())
        with small.client("admin") as client:
            client.post("/api/v1/clusters/local/topics", json={"name": "connections"})
            answer = client.post(
                "/api/v1/clusters/local/groups/connections/topics/connections:receive", json={"wait_ms": 3000}
            )
        # When idle connections of the same age have been closed
        assert read_to_end(idle) == b""
        # Then both were served completely
        assert answer.json()["reason"] == "timeout"
        live.send('{"type":"subscribe","subjects":["nonsense"]}')
        assert json.loads(live.recv())["type"] == "denied"


def test_a_body_that_stalls_is_refused_on_every_plane(small: Installation) -> None:
    with ExitStack() as stack:
        stalled = [stack.enter_context(opened(small, 1, slow(path, small)))[0] for path in PLANES]
        answers = [read_to_end(each) for each in stalled]
    for answer in answers:
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 408"), head
        assert json.loads(body)["code"] == "REQUEST_TIMEOUT"
        assert b"x-request-id" in head.lower()


@pytest.mark.parametrize("path", PLANES)
@pytest.mark.parametrize(
    "body", [b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n{}\r\n0\r\n\r\n", b"Content-Length: 100\r\n\r\n{"]
)
def test_a_body_that_is_broken_or_cut_off_is_malformed(installation: Installation, path: str, body: bytes) -> None:
    admin = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {installation.tokens['admin']}\r\n"
    with opened(installation, 1, admin.encode() + b"Content-Type: application/json\r\n" + body) as (broken,):
        broken.shutdown(socket.SHUT_WR)
        head, _, problem = read_to_end(broken).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400"), head
    assert b"application/problem+json" in head
    assert json.loads(problem)["code"] == "MALFORMED"


def test_a_request_whose_head_stalls_ends(small: Installation) -> None:
    with opened(small, 1, HALF_SENT) as (half,):
        assert b"200" not in read_to_end(half)


def test_websockets_above_the_limit_are_refused_and_requests_are_not(small: Installation) -> None:
    admin = {"Authorization": f"Bearer {small.tokens['admin']}"}
    with ExitStack() as stack:

        def one_more() -> str:
            live = stack.enter_context(connect(f"{small.sockets}/events", additional_headers=admin, proxy=None))
            return str(json.loads(live.recv()).get("problem", {}).get("code"))

        codes = [one_more() for _ in range(101)]
        assert codes == ["None"] * 100 + ["TOO_MANY_CONNECTIONS"]
        assert httpx.get(f"{small.url}/healthz", trust_env=False).status_code == 200
    wait_until(lambda: _opens(small, admin))


def _opens(installation: Installation, headers: dict[str, str]) -> bool:
    with connect(f"{installation.sockets}/events", additional_headers=headers, proxy=None) as live:
        return bool(json.loads(live.recv())["type"] == "hello")


def test_descriptors_beyond_the_old_soft_limit_are_used(installation: Installation) -> None:
    limits = Path(f"/proc/{_worker(installation)}/limits").read_text().splitlines()
    (files,) = (line.split() for line in limits if line.startswith("Max open files"))
    assert files[3] == files[4]


def _worker(installation: Installation) -> int:
    """Return the serving process, a child of the one that was started."""
    children = Path(f"/proc/{installation.process.pid}/task/{installation.process.pid}/children").read_text().split()
    return int(children[-1])


async def test_where_no_sockets_are_listed_the_gateway_starts_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    connections = OpenConnections(ArrivalLimits(), OwnSockets(tmp_path / "none"))
    connections.start()
    assert "idle connections are not watched" in caplog.text
    await connections.stop()


def test_a_socket_that_another_thread_closes_meanwhile_ends_no_check(monkeypatch: pytest.MonkeyPatch) -> None:
    borrowed = own_sockets._borrowed
    sockets = OwnSockets()
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        stack.enter_context(socket.create_connection(server.getsockname(), timeout=60))
        accepted = stack.enter_context(server.accept()[0])
        gone = stack.enter_context(socket.socket())

        @contextmanager
        def closing(descriptor: int) -> Iterator[socket.socket | None]:
            with borrowed(descriptor) as each:
                if each is not None and descriptor == gone.fileno():
                    os.close(descriptor)
                yield each

        monkeypatch.setattr(own_sockets, "_borrowed", closing)
        assert accepted.fileno() in [each.descriptor for each in sockets.connections(1.0)]
        gone.detach()


def test_above_the_limit_a_new_connection_does_not_count_before_the_second_check() -> None:
    connections = OpenConnections(ArrivalLimits(connections=1))
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        clients = [stack.enter_context(socket.create_connection(server.getsockname(), timeout=60)) for _ in range(3)]
        for _ in clients:
            stack.enter_context(server.accept()[0])
        connections._check((), {}, 1.0)
        for each in clients:
            each.setblocking(False)
            with pytest.raises(BlockingIOError):
                each.recv(1)
            each.settimeout(60)
        connections._check((), {}, 2.0)
        ended = 0
        for each in clients:
            each.setblocking(False)
            try:
                ended += each.recv(1) == b""
            except BlockingIOError:
                continue
        assert ended == 2
