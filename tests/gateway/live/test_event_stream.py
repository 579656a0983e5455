"""Requirements of the live channels as server-sent events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from pytest_django import Settings

from gateway.live.event_stream import CHANNELS, first_frame
from gateway.lookups import allowed_origin
from gateway.problems import ProblemError
from tests.console.lag.figures import group, groups
from tests.gateway.installation import Installation
from tests.gateway.live.conftest import Publish

CLUSTERS = ("sse2",)
STREAM = {"Accept": "text/event-stream"}


class Events:
    """The events of one answer."""

    def __init__(self, answer: httpx.Response) -> None:
        self._lines = answer.aiter_lines()

    async def next(self) -> dict[str, Any]:
        """Return the next event: its fields, `data` as JSON."""
        found: dict[str, Any] = {}
        async for line in self._lines:
            name, _, value = line.partition(": ")
            if not line and found:
                return found
            if name:
                found[name] = json.loads(value) if name == "data" else value
        raise EOFError


@asynccontextmanager
async def reading(
    installation: Installation, path: str, role: str | None = "viewer", **headers: str
) -> AsyncIterator[tuple[httpx.Response, Events]]:
    token = {} if role is None else {"Authorization": f"Bearer {installation.tokens[role]}"}
    async with (
        httpx.AsyncClient(base_url=installation.url, trust_env=False, timeout=20) as client,
        client.stream("GET", path, headers={**STREAM, **token, **headers}) as answer,
    ):
        yield answer, Events(answer)


@pytest.mark.in_process
async def test_lag_comes_as_events_and_goes_on_after_the_last_one_that_was_seen(
    installation: Installation, publish: Publish
) -> None:
    await publish({"groups:sse": groups(group("billing", 1), group("ship", 5))})
    path = "/ws/v1/lag?cluster=sse&groups=billing,sh*&interval_ms=1000"
    async with reading(installation, path) as (answer, events):
        assert answer.headers["content-type"] == "text/event-stream"
        assert (await events.next())["data"]["type"] == "hello"
        first = await events.next()
        assert [shown["lag"] for shown in first["data"]["groups"]] == [1, 5]
    await publish({"groups:sse": groups(group("billing", 2), group("ship", 5))})
    async with reading(installation, path, **{"Last-Event-ID": first["id"]}) as (_, events):
        await events.next()
        missed = (await events.next())["data"]
        assert (missed["type"], missed["seq"]) == ("delta", 2)
        assert [(shown["group"], shown["lag"]) for shown in missed["groups"]] == [("billing", 2)]
    async with reading(installation, path, **{"Last-Event-ID": "gone:1"}) as (_, events):
        await events.next()
        assert (await events.next())["data"]["reason"] == "not_kept"


async def test_events_begin_with_the_state_of_each_subject(installation: Installation, publish: Publish) -> None:
    await publish({"groups:sse2": groups(group("billing", 1))})
    async with reading(installation, "/ws/v1/events?subjects=groups:sse2,nonsense") as (_, events):
        await events.next()
        assert (await events.next())["data"]["subject"] == "groups:sse2"
        assert (await events.next())["data"] == {
            "type": "denied",
            "subject": "nonsense",
            "detail": "There is no subject 'nonsense'.",
        }


@pytest.mark.sample
async def test_a_tail_goes_on_where_the_last_progress_was(installation: Installation) -> None:
    def send(data: bytes) -> None:
        with installation.client() as client:
            sent = client.post(
                "/api/v1/clusters/local/topics/sse-tail/messages",
                content=b'{"body": {"encoding": "json", "data": %b}}' % data,
                headers={"Content-Type": "application/json"},
            )
            assert sent.status_code == 201

    with installation.client() as client:
        client.post("/api/v1/clusters/local/topics", json={"name": "sse-tail"})
    path = "/ws/v1/tail?topics=sse-tail&max_rate=100"
    async with reading(installation, path, "admin") as (_, events):
        while (await events.next())["data"].get("phase") != "live":
            pass
        send(b"1")
        seen: list[dict[str, Any]] = []
        while not any("id" in each and each["data"]["shown"] == 1 for each in seen):
            seen.append(await events.next())
    send(b'{\n\n"lines":\r\n"two"}')
    async with reading(installation, path, "admin", **{"Last-Event-ID": seen[-1]["id"]}) as (_, events):
        while (event := (await events.next())["data"])["type"] != "message":
            pass
        assert event["body"]["data"] == {"lines": "two"}


@pytest.mark.parametrize(
    ("path", "role", "status", "code"),
    [
        ("/ws/v1/lag?groups=*", None, 401, "NOT_AUTHENTICATED"),
        ("/ws/v1/lag?groups=*&nonsense=1", "viewer", 422, "INVALID"),
        ("/ws/v1/lag", "viewer", 422, "INVALID"),
        ("/ws/v1/lag?groups=*&interval_ms=1", "viewer", 422, "INVALID"),
        ("/ws/v1/lag?groups=*&interval_ms=often", "viewer", 422, "INVALID"),
        ("/ws/v1/lag?groups=a&groups=b", "viewer", 422, "INVALID"),
        ("/ws/v1/tail?topics=never-made", "admin", 404, "TOPIC_NOT_FOUND"),
        ("/ws/v1/tail?topics=orders-streamed", "narrow", 200, ""),
        ("/ws/v1/tail?topics=payments", "narrow", 403, "FORBIDDEN"),
    ],
)
async def test_what_is_refused_is_a_problem_of_http(
    installation: Installation, path: str, role: str | None, status: int, code: str
) -> None:
    with installation.client() as client:
        client.post("/api/v1/clusters/local/topics", json={"name": "orders-streamed"})
    async with reading(installation, path, role) as (answer, events):
        assert answer.status_code == status
        if code:
            problem = json.loads(await answer.aread())
            assert (problem["code"], problem["request_id"]) == (code, answer.headers["x-request-id"])
        else:
            assert (await events.next())["data"]["type"] == "hello"


async def test_another_site_is_refused(installation: Installation) -> None:
    async with reading(installation, "/ws/v1/lag?groups=*", None, Origin="https://evil.example") as (answer, _):
        assert answer.status_code == 403


async def test_our_own_page_is_one_of_http_unless_a_proxy_has_tls(settings: Settings) -> None:
    headers = {b"host": b"127.0.0.1:8000"}
    settings.GANTRY_PROXIES, settings.GANTRY_PUBLIC_URL, settings.CSRF_TRUSTED_ORIGINS = (), "", []
    assert allowed_origin(headers)
    assert allowed_origin({**headers, b"origin": b"http://127.0.0.1:8000"})
    secure = {**headers, b"origin": b"https://127.0.0.1:8000"}
    assert not allowed_origin(secure)
    settings.GANTRY_PROXIES = ("127.0.0.1",)
    assert allowed_origin(secure)
    assert not allowed_origin({**headers, b"origin": b"ftp://127.0.0.1:8000"})


async def test_a_plain_request_is_told_how_the_path_is_read(installation: Installation) -> None:
    with installation.client(None) as client:
        for path, has_events in (("lag?groups=*", True), ("produce", False)):
            answer = client.get(f"/ws/v1/{path}")
            assert (answer.status_code, answer.json()["code"]) == (426, "UPGRADE_REQUIRED")
            assert answer.headers["upgrade"] == "websocket"
            assert ("Accept: text/event-stream" in answer.json()["detail"]) == has_events
        posted = client.post("/ws/v1/lag")
        assert (posted.status_code, posted.headers["allow"]) == (405, "GET")
        assert client.get("/ws/v1/nothing").status_code == 404


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("groups=*&interval_ms=1", "?interval_ms"),
        ("groups=*&nonsense=1", "?nonsense"),
        ("groups=a&groups=b", "?groups"),
    ],
)
async def test_a_fault_of_the_query_is_told_where_it_stands(
    installation: Installation, query: str, pointer: str
) -> None:
    async with reading(installation, f"/ws/v1/lag?{query}") as (answer, _):
        assert [each["pointer"] for each in json.loads(await answer.aread())["errors"]] == [pointer]


@pytest.mark.parametrize(
    ("path", "pointer", "detail"),
    [
        ("lag?groups=g-*&interval_ms=1", "?interval_ms", "Must be at least 1,000."),
        ("lag?groups=g-*&interval_ms=often", "?interval_ms", "Must be a whole number, not a string."),
        ("lag?groups=", "?groups.0", "Must not be empty."),
        (f"lag?groups={','.join('g' * 201)}", "?groups", "Must have at most 200 items."),
        ("tail?topics=t-x&sample=0", "?sample", "Must be at least 1."),
        (f"tail?topics=t-x&sample={'9' * 30}", "?sample", "Must be at most 10,000."),
        ("tail?topics=t-x&max_rate=1001", "?max_rate", "Must be at most 1,000."),
        ("tail?topics=t-x&max_body_bytes=65537", "?max_body_bytes", "Must be at most 65,536."),
        (f"tail?topics={','.join('t' * 21)}", "?topics", "Must have at most 20 items."),
        (f"tail?topics=t-x&from={'x' * 65}", "?from", "Must have at most 64 characters."),
        (f"events?subjects={'x' * 401}", "?subjects.0", "Must have at most 400 characters."),
        ("events?subjects=activity:a&after.activity:a=-1", "?after.activity:a", "Must be at least 0."),
    ],
)
async def test_a_value_out_of_bounds_is_told_its_bounds(
    installation: Installation, path: str, pointer: str, detail: str
) -> None:
    async with reading(installation, f"/ws/v1/{path}", "admin") as (answer, _):
        assert answer.status_code == 422
        (error,) = json.loads(await answer.aread())["errors"]
    assert (error["pointer"], error["detail"]) == (pointer, detail)


def test_a_query_is_the_first_frame_of_the_socket() -> None:
    tail = CHANNELS["/ws/v1/tail"]
    query = b"topics=a,b&from=now&filter.tags=paid,sent&sample=3&ticket=x"
    assert json.loads(first_frame(tail, query, None)) == {
        "type": "start", "topics": ["a", "b"], "from": "now", "filter": {"tags": ["paid", "sent"]}, "sample": 3,
    }  # fmt: skip
    fields = b"topics=a&filter.fields=[{%22path%22:%22$.a%22,%22operator%22:%22eq%22,%22value%22:1}]"
    assert json.loads(first_frame(tail, fields, "place"))["resume"] == "place"
    assert json.loads(first_frame(tail, fields, None))["filter"]["fields"][0]["value"] == 1
    sql = b"topics=a&filter.sql=region+IN+('eu',+'us')+AND+n+%3E+1"
    assert json.loads(first_frame(tail, sql, None))["filter"] == {"sql": "region IN ('eu', 'us') AND n > 1"}
    events = b"subjects=activity:a,topics:a&after.activity:a=5&rows.topics:a=x,y"
    frame = json.loads(first_frame(CHANNELS["/ws/v1/events"], events, None))
    assert (frame["after"], frame["rows"]) == ({"activity:a": 5}, {"topics:a": ["x", "y"]})
    for wrong in (b"topics.x=1&topics=a", b"topics=a&topics=b", b"x=" + b"y" * 20_000):
        with pytest.raises(ProblemError):
            first_frame(tail, wrong, None)
