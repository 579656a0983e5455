"""Requirements of `gateway.ingress.heads`: what it reads, every other reader of HTTP/1.1 reads alike."""

from __future__ import annotations

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.ingress.heads import MOST_BODY_BYTES, Heads

PATH = "/api/v1/clusters/local/topics/orders/messages"
LINE = f"POST {PATH} HTTP/1.1\r\n".encode()
PLAIN = (
    LINE + b"Host: a:8000\r\nAuthorization: Bearer t\r\nContent-Type: application/json\r\nContent-Length: 12\r\n"
    b"Connection: keep-alive\r\nX-Request-Id:  my own \t\r\n\r\n"
)


def test_a_plain_head_is_read_once_and_remembered() -> None:
    heads = Heads()
    head = heads.find(PLAIN)
    assert head is not None
    assert (head.route.action, head.route.cluster, head.route.topic) == ("produce", "local", "orders")
    assert (head.path, head.length) == (PATH, 12)
    assert (b"x-request-id", b"my own") in head.headers
    assert head.quick is not None
    assert heads.find(PLAIN) is head


def test_a_base_path_is_taken_off_and_may_be_missing() -> None:
    heads = Heads("/mq")
    for text in (PLAIN, PLAIN.replace(b"/api", b"/mq/api")):
        head = heads.find(text)
        assert head is not None
        assert head.path == PATH
    assert heads.find(PLAIN.replace(b"/api", b"/other/api")) is None


@pytest.mark.parametrize(
    "odd",
    [
        PLAIN.replace(b"POST", b"GET"),
        PLAIN.replace(b"POST ", b"POST  "),
        PLAIN.replace(b"HTTP/1.1", b"HTTP/1.0"),
        PLAIN.replace(b"/messages", b"/messages?a=b"),
        PLAIN.replace(b"/orders/", b"/%6frders/"),
        PLAIN.replace(b"/api", b"http://a/api"),
        PLAIN.replace(PATH.encode(), b"/api/v1/login"),
        PLAIN.replace(b"Host: a:8000\r\n", b""),
        PLAIN.replace(b"Host: a:8000\r\n", b"Host: a\r\nHost: b\r\n"),
        PLAIN.replace(b"Host:", b"Host :"),
        PLAIN.replace(b"Host:", b" Host:"),
        PLAIN.replace(b"Bearer t", b"Bearer\r\n t"),
        PLAIN.replace(b"Bearer t", b"Bearer\nt"),
        PLAIN.replace(b"Bearer t", b"Bearer\x00t"),
        PLAIN.replace(b"Content-Length: 12\r\n", b""),
        PLAIN.replace(b"Length: 12", b"Length: 12\r\nContent-Length: 12"),
        PLAIN.replace(b"Length: 12", b"Length: 12, 12"),
        PLAIN.replace(b"Length: 12", b"Length: +12"),
        PLAIN.replace(b"Length: 12", b"Length: %d" % (MOST_BODY_BYTES + 1)),
        PLAIN.replace(b"Length: 12", b"Length: 12\r\nTransfer-Encoding: chunked"),
        PLAIN.replace(b"keep-alive", b"close"),
        PLAIN.replace(b"keep-alive", b"Upgrade\r\nUpgrade: websocket"),
        PLAIN.replace(b"X-Request-Id", b"Expect"),
        PLAIN.replace(b"application/json", b"application/x-ndjson"),
        PLAIN.replace(b"X-Request-Id:", b"X-A: b\r\n" * 70 + b"X-B:"),
        b"\r\n\r\n",
    ],
)
def test_what_is_not_plain_is_left_to_the_server(odd: bytes) -> None:
    assert odd != PLAIN
    assert Heads().find(odd) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"application/json", b"application/json; charset=utf-8"),
        (b"X-Request-Id", b"Idempotency-Key"),
        (b"X-Request-Id:", b"Accept: application/json;offsets=string\r\nX-B:"),
        (b"X-Request-Id", b"MQ-Tag"),
        (b"X-Request-Id", b"Content-Encoding"),
        (b"X-Request-Id:", b"Authorization: Bearer u\r\nX-B:"),
        (b"/orders/", b"/RMQ_SYS_TRACE_TOPIC/"),
    ],
)
def test_what_asks_for_more_than_usual_is_plain_and_not_quick(old: bytes, new: bytes) -> None:
    head = Heads().find(PLAIN.replace(old, new))
    assert head is not None
    assert head.quick is None


@given(
    st.lists(
        st.tuples(st.integers(len(LINE), len(PLAIN) - 5), st.binary(max_size=3), st.integers(0, 3)),
        min_size=1,
        max_size=3,
    )
)
def test_a_damaged_head_is_read_as_another_reader_does_or_not_at_all(changes: list[tuple[int, bytes, int]]) -> None:
    data = PLAIN
    for place, new, dropped in changes:
        data = data[:place] + new + data[place + dropped :]
    head, whole, _ = data.partition(b"\r\n\r\n")
    found = Heads().find(head + whole) if whole else None
    if found is None:
        return
    reader = h11.Connection(h11.SERVER)
    reader.receive_data(head + whole)
    request = reader.next_event()
    assert isinstance(request, h11.Request)
    assert (request.method, request.target.decode()) == (b"POST", found.path)
    assert list(request.headers) == found.headers
    assert int(dict(request.headers)[b"content-length"]) == found.length
    assert reader.trailing_data == (b"", False)
