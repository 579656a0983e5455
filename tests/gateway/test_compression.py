"""Requirements of `gateway.compression`: text is compressed for clients that accept it, and does not change."""

from __future__ import annotations

import gzip
from itertools import count
from typing import Any

import pytest

from gateway.compression import accepts_gzip, compressing
from tests.gateway.installation import Installation

_numbers = count(1)
GZIP = {"accept-encoding": "gzip, deflate, br"}


@pytest.mark.parametrize(
    ("header", "accepted"),
    [
        ("gzip", True),
        ("br, GZIP;q=0.5", True),
        ("*", True),
        ("gzip;q=0", False),
        ("gzip;q=0, *", False),
        ("gzip;q=much", False),
        ("br", False),
        ("identity", False),
        ("", False),
    ],
)
def test_gzip_is_for_those_who_ask_for_it(header: str, accepted: bool) -> None:
    assert accepts_gzip([(b"accept-encoding", header.encode())]) is accepted


async def answered(pieces: list[bytes], content_type: bytes = b"application/json") -> tuple[dict[bytes, bytes], bytes]:
    """Send an answer through the compression; return its headers by name and its body."""
    sent: list[Any] = []

    async def send(event: Any) -> None:
        sent.append(event)

    out = compressing({"headers": [(b"accept-encoding", b"gzip")]}, send)
    length = b"%d" % sum(map(len, pieces))
    headers = [(b"Content-Type", content_type), (b"Content-Length", length), (b"ETag", b'"1"')]
    await out({"type": "http.response.start", "status": 200, "headers": headers})
    for index, piece in enumerate(pieces):
        await out({"type": "http.response.body", "body": piece, "more_body": index < len(pieces) - 1})
    return {name.lower(): value for name, value in sent[0]["headers"]}, b"".join(event["body"] for event in sent[1:])


@pytest.mark.parametrize("pieces", [[b"a" * 5_000], [b"a" * 200_000], [b"a" * 65_536, b"b" * 65_536, b"c"]])
async def test_large_texts_are_compressed_in_one_piece_or_several(pieces: list[bytes]) -> None:
    headers, body = await answered(pieces)
    assert (headers[b"content-encoding"], headers[b"vary"]) == (b"gzip", b"accept-encoding")
    assert headers[b"etag"] == b'"1"'
    assert int(headers.get(b"content-length", len(body))) == len(body) < 2_000
    assert gzip.decompress(body) == b"".join(pieces)


@pytest.mark.parametrize(("piece", "kind"), [(b"{}", b"application/json"), (b"a" * 5_000, b"font/woff2")])
async def test_what_is_small_or_no_text_passes_as_it_is(piece: bytes, kind: bytes) -> None:
    headers, body = await answered([piece], kind)
    assert (b"content-encoding" in headers, body) == (False, piece)


def test_lists_of_the_api_and_pages_go_out_compressed(installation: Installation) -> None:
    with installation.client() as client:
        for path in ("/api/v1/openapi.json", "/metrics", "/docs/api"):
            plain = client.get(path, headers={"accept-encoding": "identity"})
            small = client.get(path, headers=GZIP)
            assert "content-encoding" not in plain.headers
            assert small.headers["content-encoding"] == "gzip"
            assert small.num_bytes_downloaded < plain.num_bytes_downloaded / 2
        again = client.get("/api/v1/openapi.json", headers=GZIP)
        assert again.json() == client.get("/api/v1/openapi.json", headers={"accept-encoding": "identity"}).json()


def test_the_data_plane_compresses_large_answers_alone(installation: Installation) -> None:
    topic = f"orders-z{next(_numbers)}"
    lease = f"/api/v1/clusters/local/groups/billing-z/topics/{topic}:receive"
    with installation.client() as client:
        made = {"name": topic, "read_queues": 1, "write_queues": 1}
        assert client.post("/api/v1/clusters/local/topics", json=made).status_code == 201
        for size, encoding in ((10, None), (100_000, "gzip")):
            message = {"body": {"encoding": "text", "data": "x" * size}}
            stored = client.post(f"/api/v1/clusters/local/topics/{topic}/messages", json={"messages": [message]})
            assert stored.status_code == 201, stored.text
            answer = client.post(lease, json={"max_messages": 1, "wait_ms": 10_000}, headers=GZIP)
            assert len(answer.json()["messages"][0]["body"]["data"]) == size
            assert answer.headers.get("content-encoding") == encoding
