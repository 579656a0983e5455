"""Requirements of `gateway.arrival`: what an answer says about the connection under a body that was not read."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.arrival import Arrival
from gateway.limits import ArrivalLimits
from gateway.sockets import Event

Header = tuple[bytes, bytes]
LENGTH: Header = (b"content-length", b"2")


async def answered(headers: list[Header], *, version: str = "1.1", reads: int = 0, streams: int = 0) -> bool:
    """Return whether the answer ends the connection after `reads` parts of the body, of one byte each, were read."""
    sent: list[Event] = []

    async def receive() -> Event:
        return {"type": "http.request", "body": b"{", "more_body": True}

    async def send(event: Event) -> None:
        sent.append(event)

    scope: dict[str, Any] = {"type": "http", "http_version": version, "headers": headers, "client": ("127.0.0.1", 1)}
    arrival = Arrival(scope, receive, ArrivalLimits())
    if streams:
        arrival.stream()
    for _ in range(reads):
        await arrival()
    start = {"type": "http.response.start", "status": streams or 401, "headers": [(b"content-length", b"0")]}
    await arrival.closing(send)(start)
    assert (b"content-length", b"0") in sent[0]["headers"]
    return (b"connection", b"close") in sent[0]["headers"]


@pytest.mark.parametrize("reads", [0, 1])
@pytest.mark.parametrize("header", [LENGTH, (b"transfer-encoding", b"chunked")])
async def test_an_answer_before_the_whole_body_says_that_the_connection_ends(header: Header, reads: int) -> None:
    assert await answered([header], reads=reads)


async def test_all_other_answers_leave_the_connection_open() -> None:
    assert not await answered([LENGTH], reads=2)
    assert not await answered([])
    assert not await answered([(b"content-length", b"0")])
    assert not await answered([LENGTH], version="2")  # whose requests do not queue up behind each other
    assert not await answered([LENGTH], reads=1, streams=200)
    assert await answered([LENGTH], streams=403)
